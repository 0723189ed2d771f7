#include "runtime/session/peer_tensors.h"

#include <utility>

#include "runtime/tensor/dtype.h"
#include "runtime/tensor/share.h"

namespace passnet::runtime {

namespace {

/// Memory to be shared on a device takes a fraction of a millisecond to get, which smaller tensors need to be copied.
constexpr int64_t kWorthwhile = int64_t{16} << 20;

at::Tensor view(const at::Tensor& bytes, const wire::Entry& entry) {
  return bytes.narrow(0, entry.offset, entry.size_bytes()).view(scalar_type(entry.dtype)).view(entry.shape);
}

Result<SharedTensors> share_on(Device& device, std::vector<wire::Entry> entries, const std::vector<at::Tensor>& tensors,
                               int64_t size_bytes) {
  PASSNET_TRY(SharedBytes shared, device.allocate_shared(size_bytes));
  for (size_t i = 0; i < entries.size(); ++i) view(shared.bytes, entries[i]).copy_(tensors[i]);
  device.synchronize();
  return SharedTensors{std::move(entries), std::move(shared.memory), size_bytes};
}

}  // namespace

Result<SharedTensors> share_with_peer(Device& device, const std::vector<std::string>& names,
                                      const std::vector<at::Tensor>& tensors, bool on_device) {
  if (on_device) {
    PASSNET_TRY(std::vector<wire::Entry> entries, entries_of(names, tensors));
    const int64_t size_bytes = wire::lay_out(entries);
    if (size_bytes >= kWorthwhile && size_bytes <= device.room_bytes()) {
      Result<SharedTensors> shared = share_on(device, std::move(entries), tensors, size_bytes);
      if (shared) return shared;
    }
  }
  return share(names, tensors);
}

Result<std::vector<at::Tensor>> peer_tensors(Device& device, const SharedTensors& shared) {
  if (shared.device_bytes == 0) return map_shared(shared);
  PASSNET_TRY(const at::Tensor bytes, device.copy_shared(shared.memory.get(), shared.device_bytes));
  std::vector<at::Tensor> tensors;
  for (const wire::Entry& entry : shared.entries) tensors.push_back(view(bytes, entry));
  return tensors;
}

}  // namespace passnet::runtime
