#include "fx/syntax/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/text/strings.h"

namespace passnet::fx {

namespace {

constexpr size_t kMaxNumberBytes = 4096;

bool is_ascii(std::string_view text) {
  uint64_t seen = 0;
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    seen |= word;
  }
  for (; i < text.size(); ++i) seen |= static_cast<unsigned char>(text[i]);
  return (seen & 0x8080808080808080u) == 0;
}

// Length of the well-formed UTF-8 sequence at `at` (no overlong forms, no surrogates), 0 when there is none.
size_t utf8_length(const char* at, const char* end) {
  const auto byte = [&](ptrdiff_t i) { return at + i < end ? static_cast<unsigned char>(at[i]) : 0u; };
  const auto tail = [&](ptrdiff_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return tail(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const bool allowed = !(lead == 0xe0 && byte(1) < 0xa0) && !(lead == 0xed && byte(1) > 0x9f);
    return allowed && tail(1) && tail(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const bool allowed = !(lead == 0xf0 && byte(1) < 0x90) && !(lead == 0xf4 && byte(1) > 0x8f);
    return allowed && tail(1) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

void append_utf8(std::string& out, uint32_t code) {
  const auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6), put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12), put(0x80 | (code >> 6 & 0x3f)), put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18), put(0x80 | (code >> 12 & 0x3f)), put(0x80 | (code >> 6 & 0x3f)), put(0x80 | (code & 0x3f));
  }
}

constexpr std::string_view kKeywords[] = {"False",  "None",   "True",    "and",      "as",       "assert", "async",
                                          "await",  "break",  "class",   "continue", "def",      "del",    "elif",
                                          "else",   "except", "finally", "for",      "from",     "global", "if",
                                          "import", "in",     "is",      "lambda",   "nonlocal", "not",    "or",
                                          "pass",   "raise",  "return",  "try",      "while",    "with",   "yield"};

// The bytes of at most eight as one number, which compares faster than text.
constexpr uint64_t packed(std::string_view word) {
  uint64_t bytes = 0;
  for (const char c : word) bytes = bytes << 8 | static_cast<unsigned char>(c);
  return bytes;
}

constexpr auto kPackedKeywords = [] {
  std::array<uint64_t, std::size(kKeywords)> all{};
  std::ranges::transform(kKeywords, all.begin(), packed);
  std::ranges::sort(all);
  return all;
}();

}  // namespace

bool is_keyword(std::string_view word) {
  return word.size() >= 2 && word.size() <= 8 && std::ranges::binary_search(kPackedKeywords, packed(word));
}

Lexer::Lexer(const std::string& file, const std::string& text, size_t offset)
    : file_(file), begin_(text.data()), end_(begin_ + text.size()), at_(begin_ + std::min(offset, text.size())) {
  check_text();
}

void Lexer::check_text() {
  const std::string_view text{begin_, static_cast<size_t>(end_ - begin_)};
  if (text.size() > kMaxTextBytes) {
    return fail(begin_,
                fmt::format("the text is too large: found {} bytes, expected at most {}", text.size(), kMaxTextBytes));
  }
  if (const void* nul = std::memchr(begin_, 0, text.size())) {
    return fail(static_cast<const char*>(nul), "found a NUL byte, expected Python source text");
  }
  ascii_ = is_ascii(text);
  if (ascii_) return;
  for (const char* at = begin_; at < end_;) {
    const size_t length = utf8_length(at, end_);
    if (length == 0) {
      return fail(at, fmt::format("found byte 0x{:02x}, which is not valid UTF-8, expected Python source text",
                                  static_cast<unsigned char>(*at)));
    }
    at += length;
  }
}

SourceLoc Lexer::locate(const char* at) const {
  return passnet::locate(file_, {begin_, static_cast<size_t>(end_ - begin_)}, static_cast<size_t>(at - begin_));
}

void Lexer::fail(const char* at, std::string message, std::string hint, Error::Kind kind) {
  if (!error_) {
    Error error;
    error.kind = kind;
    error.message = std::move(message);
    error.at = locate(at);
    error.hint = std::move(hint);
    error_ = std::move(error);
  }
  at_ = end_;
}

