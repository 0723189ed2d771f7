// Passes as a Python module that registers their patterns and kernels with Inductor (docs/bundles.md). What the module does
// is in python/passnet/inductor.py.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace passnet::ship {

struct InductorModule {
  std::string text;
  std::vector<std::string> passes;  // names, each once
  size_t patterns = 0;
};

/// samples: with their passes, for the inputs of whose graphs kernels are made. target: as bundle::architecture_of takes it.
/// Errors: BadInput: no pass applies; Unsupported: a pass has no such form; as TargetBuilder.
Result<InductorModule> make_inductor_module(const std::vector<std::filesystem::path>& samples,
                                            const std::string& target, const std::atomic<bool>& interrupted);

}  // namespace passnet::ship
