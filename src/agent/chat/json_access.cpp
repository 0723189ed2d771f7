#include "agent/chat/json_access.h"

#include <nlohmann/json.hpp>

namespace passnet::agent {

const Json& member(const Json& json, std::string_view name) {
  static const Json kNull;
  if (!json.is_object()) return kNull;
  const auto found = json.find(name);
  return found == json.end() ? kNull : *found;
}

std::string text_of(const Json& json) { return json.is_string() ? json.get<std::string>() : std::string(); }

int64_t count_of(const Json& json) { return json.is_number() ? json.get<int64_t>() : 0; }

}  // namespace passnet::agent
