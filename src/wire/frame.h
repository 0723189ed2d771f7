// What control and workers say to each other: frames on a socket pair. A frame is a 4-byte little-endian length, then
// that many bytes of JSON; descriptors of shared memory travel with it (SCM_RIGHTS). Requests have "do"; replies have
// "ok": true, or "ok": false with "kind" and "error". One reply per request, in order.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/json/json.h"
#include "base/result.h"

namespace passnet::wire {

inline constexpr uint32_t kMaxFrameBytes = 256u << 20;

/// One message with the descriptors that came with it.
struct Message {
  std::string json;  // text, parsed by the receiver
  std::vector<UniqueFd> fds;
};

/// fds:      stay open here; the receiver gets duplicates.
/// Errors:   Io when the peer is gone ("peer closed the connection").
Result<void> send_message(int socket, const std::string& json, const std::vector<int>& fds = {});

/// Waits for a message, at most `timeout`.
/// Errors: Resource when none came in time; Io when the peer is gone; BadInput when the bytes are not a frame (a length
///         over kMaxFrameBytes).
Result<Message> receive_message(int socket, std::chrono::milliseconds timeout);

}  // namespace passnet::wire
