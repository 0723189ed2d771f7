#include "agent/chat/api.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "agent/chat/json_access.h"
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

bool tells_of_context(std::string_view said) {
  constexpr size_t kRead = 4096;  // some repeat the whole request behind their words
  std::string small(said.substr(0, kRead));
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::string_view kWords[] = {
      "context length",           "context_length",      "context size",         "context_size",
      "context window",           "contextwindow",       "context limit",        "maximum context",
      "maximum model length",     "max_model_len",       "prompt is too long",   "input is too long",
      "prompt too long",          "too many tokens",     "token count exceeds",  "reduce the length",
      "maximum number of tokens", "must have less than", "exceeds max_input_len"};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return small.find(word) != std::string::npos; });
}

bool is_error(const Json& json) {
  const Json& error = member(json, "error");
  if (error.is_object() || !text_of(error).empty()) return true;
  if (text_of(member(json, "type")) == "error" || text_of(member(json, "object")) == "error") return true;
  const Json& choices = member(json, "choices");
  if (choices.is_null() && !text_of(member(json, "message")).empty()) return true;
  return choices.is_array() && !choices.empty() && member(choices[0], "error").is_object();
}

Error server_error(const Json& json) {
  const Json& choices = member(json, "choices");
  const bool in_choice = choices.is_array() && !choices.empty() && member(choices[0], "error").is_object();
  const Json& whole = in_choice ? choices[0] : json;
  const Json& error = member(whole, "error").is_object() ? whole["error"] : whole;
  const std::string text = compact(whole);
  std::string kind = plain_text(member(error, "type")) + " " + plain_text(member(error, "code")) + " " +
                     plain_text(member(error, "status"));
  std::ranges::transform(kind, kind.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::string_view kPassing[] = {"overloaded", "rate_limit", "timeout", "unavailable", "server_error",
                                           "internal",   "api_error",  "429",     "500",         "502",
                                           "503",        "504",        "529"};
  const bool passing =
      std::ranges::any_of(kPassing, [&](std::string_view word) { return kind.find(word) != std::string::npos; });
  const char* const failure = tells_of_context(text) ? "context" : passing ? "cut-answer" : "server-error";
  return resource_error(fmt::format("the server says: {}", error_of_body(text))).with_failure(failure);
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
