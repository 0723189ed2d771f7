#include "base/random.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>
#include <cstring>

namespace passnet {

Result<void> fill_random(std::span<std::byte> bytes) {
  ssize_t got = 0;
  do {
    got = ::getrandom(bytes.data(), bytes.size(), 0);
  } while (got < 0 && errno == EINTR);
  // Up to 256 bytes come whole or not at all.
  if (got != static_cast<ssize_t>(bytes.size()))
    return resource_error(fmt::format("the system gives no random bytes: {}", std::strerror(errno)));
  return {};
}

Result<uint64_t> random_number() {
  uint64_t number = 0;
  PASSNET_TRY_VOID(fill_random(std::as_writable_bytes(std::span(&number, 1))));
  return number;
}

}  // namespace passnet
