// Messages over a SOCK_SEQPACKET socket, each with at most a few descriptors.
#pragma once

#include <cstddef>
#include <span>

#include "base/file/file.h"

namespace passnet::sandbox {

/// Sends one message with all descriptors of `fds`. Returns: false when the peer is gone.
bool send_with_descriptors(int socket, const void* bytes, size_t size, std::span<const int> fds);
/// Receives one message of exactly `size` bytes, and as many descriptors as `fds` has room for; a message may have none.
/// Returns: false when the peer is gone or sent something else.
bool receive_with_descriptors(int socket, void* bytes, size_t size, std::span<UniqueFd> fds = {});

}  // namespace passnet::sandbox
