#include "run/machine_lock.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <thread>

namespace passnet::run {

namespace {

constexpr std::chrono::milliseconds kPoll{200};

struct Address {
  sockaddr_un name{};
  socklen_t size = 0;
};

// A name that begins with a zero byte is no file; it belongs to whoever has bound it.
Address address_of(const std::string& kind, int index) {
  const std::string text = fmt::format("passnet/{}/{}", kind, index);
  Address address;
  address.name.sun_family = AF_UNIX;
  std::memcpy(address.name.sun_path + 1, text.data(), std::min(text.size(), sizeof address.name.sun_path - 1));
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return address;
}

const sockaddr* generic(const Address& address) { return reinterpret_cast<const sockaddr*>(&address.name); }

/// Empty when another process holds it. Errors: Resource.
Result<UniqueFd> bind_to(const std::string& kind, int index) {
  const Address address = address_of(kind, index);
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket && ::bind(socket.get(), generic(address), address.size) == 0 && ::listen(socket.get(), 16) == 0)
    return socket;
  if (socket && errno == EADDRINUSE) return UniqueFd();
  return resource_error(fmt::format("cannot lock {} {}: {}", kind, index, std::strerror(errno)))
      .with_hint("the lock is a socket of the name '@passnet/" + kind + "/…'; the system must allow local sockets");
}

/// The process that holds it; 0 when it is free by now or not known.
pid_t holder_of(const std::string& kind, int index) {
  const Address address = address_of(kind, index);
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  ucred peer{};
  socklen_t size = sizeof peer;
  if (!socket || ::connect(socket.get(), generic(address), address.size) != 0) return 0;
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

std::string why_waiting(const std::string& kind, const std::vector<int>& taken) {
  std::vector<std::string> holders;
  for (const int index : taken) {
    if (const pid_t pid = holder_of(kind, index); pid > 0) holders.push_back(std::to_string(pid));
  }
  std::sort(holders.begin(), holders.end());
  holders.erase(std::unique(holders.begin(), holders.end()), holders.end());
  const std::string what = fmt::format("{}{} {} {} held", kind, taken.size() == 1 ? "" : "s", fmt::join(taken, ", "),
                                       taken.size() == 1 ? "is" : "are");
  if (holders.empty()) return what + " by another process";
  return fmt::format("{} by process{} {}", what, holders.size() == 1 ? "" : "es", fmt::join(holders, ", "));
}

}  // namespace

Result<MachineLease> MachineLease::take(const std::string& kind, const std::vector<int>& wanted, size_t count,
                                        const std::function<void(const std::string&)>& on_wait,
                                        const std::atomic<bool>* interrupted) {
  bool told = false;
  while (true) {
    MachineLease lease;
    std::vector<int> taken;
    for (const int index : wanted) {
      if (lease.held_.size() == count) break;
      PASSNET_TRY(UniqueFd socket, bind_to(kind, index));
      if (!socket) {
        taken.push_back(index);
        continue;
      }
      lease.held_.push_back(index);
      lease.sockets_.push_back(std::move(socket));
    }
    if (lease.held_.size() == count || taken.empty()) return lease;
    // Those that were free are given back before waiting: two processes that each hold a part would wait for ever.
    lease = {};
    if (!told && on_wait) on_wait(why_waiting(kind, taken));
    told = true;
    if (interrupted && *interrupted) return resource_error("interrupted");
    std::this_thread::sleep_for(kPoll);
  }
}

}  // namespace passnet::run
