#include "agent/tools/arguments.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text/strings.h"

namespace passnet::agent {

namespace {

Error wrong(const std::string& name, const char* expected, const Json& found) {
  return bad_input(fmt::format("argument '{}': expected {}, found {}", name, expected, quoted(dump(found), 80)));
}

const Json* find(const Json& arguments, const std::string& name) {
  const auto found = arguments.find(name);
  return found == arguments.end() || found->is_null() ? nullptr : &*found;
}

// What a text says, where it was to be something else.
Json unpacked(const Json& json) {
  if (!json.is_string()) return json;
  Json read = try_parse_json(json.get<std::string>());
  return read.is_discarded() ? json : read;
}

// Languages without integers write 1.0.
std::optional<int64_t> integer_of(const Json& json) {
  if (json.is_number_integer()) return json.get<int64_t>();
  constexpr double kExact = 9007199254740992;  // beyond it not every integer is a double
  const double value = json.is_number_float() ? json.get<double>() : 0.5;
  return std::abs(value) <= kExact && value == std::floor(value) ? std::optional(static_cast<int64_t>(value))
                                                                 : std::nullopt;
}

}  // namespace

Result<std::optional<std::string>> text_argument(const Json& arguments, const std::string& name) {
  const Json* const found = find(arguments, name);
  if (found == nullptr) return std::nullopt;
  if (!found->is_string()) return wrong(name, "a string", *found);
  return found->get<std::string>();
}

Result<std::optional<int64_t>> integer_argument(const Json& arguments, const std::string& name) {
  const Json* const found = find(arguments, name);
  if (found == nullptr) return std::nullopt;
  const std::optional<int64_t> value = integer_of(unpacked(*found));
  if (!value) return wrong(name, "an integer", *found);
  return value;
}

Result<std::optional<std::vector<int64_t>>> integers_argument(const Json& arguments, const std::string& name) {
  const Json* const found = find(arguments, name);
  if (found == nullptr) return std::nullopt;
  const Json read = unpacked(*found);
  if (!read.is_array()) return wrong(name, "a list of integers", *found);
  std::vector<int64_t> values;
  for (const Json& one : read) {
    const std::optional<int64_t> value = integer_of(unpacked(one));
    if (!value) return wrong(name, "a list of integers", *found);
    values.push_back(*value);
  }
  return values;
}

Result<std::string> needed_text(const Json& arguments, const std::string& name, const std::string& of) {
  PASSNET_TRY(std::optional<std::string> text, text_argument(arguments, name));
  if (text) return std::move(*text);
  return bad_input(fmt::format("argument '{}' is missing: {} needs it", name, of));
}

}  // namespace passnet::agent
