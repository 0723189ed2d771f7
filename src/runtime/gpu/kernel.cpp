#include "runtime/gpu/kernel.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <fmt/format.h>

#include <cstring>

#include "base/check.h"
#include "runtime/device/kernel_fault.h"
#include "runtime/device/object_bytes.h"
#include "runtime/gpu/driver.h"

namespace passnet::runtime::gpu {

namespace {

constexpr int64_t kFreeSharedBytes = 48 << 10;  // above it the driver has to be asked
constexpr int64_t kPortableCluster = 8;         // blocks

template <class T>
uint64_t bytes_of(T value) {
  uint64_t bytes = 0;
  std::memcpy(&bytes, &value, sizeof value);
  return bytes;
}

/// Floating types, in the spelling of C++ and of Triton.
bool is_real(const std::string& type) {
  return type == "double" || type == "float" || type == "float16" || type == "bfloat16" || type.starts_with("fp") ||
         type.starts_with("bf");
}

/// A number of the plan as a kernel's parameter of type `type` has it. Integers are little endian: their low bytes.
uint64_t parameter_bytes(const pass::LaunchArg& arg, const std::string& type) {
  const auto* integer = std::get_if<int64_t>(&arg);
  if (integer != nullptr && is_real(type)) return parameter_bytes(static_cast<double>(*integer), type);
  if (integer != nullptr) return bytes_of(*integer);
  if (const auto* truth = std::get_if<bool>(&arg)) return *truth ? 1 : 0;
  const double real = std::get<double>(arg);
  if (type == "double" || type == "fp64") return bytes_of(real);
  if (type == "float16" || type == "fp16") return bytes_of(c10::Half(static_cast<float>(real)));
  if (type == "bfloat16" || type == "bf16") return bytes_of(c10::BFloat16(static_cast<float>(real)));
  return bytes_of(static_cast<float>(real));
}

}  // namespace

Result<std::shared_ptr<const Kernel>> Kernel::load(const pass::KernelFile& file) {
  PASSNET_TRY(const std::string image, read_object(file, file.entry));
  std::shared_ptr<Kernel> kernel(new Kernel);
  CUmodule module = nullptr;
  if (const CUresult done = driver().cuModuleLoadData(&module, image.data()); done != CUDA_SUCCESS)
    return bad_pass(fmt::format("cannot load kernel '{}' on the GPU: {}", file.entry, describe(done)));
  kernel->module_ = module;
  CUfunction function = nullptr;
  if (const CUresult done = driver().cuModuleGetFunction(&function, module, file.entry.c_str()); done != CUDA_SUCCESS)
    return bad_pass(fmt::format("'{}' has no kernel '{}': {}", file.object, file.entry, describe(done)));
  kernel->function_ = function;
  PASSNET_TRY(kernel->variables_, ModuleVariables::read(module, image));
  kernel->parameters_ = file.parameters;
  const int64_t shared_bytes = file.shared_bytes.value_or(0), cluster = file.cluster.value_or(1);
  kernel->shared_bytes_ = static_cast<unsigned>(shared_bytes);
  kernel->cluster_ = static_cast<unsigned>(cluster);
  if (shared_bytes > kFreeSharedBytes) {
    const CUresult set = driver().cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                     static_cast<int>(shared_bytes));
    if (set != CUDA_SUCCESS)
      return bad_pass(
          fmt::format("kernel '{}' needs {} bytes of shared memory: {}", file.entry, shared_bytes, describe(set)));
  }
  if (cluster > kPortableCluster) {
    const CUresult set = driver().cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    if (set != CUDA_SUCCESS)
      return bad_pass(fmt::format("kernel '{}' wants clusters of {} blocks: {}", file.entry, cluster, describe(set)));
  }
  return std::shared_ptr<const Kernel>(std::move(kernel));
}

Kernel::~Kernel() {
  if (module_ != nullptr) driver().cuModuleUnload(static_cast<CUmodule>(module_));
}

ReadyLaunch::ReadyLaunch(const pass::Launch& launch, std::shared_ptr<const Kernel> kernel)
    : kernel_(std::move(kernel)), launch_(launch) {
  for (size_t axis = 0; axis < launch.grid.size(); ++axis) {
    grid_[axis] = static_cast<unsigned>(launch.grid[axis]);
    empty_ = empty_ || launch.grid[axis] == 0;
  }
  if (!kernel_) return;  // traced only
  PASSNET_CHECK(kernel_->parameters().size() == launch.args.size(), launch.kernel);
  for (size_t i = 0; i < launch.args.size(); ++i) {
    const pass::LaunchArg& arg = launch.args[i];
    if (const auto* view = std::get_if<pass::View>(&arg)) {
      pointers_.push_back({i, view->buffer, view->offset * ir::size_bytes(view->type.dtype)});
      values_.push_back(0);
    } else {
      values_.push_back(parameter_bytes(arg, kernel_->parameters()[i]));
    }
  }
  for (uint64_t& value : values_) arguments_.push_back(&value);
}

void ReadyLaunch::run(char* const* buffers) {
  if (empty_) return;
  for (const Pointer& pointer : pointers_)
    values_[pointer.arg] = reinterpret_cast<uint64_t>(buffers[pointer.buffer] + pointer.offset_bytes);
  const CUresult done = start();
  if (done != CUDA_SUCCESS)
    throw KernelFault{"bad-pass", fmt::format("kernel '{}' cannot be launched: {}", launch_.kernel, describe(done)),
                      launch_.at};
}

CUresult ReadyLaunch::start() {
  const auto function = static_cast<CUfunction>(kernel_->function());
  const auto threads = static_cast<unsigned>(launch_.block);
  if (kernel_->cluster() == 1)
    return driver().cuLaunchKernel(function, grid_[0], grid_[1], grid_[2], threads, 1, 1, kernel_->shared_bytes(),
                                   stream(), arguments_.data(), nullptr);
  CUlaunchAttribute cluster{};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim = {kernel_->cluster(), 1, 1};
  CUlaunchConfig how{};
  how.gridDimX = grid_[0];
  how.gridDimY = grid_[1];
  how.gridDimZ = grid_[2];
  how.blockDimX = threads;
  how.blockDimY = how.blockDimZ = 1;
  how.sharedMemBytes = kernel_->shared_bytes();
  how.hStream = stream();
  how.attrs = &cluster;
  how.numAttrs = 1;
  return driver().cuLaunchKernelEx(&how, function, arguments_.data(), nullptr);
}

}  // namespace passnet::runtime::gpu
