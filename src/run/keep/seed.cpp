#include "run/keep/seed.h"

#include <fmt/format.h>

#include <array>
#include <span>

#include "base/random.h"

namespace passnet::run {

Result<Seed> draw_seed() {
  std::array<unsigned char, 20> bytes{};
  PASSNET_TRY_VOID(fill_random(std::as_writable_bytes(std::span(bytes))));
  Seed seed;
  for (size_t i = 0; i < 4; ++i) seed.value = seed.value << 8 | bytes[i];
  for (size_t i = 4; i < bytes.size(); ++i) seed.nonce += fmt::format("{:02x}", bytes[i]);
  return seed;
}

}  // namespace passnet::run
