// Numbers that are a whole text.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace passnet {

/// The number that all of the text is, as std::from_chars reads it: no blanks, no "+", nothing behind it. nullopt: anything
/// else, or it does not fit.
template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const char* const stop = text.data() + text.size();
  const auto [end, failed] = std::from_chars(text.data(), stop, value);
  return failed == std::errc() && end == stop ? std::optional(value) : std::nullopt;
}

}  // namespace passnet
