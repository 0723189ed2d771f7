// SHA-256 of bytes that come piece by piece; of a whole text: base/hash.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // of OpenSSL

namespace passnet {

class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  /// 64 lower-case hex digits of all that was added. Called once, at the end.
  std::string hex();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

}  // namespace passnet
