#include "runtime/answer/received.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdint>
#include <limits>

namespace passnet::runtime {

namespace {

/// Bytes of shared memory. Errors: BadInput: `fd` is none.
Result<int64_t> memory_bytes(const UniqueFd& fd) {
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return bad_input("the descriptor that came with the request is not shared memory");
  return info.st_size;
}

Result<void> require_descriptors(const std::vector<UniqueFd>& fds, size_t expected) {
  if (fds.size() == expected) return {};
  return bad_input(fmt::format("{} descriptors came with the request, expected {}", fds.size(), expected));
}

}  // namespace

Result<ReceivedBundle> receive_bundle(const Json& tensors, std::vector<UniqueFd>& fds) {
  PASSNET_TRY_VOID(require_descriptors(fds, 1));
  ReceivedBundle bundle;
  PASSNET_TRY(const int64_t size, memory_bytes(fds[0]));
  PASSNET_TRY(bundle.entries, wire::entries_from_json(tensors, size));
  PASSNET_TRY(bundle.memory, wire::Mapping::map(fds[0].get(), size, false));
  bundle.fd = std::move(fds[0]);
  return bundle;
}

Result<SharedTensors> receive_tensors(const Json& tensors, bool in_room, std::vector<UniqueFd>& fds) {
  PASSNET_TRY_VOID(require_descriptors(fds, in_room ? 0 : 1));
  SharedTensors received;
  int64_t size = std::numeric_limits<int64_t>::max();  // of a room that the graph knows
  if (!in_room) {
    PASSNET_TRY(size, memory_bytes(fds[0]));
    received.memory = std::move(fds[0]);
  }
  PASSNET_TRY(received.entries, wire::entries_from_json(tensors, size));
  return received;
}

}  // namespace passnet::runtime
