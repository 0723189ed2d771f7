#include "runtime/session/call_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "record/tolerance.h"
#include "runtime/tensor/compare.h"
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

/// Keeps the worse of what is known of an output and of another call's. known: the rung that it passes from, where none is
/// kept yet.
void keep_worse(std::optional<record::OutputCheck>& worst, std::optional<int> known, const CallOutput& expected,
                const CallOutput& found) {
  const bool both = expected.tensor.defined() && found.tensor.defined();
  if (worst) known = worst->passes_from;
  if (known && both && passes(expected.tensor, found.tensor, *known)) return;
  record::OutputCheck check = check_output(expected, found);
  if (!worst || check.passes_from > worst->passes_from) worst = std::move(check);
}

}  // namespace

Result<CallOutputs> share_results(const std::vector<CallResult>& results) {
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
  PASSNET_TRY(shared.tensors, share(names, tensors));
  return shared;
}

Result<CallChecks> check_calls(const std::vector<CallResult>& expected, const CallSets& sets,
                               const std::vector<std::string>& input_names, const std::vector<wire::Entry>& found,
                               const wire::Mapping& mapping, const Json& scalars, const std::vector<int>& known,
                               std::optional<int> allowed) {
  Found other{{}, scalars};
  const std::vector<at::Tensor> views = view_shared(found, mapping);
  for (size_t i = 0; i < found.size(); ++i) other.tensors.emplace(found[i].name, views[i]);
  std::vector<std::optional<record::OutputCheck>> outputs;
  std::map<std::string, std::optional<record::OutputCheck>> inputs;
  for (const std::string& name : other.changed_inputs()) inputs[name];
  for (size_t call = 0; call < expected.size(); ++call) {
    const std::vector<CallOutput>& own = expected[call].outputs;
    const size_t count = std::max(own.size(), other.outputs_of(call));
    outputs.resize(std::max(outputs.size(), count));
    for (size_t i = 0; i < count; ++i)
      keep_worse(outputs[i], i < known.size() ? std::optional(known[i]) : allowed,
                 i < own.size() ? own[i] : CallOutput{}, other.output(call, i));
    for (const auto& [name, tensor] : expected[call].inputs) inputs[name];
    PASSNET_TRY(const std::vector<at::Tensor> given, sets.tensors(static_cast<int64_t>(call), input_names));
    for (auto& [name, worst] : inputs) {
      const auto index = std::ranges::find(input_names, name) - input_names.begin();
      if (index == std::ssize(input_names)) return bad_input(fmt::format("the graph has no input '{}'", name));
      const auto mine = expected[call].inputs.find(name);
      const at::Tensor before = given[static_cast<size_t>(index)];
      keep_worse(worst, allowed, {mine != expected[call].inputs.end() ? mine->second : before, {}},
                 {other.input(call, name).value_or(before), {}});
    }
  }
  CallChecks checks;
  checks.compared = static_cast<int64_t>(expected.size());
  checks.outputs = std::move(outputs);
  for (auto& [name, worst] : inputs) {
    checks.input_names.push_back(name);
    checks.inputs.push_back(std::move(worst));
  }
  return checks;
}

}  // namespace passnet::runtime
