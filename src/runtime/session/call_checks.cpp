#include "runtime/session/call_checks.h"

#include <ATen/ops/empty_like.h>
#include <ATen/ops/where.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/random.h"
#include "base/row_major.h"
#include "record/input_kinds.h"
#include "runtime/tensor/compare.h"
#include "runtime/tensor/errors.h"
#include "runtime/tensor/rows.h"

namespace passnet::runtime {

namespace {

std::string result_name(size_t call, const std::string& name) { return fmt::format("{}/{}", call, name); }

/// The rows of a call are drawn for it alone.
uint64_t rows_seed_of(uint64_t seed, size_t call) { return seed + call; }

/// The other side's results by name.
struct Found {
  std::map<std::string_view, CallOutput> tensors;
  const Json& scalars;

  CallOutput output(size_t call, size_t index) const {
    const std::string name = result_name(call, output_name(index));
    CallOutput output;
    if (const auto tensor = tensors.find(name); tensor != tensors.end()) output = tensor->second;
    if (const auto scalar = scalars.find(name); scalar != scalars.end()) output.scalar = *scalar;
    return output;
  }
  std::optional<CallOutput> input(size_t call, const std::string& name) const {
    const auto tensor = tensors.find(result_name(call, changed_input_name(name)));
    return tensor == tensors.end() ? std::nullopt : std::optional(tensor->second);
  }
  size_t outputs_of(size_t call) const {
    size_t count = 0;
    while (output(call, count).tensor.defined() || !output(call, count).scalar->is_null()) ++count;
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
         expected.tensor.scalar_type() == found.tensor.scalar_type() && expected.sizes() == found.sizes() &&
         expected.tensor.sizes() == found.tensor.sizes();
}

/// Of large outputs, of which there are some rows: what is told of places is of the whole.
record::OutputCheck check_rows(const SameRows& of) {
  record::OutputCheck check = check_output(of.expected, of.found);
  if (of.rows.is_all() || !check.mismatch || check.mismatch->first.size() != 2) return check;
  record::Mismatch& mismatch = *check.mismatch;
  mismatch.first = index_of(of.rows.place(mismatch.first[0], mismatch.first[1]), check.expected_shape);
  mismatch.where = fmt::format("of the {} that were compared", of.found.tensor.numel());
  return check;
}

/// Keeps what is beyond the budget, or else the worse of what is known and of this call's.
void keep_worse(Kept& kept, const SameRows& of) {
  const CallOutput &expected = of.expected, &found = of.found;
  if (kept.allowed != nullptr && comparable(expected, found)) {
    record::Errors errors;
    if (kept.worst || within(as_real(expected.tensor), as_real(found.tensor), *kept.allowed, &errors) ||
        is_few_steps_off(expected.tensor, found.tensor))
      return;
    kept.worst = check_rows(of);
    kept.worst->budget = record::ErrorBudget{record::kTimedCalls, {}, *kept.allowed, errors};
    return;
  }
  const bool both = expected.tensor.defined() && found.tensor.defined();
  if (kept.worst) kept.known = kept.worst->passes_from;
  if (kept.known && both && passes(expected.tensor, found.tensor, *kept.known)) return;
  record::OutputCheck check = check_rows(of);
  if (!kept.worst || check.passes_from > kept.worst->passes_from) kept.worst = std::move(check);
}

/// Accepts any value where eager's own result overflowed: with outliers it depends on the order of the computation.
void ignore_overflow(SameRows& of) {
  const at::Tensor& expected = of.expected.tensor;
  if (!comparable(of.expected, of.found) || !expected.is_floating_point()) return;
  of.found.tensor = at::where(expected.isfinite(), of.found.tensor, expected);
}

const record::Errors* find_budget(const std::map<std::string, record::Errors>& budgets, const std::string& name) {
  const auto found = budgets.find(name);
  return found == budgets.end() ? nullptr : &found->second;
}

}  // namespace

Result<CallOutputs> share_results(const std::vector<CallResult>& results, KeptMemory& memory) {
  PASSNET_TRY(const uint64_t seed, random_number());
  SharedResults shared(kMostOfTimedCall);
  for (size_t call = 0; call < results.size(); ++call)
    shared.add(results[call], result_name(call, ""), rows_seed_of(seed, call));
  PASSNET_TRY(SharedTensors tensors, memory.share(shared.names(), shared.tensors()));
  CallOutputs outputs = shared.finish(std::move(tensors));
  outputs.rows_seed = seed;
  return outputs;
}

Result<protocol::CallChecks> check_calls(const LoadedGraph& graph, const FoundResults& found,
                                         const std::vector<int>& known, std::optional<int> allowed) {
  const std::vector<CallResult>& expected = graph.expected_calls;
  const std::vector<std::string>& input_names = graph.plan().input_names();
  Found other{{}, found.scalars};
  for (size_t i = 0; i < found.entries.size(); ++i)
    other.tensors.emplace(found.entries[i].name, CallOutput{found.tensors[i], {}, found.entries[i].rows_of});
  std::vector<Kept> outputs;
  std::map<std::string, Kept> inputs;
  const auto keep_input = [&](const std::string& name) {
    inputs.try_emplace(name, Kept{{}, allowed, find_budget(graph.budgets, "input " + name)});
  };
  for (const std::string& name : other.changed_inputs()) keep_input(name);
  for (size_t call = 0; call < expected.size(); ++call) {
    const auto keep = [&](Kept& kept, const CallOutput& mine, const CallOutput& theirs) {
      SameRows same = same_rows(mine, theirs, rows_seed_of(found.rows_seed, call), kMostOfTimedCall);
      if (graph.call_sets->has_planted()) ignore_overflow(same);
      keep_worse(kept, same);
    };
    const std::vector<CallOutput>& own = expected[call].outputs;
    const size_t count = std::max(own.size(), other.outputs_of(call));
    for (size_t i = outputs.size(); i < count; ++i)
      outputs.push_back({{},
                         i < known.size() ? std::optional(known[i]) : allowed,
                         find_budget(graph.budgets, fmt::format("output {}", i))});
    for (size_t i = 0; i < count; ++i) keep(outputs[i], i < own.size() ? own[i] : CallOutput{}, other.output(call, i));
    for (const auto& [name, tensor] : expected[call].inputs) keep_input(name);
    for (auto& [name, kept] : inputs) {
      const auto index = static_cast<size_t>(std::ranges::find(input_names, name) - input_names.begin());
      if (index == input_names.size()) return bad_input(fmt::format("the graph has no input '{}'", name));
      const auto mine = expected[call].inputs.find(name);
      const std::optional<CallOutput> theirs = other.input(call, name);
      // What a side did not change is as it was given.
      const auto given = [&, &name = name] {
        CallOutput before{at::empty_like(graph.pristine()[index]), {}};
        graph.call_sets->fill(static_cast<int64_t>(call), name, graph.pristine()[index], before.tensor);
        return before;
      };
      keep(kept, mine != expected[call].inputs.end() ? mine->second : given(), theirs ? *theirs : given());
    }
  }
  protocol::CallChecks checks;
  checks.compared = static_cast<int64_t>(expected.size());
  for (Kept& output : outputs) checks.outputs.push_back(std::move(output.worst));
  for (auto& [name, kept] : inputs) {
    if (kept.worst) checks.inputs.emplace(name, std::move(*kept.worst));
  }
  return checks;
}

}  // namespace passnet::runtime
