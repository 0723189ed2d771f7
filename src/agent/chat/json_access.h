// Reading JSON that others sent, which may lack anything and hold anything.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json/json.h"

namespace passnet::agent {

/// The member of that name, or null where there is none or `json` is no object.
const Json& member(const Json& json, std::string_view name);
/// The text; "" for anything else.
std::string text_of(const Json& json);
/// The number; 0 for anything else.
int64_t count_of(const Json& json);

/// Reads what try_parse_json reads, and strings that strict readers refuse: with a lone half of a surrogate pair, which
/// becomes U+FFFD, and with line breaks and other control characters, which stay. Discarded: no JSON.
Json read_json(std::string_view text);
/// The end of the object or list that begins at `at`, by its brackets outside of strings; npos: it is cut off.
size_t json_end(std::string_view text, size_t at);

}  // namespace passnet::agent
