#include "base/text/visible.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/json/json.h"

namespace passnet {

void for_each_character(std::string_view text, const std::function<void(char32_t code, std::string_view bytes)>& use) {
  for (size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    const size_t wanted = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    const std::string_view bytes = text.substr(at, wanted);
    char32_t code = wanted == 1 ? first : first & (0x7Fu >> wanted);
    for (const char byte : bytes.substr(1)) code = code << 6 | (static_cast<unsigned char>(byte) & 0x3Fu);
    use(code, bytes);
    at += bytes.size();
  }
}

bool is_unprintable(char32_t code) {
  // C0 and C1, Arabic letter mark, marks and overrides of direction, line and paragraph separator, isolates, invisible
  // operators, byte order mark, interlinear annotations, and tags, which are letters that nobody sees.
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x61C || (code >= 0x200B && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF ||
         (code >= 0xFFF9 && code <= 0xFFFB) || (code >= 0xE0000 && code <= 0xE007F);
}

std::string visible(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for_each_character(valid_utf8(text), [&](char32_t code, std::string_view bytes) {
    const auto value = static_cast<uint32_t>(code);
    if (code == '\n')
      out += '\n';
    else if (code == '\t')
      out += "  ";
    else if (!is_unprintable(code))
      out += bytes;
    else if (value < 0x100)
      out += fmt::format("\\x{:02x}", value);
    else
      out += value < 0x10000 ? fmt::format("\\u{:04x}", value) : fmt::format("\\U{:08x}", value);
  });
  return out;
}

std::string visible_line(std::string_view text) {
  std::string line = visible(text);
  std::ranges::replace(line, '\n', ' ');
  return line;
}

}  // namespace passnet
