#include "site/code.h"

#include <algorithm>
#include <array>
#include <utility>

#include "report/text.h"

namespace passnet::site {

namespace {

constexpr std::array<std::string_view, 24> kPythonWords = {
    "and", "as", "assert", "class", "def", "elif", "else",   "False",  "for",  "from",  "if",   "import",
    "in",  "is", "lambda", "None",  "not", "or",   "return", "return", "True", "while", "with", "yield"};
constexpr std::array<std::string_view, 40> kCppWords = {
    "auto",   "bool",     "break",    "case",     "char",   "const",     "constexpr", "continue",
    "do",     "double",   "else",     "enum",     "extern", "false",     "float",     "for",
    "if",     "inline",   "int",      "int64_t",  "long",   "namespace", "nullptr",   "operator",
    "return", "short",    "size_t",   "sizeof",   "static", "struct",    "switch",    "template",
    "true",   "typename", "uint32_t", "unsigned", "using",  "void",      "while",     "__global__"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Cuts code into pieces, one after the other.
class Pieces {
 public:
  Pieces(std::string_view code, Language language) : left_(code), language_(language) {}

  bool next() {
    if (left_.empty()) return false;
    const size_t size = length();
    piece = left_.substr(0, size);
    left_.remove_prefix(size);
    return true;
  }
  std::string_view piece;
  char css = 0;  // of the piece: k, s, n or c; 0: none

 private:
  bool at(std::string_view text) const { return left_.starts_with(text); }
  size_t up_to(std::string_view end, size_t from) const {
    const size_t found = left_.find(end, from);
    return found == std::string_view::npos ? left_.size() : found + end.size();
  }
  size_t line() const { return std::min(left_.find('\n'), left_.size()); }

  /// From a quote to its like on the same line.
  size_t quoted_length() const {
    for (size_t i = 1; i < left_.size(); ++i) {
      if (left_[i] == '\\')
        ++i;
      else if (left_[i] == '\n')
        return i;
      else if (left_[i] == left_[0])
        return i + 1;
    }
    return left_.size();
  }

  template <class Takes>
  size_t run(Takes takes) const {
    return static_cast<size_t>(std::ranges::find_if_not(left_, takes) - left_.begin());
  }

  size_t length() {
    const bool python = language_ == Language::Python;
    css = 'c';
    if (python ? at("#") : at("//")) return line();
    if (!python && at("/*")) return up_to("*/", 2);
    css = 's';
    for (const char* quotes : {"\"\"\"", "'''"}) {
      if (python && at(quotes)) return up_to(quotes, 3);
    }
    if (at("\"") || at("'")) return quoted_length();
    css = 'k';
    if (!python && at("#")) return run([](char c) { return c == '#' || c == ' ' || is_letter(c); });
    if (is_digit(left_[0])) {
      css = 'n';
      return run([](char c) { return is_letter(c) || is_digit(c) || c == '.'; });
    }
    if (is_letter(left_[0])) {
      const size_t size = run([](char c) { return is_letter(c) || is_digit(c); });
      if (!is_word(left_.substr(0, size))) css = 0;
      return size;
    }
    css = 0;
    return run([first = true](char c) mutable {
      if (std::exchange(first, false)) return true;
      return !is_letter(c) && !is_digit(c) && c != '"' && c != '\'' && c != '#' && c != '/';
    });
  }

  bool is_word(std::string_view word) const {
    if (language_ == Language::Python) return std::ranges::find(kPythonWords, word) != kPythonWords.end();
    return std::ranges::find(kCppWords, word) != kCppWords.end() || word.starts_with("PASSNET_");
  }

  std::string_view left_;
  Language language_;
};

}  // namespace

Language language_of(std::string_view file) { return file.ends_with(".py") ? Language::Python : Language::Cpp; }

std::string highlight(std::string_view code, Language language) {
  std::string out;
  Pieces pieces(code, language);
  while (pieces.next()) {
    const std::string text = report::escape_html(pieces.piece);
    if (pieces.css == 0)
      out += text;
    else
      out += std::string("<span class=\"") + pieces.css + "\">" + text + "</span>";
  }
  return out;
}

}  // namespace passnet::site