void Lexer::expected(std::string_view what, std::string hint) {
  if (error_) return;
  fail(at_, fmt::format("expected {}, found {}", what, describe()), std::move(hint));
}

void Lexer::expected_bracket(std::string_view other, char bracket) { expected(fmt::format("{}'{}'", other, bracket)); }

void Lexer::fail_nesting() {
  fail(at_, fmt::format("nested too deeply: more than {} levels of brackets and operators", kMaxNesting));
}

std::string Lexer::describe() const {
  if (at_end()) return "the end of the file";
  if (*at_ == '\n' || *at_ == '#') return "the end of the line";
  if (at_quote()) return "a string";
  const char* stop = at_;
  if (is(*at_, detail::kNameByte)) {
    while (is(*stop, detail::kNameByte) || (at_digit() && *stop == '.')) ++stop;
    return quoted(std::string_view{at_, static_cast<size_t>(stop - at_)});
  }
  for (std::string_view token : {"**=", "//=", "<<=", ">>=", "...", "==", "!=", "<=", ">=", "->", ":=", "+=",
                                 "-=",  "*=",  "/=",  "%=",  "@=",  "&=", "|=", "^=", "**", "//", "<<", ">>"}) {
    if (std::string_view{at_, static_cast<size_t>(end_ - at_)}.starts_with(token)) return quoted(token);
  }
  return quoted(std::string_view{at_, std::max<size_t>(1, utf8_length(at_, end_))});
}

namespace {

struct Letters {
  uint32_t first, last;
};
// Code points that no name has, or that Python takes for others (NFKC: ligatures, wide letters, accents by themselves).
constexpr Letters kNoLetters[] = {{0x80, 0xbf},       {0xd7, 0xd7},       {0xf7, 0xf7},       {0x2b0, 0x36f},
                                  {0x2000, 0x2bff},   {0x2e00, 0x2fff},   {0x3000, 0x3040},   {0x3200, 0x33ff},
                                  {0xd7ff, 0xfaff},   {0xfb00, 0xfb4f},   {0xfd3e, 0xfdff},   {0xfe00, 0xffff},
                                  {0x1d400, 0x1d7ff}, {0x1f000, 0x1ffff}, {0xe0000, 0x10ffff}};

uint32_t code_point(const char* at, size_t length) {
  const auto lead = static_cast<unsigned char>(*at);
  uint32_t code = length == 1 ? lead : lead & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) code = code << 6 | (static_cast<unsigned char>(at[i]) & 0x3f);
  return code;
}

}  // namespace

// Fails at the first character of a name that is no letter.
void Lexer::check_letters(std::string_view name) {
  for (const char* at = name.data(); at < name.data() + name.size();) {
    const size_t length = std::max<size_t>(1, utf8_length(at, end_));
    const uint32_t code = code_point(at, length);
    const auto holds = [code](const Letters& range) { return code >= range.first && code <= range.last; };
    if (code >= 0x80 && std::ranges::any_of(kNoLetters, holds)) {
      return fail(
          at, fmt::format("found {} (U+{:04X}), which no name has here", quoted(std::string_view(at, length)), code),
          "write letters, digits and underscores");
    }
    at += length;
  }
}

void Lexer::skip_rest() {
  for (;; ++at_) {
    const char c = *at_;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\f') continue;
    if (c == '\n' && brackets_ > 0) continue;
    if (c == '\\' && (at_[1] == '\n' || (at_[1] == '\r' && at_[2] == '\n'))) {
      at_ += at_[1] == '\n' ? 1 : 2;
      continue;
    }
    if (c != '#') return;
    at_ = static_cast<const char*>(std::memchr(at_, '\n', static_cast<size_t>(end_ - at_)));
    if (at_ == nullptr) at_ = end_;
    if (brackets_ == 0 || at_end()) return;
  }
}

