#include "runtime/tensor/share.h"

#include <ATen/ops/from_blob.h>
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <cstring>

#include "runtime/tensor/dtype.h"

namespace passnet::runtime {

Result<SharedTensors> share(const std::vector<std::string>& names, const std::vector<at::Tensor>& tensors) {
  SharedTensors shared;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].layout() != at::kStrided || !has_dtype(tensors[i].scalar_type()))
      return unsupported(
          fmt::format("'{}' is a {} tensor of {}, expected a dense one of an element type that graphs have", names[i],
                      fmt::streamed(tensors[i].layout()), c10::toString(tensors[i].scalar_type())));
    shared.entries.push_back({names[i], dtype_of(tensors[i].scalar_type()), tensors[i].sizes().vec(), 0});
  }
  const int64_t size = wire::lay_out(shared.entries);
  PASSNET_TRY(shared.memory, wire::create_memory("the outputs", size));
  {
    PASSNET_TRY(const wire::Mapping mapping, wire::Mapping::map(shared.memory.get(), size, true));
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].numel() == 0) continue;
      const at::Tensor contiguous = tensors[i].contiguous().resolve_conj().resolve_neg();
      std::memcpy(mapping.data() + shared.entries[i].offset, contiguous.data_ptr(),
                  static_cast<size_t>(contiguous.nbytes()));
    }
  }
  PASSNET_TRY_VOID(wire::seal(shared.memory.get()));
  return shared;
}

std::vector<at::Tensor> view_shared(const std::vector<wire::Entry>& entries, const wire::Mapping& mapping) {
  std::vector<at::Tensor> tensors;
  for (const wire::Entry& entry : entries)
    tensors.push_back(
        at::from_blob(mapping.data() + entry.offset, entry.shape, at::TensorOptions(scalar_type(entry.dtype))));
  return tensors;
}

}  // namespace passnet::runtime
