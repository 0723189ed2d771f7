// Content identity: SHA-256 for what is kept or compared across machines, XXH3 for speed within a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace passnet {

/// 64 lower-case hex digits.
std::string sha256_hex(std::string_view bytes);

/// HMAC with SHA-256, 64 lower-case hex digits: who does not know the secret cannot make one.
std::string hmac_sha256_hex(std::string_view secret, std::string_view bytes);

/// XXH3, 64 bits; not for security. About 20 GB/s.
uint64_t fast_hash(const void* data, size_t size_bytes, uint64_t seed = 0);

}  // namespace passnet