uint32_t Lexer::next_line() {
  brackets_ = 0;
  for (;;) {
    if (*at_ == '\n') ++at_;
    uint32_t column = 0;
    for (;; ++at_) {
      if (*at_ == ' ')
        ++column;
      else if (*at_ == '\t')
        column = (column / 8 + 1) * 8;
      else if (*at_ == '\f')
        column = 0;
      else if (*at_ != '\r')
        break;
    }
    if (*at_ == '#') skip();
    if (at_end()) return 0;
    if (*at_ != '\n') return column;
  }
}

void Lexer::skip_line() {
  for (skip(); !at_end() && *at_ != '\n'; skip()) {
    if (at_quote()) {
      string_token();
      continue;
    }
    if (*at_ == '(' || *at_ == '[' || *at_ == '{') enter_bracket();
    if ((*at_ == ')' || *at_ == ']' || *at_ == '}') && brackets_ > 0) leave_bracket();
    ++at_;
  }
}

bool Lexer::accept_word(std::string_view word) {
  if (!std::string_view{at_, static_cast<size_t>(end_ - at_)}.starts_with(word)) return false;
  if (is(at_[word.size()], detail::kNameByte)) return false;
  take(word.size());
  return true;
}

// number := ("0x" | "0o" | "0b") digits | digits ["." [digits]] [exponent] | "." digits [exponent]
ir::Arg Lexer::number(bool negative) {
  const char* start = at_;
  bool is_real = false;
  const auto digits = [&] {
    while (at_digit() || *at_ == '_') ++at_;
  };
  if (*at_ == '0' && std::strchr("xXoObB", at_[1]) && at_[1] != 0) {
    while (is(*at_, detail::kNameByte)) ++at_;
    return integer(start, negative);
  }
  digits();
  if (*at_ == '.') {
    is_real = true;
    ++at_;
    digits();
  }
  if ((*at_ == 'e' || *at_ == 'E') &&
      (is(at_[1], detail::kDigit) || ((at_[1] == '+' || at_[1] == '-') && is(at_[2], detail::kDigit)))) {
    is_real = true;
    at_ += 2;
    digits();
  }
  if (at_name()) {
    const bool complex = (*at_ == 'j' || *at_ == 'J') && !is(at_[1], detail::kNameByte);
    while (is(*at_, detail::kNameByte)) ++at_;
    const std::string found = quoted(since(start));
    fail(start, complex ? fmt::format("found the complex number {}, expected an int or float", found)
                        : fmt::format("found {}, expected a number", found));
    return {};
  }
  return is_real ? real(start, negative) : integer(start, negative);
}

namespace {
// The digits without underscores.
std::string plain_digits(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  return digits;
}
}  // namespace

