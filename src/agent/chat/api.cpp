#include "agent/chat/api.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <span>

#include "agent/chat/json_access.h"
#include "base/json/json.h"
#include "base/text/strings.h"
#include "base/text/visible.h"

namespace passnet::agent {

std::string join_url(std::string_view base, const Api& api) {
  while (base.ends_with('/')) base.remove_suffix(1);
  const std::string_view path = api.path;
  if (base.ends_with(path)) return std::string(base);
  constexpr std::string_view kVersion = "/v1";
  if (api.path_has_version && base.ends_with(kVersion)) base.remove_suffix(kVersion.size());
  return std::string(base) + std::string(path);
}

namespace {
/// Tells whether the text holds one of the words, which are in lower case.
bool says(std::string text, std::span<const std::string_view> words) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

/// The object that reports an error: the first choice where the error stands in it, else the whole answer.
const Json& reporting(const Json& json) {
  const Json& choices = member(json, "choices");
  const bool in_choice = choices.is_array() && !choices.empty() && member(choices[0], "error").is_object();
  return in_choice ? choices[0] : json;
}
}  // namespace

bool tells_of_context(std::string_view said) {
  constexpr size_t kRead = 4096;  // some repeat the whole request behind their words
  constexpr std::string_view kWords[] = {
      "context length",           "context_length",      "context size",         "context_size",
      "context window",           "contextwindow",       "context limit",        "maximum context",
      "maximum model length",     "max_model_len",       "prompt is too long",   "input is too long",
      "prompt too long",          "too many tokens",     "token count exceeds",  "reduce the length",
      "maximum number of tokens", "must have less than", "exceeds max_input_len"};
  return says(std::string(said.substr(0, kRead)), kWords);
}

bool is_error(const Json& json) {
  const Json& error = member(reporting(json), "error");
  if (error.is_object() || !text_of(error).empty()) return true;
  if (text_of(member(json, "type")) == "error" || text_of(member(json, "object")) == "error") return true;
  return member(json, "choices").is_null() && !text_of(member(json, "message")).empty();
}

Error server_error(const Json& json) {
  const Json& whole = reporting(json);
  const Json& error = member(whole, "error").is_object() ? whole["error"] : whole;
  const std::string text = compact(whole);
  const std::string kind = plain_text(member(error, "type")) + " " + plain_text(member(error, "code")) + " " +
                           plain_text(member(error, "status"));
  constexpr std::string_view kPassing[] = {"overloaded", "rate_limit", "timeout", "unavailable", "server_error",
                                           "internal",   "api_error",  "429",     "500",         "502",
                                           "503",        "504",        "529"};
  const char* const failure = tells_of_context(text) ? "context" : says(kind, kPassing) ? "cut-answer" : "server-error";
  return resource_error(fmt::format("the server says: {}", error_of_body(text))).with_failure(failure);
}

Result<Json> read_event(std::string_view event) {
  Json json = read_json(event);
  if (!json.is_object())
    return resource_error(fmt::format("the answer is garbled: expected an object, found: {}", error_of_body(event)))
        .with_failure("cut-answer");
  if (is_error(json)) return server_error(json);
  return json;
}

Error stream_ended() {
  return resource_error("the answer was cut: its stream ended before it said so").with_failure("cut-answer");
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
