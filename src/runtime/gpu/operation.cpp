#include "runtime/gpu/operation.h"

#include <fmt/format.h>

#include <cstring>

#include "runtime/gpu/driver.h"

namespace passnet::runtime::gpu {

namespace {

bool lies_in(uint64_t address, const MovingRange& range) {
  return address >= range.first && address - range.first < std::max<uint64_t>(range.size, 1);
}

/// Whether a number is an address of device memory (a temporary of the recording).
bool is_device_address(uint64_t word) {
  CUmemorytype type{};
  return driver().cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, static_cast<CUdeviceptr>(word)) ==
             CUDA_SUCCESS &&
         type == CU_MEMORYTYPE_DEVICE;
}

}  // namespace

Result<Operation> Operation::read(CUgraphNode node) {
  Operation operation;
  operation.node_ = node;
  if (driver().cuGraphNodeGetType(node, &operation.kind_) != CUDA_SUCCESS)
    return unsupported("an operation of no known type");
  switch (operation.kind_) {
    case CU_GRAPH_NODE_TYPE_KERNEL: PASSNET_TRY_VOID(operation.read_kernel()); break;
    case CU_GRAPH_NODE_TYPE_MEMCPY: PASSNET_TRY_VOID(operation.read_copy()); break;
    case CU_GRAPH_NODE_TYPE_MEMSET: PASSNET_TRY_VOID(operation.read_fill()); break;
    default: return unsupported(fmt::format("an operation of type {}", static_cast<int>(operation.kind_)));
  }
  return operation;
}

Result<void> Operation::read_kernel() {
  if (driver().cuGraphKernelNodeGetParams(node_, &kernel_) != CUDA_SUCCESS)
    return unsupported("a kernel without parameters");
  if (kernel_.func == nullptr &&
      (kernel_.kern == nullptr || driver().cuKernelGetFunction(&kernel_.func, kernel_.kern) != CUDA_SUCCESS))
    return unsupported("a kernel without a function");
  if (kernel_.extra != nullptr) return read_parameter_block();
  for (size_t i = 0;; ++i) {
    size_t offset = 0, size = 0;
    if (driver().cuFuncGetParamInfo(kernel_.func, i, &offset, &size) != CUDA_SUCCESS) break;
    starts_.push_back(words_.size());
    words_.resize(words_.size() + (size + 7) / 8, 0);
    std::memcpy(&words_[starts_.back()], kernel_.kernelParams[i], size);
  }
  for (const CUkernelNodeAttrID attribute : {CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, CU_LAUNCH_ATTRIBUTE_COOPERATIVE}) {
    CUkernelNodeAttrValue value{};
    if (driver().cuGraphKernelNodeGetAttribute(node_, attribute, &value) != CUDA_SUCCESS) continue;
    must_stay_in_graph_ =
        must_stay_in_graph_ || (attribute == CU_LAUNCH_ATTRIBUTE_COOPERATIVE
                                    ? value.cooperative != 0
                                    : value.clusterDim.x * value.clusterDim.y * value.clusterDim.z > 1);
  }
  kernel_.kern = nullptr;
  return {};
}

// cuBLAS launches some kernels with all parameters in one piece of memory.
Result<void> Operation::read_parameter_block() {
  const void* block = nullptr;
  for (void** option = kernel_.extra; *option != CU_LAUNCH_PARAM_END; option += 2) {
    if (option[0] == CU_LAUNCH_PARAM_BUFFER_POINTER) block = option[1];
    if (option[0] == CU_LAUNCH_PARAM_BUFFER_SIZE) block_size_ = *static_cast<const size_t*>(option[1]);
  }
  if (block == nullptr || block_size_ == 0) return unsupported("a kernel whose parameters cannot be read");
  words_.resize((block_size_ + 7) / 8, 0);
  std::memcpy(words_.data(), block, block_size_);
  must_stay_in_graph_ = true;
  kernel_.kern = nullptr;
  return {};
}

