#include "runtime/session/call_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "record/profiles.h"
#include "runtime/tensor/compare.h"
#include "runtime/tensor/errors.h"
#include "runtime/tensor/share.h"

namespace passnet::runtime {

namespace {

std::string result_name(size_t call, const std::string& name) { return fmt::format("{}/{}", call, name); }

/// The other side's results by name.
struct Found {
  std::map<std::string_view, at::Tensor> tensors;
  const Json& scalars;

  CallOutput output(size_t call, size_t index) const {
    const std::string name = result_name(call, output_name(index));
    CallOutput output;
    if (const auto tensor = tensors.find(name); tensor != tensors.end()) output.tensor = tensor->second;
    if (const auto scalar = scalars.find(name); scalar != scalars.end()) output.scalar = *scalar;
    return output;
  }
  std::optional<at::Tensor> input(size_t call, const std::string& name) const {
    const auto tensor = tensors.find(result_name(call, changed_input_name(name)));
    return tensor == tensors.end() ? std::nullopt : std::optional(tensor->second);
  }
  size_t outputs_of(size_t call) const {
    size_t count = 0;
    while (output(call, count).tensor.defined() || !output(call, count).scalar.is_null()) ++count;
    return count;
  }
  /// Names of the inputs that it changed in call 0.
  std::set<std::string> changed_inputs() const {
    constexpr std::string_view kFirstCall = "0/";
    std::set<std::string> names;
    for (const auto& [name, tensor] : tensors) {
      if (!name.starts_with(kFirstCall)) continue;
      if (const auto input = changed_input(name.substr(kFirstCall.size()))) names.insert(*input);
    }
    return names;
  }
};

/// What is known of an output over all calls.
struct Kept {
  std::optional<record::OutputCheck> worst;
  std::optional<int> known;                 // the rung that it passes from, where none is kept yet
  const record::Errors* allowed = nullptr;  // how far it may be off; null: rungs decide
};

bool comparable(const CallOutput& expected, const CallOutput& found) {
  return expected.tensor.defined() && found.tensor.defined() &&
         expected.tensor.scalar_type() == found.tensor.scalar_type() && expected.tensor.sizes() == found.tensor.sizes();
}

/// Keeps what is beyond the budget, or else the worse of what is known and of this call's.
void keep_worse(Kept& kept, const CallOutput& expected, const CallOutput& found) {
  if (kept.allowed != nullptr && comparable(expected, found)) {
    record::Errors errors;
    if (kept.worst || within(expected.tensor, found.tensor, *kept.allowed, &errors)) return;
    kept.worst = check_output(expected, found);
    kept.worst->budget = record::ErrorBudget{record::kTimedCalls, {}, *kept.allowed, errors};
    return;
  }
  const bool both = expected.tensor.defined() && found.tensor.defined();
  if (kept.worst) kept.known = kept.worst->passes_from;
  if (kept.known && both && passes(expected.tensor, found.tensor, *kept.known)) return;
  record::OutputCheck check = check_output(expected, found);
  if (!kept.worst || check.passes_from > kept.worst->passes_from) kept.worst = std::move(check);
}

const record::Errors* find_budget(const std::map<std::string, record::Errors>& budgets, const std::string& name) {
  const auto found = budgets.find(name);
  return found == budgets.end() ? nullptr : &found->second;
}

}  // namespace

Result<CallOutputs> share_results(const std::vector<CallResult>& results, KeptMemory& memory) {
  CallOutputs shared;
  shared.scalars = Json::object();
  std::vector<std::string> names;
  std::vector<at::Tensor> tensors;
  for (size_t call = 0; call < results.size(); ++call) {
    for (size_t i = 0; i < results[call].outputs.size(); ++i) {
      const CallOutput& output = results[call].outputs[i];
      const std::string name = result_name(call, output_name(i));
      if (output.tensor.defined()) {
        names.push_back(name);
        tensors.push_back(output.tensor);
      } else {
        shared.scalars[name] = output.scalar;
      }
    }
    for (const auto& [name, tensor] : results[call].inputs) {
      names.push_back(result_name(call, changed_input_name(name)));
      tensors.push_back(tensor);
    }
  }
  PASSNET_TRY(shared.tensors, memory.share(names, tensors));
  return shared;
}

Result<CallChecks> check_calls(const std::vector<CallResult>& expected, const CallSets& sets,
                               const std::vector<std::string>& input_names, const std::vector<wire::Entry>& found,
                               const wire::Mapping& mapping, const Json& scalars, const std::vector<int>& known,
                               std::optional<int> allowed, const std::map<std::string, record::Errors>& budgets) {
  Found other{{}, scalars};
  const std::vector<at::Tensor> views = view_shared(found, mapping);
  for (size_t i = 0; i < found.size(); ++i) other.tensors.emplace(found[i].name, views[i]);
  std::vector<Kept> outputs;
  std::map<std::string, Kept> inputs;
  const auto keep_input = [&](const std::string& name) {
    inputs.try_emplace(name, Kept{{}, allowed, find_budget(budgets, "input " + name)});
  };
  for (const std::string& name : other.changed_inputs()) keep_input(name);
  for (size_t call = 0; call < expected.size(); ++call) {
    const std::vector<CallOutput>& own = expected[call].outputs;
    const size_t count = std::max(own.size(), other.outputs_of(call));
    for (size_t i = outputs.size(); i < count; ++i)
      outputs.push_back({{},
                         i < known.size() ? std::optional(known[i]) : allowed,
                         find_budget(budgets, fmt::format("output {}", i))});
    for (size_t i = 0; i < count; ++i)
      keep_worse(outputs[i], i < own.size() ? own[i] : CallOutput{}, other.output(call, i));
    for (const auto& [name, tensor] : expected[call].inputs) keep_input(name);
    PASSNET_TRY(const std::vector<at::Tensor> given, sets.tensors(static_cast<int64_t>(call), input_names));
    for (auto& [name, kept] : inputs) {
      const auto index = std::ranges::find(input_names, name) - input_names.begin();
      if (index == std::ssize(input_names)) return bad_input(fmt::format("the graph has no input '{}'", name));
      const auto mine = expected[call].inputs.find(name);
      const at::Tensor before = given[static_cast<size_t>(index)];
      keep_worse(kept, {mine != expected[call].inputs.end() ? mine->second : before, {}},
                 {other.input(call, name).value_or(before), {}});
    }
  }
  CallChecks checks;
  checks.compared = static_cast<int64_t>(expected.size());
  for (Kept& output : outputs) checks.outputs.push_back(std::move(output.worst));
  for (auto& [name, kept] : inputs) {
    checks.input_names.push_back(name);
    checks.inputs.push_back(std::move(kept.worst));
  }
  return checks;
}

}  // namespace passnet::runtime
