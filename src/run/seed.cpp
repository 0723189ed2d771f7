#include "run/seed.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace passnet::run {

Result<Seed> draw_seed() {
  std::array<unsigned char, 20> bytes{};
  // Up to 256 bytes come whole or not at all.
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return resource_error(fmt::format("the system gives no random bytes: {}", std::strerror(errno)));
  Seed seed;
  for (size_t i = 0; i < 4; ++i) seed.value = seed.value << 8 | bytes[i];
  for (size_t i = 4; i < bytes.size(); ++i) seed.nonce += fmt::format("{:02x}", bytes[i]);
  return seed;
}

}  // namespace passnet::run