Result<void> Operation::read_copy() {
  if (driver().cuGraphMemcpyNodeGetParams(node_, &copy_) != CUDA_SUCCESS)
    return unsupported("a copy without parameters");
  const auto on_device = [](CUmemorytype type, CUdeviceptr address) {
    return type == CU_MEMORYTYPE_DEVICE || (type == CU_MEMORYTYPE_UNIFIED && is_device_address(address));
  };
  if (!on_device(copy_.srcMemoryType, copy_.srcDevice) || !on_device(copy_.dstMemoryType, copy_.dstDevice))
    return unsupported("a copy from or to the host");
  words_ = {copy_.srcDevice, copy_.dstDevice};
  return {};
}

Result<void> Operation::read_fill() {
  if (driver().cuGraphMemsetNodeGetParams(node_, &fill_) != CUDA_SUCCESS)
    return unsupported("a fill without parameters");
  must_stay_in_graph_ = fill_.height > 1;
  words_ = {fill_.dst};
  return {};
}

bool Operation::learn_addresses(const Operation& other, const std::vector<MovingRange>& here,
                                const std::vector<MovingRange>& there) {
  if (kind_ != other.kind_ || words_.size() != other.words_.size() || kernel_.func != other.kernel_.func) return false;
  for (size_t word = 0; word < words_.size(); ++word) {
    const uint64_t mine = words_[word], its = other.words_[word];
    for (size_t range = 0; mine != its && range < here.size(); ++range) {
      if (!lies_in(mine, here[range]) || its - there[range].first != mine - here[range].first) continue;
      addresses_.push_back({word, range, mine - here[range].first});
      break;
    }
  }
  return true;
}

bool Operation::patch(const std::vector<uint64_t>& base) {
  bool changed = false;
  for (const Address& address : addresses_) {
    const uint64_t value = base[address.range] + address.offset;
    changed = changed || words_[address.word] != value;
    words_[address.word] = value;
  }
  return changed;
}

void Operation::store_words() {
  if (kind_ == CU_GRAPH_NODE_TYPE_MEMCPY) {
    copy_.srcDevice = words_[0];
    copy_.dstDevice = words_[1];
  } else if (kind_ == CU_GRAPH_NODE_TYPE_MEMSET) {
    fill_.dst = words_[0];
  } else if (block_size_ > 0) {
    block_options_ = {CU_LAUNCH_PARAM_BUFFER_POINTER, words_.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &block_size_,
                      CU_LAUNCH_PARAM_END};
    kernel_.extra = block_options_.data();
  } else if (parameters_.empty()) {
    for (const size_t start : starts_) parameters_.push_back(&words_[start]);
    kernel_.kernelParams = parameters_.data();
  }
}

CUresult Operation::launch(CUstream on) {
  store_words();
  switch (kind_) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return driver().cuLaunchKernel(kernel_.func, kernel_.gridDimX, kernel_.gridDimY, kernel_.gridDimZ,
                                     kernel_.blockDimX, kernel_.blockDimY, kernel_.blockDimZ, kernel_.sharedMemBytes,
                                     on, kernel_.kernelParams, nullptr);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return driver().cuMemcpy3DAsync(&copy_, on);
    default: break;
  }
  const auto value = static_cast<unsigned>(fill_.value);
  if (fill_.elementSize == 1)
    return driver().cuMemsetD8Async(fill_.dst, static_cast<unsigned char>(value), fill_.width, on);
  if (fill_.elementSize == 2)
    return driver().cuMemsetD16Async(fill_.dst, static_cast<unsigned short>(value), fill_.width, on);
  return driver().cuMemsetD32Async(fill_.dst, value, fill_.width, on);
}

CUresult Operation::update(CUgraphExec graph, CUgraphNode node) {
  store_words();
  switch (kind_) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return driver().cuGraphExecKernelNodeSetParams(graph, node, &kernel_);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return driver().cuGraphExecMemcpyNodeSetParams(graph, node, &copy_, context());
    default: return driver().cuGraphExecMemsetNodeSetParams(graph, node, &fill_, context());
  }
}

}  // namespace passnet::runtime::gpu
