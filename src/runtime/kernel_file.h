// Where the compiled kernel of a launch is. Free of torch.
#pragma once

#include <filesystem>
#include <string>

namespace passnet::runtime {

/// A compiled kernel: the shared object and "passnet_run_NAME" in it.
struct KernelFile {
  std::filesystem::path object;
  std::string entry;
};

}  // namespace passnet::runtime
