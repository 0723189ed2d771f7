// A bundle as `passnet run` runs it: its graph as a directory, its kernels as files that a confined worker loads.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file/temporary_directory.h"
#include "base/result.h"
#include "bundle/bundle.h"
#include "run/worker/requests.h"

namespace passnet::cli {

struct OpenBundle {
  TemporaryDirectory directory;
  bundle::Bundle bundle;
  std::filesystem::path graph;         // its graph's directory
  const bundle::Plan* plan = nullptr;  // of `bundle`; null: the graph runs without passes
  /// Null: `input` is none of its weights.
  const wire::Entry* weight(const std::string& input) const;
};

/// Nothing for a directory or a model.py. Says on stderr why passes are not used.
/// Errors: as bundle::read(); BadPass: a kernel that could do more than compute (pass/kernel/check/elf_check.h).
Result<std::optional<OpenBundle>> open_bundle(const std::filesystem::path& path);

/// Copies tensors into sealed shared memory. entries: their offsets are laid out anew; sources: the bytes of each.
/// Errors: Io, Resource.
Result<run::Bundle> seal_inputs(std::vector<wire::Entry> entries, std::span<const std::byte* const> sources);

/// The same inputs with the bundle's weights in place of their values.
Result<run::Bundle> with_weights(run::Bundle inputs, const OpenBundle& bundle);

/// Loads the plan with its kernels. Errors: as run::load_graph; BadInput: the plan is not understood.
Result<void> load_plan(run::Worker& candidate, const std::string& id, const OpenBundle& bundle,
                       std::chrono::milliseconds timeout);

}  // namespace passnet::cli
