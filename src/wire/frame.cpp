#include "wire/frame.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace passnet::wire {

namespace {

constexpr size_t kMaxFds = 16;  // descriptors of one message; a message has at most a bundle and a note
using Clock = std::chrono::steady_clock;

Error peer_closed() {
  Error error;
  error.kind = Error::Kind::Io;
  error.message = "peer closed the connection";
  return error;
}

Error socket_error(const char* what) {
  if (errno == EPIPE || errno == ECONNRESET) return peer_closed();
  Error error;
  error.kind = Error::Kind::Io;
  error.message = fmt::format("cannot {} a message: {}", what, std::strerror(errno));
  return error;
}

/// Waits until the socket can be read. Errors: Resource at the deadline.
Result<void> wait_readable(int socket, Clock::time_point deadline, std::chrono::milliseconds timeout) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd entry{socket, POLLIN, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(std::clamp<int64_t>(left, 0, 1 << 30)));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return socket_error("wait for");
    if (ready == 0 && left <= 0)
      return resource_error(fmt::format("no message from the peer within {} ms", timeout.count()));
  }
}

constexpr size_t kNothingYet = ~size_t{0};

/// One recvmsg; appends descriptors that came with the bytes. Returns the bytes read, 0 at the end of the
/// stream, kNothingYet when there was nothing to read after all.
Result<size_t> receive_some(int socket, char* data, size_t size, std::vector<UniqueFd>& fds) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxFds)> control;
  iovec part{data, size};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t got;
  do {
    got = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK) return kNothingYet;
    return socket_error("receive");
  }
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
      fds.emplace_back(fd);
    }
  }
  if (header.msg_flags & MSG_CTRUNC)
    return bad_input(fmt::format("the peer sent more than {} descriptors with one message", kMaxFds));
  return static_cast<size_t>(got);
}

}  // namespace

Result<void> send_message(int socket, const std::string& json, const std::vector<int>& fds) {
  if (json.size() > kMaxFrameBytes)
    return resource_error(fmt::format("message of {} bytes: at most {} fit in a frame", json.size(), kMaxFrameBytes));
  if (fds.size() > kMaxFds)
    return resource_error(fmt::format("message with {} descriptors: at most {} can travel", fds.size(), kMaxFds));
  const auto length = static_cast<uint32_t>(json.size());
  std::array<char, 4> prefix;
  for (size_t i = 0; i < prefix.size(); ++i) prefix[i] = static_cast<char>(length >> (8 * i));

  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxFds)> control{};
  size_t sent = 0;
  const size_t total = prefix.size() + json.size();
  while (sent < total) {
    std::array<iovec, 2> parts;
    int count = 0;
    if (sent < prefix.size()) parts[count++] = {prefix.data() + sent, prefix.size() - sent};
    const size_t body = sent < prefix.size() ? 0 : sent - prefix.size();
    if (body < json.size()) parts[count++] = {const_cast<char*>(json.data()) + body, json.size() - body};
    msghdr header{};
    header.msg_iov = parts.data();
    header.msg_iovlen = static_cast<size_t>(count);
    if (sent == 0 && !fds.empty()) {
      header.msg_control = control.data();
      header.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
      cmsghdr* c = CMSG_FIRSTHDR(&header);
      c->cmsg_level = SOL_SOCKET;
      c->cmsg_type = SCM_RIGHTS;
      c->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
      std::memcpy(CMSG_DATA(c), fds.data(), sizeof(int) * fds.size());
    }
    const ssize_t wrote = ::sendmsg(socket, &header, MSG_NOSIGNAL);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return socket_error("send");
    sent += static_cast<size_t>(wrote);
  }
  return {};
}

Result<Message> receive_message(int socket, std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  Message message;
  std::array<char, 4> prefix;
  // Reads exactly `size` bytes; `started` tells a peer that left between frames from one that left inside a
  // frame.
  const auto read_exactly = [&](char* data, size_t size, bool started) -> Result<void> {
    for (size_t got = 0; got < size;) {
      PASSNET_TRY_VOID(wait_readable(socket, deadline, timeout));
      PASSNET_TRY(const size_t n, receive_some(socket, data + got, size - got, message.fds));
      if (n == kNothingYet) continue;
      if (n == 0)
        return started || got > 0 ? peer_closed().with_hint("it left in the middle of a message") : peer_closed();
      got += n;
    }
    return {};
  };
  PASSNET_TRY_VOID(read_exactly(prefix.data(), prefix.size(), false));
  uint32_t length = 0;
  for (size_t i = 0; i < prefix.size(); ++i) length |= uint32_t{static_cast<unsigned char>(prefix[i])} << (8 * i);
  if (length > kMaxFrameBytes)
    return bad_input(fmt::format("not a frame: length {}, expected at most {} bytes", length, kMaxFrameBytes));
  // Grown as bytes arrive, so that a lying length costs the sender, not us.
  for (size_t got = 0; got < length;) {
    const size_t step = std::min<size_t>(length - got, 1 << 20);
    message.json.resize(got + step);
    PASSNET_TRY_VOID(read_exactly(message.json.data() + got, step, true));
    got += step;
  }
  return message;
}

}  // namespace passnet::wire
