#include "runtime/tensor/share.h"

#include <ATen/ops/from_blob.h>
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <cstring>
#include <memory>

#include "runtime/tensor/dtype.h"

namespace passnet::runtime {

Result<std::vector<wire::Entry>> entries_of(const std::vector<std::string>& names,
                                            const std::vector<at::Tensor>& tensors) {
  std::vector<wire::Entry> entries;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].layout() != at::kStrided || !has_dtype(tensors[i].scalar_type()))
      return unsupported(
          fmt::format("'{}' is a {} tensor of {}, expected a dense one of an element type that graphs have", names[i],
                      fmt::streamed(tensors[i].layout()), c10::toString(tensors[i].scalar_type())));
    entries.push_back({names[i], dtype_of(tensors[i].scalar_type()), tensors[i].sizes().vec(), 0});
  }
  return entries;
}

namespace {

Result<void> copy_into(int memory, int64_t size, const std::vector<wire::Entry>& entries,
                       const std::vector<at::Tensor>& tensors) {
  PASSNET_TRY(const wire::Mapping mapping, wire::Mapping::map(memory, size, true));
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].numel() == 0) continue;
    std::byte* const to = mapping.data() + entries[i].offset;
    const at::Tensor contiguous = tensors[i].contiguous().resolve_conj().resolve_neg();
    if (contiguous.is_cpu())
      std::memcpy(to, contiguous.const_data_ptr(), static_cast<size_t>(contiguous.nbytes()));
    else
      at::from_blob(to, contiguous.sizes(), contiguous.options().device(at::kCPU)).copy_(contiguous);
  }
  return {};
}

}  // namespace

Result<SharedTensors> share(const std::vector<std::string>& names, const std::vector<at::Tensor>& tensors) {
  SharedTensors shared;
  PASSNET_TRY(shared.entries, entries_of(names, tensors));
  const int64_t size = wire::lay_out(shared.entries);
  PASSNET_TRY(shared.memory, wire::create_memory("the outputs", size));
  PASSNET_TRY_VOID(copy_into(shared.memory.get(), size, shared.entries, tensors));
  PASSNET_TRY_VOID(wire::seal(shared.memory.get()));
  return shared;
}

Result<SharedTensors> KeptMemory::share(const std::vector<std::string>& names, const std::vector<at::Tensor>& tensors) {
  SharedTensors shared;
  PASSNET_TRY(shared.entries, entries_of(names, tensors));
  const int64_t size = wire::lay_out(shared.entries);
  if (!fd_ || size > size_) {
    fd_ = UniqueFd();  // before there is another of the size
    PASSNET_TRY(fd_, wire::create_memory("the outputs of timed calls", size));
    PASSNET_TRY_VOID(wire::seal_size(fd_.get()));
    size_ = size;
  }
  PASSNET_TRY_VOID(copy_into(fd_.get(), size, shared.entries, tensors));
  PASSNET_TRY(shared.memory, duplicate(fd_.get(), "the outputs of timed calls"));
  return shared;
}

Result<std::vector<at::Tensor>> map_shared(const SharedTensors& shared) {
  PASSNET_TRY(wire::Mapping mapped, wire::Mapping::map(shared.memory.get(), wire::extent_bytes(shared.entries), false));
  const auto mapping = std::make_shared<const wire::Mapping>(std::move(mapped));
  std::vector<at::Tensor> tensors;
  for (const wire::Entry& entry : shared.entries)
    tensors.push_back(at::from_blob(
        mapping->data() + entry.offset, entry.shape, [mapping](void*) {}, at::TensorOptions(scalar_type(entry.dtype))));
  return tensors;
}

std::vector<at::Tensor> view_shared(const std::vector<wire::Entry>& entries, const wire::Mapping& mapping) {
  std::vector<at::Tensor> tensors;
  for (const wire::Entry& entry : entries)
    tensors.push_back(
        at::from_blob(mapping.data() + entry.offset, entry.shape, at::TensorOptions(scalar_type(entry.dtype))));
  return tensors;
}

}  // namespace passnet::runtime
