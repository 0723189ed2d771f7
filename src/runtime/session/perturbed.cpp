#include "runtime/session/perturbed.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "record/verdict.h"
#include "runtime/session/outputs.h"
#include "runtime/tensor/compare.h"

namespace passnet::runtime {

namespace {

/// Other contents that may still mean something: places next to each, the other truth values, numbers of other sizes.
std::vector<at::Tensor> others_than(const at::Tensor& tensor) {
  if (tensor.scalar_type() == at::kBool) return {tensor.logical_not(), tensor.view(-1).flip(0).view(tensor.sizes())};
  if (tensor.is_floating_point() || tensor.is_complex()) return {tensor.mul(0.75), tensor.add(1)};
  if (!tensor.is_cpu() && tensor.numel() > 0) {
    // An index that is out of range stops a GPU for good, where a CPU throws. These keep the order of values, and so the
    // sign of their differences, and exceed the recorded ones only where all are 0.
    const int64_t least = tensor.min().item<int64_t>(), most = tensor.max().item<int64_t>();
    if (least == 0 && most == 0) return {tensor.add(1)};
    return {tensor.sub(1).clamp_min(std::min<int64_t>(least, 0))};
  }
  return {tensor.sub(1), tensor.add(1), tensor.view(-1).flip(0).view(tensor.sizes())};
}

bool differs(const CallOutput& expected, const CallOutput& found) {
  if (!expected.tensor.defined() || !found.tensor.defined())
    return !expected.tensor.defined() && !found.tensor.defined() && *expected.scalar != *found.scalar;
  return !passes(expected.tensor.cpu(), found.tensor.cpu(), record::kCorrectT);
}

bool same_shapes(const std::vector<CallOutput>& a, const std::vector<CallOutput>& b) {
  return std::ranges::equal(a, b, [](const CallOutput& one, const CallOutput& other) {
    if (one.tensor.defined() != other.tensor.defined()) return false;
    return !one.tensor.defined() || one.sizes() == other.sizes();
  });
}

/// A run on inputs of which one is `contents`. None: the graph refuses them.
std::optional<CallResult> run_with(LoadedGraph& graph, size_t index, const at::Tensor& contents) {
  graph.prepare_call();
  std::vector<at::Tensor> inputs;
  for (const at::Tensor& input : graph.pristine()) inputs.push_back(input.clone());
  inputs[index] = contents.clone();
  graph.use_inputs(inputs);
  std::optional<CallResult> result;
  try {
    const Result<void> done = graph.plan().run();
    graph.device().synchronize();
    if (done) {
      result = CallResult{call_outputs(graph.plan().outputs()), {}};
      for (CallOutput& output : result->outputs) {
        if (output.tensor.defined()) output.tensor = output.tensor.clone();
      }
      for (const size_t changed : graph.mutated())
        result->inputs.emplace(graph.plan().input_names()[changed], CallOutput{inputs[changed], {}});
    }
  } catch (const c10::Error&) {
    // Contents that it does not take are none that it depends on.
  }
  graph.plan().release();
  return result;
}

}  // namespace

Result<bool> depends_on(LoadedGraph& graph, const std::string& input) {
  const auto& names = graph.plan().input_names();
  const auto index = static_cast<size_t>(std::ranges::find(names, input) - names.begin());
  if (index == names.size()) return bad_input(fmt::format("the graph has no input '{}'", input));
  const LoadedGraph::LastRun* const last = graph.last_run();
  if (last == nullptr) return bad_input("the graph was not run on its inputs").with_hint("send 'run' first");
  const std::vector<at::Tensor> own = graph.inputs_in_use();
  bool depends = false;
  for (const at::Tensor& contents : others_than(graph.pristine()[index])) {
    const std::optional<CallResult> found = run_with(graph, index, contents);
    if (!found || !same_shapes(last->outputs, found->outputs)) continue;
    depends = !std::ranges::equal(last->outputs, found->outputs,
                                  [](const CallOutput& a, const CallOutput& b) { return !differs(a, b); });
    for (const auto& [name, expected] : last->changed) {
      const auto changed = found->inputs.find(name);
      depends = depends || (changed != found->inputs.end() && differs(expected, changed->second));
    }
    if (depends) break;
  }
  graph.use_inputs(own);
  return depends;
}

}  // namespace passnet::runtime
