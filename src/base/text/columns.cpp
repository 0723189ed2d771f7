#include "base/text/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text/strings.h"

namespace passnet {

namespace {

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

/// Length in bytes of the character at `at`. REQUIRES: valid UTF-8.
size_t character_length(std::string_view text, size_t at) {
  size_t length = 1;
  while (at + length < text.size() && !starts_character(text[at + length])) ++length;
  return length;
}

/// The first `count` characters, in bytes.
size_t bytes_of(std::string_view text, size_t count) {
  size_t at = 0;
  for (; count > 0 && at < text.size(); --count) at += character_length(text, at);
  return at;
}

}  // namespace

size_t columns(std::string_view text) {
  size_t count = 0;
  for (char byte : text) count += starts_character(byte) ? 1 : 0;
  return count;
}

std::string shorten_middle(std::string_view text, size_t width) {
  const size_t length = columns(text);
  if (length <= width) return std::string(text);
  const size_t tail = (width - 1) / 2, head = width - 1 - tail;
  return fmt::format("{}…{}", text.substr(0, bytes_of(text, head)), text.substr(bytes_of(text, length - tail)));
}

std::vector<std::string> wrap(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  for (std::string_view source : split(text, '\n')) {
    const size_t indent = std::min(source.find_first_not_of(' '), source.size());
    const std::string continued(indent + 2, ' ');
    std::string line(source.substr(0, indent));
    bool empty = true;
    for (std::string_view word : split(source.substr(indent), ' ')) {
      if (!empty && columns(line) + 1 + columns(word) > width) {
        lines.push_back(std::move(line));
        line = continued;
        empty = true;
      }
      if (!empty) line += ' ';
      line += word;
      empty = false;
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace passnet
