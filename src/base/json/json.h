// The one place that names the JSON library. Keys keep their order, so what people read stays readable.
// Include <nlohmann/json.hpp> (heavy) only in .cpp files.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace passnet {

using Json = nlohmann::ordered_json;

/// Deepest nesting of arrays and objects, so that no text can exhaust the stack of what goes through the value.
inline constexpr int kMaxJsonNesting = 256;

/// Parses `text`. `where` names it in messages (a path). Errors: BadInput with line and column (nested too
/// deeply, not JSON).
/// NaN and infinities are not JSON; writers store them as the strings "nan", "inf", "-inf".
Result<Json> parse_json(std::string_view text, const std::string& where);

/// The same without a message: a discarded value (Json::is_discarded) where `text` is not JSON.
Json try_parse_json(std::string_view text);

/// One line of JSON for other programs. Invalid UTF-8 is replaced.
std::string compact(const Json& json);

/// One line of JSON; with an indent, of as many spaces, several. Fit to be shown on a terminal: invalid UTF-8 is
/// replaced, so that a strange file name cannot make a value unwritable, and what is_unprintable stands as \u202e.
std::string dump(const Json& json, int indent = -1);

/// A string without its quotes; any other value as JSON.
std::string plain_text(const Json& value);

/// Text from compilers, kernels and file names may hold any bytes; what we write is UTF-8.
/// Returns: `text` with every byte sequence that is not UTF-8 replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

}  // namespace passnet
