// The text of PTX, token by token.
#pragma once

#include <cctype>
#include <string_view>

namespace passnet::pass {

/// Comments and blanks are passed over. A token is a word (".param", "%r1", "ld.global.b32"), a string with its quotes,
/// or one other character. The end is an empty token.
class PtxTokens {
 public:
  explicit PtxTokens(std::string_view text) : text_(text) {}

  std::string_view next() {
    while (skip_blank() || skip_comment()) {
    }
    const size_t start = at_;
    if (at_ < text_.size() && !word_part(text_[at_])) {
      const size_t end = text_[at_] == '"' ? text_.find('"', at_ + 1) : at_;
      at_ = end == std::string_view::npos ? text_.size() : end + 1;
      return text_.substr(start, at_ - start);
    }
    while (at_ < text_.size() && word_part(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

 private:
  static bool word_part(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' || c == '.';
  }
  bool skip_blank() {
    const size_t start = at_;
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ > start;
  }
  bool skip_comment() {
    const std::string_view rest = text_.substr(at_);
    const bool line = rest.starts_with("//");
    if (!line && !rest.starts_with("/*")) return false;
    const size_t end = line ? rest.find('\n') : rest.find("*/", 2);
    at_ = end == std::string_view::npos ? text_.size() : at_ + end + (line ? 1 : 2);
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace passnet::pass
