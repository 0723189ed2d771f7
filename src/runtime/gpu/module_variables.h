// The variables of a loaded kernel: tables of CUDA's library, constants of the launch, the text of its parameters. They
// outlive a launch, so a kernel that wrote to one could find it there in the next. Internal to gpu/.
#pragma once

#include <cuda.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace passnet::runtime::gpu {

class ModuleVariables {
 public:
  /// Those of a module that was loaded from the cubin `image`, none of whose kernels has run.
  /// Errors: Io: it is no cubin; Resource: the driver does not know one of them.
  static Result<ModuleVariables> read(CUmodule module, std::string_view image);

  /// The name of one that holds something else now. Waits for the stream.
  std::optional<std::string> find_changed() const;

 private:
  struct Variable {
    std::string name;
    CUdeviceptr first = 0;  // address
    std::string bytes;      // as loaded
  };
  std::vector<Variable> variables_;
};

}  // namespace passnet::runtime::gpu
