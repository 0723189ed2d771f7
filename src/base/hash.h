// Content identity: SHA-256 for what is kept or compared across machines, XXH3 for speed within a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // of OpenSSL

namespace passnet {

/// SHA-256 of bytes that come piece by piece.
class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  /// 64 lower-case hex digits of all that was added. Called once, at the end.
  std::string hex();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

/// Returns 64 lower-case hex digits of a whole text.
std::string sha256_hex(std::string_view bytes);

/// HMAC with SHA-256, 64 lower-case hex digits: who does not know the secret cannot make one.
std::string hmac_sha256_hex(std::string_view secret, std::string_view bytes);

/// XXH3, 64 bits; not for security. About 20 GB/s.
uint64_t fast_hash(const void* data, size_t size_bytes, uint64_t seed = 0);

}  // namespace passnet
