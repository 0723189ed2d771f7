// Reading JSON that a server sent, which may lack anything and hold anything.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"

namespace passnet::agent {

/// The member of that name, or null where there is none or `json` is no object.
const Json& member(const Json& json, std::string_view name);
/// The text; "" for anything else.
std::string text_of(const Json& json);
/// The number; 0 for anything else.
int64_t count_of(const Json& json);

}  // namespace passnet::agent
