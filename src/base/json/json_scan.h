// Walks over a JSON text without parsing it.
#pragma once

#include <cstddef>
#include <string_view>

namespace passnet {

/// Calls `stop` with each character from `at` on that is outside of strings, quotes apart.
/// Returns: the position of the first one for which it is true; npos: there is none.
template <class Stop>
size_t find_outside_strings(std::string_view text, Stop&& stop, size_t at = 0) {
  bool in_string = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\') ++at;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (stop(c)) {
      return at;
    }
  }
  return std::string_view::npos;
}

}  // namespace passnet
