#include "agent/chat/api.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/strings.h"
#include "base/visible.h"

namespace passnet::agent {

std::string join_url(std::string_view base, const Api& api) {
  while (base.ends_with('/')) base.remove_suffix(1);
  const std::string_view path = api.path;
  if (base.ends_with(path)) return std::string(base);
  constexpr std::string_view kVersion = "/v1";
  if (api.path_has_version && base.ends_with(kVersion)) base.remove_suffix(kVersion.size());
  return std::string(base) + std::string(path);
}

std::string error_of_body(std::string_view body) {
  constexpr size_t kShown = 300;
  const Json json = try_parse_json(body);
  std::string text(body.substr(0, 4 * kShown));
  if (json.is_object() && json.contains("error")) {
    const Json& error = json["error"];
    text = plain_text(error.is_object() && error.contains("message") ? error["message"] : error);
  } else if (json.is_object() && json.contains("message")) {
    text = plain_text(json["message"]);
  }
  const std::string line = visible_line(trim(text));
  return line.size() <= kShown ? line : valid_utf8(line.substr(0, kShown)) + "…";
}

}  // namespace passnet::agent
