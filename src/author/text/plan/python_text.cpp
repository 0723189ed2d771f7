#include "author/text/plan/python_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "author/text/plan/launch_text.h"
#include "fx/print.h"
#include "fx/syntax/statement.h"

namespace passnet::author {

using ir::NodeId;

namespace {

/// The same conditions, where "x.shape[0] == rows" and "x.shape[1] == width" are all of a shape: "x.shape == (rows, width)".
std::vector<std::string> by_shape(const Subject& subject, const GraphPart& part, std::vector<std::string> conditions) {
  for (const NodeId id : part.inputs) {
    if (!subject.types[0][id].is_tensor()) continue;
    const std::string name(subject.graph.node(id).name);
    const size_t rank = subject.types[0][id].tensor.shape.size();
    std::vector<std::string> sizes;
    const auto begins = [&](size_t dim) { return fmt::format("{}.shape[{}] == ", name, dim); };
    for (const std::string& condition : conditions) {
      if (sizes.size() < rank && condition.starts_with(begins(sizes.size())))
        sizes.push_back(condition.substr(begins(sizes.size()).size()));
    }
    if (rank < 2 || sizes.size() != rank) continue;
    const auto first = std::ranges::find_if(conditions, [&](const auto& one) { return one.starts_with(begins(0)); });
    *first = fmt::format("{}.shape == {}", name, tuple_of(sizes));
    for (size_t dim = 1; dim < rank; ++dim)
      std::erase_if(conditions, [&](const std::string& one) { return one.starts_with(begins(dim)); });
  }
  return conditions;
}

/// Returns the facts that tell the examples apart: dtypes and sizes that are not the same in all. late: sizes that the
/// plan knows only later on.
std::vector<std::pair<std::string, std::string>> sites_of(const Subject& subject, Definitions& definitions,
                                                          const std::map<std::string, size_t>& late) {
  std::vector<std::pair<std::string, std::string>> sites;
  for (size_t i = 0; i < subject.examples.size(); ++i) {
    std::vector<std::string> conditions;
    for (const Element& element : definitions.elements()) {
      if (element.varies)
        conditions.push_back(fmt::format("{} == torch.{}", element.plan, ir::name(element.by_example[i])));
    }
    for (const auto& [name, values] : definitions.sizes().dimensions()) {
      if (!late.contains(name) && std::ranges::adjacent_find(values, std::not_equal_to()) != values.end())
        conditions.push_back(fmt::format("{} == {}", name, values[i]));
    }
    sites.emplace_back(subject.examples[i], fmt::format("{}", fmt::join(conditions, " and ")));
  }
  return sites;
}

/// Breaks a long `if` of a plan before an `or`, outside parentheses.
std::string wrapped(const std::string& line) {
  constexpr size_t kWidth = 112;
  if (line.size() <= kWidth || !line.starts_with("if ")) return line;
  std::string made = "if (";
  size_t begin = 3, column = made.size();
  int depth = 0;
  const auto put = [&](size_t end) {
    if (column + end - begin > kWidth && column > 4) {
      made += "\n           ";
      column = 7;
    }
    made += line.substr(begin, end - begin);
    column += end - begin;
    begin = end;
  };
  for (size_t i = 3; i < line.size(); ++i) {
    depth += line[i] == '(' || line[i] == '[' ? 1 : line[i] == ')' || line[i] == ']' ? -1 : 0;
    if (depth == 0 && std::string_view(line).substr(i).starts_with(" or ")) put(i);
  }
  put(line.size() - 1);
  return made + "):";
}

/// Tells whether the launch of a kernel goes by that rule.
bool uses(const NamedKernel& kernel, Rule rule) {
  const KernelFacts& facts = kernel.facts;
  switch (rule) {
    case Rule::Items: return goes_by_items(kernel);
    case Rule::Products: return facts.product.has_value();
    case Rule::Tiles: return facts.tile.has_value();
    case Rule::Rows: return kernel.lanes == Lanes::Row;
    case Rule::Pack: return facts.packing || facts.runs;
    case Rule::Band: return facts.band.has_value();
    case Rule::Down: return facts.column.has_value();
    case Rule::Parts: return !kernel.split.empty();
  }
  return false;
}

/// The names of what a plan returns.
std::vector<std::string> results_of(const ir::Graph& graph, const GraphPart& part, const Definitions& definitions) {
  std::vector<std::string> names;
  for (const NodeId id : part.outputs) {
    const bool is_view = std::ranges::find(part.views, id) != part.views.end();
    names.push_back(is_view ? std::string(graph.node(id).name)
                            : definitions.tensors()[*definitions.tensor_of(id)].name);
  }
  return names;
}

}  // namespace

Result<PythonText> python_text(Subject& subject, Definitions& definitions, const GraphPart& part,
                               const std::vector<NamedKernel>& kernels, const std::vector<PlanStep>& steps,
                               const Schedule& schedule, const std::string& name,
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
  std::string rules;
  for (const Rule rule : kAllRules) {
    if (std::ranges::any_of(kernels, [&](const NamedKernel& one) { return uses(one, rule); })) rules += rule_text(rule);
  }
  std::vector<std::string> lines = type_checks(subject, part);
  StepLines of_steps(subject, definitions, part, kernels, steps);
  for (const std::string& line : of_steps.early_lines()) lines.push_back(line);
  for (const std::string& condition : by_shape(subject, part, of_steps.early_conditions())) {
    if (const std::optional<std::string> why = definitions.sizes().why(condition)) lines.push_back("# " + *why);
    decline(lines, negated(condition));
  }
  for (const std::string& line : of_steps.rounding_checks()) lines.push_back(line);
  for (const std::string& line : of_steps.device_checks(kernels)) lines.push_back(line);
  const size_t first_step = lines.size();
  PASSNET_TRY(const std::vector<std::string> step_lines, of_steps.run());
  lines.insert(lines.end(), step_lines.begin(), step_lines.end());
  const std::string constants = constants_of(fmt::format("{}{}", rules, fmt::join(lines, "\n")), schedule);
  if (!constants.empty()) out += "\n" + constants;
  out += fmt::format("\n\ndef pattern({}):\n{}    return {}\n", inputs, printer.text(),
                     fmt::join(names_of(graph, part.outputs), ", "));
  out += fmt::format("\n\ndef replacement_args({}):\n    return ({}{})\n\n{}", inputs, inputs,
                     part.inputs.size() == 1 ? "," : "", rules);
  out += fmt::format("\ndef {}({}):\n", name, inputs);
  PythonText made;
  made.plan = out.size();
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i == first_step) made.launches = out.size();
    out += fmt::format("    {}\n", wrapped(lines[i]));
  }
  out += fmt::format("    return {}\n", fmt::join(results_of(graph, part, definitions), ", "));
  made.end = out.size();
  out += fmt::format("\n\ndef replacement_func():\n    return {}\n", name);
  made.text = std::move(out);
  made.sites = sites_of(subject, definitions, of_steps.late());
  return made;
}

std::string declining(const PythonText& python, const std::map<std::string, std::string>& declined) {
  std::map<std::string, std::vector<std::string>> graphs;  // by condition
  std::vector<std::string> all;
  for (const auto& [example, condition] : python.sites) {
    if (!declined.contains(example)) continue;
    all.push_back(example);
    graphs[condition].push_back(example);
  }
  const std::string& text = python.text;
  const bool everywhere =
      std::ranges::all_of(python.sites, [&](const auto& site) { return graphs.contains(site.second); });
  if (everywhere)
    return fmt::format("{}    # Not faster anywhere: {}.\n    return NotImplemented\n{}", text.substr(0, python.plan),
                       fmt::join(all, ", "), text.substr(python.end));
  std::string lines;
  for (const auto& [condition, names] : graphs)
    lines += fmt::format("    # Not faster there: {}.\n    if {}:\n        return NotImplemented\n",
                         fmt::join(names, ", "), condition);
  return text.substr(0, python.launches) + lines + text.substr(python.launches);
}

}  // namespace passnet::author
