// A compiled kernel as JSON: in requests to a worker (docs/protocol.md), in bundles and in modules for Inductor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace passnet::pass {

/// The shared object and "passnet_run_NAME" in it, or the cubin and the kernel's name.
struct KernelFile {
  std::string object;  // path; in a bundle the name of the part
  std::string entry;
  std::vector<std::string> parameters = {};  // their types, "const float*", "int64_t"
  std::string sha256 = {};                   // of the object, in hexadecimal; empty: not known
  // On a GPU; absent: none, and 1.
  std::optional<int64_t> shared_bytes = {};  // dynamic shared memory of a block
  std::optional<int64_t> cluster = {};       // blocks of a cluster, along the first axis of the grid
};

}  // namespace passnet::pass
