#include "upstream_config.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/file/paths.h"
#include "base/json/json.h"
#include "base/text/strings.h"
#include "base/usage.h"

namespace passnet::cli {

namespace {

constexpr const char* kWhat = "--config";
constexpr std::array<std::string_view, 5> kKeys = {"input_pass_rule_dir", "output_pass_rule_dir",
                                                   "output_pass_pattern_limit", "output_pass_replacement_func_limit",
                                                   "pass_match_result_file_path"};

// The bytes that a text in base64 stands for; none: it is no such text.
std::optional<std::string> from_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  for (const char c : text) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6 | static_cast<uint32_t>(digit)) & 0xffffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

Error wrong_value(const std::string& key, const Json& found, const char* expected) {
  return usage_error(fmt::format("{}: '{}' is {}, expected {}", kWhat, key, quoted(dump(found), 60), expected));
}

Result<std::optional<int>> limit_from(const std::string& key, const Json& value) {
  if (value.is_null()) return std::optional<int>();
  if (!value.is_number_integer() || value.get<int64_t>() < 1 || value.get<int64_t>() > 1000000)
    return wrong_value(key, value, "an integer 1..1000000");
  return std::optional<int>(value.get<int>());
}

Result<void> read_key(const std::string& key, const Json& value, UpstreamConfig& config) {
  if (std::ranges::find(kKeys, key) == kKeys.end()) {
    const std::vector<std::string_view> known(kKeys.begin(), kKeys.end());
    const std::string_view nearest = nearest_name(key, known);
    return usage_error(fmt::format("{}: unknown key {}", kWhat, quoted(key)))
        .with_hint(nearest.empty() ? fmt::format("known keys: {}", fmt::join(kKeys, ", "))
                                   : fmt::format("did you mean {}?", quoted(nearest)));
  }
  if (key == "output_pass_pattern_limit") {
    PASSNET_TRY(config.selection.pattern_limit, limit_from(key, value));
    return {};
  }
  if (key == "output_pass_replacement_func_limit") {
    PASSNET_TRY(config.selection.function_limit, limit_from(key, value));
    return {};
  }
  if (value.is_null()) return {};
  if (!value.is_string()) return wrong_value(key, value, "a path");
  const std::filesystem::path path(value.get<std::string>());
  if (key == "input_pass_rule_dir" && directory_exists(path)) config.selection.given = path;
  if (key == "output_pass_rule_dir") config.pass_dir = path;
  if (key == "pass_match_result_file_path") config.match_result = path;
  return {};
}

}  // namespace

Result<UpstreamConfig> parse_upstream_config(const std::string& text) {
  const std::string_view given = trim(text);
  const std::optional<std::string> decoded = given.starts_with('{') ? std::string(given) : from_base64(given);
  if (!decoded)
    return usage_error(fmt::format("{}: found {}, expected JSON or JSON in base64", kWhat, quoted(given, 60)));
  PASSNET_TRY(const Json json, parse_json(*decoded, kWhat));
  if (!json.is_object()) return usage_error(fmt::format("{}: found {}, expected an object", kWhat, json.type_name()));
  UpstreamConfig config;
  for (const auto& [key, value] : json.items()) PASSNET_TRY_VOID(read_key(key, value, config));
  return config;
}

}  // namespace passnet::cli
