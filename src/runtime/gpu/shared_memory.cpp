#include "runtime/gpu/shared_memory.h"

#include <ATen/ops/from_blob.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "runtime/gpu/driver.h"
#include "runtime/tensor/placement.h"

namespace passnet::runtime::gpu {

namespace {

constexpr auto kDescriptor = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

Result<void> require(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return {};
  return resource_error(fmt::format("{}: {}", what, describe(result)));
}

CUmemLocation place() { return {CU_MEM_LOCATION_TYPE_DEVICE, {graph_device().index()}}; }

CUmemAllocationProp properties() {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = kDescriptor;
  properties.location = place();
  return properties;
}

/// What cuMemCreate and cuMemMap take: a multiple of 2 MiB.
Result<size_t> rounded_up(int64_t size_bytes) {
  const CUmemAllocationProp wanted = properties();
  size_t step = 0;
  PASSNET_TRY_VOID(require(driver().cuMemGetAllocationGranularity(&step, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
                           "asking for page sizes"));
  return (static_cast<size_t>(size_bytes) + step - 1) / step * step;
}

/// Memory of the device at an address of this process; the last who has it mapped or holds its descriptor frees it.
class Mapped {
 public:
  Mapped() = default;
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() {
    if (is_mapped_) driver().cuMemUnmap(address_, size_);
    if (address_ != 0) driver().cuMemAddressFree(address_, size_);
    if (handle_ != 0) driver().cuMemRelease(handle_);
  }

  Result<void> create(size_t size) {
    const CUmemAllocationProp wanted = properties();
    PASSNET_TRY_VOID(require(driver().cuMemCreate(&handle_, size, &wanted, 0), "allocating memory to be shared"));
    return map(size);
  }
  Result<void> open(int memory, size_t size) {
    void* const descriptor = reinterpret_cast<void*>(static_cast<intptr_t>(memory));
    PASSNET_TRY_VOID(require(driver().cuMemImportFromShareableHandle(&handle_, descriptor, kDescriptor),
                             "opening memory that was shared"));
    return map(size);
  }
  Result<UniqueFd> share() const {
    int descriptor = -1;
    PASSNET_TRY_VOID(
        require(driver().cuMemExportToShareableHandle(&descriptor, handle_, kDescriptor, 0), "sharing memory"));
    UniqueFd memory(descriptor);
    if (::fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0) return io_error("keep to itself", "memory to be shared", errno);
    return memory;
  }
  void* data() const { return reinterpret_cast<void*>(address_); }

 private:
  Result<void> map(size_t size) {
    size_ = size;
    PASSNET_TRY_VOID(require(driver().cuMemAddressReserve(&address_, size, 0, 0, 0), "reserving addresses"));
    PASSNET_TRY_VOID(require(driver().cuMemMap(address_, size, 0, handle_, 0), "mapping memory to be shared"));
    is_mapped_ = true;
    const CUmemAccessDesc access{place(), CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return require(driver().cuMemSetAccess(address_, size, &access, 1), "mapping memory to be shared");
  }

  CUmemGenericAllocationHandle handle_ = 0;
  CUdeviceptr address_ = 0;
  size_t size_ = 0;
  bool is_mapped_ = false;
};

at::Tensor view(const std::shared_ptr<const Mapped>& mapped, int64_t size_bytes) {
  return at::from_blob(
      mapped->data(), {size_bytes}, [mapped](void*) {}, at::TensorOptions().device(graph_device()).dtype(at::kByte),
      graph_device());
}

}  // namespace

Result<SharedBytes> allocate_shared(int64_t size_bytes) {
  PASSNET_TRY(const size_t size, rounded_up(size_bytes));
  const auto mapped = std::make_shared<Mapped>();
  PASSNET_TRY_VOID(mapped->create(size));
  PASSNET_TRY(UniqueFd memory, mapped->share());
  return SharedBytes{view(mapped, size_bytes), std::move(memory)};
}

Result<at::Tensor> open_shared(int memory, int64_t size_bytes) {
  PASSNET_TRY(const size_t size, rounded_up(size_bytes));
  const auto mapped = std::make_shared<Mapped>();
  PASSNET_TRY_VOID(mapped->open(memory, size));
  return view(mapped, size_bytes);
}

}  // namespace passnet::runtime::gpu
