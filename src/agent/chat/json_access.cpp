#include "agent/chat/json_access.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/json/json_scan.h"

namespace passnet::agent {

namespace {

/// The code unit of "\uXXXX" at the front.
std::optional<unsigned> escaped_unit(std::string_view text) {
  constexpr size_t kLength = 6;
  if (text.size() < kLength || !text.starts_with("\\u")) return std::nullopt;
  unsigned unit = 0;
  const auto [end, failed] = std::from_chars(text.data() + 2, text.data() + kLength, unit, 16);
  return failed == std::errc() && end == text.data() + kLength ? std::optional(unit) : std::nullopt;
}

bool is_first_half(std::optional<unsigned> unit) { return unit && *unit >= 0xD800 && *unit < 0xDC00; }
bool is_second_half(std::optional<unsigned> unit) { return unit && *unit >= 0xDC00 && *unit < 0xE000; }

/// The escape at the front as strict readers take it, which is taken off the text.
std::string take_escape(std::string_view& text) {
  const std::optional<unsigned> unit = escaped_unit(text);
  const bool is_pair = is_first_half(unit) && is_second_half(escaped_unit(text.substr(6)));
  const std::string_view escape = text.substr(0, is_pair ? 12 : unit ? 6 : 2);
  text.remove_prefix(escape.size());
  const bool is_lone = !is_pair && (is_first_half(unit) || is_second_half(unit));
  return is_lone ? "\\ufffd" : std::string(escape);
}

std::string with_strict_strings(std::string_view text) {
  std::string strict;
  bool in_string = false;
  while (!text.empty()) {
    const char c = text.front();
    if (in_string && c == '\\') {
      strict += take_escape(text);
      continue;
    }
    if (c == '"') in_string = !in_string;
    if (in_string && static_cast<unsigned char>(c) < 0x20)
      strict += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      strict += c;
    text.remove_prefix(1);
  }
  return strict;
}

}  // namespace

const Json& member(const Json& json, std::string_view name) {
  static const Json kNull;
  if (!json.is_object()) return kNull;
  const auto found = json.find(name);
  return found == json.end() ? kNull : *found;
}

std::string text_of(const Json& json) { return json.is_string() ? json.get<std::string>() : std::string(); }

int64_t count_of(const Json& json) { return json.is_number() ? json.get<int64_t>() : 0; }

Json read_json(std::string_view text) {
  Json json = try_parse_json(text);
  return json.is_discarded() ? try_parse_json(with_strict_strings(text)) : json;
}

size_t json_end(std::string_view text, size_t at) {
  int depth = 0;
  const auto closes = [&](char c) {
    if (c == '{' || c == '[') ++depth;
    return (c == '}' || c == ']') && --depth <= 0;
  };
  const size_t last = find_outside_strings(text, closes, at);
  return last == std::string_view::npos ? last : last + 1;
}

}  // namespace passnet::agent