ir::Arg Lexer::integer(const char* start, bool negative) {
  std::string_view text = since(start);
  const auto out_of_range = [&] {
    fail(start, fmt::format("integer {} ({} digits) is out of range, expected -2**63 to 2**63 - 1", quoted(text),
                            text.size()));
    return ir::Arg{};
  };
  int base = 10;
  std::string_view digits = text;
  if (text.size() > 1 && text[0] == '0' && !is(text[1], detail::kDigit) && text[1] != '_') {
    base = (text[1] | 0x20) == 'x' ? 16 : (text[1] | 0x20) == 'o' ? 8 : 2;
    digits.remove_prefix(2);
  }
  std::string copy;
  if (digits.find('_') != std::string_view::npos) {
    if (text.size() > kMaxNumberBytes) return out_of_range();
    copy = plain_digits(digits);
    digits = copy;
  }
  uint64_t value = 0;
  const auto [stop, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (status == std::errc::result_out_of_range) return out_of_range();
  const bool leading_zero = base == 10 && digits.size() > 1 && digits[0] == '0' && value != 0;
  if (status != std::errc{} || stop != digits.data() + digits.size() || leading_zero) {
    fail(start, fmt::format("found {}, expected a number", quoted(text)));
    return {};
  }
  constexpr uint64_t kMin = uint64_t{1} << 63;
  if (value > kMin || (value == kMin && !negative)) return out_of_range();
  skip();
  return ir::Arg::of_int(static_cast<int64_t>(negative ? 0 - value : value));
}

ir::Arg Lexer::real(const char* start, bool negative) {
  const std::string_view text = since(start);
  if (text.size() > kMaxNumberBytes) {
    fail(start, fmt::format("number is too long: found {} digits, expected at most {}", text.size(), kMaxNumberBytes));
    return {};
  }
  double value = 0;
  const auto [stop, status] = std::from_chars(start, at_, value);
  if (status != std::errc{} || stop != at_) {
    // Out of range (to infinity or zero, as Python reads it) or with underscores.
    value = std::strtod(plain_digits(text).c_str(), nullptr);
  }
  skip();
  return ir::Arg::of_float(negative ? -value : value);
}

// string := one or more adjacent '…', "…", '''…''', """…"""
std::string_view Lexer::string(std::string& scratch, std::string_view prefix) {
  const bool raw = prefix == "r" || prefix == "R";
  if (!raw && !prefix.empty() && prefix != "u" && prefix != "U") {
    fail(at_ - prefix.size(), fmt::format("strings with prefix {} are not part of the graph language", quoted(prefix)));
    return {};
  }
  const std::string_view first = string_token();
  skip();
  const bool plain = raw || first.find('\\') == std::string_view::npos;
  if (plain && !at_quote()) return first;
  scratch.clear();
  if (plain)
    scratch = first;
  else
    decode(first, scratch);
  while (at_quote()) {
    decode(string_token(), scratch);
    skip();
  }
  return scratch;
}

std::string Lexer::expect_string() {
  if (!at_quote()) return expected("a string"), std::string();
  std::string scratch;
  return std::string(string(scratch));
}

std::string_view Lexer::string_token() {
  const char* start = at_;
  const char quote = *at_;
  const bool triple = at_[1] == quote && at_[2] == quote;
  at_ += triple ? 3 : 1;
  const char* body = at_;
  for (;; ++at_) {
    if (*at_ == quote && (!triple || (at_[1] == quote && at_[2] == quote))) break;
    if (at_end() || (*at_ == '\n' && !triple)) {
      fail(start, fmt::format("the string that begins here has no closing {}",
                              triple ? std::string(3, quote) : std::string(1, quote)));
      return {};
    }
    if (*at_ == '\\' && at_[1] != 0) ++at_;
  }
  const std::string_view text{body, static_cast<size_t>(at_ - body)};
  at_ += triple ? 3 : 1;
  return text;
}

// Python's escapes, to UTF-8.
void Lexer::decode(std::string_view body, std::string& out) {
  static constexpr std::string_view kPlain = "\\'\"abfnrtv";
  static constexpr std::string_view kMeaning = "\\'\"\a\b\f\n\r\t\v";
  for (size_t i = 0; i < body.size();) {
    if (body[i] != '\\') {
      const size_t stop = std::min(body.find('\\', i), body.size());
      out.append(body.substr(i, stop - i));
      i = stop;
      continue;
    }
    const char* at = body.data() + i;
    const char kind = body[i + 1];
    const size_t plain = kPlain.find(kind);
    const size_t width = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    if (plain != std::string_view::npos) {
      out += kMeaning[plain];
      i += 2;
    } else if (kind == '\n') {
      i += 2;
    } else if (width > 0 || (kind >= '0' && kind <= '7')) {
      const std::string_view digits = width > 0 ? body.substr(i + 2, width) : body.substr(i + 1, 3);
      uint32_t code = 0;
      const auto [stop, status] =
          std::from_chars(digits.data(), digits.data() + digits.size(), code, width > 0 ? 16 : 8);
      const auto used = static_cast<size_t>(stop - digits.data());
      const bool surrogate = code >= 0xd800 && code <= 0xdfff;
      if (status != std::errc{} || (width > 0 && used != width) || surrogate || code > 0x10ffff) {
        return fail(at, fmt::format("found the escape {}, expected a character", quoted(body.substr(i, width + 2))));
      }
      append_utf8(out, code);
      i += used + (width > 0 ? 2 : 1);
    } else if (kind == 'N') {
      return fail(at, "named escapes (\\N{…}) are not part of the graph language");
    } else {
      out += '\\';
      ++i;
    }
  }
}

}  // namespace passnet::fx
