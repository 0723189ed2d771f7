// Any text as a pass file: reading it and running its plan must end soon, with a launch list or an error that
// has a place.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "pass/plan/launch_list.h"
#include "pass/plan/parser.h"
#include "pass/plan/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace passnet;
  using namespace passnet::pass;
  const auto text = std::make_shared<const std::string>(reinterpret_cast<const char*>(data), size);
  auto file = parse_pass_file("P.py", text);
  if (!file) {
    if (!file.error().at || file.error().message.empty()) std::abort();
    return 0;
  }
  const auto plan = make_plan({*file});
  if (!plan) {
    if (!plan.error().at || plan.error().message.empty()) std::abort();
    return 0;
  }
  const Function* arguments = (*file)->find_function("replacement_args");
  if (arguments == nullptr) return 0;
  const ir::TensorType dense = ir::contiguous(ir::DType::Float32, {4, 3, 2});
  const ir::TensorType strided{ir::DType::BFloat16, {3, 4}, {1, 3}};
  const SiteInput choices[] = {dense, strided, int64_t{3}, 0.5, std::string("route"), std::monostate{}};
  std::vector<SiteInput> inputs;
  const size_t count = arguments->parameters.size();
  for (size_t i = 0; i < count; ++i) inputs.push_back(choices[i % std::size(choices)]);
  for (size_t outputs = 1; outputs <= 2; ++outputs) {
    auto evaluated = evaluate_plan(*plan, "P", inputs, outputs, {});
    if (!evaluated) {
      if (!evaluated.error().at) std::abort();
      continue;
    }
    const auto* result = std::get_if<PlanResult>(&*evaluated);
    if (!result) continue;
    auto back = launch_list_from_json(to_json(result->list));  // also checks that every view lies in its buffer
    if (!back || back->outputs != result->list.outputs) std::abort();
  }
  return 0;
}
