// Where the compiled kernel of a launch is. Free of torch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace passnet::runtime {

/// A compiled kernel: the shared object and "passnet_run_NAME" in it, or the cubin and the kernel's name.
struct KernelFile {
  std::filesystem::path object;
  std::string entry;
  std::vector<std::string> parameters;  // their types, "const float*", "int64_t"
  std::string sha256 = {};              // of the object, in hexadecimal; empty: not known
  int64_t shared_bytes = 0;             // dynamic shared memory of a block, on a GPU
  int64_t cluster = 1;                  // blocks of a cluster, along the first axis of the grid
};

}  // namespace passnet::runtime
