#include "author/write_part.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "author/fuse/partition.h"
#include "author/subject/memory.h"
#include "author/take/operators.h"
#include "author/take/overwrites.h"
#include "author/take/part_views.h"
#include "author/written_kernel.h"
#include "base/text/columns.h"
#include "base/text/strings.h"
#include "fx/print.h"

namespace passnet::author {

using ir::NodeId;

namespace {

constexpr size_t kCommentWidth = 118;

/// The tensors that must be in memory at its end. Errors: Unsupported: others look at what a plan cannot give them.
Result<std::vector<TensorId>> outputs_of(const Subject& subject, Definitions& definitions, const GraphPart& part) {
  for (const NodeId id : part.views) {
    const std::optional<TensorId> view = definitions.tensor_of(id);
    if (subject.is_list(subject.graph.args(id)[0].node) && (!view || !definitions.tensors()[*view].part_of))
      return unsupported("a part of a tuple that the plan cannot make");
  }
  PASSNET_TRY(std::vector<TensorId> outputs, overwrite_inputs(subject, definitions, part));
  for (NodeId id : part.outputs) {
    const std::vector<NodeId> chain = view_chain(subject, part, id);
    if (!chain.empty()) id = subject.graph.args(chain.front())[0].node;
    if (subject.is_list(id)) id = subject.graph.args(id)[0].node;
    if (!is_in(part, id)) continue;  // a view of an input
    const std::optional<TensorId> tensor = definitions.tensor_of(id);
    if (!tensor) return unsupported("what leaves the part is no tensor");
    if (std::ranges::find(outputs, *tensor) == outputs.end()) outputs.push_back(*tensor);
    const std::optional<NodeId> same = same_in_some(subject, part, id);
    if (same && is_in(part, *same)) definitions.share(*tensor, *definitions.tensor_of(*same));
  }
  if (outputs.empty()) return unsupported("it only moves what it is given");
  return outputs;
}

/// Nobody may look at an input after it was overwritten: each thread reads its own elements before it stores them.
Result<void> check_overwritten(Definitions& definitions, const std::vector<FusedKernel>& kernels) {
  for (const FusedKernel& kernel : kernels) {
    for (const Store& store : kernel.stores) {
      const std::optional<TensorId> input = definitions.tensors()[store.tensor].overwrites;
      if (!input) continue;
      for (const FusedKernel& other : kernels) {
        for (const ExprId load : loads_in(definitions.exprs(), other)) {
          const Expr& expr = definitions.exprs().at(load);
          if (expr.tensor == *input && (&other != &kernel || expr.places != store.place))
            return unsupported("what it overwrites is looked at in other places");
        }
      }
    }
  }
  return {};
}

int64_t bytes_of(const Subject& subject, NodeId id) {
  const ValueType& type = subject.types[0][id];
  return type.is_tensor() ? type.tensor.size_bytes() : 0;
}

/// Counts the launches of its operators each on its own, and those that kernels compute.
void count_operators(const Subject& subject, const Definitions& definitions, const GraphPart& part,
                     const std::vector<FusedStep>& steps, Written& written) {
  written.operators = part.nodes.size();
  for (const NodeId id : part.nodes) {
    if (!computes(definitions, id)) continue;
    ++written.computing;
    const bool is_called = std::ranges::any_of(
        steps, [&](const FusedStep& one) { return !one.kernel && definitions.tensors()[one.call].call->node == id; });
    written.products += is_product(subject.graph, id) && !is_called ? 1 : 0;
    written.bytes_before += bytes_of(subject, id);
    std::set<NodeId> takes;
    ir::for_each_input(subject.graph, subject.graph.node(id), [&](NodeId input) { takes.insert(input); });
    for (const NodeId input : takes) written.bytes_before += bytes_of(subject, input);
  }
}

void count_call(const Subject& subject, Definitions& definitions, TensorId made, Written& written) {
  const Tensor& tensor = definitions.tensors()[made];
  written.calls.push_back(called_name(subject.graph, tensor.call->node));
  written.bytes_after += bytes_of(definitions, made, 0);
  for (const TensorId operand : tensor.takes) written.bytes_after += bytes_of(definitions, operand, 0);
}

/// Returns the head of Name.py: what is fused, and why.
std::vector<std::string> comment_of(const Subject& subject, const Definitions& definitions, const GraphPart& part,
                                    const Written& written) {
  std::vector<std::string> operators = operator_names(subject.graph, definitions, part);
  const std::string last = operators.empty() ? "copies" : operators.back();
  if (!operators.empty()) operators.pop_back();
  std::vector<std::string> sentences = {fmt::format(
      "{}{}{} of {} as {}{}.", fmt::join(operators, ", "), operators.empty() ? "" : " and ", last, subject.examples[0],
      counted(written.kernels, "kernel"),
      written.calls.empty() ? "" : fmt::format(" and {} of PyTorch", counted(written.calls.size(), "call")))};
  for (std::string& reason : reasons(written.explained, written.saving())) sentences.push_back(std::move(reason));
  return wrap(fmt::format("{}", fmt::join(sentences, "\n")), kCommentWidth);
}

std::string kernel_file(const std::string& name, const std::vector<NamedKernel>& kernels,
                        std::string NamedKernel::*target) {
  std::string text =
      fmt::format("// Kernels of {}.py.\n#include <passnet/kernel.h>\n\nusing namespace passnet;\n", name);
  for (const NamedKernel& kernel : kernels) {
    text += "\n" + kernel.*target;
    for (const NamedKernel& part : kernel.split) text += "\n" + part.*target;
  }
  return text;
}

Outside why_outside(const Subject& subject, const std::vector<std::string>& refused, NodeId id) {
  Outside one{fx::print_node(subject.graph, subject.graph.node(id)), refused[id], !refused[id].empty()};
  if (one.refused) return one;
  one.why = shares_memory(subject, id) ? "it only moves what it is given, which costs PyTorch nothing"
                                       : "between the two stands an operator that no kernel is written for";
  return one;
}

}  // namespace

Result<Written> write_part(Subject& subject, const GraphPart& part, const ProductOptions& calls, bool once,
                           const std::vector<std::string>& refused, const Schedule& schedule, const std::string& name) {
  if (part.outputs.empty()) return unsupported("nobody looks at what it gives");
  PASSNET_TRY_VOID(check_old_values(subject, part));
  if (std::ranges::any_of(part.outputs, [&](NodeId id) { return subject.is_list(id); }))
    return unsupported("its parts are used elsewhere");
  Definitions definitions(subject, calls);
  PASSNET_TRY_VOID(define(definitions, part));
  PASSNET_TRY(const std::vector<TensorId> outputs, outputs_of(subject, definitions, part));
  PASSNET_TRY(const std::vector<FusedStep> steps, fuse(definitions, outputs, once));
  Written written;
  written.name = name;
  std::vector<FusedKernel> kernels;
  std::vector<PlanStep> plan;
  for (const FusedStep& step : steps) {
    plan.push_back({step.kernel ? std::optional(kernels.size()) : std::nullopt, step.call});
    if (step.kernel)
      kernels.push_back(*step.kernel);
    else
      count_call(subject, definitions, step.call, written);
  }
  written.kernels = kernels.size();
  PASSNET_TRY_VOID(check_overwritten(definitions, kernels));
  const bool overwrites =
      std::ranges::any_of(definitions.tensors(), [](const Tensor& one) { return one.overwrites.has_value(); });
  if (overwrites && !written.calls.empty()) return unsupported("it overwrites an input of the graph beside a call");
  count_operators(subject, definitions, part, steps, written);
  std::vector<NamedKernel> named;
  for (const FusedKernel& kernel : kernels) {
    const std::string own =
        kernels.size() == 1 ? name + "_kernel" : fmt::format("{}_kernel_{}", name, named.size() + 1);
    WrittenKernel one = write_kernel(definitions, kernel, schedule, own, subject.examples.size());
    written.bytes_after += bytes_of(definitions, one.named.facts, 0);
    written.shapes.push_back(std::move(one.shape));
    named.push_back(std::move(one.named));
  }
  written.explained = explain(subject, definitions, part, named, schedule,
                              [&](NodeId id) { return why_outside(subject, refused, id); });
  PASSNET_TRY(written.python, python_text(subject, definitions, part, named, plan, schedule, name,
                                          comment_of(subject, definitions, part, written)));
  written.cpp = kernel_file(name, named, &NamedKernel::cpp);
  written.cuda = kernel_file(name, named, &NamedKernel::cuda);
  return written;
}

}  // namespace passnet::author
