#include "base/hash.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/check.h"

namespace passnet {

namespace {

std::string hex_of(const unsigned char* digest, unsigned int size) {
  std::string hex;
  hex.reserve(2 * size);
  for (unsigned int i = 0; i < size; ++i) {
    hex += "0123456789abcdef"[digest[i] >> 4];
    hex += "0123456789abcdef"[digest[i] & 15];
  }
  return hex;
}

}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  PASSNET_CHECK(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1, "SHA-256 of OpenSSL");
}

void Sha256::add(std::string_view bytes) {
  PASSNET_CHECK(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1, "SHA-256 of OpenSSL");
}

std::string Sha256::hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  PASSNET_CHECK(EVP_DigestFinal_ex(context_.get(), digest, &size) == 1, "SHA-256 of OpenSSL");
  return hex_of(digest, size);
}

std::string sha256_hex(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  PASSNET_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr) == 1,
                "SHA-256 of OpenSSL");
  return hex_of(digest, size);
}

std::string hmac_sha256_hex(std::string_view secret, std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  PASSNET_CHECK(HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
                     reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest, &size) != nullptr,
                "HMAC of OpenSSL");
  return hex_of(digest, size);
}

uint64_t fast_hash(const void* data, size_t size_bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(data, size_bytes, seed);
}

}  // namespace passnet
