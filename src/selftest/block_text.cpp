#include "selftest/block_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text/strings.h"

namespace passnet::selftest {

namespace {

constexpr std::string_view kByte = "{byte ", kEnd = "{end of text}";

/// A line of the file, without its line break.
struct Line {
  const std::string& file;
  std::string_view text;
  uint32_t number;

  SourceLoc at(size_t offset) const { return {file, number, static_cast<uint32_t>(offset + 1)}; }
};

Result<void> check_ascii(const Line& line) {
  const auto* const found = std::ranges::find_if(line.text, [](char c) { return c < ' ' || c > '~'; });
  if (found == line.text.end()) return {};
  const auto byte = static_cast<unsigned char>(*found);
  return bad_input(fmt::format("found the byte 0x{:02x}, expected printable ASCII", byte),
                   line.at(static_cast<size_t>(found - line.text.begin())))
      .with_hint(fmt::format("in a text it is written '{{byte {:02x}}}'", byte));
}

/// The byte of an escape "{byte 0d}" at `offset`.
Result<char> read_byte(const Line& line, size_t offset) {
  const std::string_view escape = line.text.substr(offset, kByte.size() + 3);
  const std::string_view digits = escape.substr(kByte.size()).substr(0, 2);
  unsigned value = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (digits.size() != 2 || failed != std::errc() || end != digits.data() + 2 || !escape.ends_with('}'))
    return bad_input(fmt::format("expected two hexadecimal digits and '}}' after '{{byte ', found {}", quoted(escape)),
                     line.at(offset))
        .with_hint("'{byte 7b}' stands for '{'");
  return static_cast<char>(value);
}

/// Appends what a line that begins with "|" stands for. ended: whether the text had its end before; set by the end.
Result<void> append_text(const Line& line, std::string& text, bool& ended) {
  if (ended) return bad_input("expected no more lines of this text after '{end of text}'", line.at(0));
  if (line.text.size() > 1 && line.text[1] != ' ')
    return bad_input(fmt::format("expected a blank after '|', found {}", quoted(line.text.substr(1, 1))), line.at(1));
  size_t at = std::min<size_t>(line.text.size(), 2);
  while (at < line.text.size()) {
    const std::string_view rest = line.text.substr(at);
    if (rest == kEnd) {
      ended = true;
      return {};
    }
    if (rest.starts_with(kByte)) {
      PASSNET_TRY(const char byte, read_byte(line, at));
      text += byte;
      at += kByte.size() + 3;
    } else {
      text += line.text[at++];
    }
  }
  text += '\n';
  return {};
}

TextField read_field(const Line& line) {
  const size_t blank = std::min(line.text.find(' '), line.text.size());
  const size_t value = std::min(line.text.find_first_not_of(' ', blank), line.text.size());
  return {.key = std::string(line.text.substr(0, blank)),
          .value = std::string(trim(line.text.substr(value))),
          .text = std::nullopt,
          .at = line.at(0),
          .value_at = line.at(value)};
}

}  // namespace

Result<std::vector<TextField>> parse_block_text(std::string_view text, const std::string& file) {
  std::vector<TextField> fields;
  bool may_go_on = false;  // the line before is a field or of its text
  bool ended = false;
  uint32_t number = 0;
  for (const std::string_view content : split(text, '\n')) {
    const Line line{file, content, ++number};
    PASSNET_TRY_VOID(check_ascii(line));
    if (content.starts_with('|')) {
      if (!may_go_on) return bad_input("expected a field above this text, found none", line.at(0));
      std::optional<std::string>& of_field = fields.back().text;
      if (!of_field) of_field.emplace();
      PASSNET_TRY_VOID(append_text(line, *of_field, ended));
      continue;
    }
    may_go_on = ended = false;
    if (content.empty() || content.starts_with('#')) continue;
    if (content.starts_with(' '))
      return bad_input("expected a field at the start of the line, found a blank", line.at(0));
    fields.push_back(read_field(line));
    may_go_on = true;
  }
  return fields;
}

}  // namespace passnet::selftest
