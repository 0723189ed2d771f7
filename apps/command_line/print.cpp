#include "print.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace passnet::cli {

namespace {

void write(std::FILE* file, std::string_view text, const char* name) {
  if (std::fwrite(text.data(), 1, text.size(), file) == text.size()) return;
  throw std::system_error(errno, std::generic_category(), name);
}

// The length of a color at the beginning of `text`: "\x1b[1;31m"; 0 when there is none.
size_t color_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

std::string visible_but_colors(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t plain = text.find('\x1b');
    if (plain != 0) {
      out += visible(text.substr(0, plain));
      text.remove_prefix(std::min(plain, text.size()));
      continue;
    }
    const size_t kept = color_length(text);
    out += kept > 0 ? std::string(text.substr(0, kept)) : visible(text.substr(0, 1));
    text.remove_prefix(std::max<size_t>(kept, 1));
  }
  return out;
}

}  // namespace

void write_stdout(std::string_view text) { write(stdout, text, "cannot write to stdout"); }
void write_stderr(std::string_view text) {
  // Keeps the order of lines in a file that receives both streams.
  if (std::fflush(stdout) != 0 && errno != EPIPE)
    throw std::system_error(errno, std::generic_category(), "cannot write to stdout");
  write(stderr, text, "cannot write to stderr");
}

void print_result(std::string_view text, Keeps keeps) {
  const std::string shown = keeps == Keeps::Nothing ? visible(text) : visible_but_colors(text);
  if (std::fwrite(shown.data(), 1, shown.size(), stdout) == shown.size() || errno == EPIPE) return;
  throw std::system_error(errno, std::generic_category(), "cannot write to stdout");
}

}  // namespace passnet::cli
