#include "author/text/python_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "fx/print.h"
#include "fx/statement.h"

namespace passnet::author {

using ir::ArgKind;
using ir::NodeId;

namespace {

std::vector<std::string> names_of(const ir::Graph& graph, const std::vector<NodeId>& ids) {
  std::vector<std::string> all;
  for (const NodeId id : ids) all.emplace_back(graph.node(id).name);
  return all;
}

std::string tuple_of(const std::vector<std::string>& items) {
  return fmt::format("({}{})", fmt::join(items, ", "), items.size() == 1 ? "," : "");
}

void decline(std::vector<std::string>& lines, const std::string& condition) {
  lines.push_back(fmt::format("if {}:", condition));
  lines.push_back("    return NotImplemented");
}

/// What the plan asks before anything else: types, ranks and layouts are those of the graphs.
std::vector<std::string> checks(const Subject& subject, const GraphPart& part) {
  std::vector<std::string> dtypes, ranks, layouts;
  std::vector<std::vector<std::string>> seen(subject.types.size());
  for (const NodeId id : part.inputs) {
    const std::string name(subject.graph.node(id).name);
    const std::vector<ValueType> types = subject.types_of(id);
    const bool is_dtype = types[0].kind == ValueType::Kind::Constant && types[0].constant == ArgKind::DType;
    if (types[0].is_tensor() || is_dtype) {
      dtypes.push_back(types[0].is_tensor() ? name + ".dtype" : name);
      for (size_t i = 0; i < types.size(); ++i)
        seen[i].push_back(
            fmt::format("torch.{}", ir::name(types[0].is_tensor() ? types[i].tensor.dtype : types[i].dtype)));
    }
    if (!types[0].is_tensor()) continue;
    ranks.push_back(fmt::format("{}.ndim == {}", name, types[0].tensor.shape.size()));
    if (std::ranges::all_of(types, [](const ValueType& type) { return type.tensor.is_contiguous(); }))
      layouts.push_back(name + ".is_contiguous()");
  }
  std::vector<std::string> combinations;
  for (const auto& combination : seen) {
    const std::string text = dtypes.size() == 1 ? combination[0] : tuple_of(combination);
    if (std::ranges::find(combinations, text) == combinations.end()) combinations.push_back(text);
  }
  std::vector<std::string> lines;
  if (!dtypes.empty())
    decline(lines,
            fmt::format("{} not in {}", dtypes.size() == 1 ? dtypes[0] : tuple_of(dtypes), tuple_of(combinations)));
  if (!ranks.empty()) decline(lines, fmt::format("not ({})", fmt::join(ranks, " and ")));
  if (!layouts.empty()) decline(lines, fmt::format("not ({})", fmt::join(layouts, " and ")));
  return lines;
}

/// What gives back what it takes: dropout that drops nothing, a conversion to the dtype that it is of.
bool is_the_same(const Subject& subject, NodeId of, NodeId id) {
  const std::vector<ValueType> from = subject.types_of(of), to = subject.types_of(id);
  for (size_t i = 0; i < from.size(); ++i) {
    if (!from[i].is_tensor() || !to[i].is_tensor() || from[i].tensor != to[i].tensor) return false;
  }
  return true;
}

bool has_word(const std::string& text, const std::string& word) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    if ((at == 0 || !is_part(text[at - 1])) && (at + word.size() >= text.size() || !is_part(text[at + word.size()])))
      return true;
  }
  return false;
}

/// A tensor of that type: as PyTorch lays it out.
std::string allocation(Definitions& definitions, TensorId id) {
  const Tensor& tensor = definitions.tensors()[id];
  std::vector<std::string> sizes, back(tensor.shape.size());
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    const size_t dim = tensor.order.empty() ? i : tensor.order[i];
    sizes.push_back(definitions.sizes().plan_text(tensor.shape[dim]));
    back[dim] = std::to_string(i);
  }
  std::string text =
      fmt::format("torch.empty({}, dtype={})", tuple_of(sizes), definitions.elements()[tensor.element].plan);
  if (!std::ranges::is_sorted(tensor.order)) text += fmt::format(".permute({})", fmt::join(back, ", "));
  return text;
}

