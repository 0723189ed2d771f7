// A cursor over the bytes of a Python text: blanks, names, numbers, strings, lines and positions.
// It makes no tokens: the readers of model.py, weight_meta.py and host plans look at the next byte and say
// what they want. The first error is kept and the cursor jumps to the end of the text, where every loop of a
// reader ends by itself.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/graph.h"

namespace passnet::fx {

/// Largest text we read; the largest model.py known has 3 MB.
inline constexpr size_t kMaxTextBytes = size_t{64} << 20;
/// Most nodes of a graph; the largest known has 8,000. It bounds the memory that short texts can take, as `a.T.T.T…`.
inline constexpr size_t kMaxNodes = size_t{1} << 20;
/// Deepest nesting of brackets and unary operators.
inline constexpr int kMaxNesting = 256;

namespace detail {
enum CharClass : uint8_t { kNameStart = 1, kNameByte = 2, kDigit = 4 };
constexpr std::array<uint8_t, 256> make_char_classes() {
  std::array<uint8_t, 256> table{};
  for (int c = '0'; c <= '9'; ++c) table[c] = kDigit | kNameByte;
  for (int c = 'a'; c <= 'z'; ++c) table[c] = table[c - 'a' + 'A'] = kNameStart | kNameByte;
  table['_'] = kNameStart | kNameByte;
  for (int c = 0x80; c < 256; ++c) table[c] = kNameStart | kNameByte;  // of a letter beyond ASCII: see check_letters
  return table;
}
inline constexpr std::array<uint8_t, 256> kCharClass = make_char_classes();
}  // namespace detail

class Lexer {
 public:
  /// file: for messages. text: outlives the lexer. offset: where reading begins.
  /// Texts that are too large, hold NUL bytes or are not UTF-8 fail at once.
  Lexer(const std::string& file, const std::string& text, size_t offset = 0);

  char peek() const { return *at_; }
  /// The byte `ahead` places on; only when none of the bytes before it is the end of the text.
  char peek(size_t ahead) const { return at_[ahead]; }
  const char* at() const { return at_; }
  uint32_t offset() const { return static_cast<uint32_t>(at_ - begin_); }
  uint32_t offset(const char* at) const { return static_cast<uint32_t>(at - begin_); }
  bool at_end() const { return at_ == end_; }
  bool at_name() const { return is(*at_, detail::kNameStart); }
  bool at_digit() const { return is(*at_, detail::kDigit); }
  bool at_number() const { return at_digit() || (*at_ == '.' && is(at_[1], detail::kDigit)); }
  bool at_ellipsis() const { return *at_ == '.' && at_[1] == '.' && at_[2] == '.'; }
  bool at_quote() const { return *at_ == '"' || *at_ == '\''; }
  /// A single `=`.
  bool at_assign() const { return *at_ == '=' && at_[1] != '='; }
  /// The end of a simple statement: newline, `;` or the end of the text. Call after skip().
  bool at_statement_end() const { return *at_ == '\n' || *at_ == ';' || at_end(); }

  /// Skips blanks, comments and joined lines; inside brackets newlines too.
  void skip() {
    while (*at_ == ' ') ++at_;
    if (static_cast<unsigned char>(*at_) < 0x20 || *at_ == '#' || *at_ == '\\') skip_rest();
  }
  void advance(size_t bytes) { at_ += bytes; }
  /// Goes back (or forth) to a place seen before, outside brackets.
  void jump(const char* at) {
    if (!error_) at_ = at;
  }
  /// Steps over `bytes` of a token and the blanks behind it.
  void take(size_t bytes) {
    at_ += bytes;
    skip();
  }
  /// Inside brackets newlines are blanks.
  void enter_bracket() { ++brackets_; }
  void leave_bracket() { --brackets_; }
  void open_bracket() { enter_bracket(), take(1); }
  /// Steps over `open`, which begins a bracket; else fails with "expected '(', found …" and returns false.
  bool open_bracket(char open) {
    if (*at_ != open) return expected_bracket("", open), false;
    open_bracket();
    return true;
  }
  /// Steps over `close`, which ends the bracket; else fails with "expected ')', found …".
  void close_bracket(char close) { close_unless("", close); }
  /// The same where a comma could stand, too: "expected ',' or ')', found …".
  void close_list(char close) { close_unless("',' or ", close); }
  /// The rest of `open [element ("," element)* [","]] close`; element: reads one.
  template <class Element>
  void list(char close, Element&& element) {
    while (*at_ != close && !failed()) {
      element();
      if (!accept(',')) break;
    }
    close_list(close);
  }
  /// True, stepping over it and blanks, when `c` is next.
  bool accept(char c) {
    if (*at_ != c || at_end()) return false;
    take(1);
    return true;
  }
  /// Like accept, else fails with "expected WHAT, found …".
  bool expect(char c, std::string_view what) { return accept(c) || (expected(what), false); }

