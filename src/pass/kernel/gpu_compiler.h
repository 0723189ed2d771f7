// The compiler of kernels for a GPU: NVRTC, called through passnet-nvrtc, or nvcc; and its errors in words for the
// author of a kernel.
#pragma once

#include <string>

#include "pass/kernel/compiler.h"

namespace passnet::pass {

/// passnet-nvrtc beside this binary with a libnvrtc that can be found (PyTorch for CUDA brings one), else nvcc on PATH
/// or in /usr/local/cuda. Errors: Resource with what to install.
Result<Compiler> find_gpu_compiler();

/// What a kernel is compiled for.
struct GpuTarget {
  std::string architecture;  // "sm_90"
  int64_t block = 256;       // threads
  int64_t cluster = 1;       // blocks
};

/// Compiles unit.cu in request.directory to unit.cubin and unit.ptx, in the jail. Errors as compile_unit.
Result<void> compile_gpu_unit(const Compiler& compiler, const CompileRequest& request, const GpuTarget& target);

/// The output of NVRTC or nvcc as one error; see parse_compiler_errors.
Error parse_gpu_compiler_errors(const std::string& output, const std::string& file, const KernelDefinition& kernel);

}  // namespace passnet::pass
