#include "agent/attempt/price.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "base/json/json.h"
#include "base/text/strings.h"

namespace passnet::agent {

double cost_of(const Usage& usage, const Price& price) {
  const double dollars = static_cast<double>(usage.input - usage.cached) * price.input +
                         static_cast<double>(usage.cached) * price.cached +
                         static_cast<double>(usage.output) * price.output;
  return dollars / 1e6;
}

Result<Price> load_price(const std::filesystem::path& file, const std::string& model) {
  PASSNET_TRY(const std::string text, read_file(file, FileKind::Settings));
  PASSNET_TRY(const Json json, parse_json(text, file.string()));
  if (!json.is_object() || !json.contains(model)) {
    return bad_input(
               fmt::format("'{}': expected an object with a price of {}, found none", file.string(), quoted(model)))
        .with_hint(R"({"MODEL": {"input": 3, "cached": 0.3, "output": 15}}, in dollars per million tokens)");
  }
  const Json& prices = json[model];
  Price price;
  const auto read = [&](const char* name, double& value) -> Result<void> {
    if (prices.is_object() && prices.contains(name) && prices[name].is_number() && prices[name].get<double>() >= 0) {
      value = prices[name].get<double>();
      return {};
    }
    return bad_input(
        fmt::format("'{}': price of {}: expected a number >= 0 as '{}'", file.string(), quoted(model), name));
  };
  PASSNET_TRY_VOID(read("input", price.input));
  PASSNET_TRY_VOID(read("output", price.output));
  price.cached = price.input;
  if (prices.contains("cached")) PASSNET_TRY_VOID(read("cached", price.cached));
  return price;
}

}  // namespace passnet::agent