constexpr std::string_view kGrids = R"(
def items_grid(x, n, work):
    # A thread for each of n items on a GPU; a task for every 8192 steps of work on a CPU, at most 16.
    return (triton.cdiv(n, 256),) if x.is_cuda else (min(16, max(1, n * work // 8192)),)


def rows_grid(x, rows, width, threads, block):
    # As many rows as a block has threads for; a task for every 8192 elements on a CPU, at most 16.
    return (triton.cdiv(rows, block // threads),) if x.is_cuda else (min(16, rows, max(1, rows * width // 8192)),)

)";

std::string launch(Definitions& definitions, const NamedKernel& kernel, const std::string& device_of) {
  std::vector<std::string> arguments;
  for (const auto* tensors : {&kernel.facts.loaded, &kernel.facts.stored}) {
    for (const TensorId tensor : *tensors) arguments.push_back(definitions.tensors()[tensor].name);
  }
  for (const auto& [name, compute] : kernel.facts.parameters) arguments.push_back(name);
  for (const Element& element : definitions.elements()) {
    if (element.varies && (has_word(kernel.cpp, element.kernel) || has_word(kernel.cuda, element.kernel)))
      arguments.push_back(fmt::format("{}={}", element.kernel, element.plan));
  }
  for (const auto& [plan, constant] : definitions.sizes().dimension_names()) {
    if (has_word(kernel.cpp, constant) || has_word(kernel.cuda, constant))
      arguments.push_back(fmt::format("{}={}", constant, plan));
  }
  SizeTable& sizes = definitions.sizes();
  const std::string items = sizes.plan_text(kernel.facts.items), row = sizes.plan_text(kernel.facts.row);
  std::string grid;
  if (kernel.lanes == Lanes::Row) {
    const int block = kernel.facts.threads <= 32 ? 128 : kernel.facts.threads;
    arguments.push_back(fmt::format("THREADS={}", kernel.facts.threads));
    grid = fmt::format("rows_grid({}, {}, {}, {}, {}), {}", device_of, items, row, kernel.facts.threads, block, block);
  } else {
    grid = fmt::format("items_grid({}, {}, {}), 256", device_of, items, row);
  }
  return fmt::format("{}[{}]({})", kernel.name, grid, fmt::join(arguments, ", "));
}

}  // namespace

std::string python_text(const Subject& subject, Definitions& definitions, const GraphPart& part,
                        const std::vector<NamedKernel>& kernels, const std::string& name,
                        const std::vector<std::string>& comment) {
  const ir::Graph& graph = subject.graph;
  fx::StatementPrinter printer(graph);
  for (const NodeId id : part.nodes) {
    printer.put("    ");
    printer.statement(graph.node(id), false, "\n    ");
    printer.put("\n");
  }
  const std::string inputs = fmt::format("{}", fmt::join(names_of(graph, part.inputs), ", "));
  std::string out;
  for (const std::string& line : comment) out += fmt::format("# {}\n", line);
  out += "import torch\nimport triton\n";
  for (const auto& [used, constant] :
       {std::pair{printer.needs().device, "device"}, {printer.needs().inf, "inf"}, {printer.needs().nan, "nan"}}) {
    if (used) out += fmt::format("from torch import {}\n", constant);
  }
  out += fmt::format("\n\ndef pattern({}):\n{}    return {}\n", inputs, printer.text(),
                     fmt::join(names_of(graph, part.outputs), ", "));
  out += fmt::format("\n\ndef replacement_args({}):\n    return ({}{})\n\n", inputs, inputs,
                     part.inputs.size() == 1 ? "," : "");
  out += kGrids;
  std::vector<std::string> lines = checks(subject, part);
  // Launches first: they may name sizes that nothing has named before.
  std::vector<std::string> launches;
  std::string device_of;
  for (const NodeId id : part.inputs) {
    if (device_of.empty() && subject.types[0][id].is_tensor()) device_of = graph.node(id).name;
  }
  for (const NamedKernel& kernel : kernels) {
    for (const TensorId tensor : kernel.facts.stored)
      launches.push_back(fmt::format("{} = {}", definitions.tensors()[tensor].name, allocation(definitions, tensor)));
    launches.push_back(launch(definitions, kernel, device_of));
  }
  for (const std::string& line : definitions.sizes().lines()) lines.push_back(line);
  for (const std::string& condition : definitions.sizes().conditions())
    decline(lines, fmt::format("not ({})", condition));
  lines.insert(lines.end(), launches.begin(), launches.end());
  for (const NodeId id : part.views) {
    const ir::Arg& of = graph.args(id)[0];
    if (is_the_same(subject, of.node, id)) {
      lines.push_back(fmt::format("{} = {}", graph.node(id).name, graph.node(of.node).name));
      continue;
    }
    fx::StatementPrinter view(graph);
    view.statement(graph.node(id), false, "\n    ");
    lines.emplace_back(view.text());
  }
  std::vector<std::string> results;
  for (const NodeId id : part.outputs) {
    const bool is_view = std::ranges::find(part.views, id) != part.views.end();
    results.push_back(is_view ? std::string(graph.node(id).name)
                              : definitions.tensors()[*definitions.tensor_of(id)].name);
  }
  out += fmt::format("\ndef {}({}):\n", name, inputs);
  for (const std::string& line : lines) out += fmt::format("    {}\n", line);
  out += fmt::format("    return {}\n\n\ndef replacement_func():\n    return {}\n", fmt::join(results, ", "), name);
  return out;
}

}  // namespace passnet::author
