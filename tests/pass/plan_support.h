// Helpers of the plan tests: a plan from a few lines of text, run on given inputs.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "pass/plan/plan.h"
#include "pass/plan/syntax/parser.h"

namespace passnet::pass::test {

using Evaluated = Result<std::variant<PlanResult, Declined>>;

inline Result<Plan> parse_plan(std::string text) {
  auto file = parse_pass_file("P.py", std::make_shared<const std::string>(std::move(text)));
  if (!file) return std::move(file).error();
  Budget steps(kLoading);
  return make_plan({*file}, {}, steps);
}

/// A whole plan file: `def plan(PARAMETERS):` with `body` (lines indented by 4), called with its parameters
/// as given.
inline std::string plan_text(const std::string& parameters, const std::string& body, const std::string& top = "") {
  return top + "def replacement_args(" + parameters + "):\n    return [" + parameters + "]\ndef plan(" + parameters +
         "):\n" + body + "def replacement_func():\n    return plan\n";
}

inline Evaluated run_plan(const std::string& text, const std::vector<SiteInput>& inputs, size_t outputs = 1,
                          bool on_gpu = false) {
  auto plan = parse_plan(text);
  if (!plan) return std::move(plan).error();
  return evaluate_plan(*plan, "P", inputs, outputs, {on_gpu});
}

inline ir::TensorType tensor(std::vector<int64_t> shape, ir::DType dtype = ir::DType::Float32) {
  return ir::contiguous(dtype, std::move(shape));
}

/// The launch list; fails the test with the error's text when there is none.
inline LaunchList expect_list(const Evaluated& evaluated) {
  if (!evaluated) {
    ADD_FAILURE() << to_string(evaluated.error());
    return {};
  }
  if (const auto* result = std::get_if<PlanResult>(&*evaluated)) return result->list;
  ADD_FAILURE() << "declined at line " << std::get<Declined>(*evaluated).at.line;
  return {};
}

/// "P.py:1:2: error: …", or "no error".
inline std::string error_text(const Evaluated& evaluated) {
  return evaluated ? "no error" : to_string(evaluated.error());
}

}  // namespace passnet::pass::test
