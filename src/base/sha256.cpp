#include "base/sha256.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>

#include <array>
#include <span>

#include "base/check.h"

namespace passnet {

Sha256::Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  PASSNET_CHECK(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1, "SHA-256 of OpenSSL");
}

void Sha256::add(std::string_view bytes) {
  PASSNET_CHECK(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1, "SHA-256 of OpenSSL");
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  PASSNET_CHECK(EVP_DigestFinal_ex(context_.get(), digest.data(), &size) == 1, "SHA-256 of OpenSSL");
  return fmt::format("{:02x}", fmt::join(std::span(digest).first(size), ""));
}

}  // namespace passnet
