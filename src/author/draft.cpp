#include "author/draft.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "author/region.h"
#include "author/subject/part.h"
#include "author/writer.h"
#include "fx/print.h"
#include "fx/statement.h"

namespace passnet::author {

using ir::ArgKind;
using ir::DType;
using ir::NodeId;
using ir::NodeKind;

namespace {

bool is_constant(const Subject& subject, NodeId id) { return subject.types[0][id].kind == ValueType::Kind::Constant; }

/// What the plan asks before anything else.
std::vector<std::string> checks(const Subject& subject, const GraphPart& part) {
  std::vector<std::string> lines = type_checks(subject, part);
  lines.insert(lines.begin(),
               "# Dtypes and ranks as in the graphs that this was written for; other sites keep their operators.");
  return lines;
}

constexpr std::string_view kBroadcast = R"(
def broadcast(a, b):
    rank = max(len(a), len(b))
    a = (1,) * (rank - len(a)) + tuple(a)
    b = (1,) * (rank - len(b)) + tuple(b)
    return tuple([q if p == 1 else p for p, q in zip(a, b)])

)";

constexpr std::string_view kGrid = R"(
def grid(x, n, work):
    # On a GPU a thread for each of n items, in blocks of 256; on a CPU a task for each 8192 elements, at most 64.
    return (triton.cdiv(n, 256),) if x.is_cuda else (min(64, max(1, min(n, work // 8192))),)

)";

/// Name.py. plan: its lines before `return`.
std::string python_text(const Subject& subject, const GraphPart& part, const std::string& name,
                        const std::vector<std::string>& comment, const std::vector<std::string>& plan,
                        const std::vector<std::string>& results, std::string_view functions) {
  fx::StatementPrinter printer(subject.graph);
  const std::string inputs = fmt::format("{}", fmt::join(names_of(subject.graph, part.inputs), ", "));
  for (const NodeId id : part.nodes) {
    printer.put("    ");
    printer.statement(subject.graph.node(id), false, "\n    ");
    printer.put("\n");
  }
  std::string out;
  for (const std::string& line : comment) out += fmt::format("# {}\n", line);
  out += "import math\nimport torch\nimport triton\n";
  for (const auto& [used, constant] :
       {std::pair{printer.needs().device, "device"}, {printer.needs().inf, "inf"}, {printer.needs().nan, "nan"}}) {
    if (used) out += fmt::format("from torch import {}\n", constant);
  }
  out += fmt::format("\n\ndef pattern({}):\n{}    return {}\n", inputs, printer.text(),
                     fmt::join(names_of(subject.graph, part.outputs), ", "));
  out += fmt::format("\n\ndef replacement_args({}):\n    return ({}{})\n\n", inputs, inputs,
                     part.inputs.size() == 1 ? "," : "");
  out += functions;
  out += fmt::format("\ndef {}({}):\n", name, inputs);
  for (const std::string& line : plan) out += fmt::format("    {}\n", line);
  out += fmt::format("    return {}\n\n\ndef replacement_func():\n    return {}\n", fmt::join(results, ", "), name);
  return out;
}

/// "of GRAPH", "of GRAPH and 5 more".
std::string whose(const Subject& subject) {
  const size_t more = subject.examples.size() - 1;
  return more == 0 ? subject.examples[0] : fmt::format("{} and {} more", subject.examples[0], more);
}

/// Kernels for the part. at: the node that stopped it, when one did.
Result<Draft> write_part(Subject& subject, const GraphPart& part, const std::string& name, NodeId& at) {
  Writer writer(subject, name);
  for (const NodeId id : part.inputs) {
    at = id;
    PASSNET_TRY_VOID(writer.input(id));
  }
  for (const NodeId id : part.nodes) {
    at = id;
    PASSNET_TRY_VOID(writer.node(id));
  }
  std::vector<std::string> results;
  for (const NodeId id : part.outputs) {
    at = id;
    if (!writer.has(id)) return unsupported("what leaves the part is no tensor");
    results.push_back(writer.store(id).name);
  }
  at = ir::kNoNode;
  if (!writer.has_kernels()) return unsupported("nothing in it computes");
  Draft draft;
  std::vector<std::string> plan = checks(subject, part);
  for (std::string& line : writer.plan()) plan.push_back(std::move(line));
  const std::string functions = fmt::format("{}{}", writer.needs_broadcast() ? kBroadcast : "", kGrid);
  draft.python = python_text(subject, part, name,
                             {fmt::format("Operators of {}, as `passnet pass new --from` wrote them:", whose(subject)),
                              "right but slow. Make the kernels faster; docs/passes.md says what they may use."},
                             plan, results, functions);
  for (const bool cuda : {false, true}) {
    std::string& text = cuda ? draft.cuda : draft.cpp;
    text = fmt::format(
        "// Kernels of {}.py, right but slow: {}.\n#include <passnet/kernel.h>\n\nusing namespace passnet;\n", name,
        cuda ? "every thread computes one item of the result" : "one item of the result after the other");
    text += writer.kernels(cuda);
  }
  return draft;
}

std::string cpp_element(DType dtype) {
  switch (dtype) {
    case DType::Float32: return "float";
    case DType::Float64: return "double";
    case DType::Float16: return "float16";
    case DType::BFloat16: return "bfloat16";
    case DType::Bool: return "bool";
    default: return fmt::format("{}_t", ir::name(dtype));
  }
}

/// The element type of a value as a constant of the kernel, when it is not the same in all graphs.
std::string varying(const std::vector<ValueType>& types) {
  return std::ranges::all_of(types, [&](const ValueType& type) { return type.tensor.dtype == types[0].tensor.dtype; })
             ? ""
             : "T_";
}

/// Plan and signature for a part that no kernel can be written for: the results have the shapes that were seen.
Result<Draft> outline_part(const Subject& subject, const GraphPart& part, const std::string& name) {
  const ir::Graph& graph = subject.graph;
  std::vector<std::string> plan = checks(subject, part), conditions(subject.types.size()), arguments, parameters,
                           constants, results;
  for (const NodeId id : part.inputs) {
    const std::vector<ValueType> types = subject.types_of(id);
    const std::string value(graph.node(id).name);
    if (is_constant(subject, id)) continue;
    if (!types[0].is_tensor())
      return bad_input(fmt::format("'{}', which goes into the part, is no tensor of known type", value));
    const std::string type = varying(types).empty() ? cpp_element(types[0].tensor.dtype) : varying(types) + value;
    if (!varying(types).empty()) constants.push_back(fmt::format("{}={}.dtype", type, value));
    arguments.push_back(value);
    parameters.push_back(fmt::format("const {}* {}", type, value));
    for (size_t i = 0; i < types.size(); ++i)
      conditions[i] += fmt::format("{}{}.shape == {}", conditions[i].empty() ? "" : " and ", value, tuple_of([&] {
                                     std::vector<std::string> sizes;
                                     for (const int64_t size : types[i].tensor.shape)
                                       sizes.push_back(fmt::format("{}", size));
                                     return sizes;
                                   }()));
  }
  if (arguments.empty()) return bad_input("no tensor goes into the part");
  plan.push_back("# The types of the results by those of the inputs, as in the graphs.");
  for (size_t i = 0; i < subject.types.size(); ++i) {
    std::string first_dtype;
    for (const NodeId id : part.inputs) {
      if (!is_constant(subject, id))
        first_dtype +=
            fmt::format(" and {}.dtype == torch.{}", graph.node(id).name, ir::name(subject.types[i][id].tensor.dtype));
    }
    plan.push_back(fmt::format("{} {}{}:", i == 0 ? "if" : "elif", conditions[i], first_dtype));
    for (const NodeId id : part.outputs) {
      const ValueType& type = subject.types[i][id];
      if (!type.is_tensor())
        return bad_input(
            fmt::format("'{}', which comes out of the part, is no tensor of known type", graph.node(id).name));
      plan.push_back(fmt::format("    {} = torch.empty(({}{}), dtype=torch.{})", graph.node(id).name,
                                 fmt::join(type.tensor.shape, ", "), type.tensor.shape.size() == 1 ? "," : "",
                                 ir::name(type.tensor.dtype)));
    }
  }
  plan.push_back("else:");
  plan.push_back("    return NotImplemented");
  for (const NodeId id : part.outputs) {
    const std::vector<ValueType> types = subject.types_of(id);
    const std::string value(graph.node(id).name);
    const std::string type = varying(types).empty() ? cpp_element(types[0].tensor.dtype) : varying(types) + value;
    if (!varying(types).empty()) constants.push_back(fmt::format("{}={}.dtype", type, value));
    arguments.push_back(value);
    parameters.push_back(fmt::format("{}* {}", type, value));
    results.push_back(value);
  }
  arguments.push_back(fmt::format("{}.numel()", results[0]));
  parameters.push_back("int64_t n");
  arguments.insert(arguments.end(), constants.begin(), constants.end());
  plan.push_back(fmt::format("{}_kernel[(1,), 256]({})", name, fmt::join(arguments, ", ")));
  Draft draft;
  draft.is_written = false;
  draft.python = python_text(subject, part, name,
                             {fmt::format("Operators of {}, as `passnet pass new --from` found them.", whose(subject)),
                              "The kernel is not written yet; docs/passes.md says what it may use."},
                             plan, results, "");
  for (const bool cuda : {false, true}) {
    std::string& text = cuda ? draft.cuda : draft.cpp;
    text = fmt::format(
        "// n: elements of {}.\n#include <passnet/kernel.h>\n\nPASSNET_KERNEL {}_kernel({}) {{\n#error \"the kernel of "
        "pass '{}' is not written yet: write it "
        "here, then remove this line\"\n}}\n",
        results[0], name, fmt::join(parameters, ", "), name);
  }
  return draft;
}

std::string statement(const ir::Graph& graph, NodeId id) { return fx::print_node(graph, graph.node(id)); }

/// Counts, and what was left out with why.
Draft finish(Draft draft, const Subject& subject, const GraphPart& part, const std::vector<std::string>& refused) {
  draft.taken = part.nodes.size();
  const std::set<NodeId> inside(part.nodes.begin(), part.nodes.end());
  for (NodeId id = subject.body(); id < subject.graph.size(); ++id) {
    if (subject.graph.node(id).kind == NodeKind::Output) continue;
    ++draft.of;
    if (inside.contains(id)) {
      if (!draft.is_written && !refused[id].empty())
        draft.left_out.push_back({statement(subject.graph, id), refused[id]});
    } else {
      draft.left_out.push_back(
          {statement(subject.graph, id), refused[id].empty() ? "not in the part that was taken" : refused[id]});
    }
  }
  return draft;
}

}  // namespace

Result<Draft> draft_pass(Subject& subject, const std::string& name, std::optional<std::pair<size_t, size_t>> range) {
  const ir::Graph& graph = subject.graph;
  std::vector<NodeId> body;
  for (NodeId id = subject.body(); id < graph.size(); ++id) {
    if (graph.node(id).kind != NodeKind::Output) body.push_back(id);
  }
  if (body.empty()) return bad_input("the graph has no operators");
  std::vector<std::string> refused = refusals(subject);
  if (range) {
    if (range->first >= range->second || range->second > body.size())
      return bad_input(fmt::format("range {}:{} of a graph of {} operators", range->first, range->second, body.size()))
          .with_hint(
              fmt::format("the first operator and one past the last, counted from 0: 0:{} is all of it", body.size()));
    const GraphPart part = cut(graph, {body.begin() + static_cast<ptrdiff_t>(range->first),
                                       body.begin() + static_cast<ptrdiff_t>(range->second)});
    NodeId at = ir::kNoNode;
    Result<Draft> draft = write_part(subject, part, name, at);
    if (draft) return finish(std::move(*draft), subject, part, refused);
    if (at != ir::kNoNode) refused[at] = draft.error().message;
    PASSNET_TRY(Draft outline, outline_part(subject, part, name));
    return finish(std::move(outline), subject, part, refused);
  }
  for (;;) {
    std::vector<NodeId> region = largest_region(subject, refused);
    if (region.empty()) break;
    const GraphPart part = cut(graph, std::move(region));
    NodeId at = ir::kNoNode;
    Result<Draft> draft = write_part(subject, part, name, at);
    if (draft) return finish(std::move(*draft), subject, part, refused);
    // What is written beside others may be refused where alone it was not: without it again.
    if (at >= subject.body() && at != ir::kNoNode && refused[at].empty())
      refused[at] = draft.error().message;
    else
      for (const NodeId id : part.nodes) refused[id] = draft.error().message;
  }
  const GraphPart part = cut(graph, std::move(body));
  PASSNET_TRY(Draft outline, outline_part(subject, part, name));
  return finish(std::move(outline), subject, part, refused);
}

}  // namespace passnet::author
