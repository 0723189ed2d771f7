#include "runtime/session/peer_tensors.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "base/log.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/share.h"

namespace passnet::runtime {

namespace {

/// To make and open a room takes a millisecond, in which smaller tensors are copied to the host and back.
constexpr int64_t kWorthwhile = int64_t{16} << 20;

at::Tensor view(const at::Tensor& bytes, const wire::Entry& entry) {
  return bytes.narrow(0, entry.offset, entry.size_bytes()).view(scalar_type(entry.dtype)).view(entry.shape);
}

}  // namespace

SharedBytes make_room(Device& device, const CallResult& expected) {
  SharedResults all(std::numeric_limits<int64_t>::max());
  all.add(expected, "", 0);
  Result<std::vector<wire::Entry>> entries = entries_of(all.names(), all.tensors());
  if (!entries) return {};
  const int64_t size_bytes = wire::lay_out(*entries);
  if (size_bytes < kWorthwhile || size_bytes > device.room_bytes()) return {};
  Result<SharedBytes> room = device.allocate_shared(size_bytes);
  if (room) return std::move(*room);
  log::debug("there is no room on the device: " + room.error().message);
  return {};
}

Result<SharedTensors> share_with_peer(Device& device, const std::vector<std::string>& names,
                                      const std::vector<at::Tensor>& tensors, const wire::DeviceRoom* room) {
  if (room == nullptr) return share(names, tensors);
  PASSNET_TRY(std::vector<wire::Entry> entries, entries_of(names, tensors));
  if (wire::lay_out(entries) > room->size_bytes) return share(names, tensors);
  const Result<at::Tensor> bytes = device.open_shared(room->memory.get(), room->size_bytes);
  if (!bytes) {
    log::debug("outputs go through shared memory: " + bytes.error().message);
    return share(names, tensors);
  }
  for (size_t i = 0; i < entries.size(); ++i) view(*bytes, entries[i]).copy_(tensors[i]);
  device.synchronize();
  return SharedTensors{std::move(entries), {}};
}

Result<std::vector<at::Tensor>> peer_tensors(const SharedTensors& shared, const at::Tensor& room) {
  if (shared.memory) return map_shared(shared);
  const int64_t needed = wire::extent_bytes(shared.entries);
  const int64_t there = room.defined() ? room.numel() : 0;
  if (needed > there) return bad_input(fmt::format("{} bytes in a room of {} on the device", needed, there));
  const at::Tensor bytes = room.clone();
  std::vector<at::Tensor> tensors;
  for (const wire::Entry& entry : shared.entries) tensors.push_back(view(bytes, entry));
  return tensors;
}

}  // namespace passnet::runtime
