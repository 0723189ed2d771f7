// Any text as a pass file: reading it and running its plan must end within its steps and a time, with launch lists or an
// error that has a place; also where it may call PyTorch.
#include <time.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "pass/plan/launch_list.h"
#include "pass/plan/plan.h"
#include "pass/plan/segments.h"
#include "pass/plan/syntax/parser.h"

namespace passnet::pass {
namespace {

/// Calls with one tensor give it, others a tuple of all.
Result<ir::Value> type_of(const LibraryCall& call) {
  ir::Value::List all;
  for (const View& input : call.inputs) all.push_back({input.type, {}});
  return all.size() == 1 ? all[0] : ir::Value{std::move(all), {}};
}

/// Also checks that every view lies in its buffer.
void require_sound(const LaunchList& list) {
  auto back = launch_list_from_json(to_json(list));
  if (!back || back->outputs != list.outputs) std::abort();
}

/// A tenth of what a plan may take, so that its whole is within the time that the sanitizers leave.
constexpr Work kSteps{"the plan takes", 100'000, ""};
constexpr int64_t kMostSteps = 400'000;       // with what one value visits before it is charged
constexpr std::chrono::seconds kLongest{20};  // of processor time

std::chrono::nanoseconds processor_time() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void evaluate(const PlanProgram& program, const Plan& plan) {
  const Function* arguments = program.find_function("replacement_args");
  if (arguments == nullptr) return;
  const ir::TensorType dense = ir::contiguous(ir::DType::Float32, {4, 3, 2});
  const ir::TensorType strided{ir::DType::BFloat16, {3, 4}, {1, 3}};
  const SiteInput choices[] = {dense, strided, int64_t{3}, 0.5, std::string("route"), std::monostate{}};
  std::vector<SiteInput> inputs;
  const size_t count = arguments->parameters.size();
  for (size_t i = 0; i < count; ++i) inputs.push_back(choices[i % std::size(choices)]);
  PlanOptions options;
  options.library_types = type_of;
  for (size_t outputs = 1; outputs <= 2; ++outputs) {
    Budget steps(kSteps);
    options.steps = &steps;
    auto evaluated = evaluate_plan(plan, "P", inputs, outputs, options);
    if (steps.spent() > kMostSteps) std::abort();
    if (!evaluated) {
      if (!evaluated.error().at) std::abort();
      continue;
    }
    const auto* result = std::get_if<PlanResult>(&*evaluated);
    if (!result) continue;
    require_sound(result->list);
    for (const Piece& piece : split_at_calls(result->list, result->calls).pieces)
      if (piece.list) require_sound(*piece.list);
  }
}

}  // namespace
}  // namespace passnet::pass

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace passnet;
  using namespace passnet::pass;
  const auto text = std::make_shared<const std::string>(reinterpret_cast<const char*>(data), size);
  auto file = parse_pass_file("P.py", text);
  if (!file) {
    if (!file.error().at || file.error().message.empty()) std::abort();
    return 0;
  }
  const auto began = processor_time();
  for (const bool may_call_library : {false, true}) {
    Budget steps(kLoading);
    const auto plan = make_plan({*file}, {may_call_library}, steps);
    if (plan)
      evaluate(**file, *plan);
    else if (!plan.error().at || plan.error().message.empty())
      std::abort();
  }
  if (processor_time() - began > kLongest) std::abort();
  return 0;
}
