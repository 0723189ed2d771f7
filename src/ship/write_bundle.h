// Bundles of a graph with its passes, and kernels compiled for chosen processors.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "bundle/bundle.h"
#include "ship/source.h"

namespace passnet::ship {

struct BundleOptions {
  std::vector<std::string> targets;      // processors, as bundle::architecture_of takes them
  std::string weights;                   // a safetensors file with inputs of the graph; empty: none are put in
  bool allow_library = false;            // plans may call PyTorch's operators
  const std::atomic<bool>& interrupted;  // becomes true: no kernel is built any more
};

struct MadeBundle {
  bundle::Manifest manifest;
  std::map<std::string, int> sites;  // of passes, by target
};

/// Errors: Io; of reading the graph and its passes; as TargetBuilder and bundle::write; BadInput: a weight is no input;
///         Unsupported: a kernel has several configurations.
Result<MadeBundle> write_bundle(const std::filesystem::path& out, const Source& source, const BundleOptions& options);

}  // namespace passnet::ship