  /// The name at the cursor; blanks behind it are left. Empty when there is none.
  std::string_view name() {
    const char* start = at_;
    if (!at_name()) return {};
    do ++at_;
    while (is(*at_, detail::kNameByte));
    const std::string_view name{start, static_cast<size_t>(at_ - start)};
    if (!ascii_) check_letters(name);
    return name;
  }
  /// The next word equals `word`; steps over it and blanks.
  bool accept_word(std::string_view word);
  /// Int or Float; with `negative` the number's sign is turned, so that -2**63 can be read.
  ir::Arg number(bool negative);
  /// A string, adjacent strings joined: a view into the text, or into `scratch` when it holds escapes or
  /// joins. The cursor stands at the quote; a prefix (r, u, …) is given by the caller.
  std::string_view string(std::string& scratch, std::string_view prefix = {});
  /// The same without a prefix and as a copy; fails with "expected a string, found …" where there is none.
  std::string expect_string();
  /// One string as it is written, between its quotes; blanks behind it are left.
  std::string_view string_token();
  /// Adds what stands between quotes to `out`, escapes as what they mean; body: a part of the text.
  void decode(std::string_view body, std::string& out);

  /// Goes over blank lines to the next line that holds code; returns its indentation, in columns (tabs to 8).
  /// At the end of the text: 0.
  uint32_t next_line();
  /// Goes to the end of the logical line, whatever stands there; strings and brackets are kept whole.
  void skip_line();

  bool failed() const { return error_.has_value(); }
  /// "expected WHAT, found 'the next token'" at the cursor.
  void expected(std::string_view what, std::string hint = {});
  void fail(const char* at, std::string message, std::string hint = {}, Error::Kind kind = Error::Kind::BadInput);
  Error take_error() { return std::move(*error_); }
  SourceLoc locate(const char* at) const;
  /// The next token as messages name it: "'def'", "a string", "the end of the line".
  std::string describe() const;

  /// One level of nesting for the lifetime of the object; fails when it is too deep.
  class Nest {
   public:
    explicit Nest(Lexer& lexer) : lexer_(lexer) {
      if (++lexer_.nesting_ > kMaxNesting) lexer_.fail_nesting();
    }
    ~Nest() { --lexer_.nesting_; }
    Nest(const Nest&) = delete;
    Nest& operator=(const Nest&) = delete;

   private:
    Lexer& lexer_;
  };

 private:
  static bool is(char c, uint8_t classes) { return detail::kCharClass[static_cast<unsigned char>(c)] & classes; }
  std::string_view since(const char* start) const { return {start, static_cast<size_t>(at_ - start)}; }
  void skip_rest();
  void fail_nesting();
  void close_unless(std::string_view other, char close) {
    if (*at_ != close) return expected_bracket(other, close);
    leave_bracket();
    take(1);
  }
  void expected_bracket(std::string_view other, char bracket);
  void check_text();
  void check_letters(std::string_view name);
  ir::Arg integer(const char* start, bool negative);
  ir::Arg real(const char* start, bool negative);

  const std::string& file_;
  const char* begin_;
  const char* end_;
  const char* at_;
  int brackets_ = 0;
  int nesting_ = 0;
  bool ascii_ = false;  // the whole text
  std::optional<Error> error_;
};

/// Python's keywords: never a name.
bool is_keyword(std::string_view word);

}  // namespace passnet::fx
