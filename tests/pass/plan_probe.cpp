// Runs plans for tests in other languages: one JSON object per line on stdin, one answer per line on stdout.
//   {"text": plan file, "inputs": [{"shape": […], "strides": […], "dtype": "float32"} | number | string |
//   null], "outputs": n}
//   -> launch list JSON | {"declined": line} | {"error": text}
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/json/json.h"
#include "pass/plan/plan.h"
#include "pass/plan/syntax/parser.h"

namespace passnet::pass {
namespace {

SiteInput to_input(const Json& json) {
  if (json.is_null()) return std::monostate{};
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<int64_t>();
  if (json.is_number_float()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  ir::TensorType type;
  type.dtype = ir::parse_dtype(json.at("dtype").get<std::string>()).value();
  type.shape = json.at("shape").get<std::vector<int64_t>>();
  type.strides = json.at("strides").get<std::vector<int64_t>>();
  return type;
}

Json answer(const Json& request) {
  auto file = parse_pass_file("P.py", std::make_shared<const std::string>(request.at("text").get<std::string>()));
  if (!file) return {{"error", to_string(file.error())}};
  std::vector<SiteInput> inputs;
  for (const Json& input : request.at("inputs")) inputs.push_back(to_input(input));
  Budget steps(kLoading);
  const auto plan = make_plan({*file}, {}, steps);
  if (!plan) return {{"error", to_string(plan.error())}};
  auto evaluated = evaluate_plan(*plan, "P", inputs, request.at("outputs").get<size_t>(), {});
  if (!evaluated) return {{"error", to_string(evaluated.error())}};
  if (const auto* declined = std::get_if<Declined>(&*evaluated)) return {{"declined", declined->at.line}};
  return to_json(std::get<PlanResult>(*evaluated).list);
}

}  // namespace
}  // namespace passnet::pass

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << passnet::pass::answer(passnet::try_parse_json(line)).dump() << '\n';
  }
}
