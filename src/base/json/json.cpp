#include "base/json/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/json/json_scan.h"
#include "base/text/strings.h"
#include "base/text/visible.h"

namespace passnet {

namespace {

// The offset of the first bracket that is nested too deeply, or npos. Strings are passed over.
size_t too_deep(std::string_view text) {
  int depth = 0;
  return find_outside_strings(text, [&](char c) {
    if (c == ']' || c == '}') --depth;
    return (c == '[' || c == '{') && ++depth > kMaxJsonNesting;
  });
}

// Beyond ASCII and DEL nothing but strings has characters, and the library escapes those below a space itself.
std::string escape_unprintable_json(const std::string& text) {
  if (std::ranges::all_of(text, [](unsigned char c) { return c < 0x7F; })) return text;
  std::string out;
  for_each_character(text, [&](char32_t code, std::string_view bytes) {
    if (code < 0x20 || !is_unprintable(code)) {
      out += bytes;
    } else if (const auto value = static_cast<uint32_t>(code); value < 0x10000) {
      out += fmt::format("\\u{:04x}", value);
    } else {
      const uint32_t pair = value - 0x10000;
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (pair >> 10), 0xDC00 + (pair & 0x3FF));
    }
  });
  return out;
}

}  // namespace

Result<Json> parse_json(std::string_view text, const std::string& where) {
  if (const size_t offset = too_deep(text); offset != std::string_view::npos) {
    return bad_input(
        "not valid JSON: nested too deeply: more than " + std::to_string(kMaxJsonNesting) + " levels of brackets",
        locate(where, text, offset));
  }
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::parse_error& problem) {
    const size_t offset = std::min(problem.byte > 0 ? problem.byte - 1 : 0, text.size());
    std::string message = problem.what();  // "[json.exception…] parse error at line 1, column 2: <what>"
    if (const size_t colon = message.find(": "); colon != std::string::npos) message = message.substr(colon + 2);
    return bad_input("not valid JSON: " + message, locate(where, text, offset));
  } catch (const nlohmann::json::exception& problem) {
    // "[json.exception.out_of_range.406] number overflow parsing '1e999'": it does not say where.
    std::string message = problem.what();
    if (const size_t bracket = message.find("] "); bracket != std::string::npos) message = message.substr(bracket + 2);
    return bad_input("not valid JSON: " + message, SourceLoc{where, 0, 0});
  }
}

Json try_parse_json(std::string_view text) {
  if (too_deep(text) != std::string_view::npos) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, false);
}

std::string compact(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string dump(const Json& json, int indent) {
  std::string text = json.dump(indent, ' ', false, Json::error_handler_t::replace);
  return escape_unprintable_json(text);
}

std::string plain_text(const Json& value) { return value.is_string() ? value.get<std::string>() : dump(value); }

std::string valid_utf8(std::string_view text) {
  // Nearly every text is ASCII, and records and journals have many.
  if (std::ranges::all_of(text, [](unsigned char c) { return c < 0x80; })) return std::string(text);
  return Json::parse(dump(Json(text))).get<std::string>();
}

}  // namespace passnet
