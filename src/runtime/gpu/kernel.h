// A compiled CUDA kernel of a pass, and a launch of it made ready: scalars in the types of its parameters, pointers
// filled in when the buffers are known. Internal to gpu/.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "pass/plan/kernel_file.h"
#include "pass/plan/launch_list.h"
#include "runtime/device/device.h"
#include "runtime/gpu/module_variables.h"

namespace passnet::runtime::gpu {

/// Owns a loaded module.
class Kernel final {
 public:
  /// Errors: BadPass when the file is no kernel of this device; Io; as ModuleVariables::read().
  static Result<std::shared_ptr<const Kernel>> load(const pass::KernelFile& file);
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  void* function() const { return function_; }
  const std::vector<std::string>& parameters() const { return parameters_; }
  unsigned shared_bytes() const { return shared_bytes_; }
  unsigned cluster() const { return cluster_; }
  const ModuleVariables& variables() const { return variables_; }

 private:
  Kernel() = default;
  void* module_ = nullptr;
  void* function_ = nullptr;
  ModuleVariables variables_;
  std::vector<std::string> parameters_;
  unsigned shared_bytes_ = 0;
  unsigned cluster_ = 1;
};

class ReadyLaunch {
 public:
  ReadyLaunch(const pass::Launch& launch, std::shared_ptr<const Kernel> kernel);
  /// buffers[i]: first element of buffer i on the device. Returns once the launch stands in line. Throws KernelFault
  /// when the driver refuses it (too many threads for the registers it takes).
  void run(char* const* buffers);
  /// The name of a variable of the kernel's that launches have changed. Waits for the stream.
  std::optional<std::string> find_changed_variable() const { return kernel_->variables().find_changed(); }

 private:
  struct Pointer {
    size_t arg;
    uint32_t buffer;
    int64_t offset_bytes;
  };
  CUresult start();

  std::shared_ptr<const Kernel> kernel_;
  const pass::Launch& launch_;
  std::vector<uint64_t> values_;  // one per argument, in its low bytes
  std::vector<void*> arguments_;
  std::vector<Pointer> pointers_;
  unsigned grid_[3] = {1, 1, 1};
  bool empty_ = false;
};

}  // namespace passnet::runtime::gpu
