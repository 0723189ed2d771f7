#include "author/text/python_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

#include "fx/print.h"
#include "fx/statement.h"
#include "ir/ops/table.h"

namespace passnet::author {

using ir::ArgKind;
using ir::NodeId;

namespace {

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

/// "pack_of(x, rows * width, 131072, (width, x.storage_offset()))"; threads: that should have work; n: what they share.
std::string pack_text(Definitions& definitions, const NamedKernel& kernel, const std::string& n,
                      const std::string& threads) {
  const Packing& packing = *kernel.facts.packing;
  SizeTable& sizes = definitions.sizes();
  const Tensor* smallest = nullptr;
  const auto bytes = [&](const Tensor& tensor) {
    size_t least = 8;
    for (const ir::DType dtype : definitions.elements()[tensor.element].by_example)
      least = std::min(least, static_cast<size_t>(ir::size_bytes(dtype)));
    return least;
  };
  std::vector<std::string> steps;
  for (const SizeId step : packing.steps) {
    if (!sizes.is_one(step) || packing.steps.size() == 1) steps.push_back(sizes.plan_text(step));
  }
  for (const TensorId id : packing.tensors) {
    const Tensor& tensor = definitions.tensors()[id];
    if (smallest == nullptr || bytes(tensor) < bytes(*smallest)) smallest = &tensor;
    const std::string offset = tensor.name + ".storage_offset()";
    if ((tensor.is_given || tensor.overwrites) && std::ranges::find(steps, offset) == steps.end())
      steps.push_back(offset);
  }
  return fmt::format("pack_of({}, {}, {}, {})", smallest->name, n, threads, tuple_of(steps));
}

/// What a plan calls the numbers that a launch goes by; empty: there is none.
struct LaunchNames {
  std::string pack, threads, block, parts;
  std::map<TensorId, std::string> shares;  // partial results, by reduction
};

/// a * b, where a may be a sum.
std::string product_text(const std::string& a, const std::string& b) {
  if (a == "1") return b;
  const bool is_product = a.find_first_of("+-/") == std::string::npos;
  return fmt::format("{} * {}", is_product ? a : "(" + a + ")", b);
}
std::string quotient_text(const std::string& a, const std::string& b) {
  return fmt::format("{} // {}", a.find_first_of(" ") == std::string::npos ? a : "(" + a + ")", b);
}

/// What it is called with. Constants that are not looked at are left out.
std::vector<std::string> arguments_of(Definitions& definitions, const NamedKernel& kernel, const LaunchNames& names) {
  std::vector<std::string> arguments;
  for (const auto* tensors : {&kernel.facts.loaded, &kernel.facts.stored}) {
    for (const TensorId tensor : *tensors) arguments.push_back(definitions.tensors()[tensor].name);
  }
  for (const auto* shares : {&kernel.facts.shares_taken, &kernel.facts.shares_given}) {
    for (const TensorId reduction : *shares) arguments.push_back(names.shares.at(reduction));
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
  if (!names.pack.empty()) arguments.push_back("PACK=" + names.pack);
  return arguments;
}

std::string launch(Definitions& definitions, const NamedKernel& kernel, const std::string& device_of,
                   const LaunchNames& names) {
  std::vector<std::string> arguments = arguments_of(definitions, kernel, names);
  SizeTable& sizes = definitions.sizes();
  const std::string items = sizes.plan_text(kernel.facts.items), row = sizes.plan_text(kernel.facts.row);
  std::string grid;
  if (kernel.lanes == Lanes::Row) {
    arguments.push_back("THREADS=" + names.threads);
    grid = fmt::format("rows_grid({}, {}, {}, {}, {}), {}", device_of, items, row, names.threads, names.block,
                       names.block);
  } else if (kernel.facts.tile) {
    SizeId planes = sizes.one();
    for (const Loop& loop : kernel.facts.tile->outer) planes = sizes.product(planes, loop.extent);
    grid = fmt::format("tiles_grid({}, {}, {}, {}), 256", device_of, sizes.plan_text(planes),
                       sizes.plan_text(kernel.facts.tile->across.extent),
                       sizes.plan_text(kernel.facts.tile->along.extent));
  } else {
    grid = fmt::format("items_grid({}, {}, {}, {}), 256", device_of, items, sizes.plan_text(kernel.facts.steps),
                       names.pack.empty() ? "1" : names.pack);
  }
  return fmt::format("{}[{}]({})", kernel.name, grid, fmt::join(arguments, ", "));
}

/// One of the kernels of a split row.
std::string split_launch(Definitions& definitions, const NamedKernel& kernel, const NamedKernel& whole,
                         const std::string& device_of, const LaunchNames& names) {
  std::vector<std::string> arguments = arguments_of(definitions, kernel, names);
  arguments.push_back("PARTS=" + names.parts);
  SizeTable& sizes = definitions.sizes();
  const std::string items = sizes.plan_text(whole.facts.items), length = sizes.plan_text(whole.split_length);
  std::string grid;
  if (whole.lanes == Lanes::Row) {
    arguments.push_back(fmt::format("THREADS={}", kernel.over_row ? kMostThreads : 32));
    grid = kernel.over_row ? fmt::format("({},), {}", product_text(items, names.parts), kMostThreads)
                           : fmt::format("rows_grid({}, {}, {}, 32, 32), 32", device_of, items, names.parts);
  } else {
    grid = kernel.over_row ? fmt::format("items_grid({}, {}, {}, 1), 256", device_of, product_text(items, names.parts),
                                         quotient_text(length, names.parts))
                           : fmt::format("items_grid({}, {}, {}, 1), 256", device_of, items, names.parts);
  }
  return fmt::format("{}[{}]({})", kernel.name, grid, fmt::join(arguments, ", "));
}

/// What tuples are made of as the plan's own views: "y = x.narrow(1, width, 64)"
std::string part_text(const Subject& subject, Definitions& definitions, NodeId id) {
  const ir::Graph& graph = subject.graph;
  const NodeId of = graph.args(graph.args(id)[0].node)[0].node;
  const Tensor& part = definitions.tensors()[*definitions.tensor_of(id)];
  const auto& [dim, start] = *part.part_of;
  const IndexTable& indices = definitions.exprs().indices();
  const std::function<std::string(IndexId)> text = [&](IndexId index) -> std::string {
    const Index& node = indices.at(index);
    switch (node.kind) {
      case Index::Kind::Add: return fmt::format("{} + {}", text(node.a), text(node.b));
      case Index::Kind::Scale: return fmt::format("{} * ({})", text(node.a), definitions.sizes().plan_text(node.size));
      case Index::Kind::Size: return definitions.sizes().plan_text(node.size);
      default: return std::to_string(node.value);
    }
  };
  const std::string_view name = graph.node(id).name, whole = graph.node(of).name;
  const bool is_one = part.shape.size() < subject.types[0][of].tensor.shape.size();
  if (is_one) return fmt::format("{} = {}.select({}, {})", name, whole, dim, text(start));
  return fmt::format("{} = {}.narrow({}, {}, {})", name, whole, dim, text(start),
                     definitions.sizes().plan_text(part.shape[static_cast<size_t>(dim)]));
}

/// "a != b" of "a == b".
std::string negated(const std::string& condition) {
  const size_t equal = condition.find(" == ");
  if (equal == std::string::npos) return fmt::format("not ({})", condition);
  return condition.substr(0, equal) + " != " + condition.substr(equal + 4);
}

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

/// What tells the examples apart: dtypes and sizes that are not the same in all.
std::vector<std::pair<std::string, std::string>> sites_of(const Subject& subject, Definitions& definitions) {
  std::vector<std::pair<std::string, std::string>> sites;
  for (size_t i = 0; i < subject.examples.size(); ++i) {
    std::vector<std::string> conditions;
    for (const Element& element : definitions.elements()) {
      if (element.varies)
        conditions.push_back(fmt::format("{} == torch.{}", element.plan, ir::name(element.by_example[i])));
    }
    for (const auto& [name, values] : definitions.sizes().dimensions()) {
      if (std::ranges::adjacent_find(values, std::not_equal_to()) != values.end())
        conditions.push_back(fmt::format("{} == {}", name, values[i]));
    }
    sites.emplace_back(subject.examples[i], fmt::format("{}", fmt::join(conditions, " and ")));
  }
  return sites;
}

}  // namespace

int64_t parts_of(const Schedule& schedule, const SizeTable& sizes, const NamedKernel& kernel, bool on_gpu,
                 size_t example) {
  if (kernel.split.empty()) return 1;
  const auto of = [&](SizeId size) { return sizes.values(size)[example]; };
  const int64_t parts =
      parts_of(schedule, on_gpu, of(kernel.facts.items), of(kernel.split_length), kernel.lanes == Lanes::Items);
  return kernel.split_loops.size() == 1 ? parts
                                        : std::max<int64_t>(1, std::min(parts, of(kernel.split_loops[0].extent)));
}

PythonText python_text(const Subject& subject, Definitions& definitions, const GraphPart& part,
                       const std::vector<NamedKernel>& kernels, const Schedule& schedule, const std::string& name,
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
  const auto uses = [&](const auto& is_so) { return std::ranges::any_of(kernels, is_so); };
  if (uses([](const NamedKernel& one) { return one.lanes == Lanes::Items && !one.facts.tile; }))
    out += items_grid_text(schedule);
  if (uses([](const NamedKernel& one) { return one.facts.tile.has_value(); })) out += tiles_grid_text(schedule);
  if (uses([](const NamedKernel& one) { return one.lanes == Lanes::Row; })) out += rows_grid_text(schedule);
  if (uses([](const NamedKernel& one) { return one.facts.packing.has_value(); })) out += pack_of_text();
  if (uses([](const NamedKernel& one) { return !one.split.empty(); })) out += parts_of_text(schedule);
  std::vector<std::string> lines = type_checks(subject, part);
  // Launches first: they may name sizes that nothing has named before.
  std::vector<std::string> launches;
  std::set<std::string> taken;
  const auto name_number = [&](const std::string& stem) {
    std::string own = stem;
    for (int i = 2; subject.names.contains(own) || !taken.insert(own).second; ++i) own = fmt::format("{}_{}", stem, i);
    return own;
  };
  std::string device_of;
  for (const NodeId id : part.inputs) {
    if (device_of.empty() && subject.types[0][id].is_tensor()) device_of = graph.node(id).name;
  }
  for (const NamedKernel& kernel : kernels) {
    for (const TensorId tensor : kernel.facts.stored) {
      if (definitions.tensors()[tensor].overwrites) continue;
      launches.push_back(fmt::format("{} = {}", definitions.tensors()[tensor].name, allocation(definitions, tensor)));
    }
    const std::string& on = device_of.empty() ? definitions.tensors()[kernel.facts.stored[0]].name : device_of;
    SizeTable& sizes = definitions.sizes();
    const std::string items = sizes.plan_text(kernel.facts.items);
    LaunchNames names;
    if (kernel.facts.packing) names.pack = name_number("pack");
    std::string indent;
    if (!kernel.split.empty()) {
      names.parts = name_number("parts");
      std::string parts = fmt::format("parts_of({}, {}, {}, {})", on, items, sizes.plan_text(kernel.split_length),
                                      kernel.lanes == Lanes::Items ? "True" : "False");
      if (kernel.split_loops.size() > 1)
        parts = fmt::format("max(1, min({}, {}))", parts, sizes.plan_text(kernel.split_loops[0].extent));
      launches.push_back(fmt::format("{} = {}", names.parts, parts));
      launches.push_back(fmt::format("if {} > 1:", names.parts));
      indent = "    ";
      for (const NamedKernel& one : kernel.split) {
        for (const TensorId reduction : one.facts.shares_given) {
          names.shares[reduction] = name_number(definitions.tensors()[reduction].name + "_parts");
          launches.push_back(fmt::format("{}{} = torch.empty({}, dtype=torch.float32)", indent, names.shares[reduction],
                                         tuple_of({names.parts, items})));
        }
      }
      if (kernel.facts.packing) {
        const std::string length = sizes.plan_text(kernel.facts.packing->steps[0]);
        const std::string share = kernel.split_loops.size() > 1 ? length : quotient_text(length, names.parts);
        launches.push_back(fmt::format("{}{} = {}", indent, names.pack,
                                       pack_text(definitions, kernel, share, std::to_string(kMostThreads))));
      }
      for (const NamedKernel& one : kernel.split)
        launches.push_back(indent + split_launch(definitions, one, kernel, on, names));
      launches.emplace_back("else:");
    }
    if (kernel.lanes == Lanes::Row) {
      names.threads = name_number("threads");
      names.block = name_number("block");
      launches.push_back(
          fmt::format("{}{} = threads_of({}, {})", indent, names.threads, items, sizes.plan_text(kernel.facts.row)));
      launches.push_back(fmt::format("{}{} = block_of({}, {}, {})", indent, names.block, items, names.threads,
                                     kernel.facts.beside ? "True" : "False"));
    }
    if (kernel.facts.packing) {
      const bool row = kernel.lanes == Lanes::Row;
      launches.push_back(fmt::format(
          "{}{} = {}", indent, names.pack,
          pack_text(definitions, kernel, sizes.plan_text(row ? kernel.facts.packing->steps[0] : kernel.facts.items),
                    row ? names.threads : std::to_string(schedule.pack_threads))));
    }
    launches.push_back(indent + launch(definitions, kernel, on, names));
  }
  for (const std::string& line : definitions.sizes().lines()) lines.push_back(line);
  for (const std::string& condition : by_shape(subject, part, definitions.sizes().conditions()))
    decline(lines, negated(condition));
  const size_t first_launch = lines.size();
  lines.insert(lines.end(), launches.begin(), launches.end());
  for (const NodeId id : part.views) {
    const ir::Arg& of = graph.args(id)[0];
    if (is_the_same(subject, of.node, id)) {
      lines.push_back(fmt::format("{} = {}", graph.node(id).name, graph.node(of.node).name));
      continue;
    }
    if (subject.types[0][of.node].kind == ValueType::Kind::List) {
      lines.push_back(part_text(subject, definitions, id));
      continue;
    }
    // Of its other names (swapaxes) plans know none.
    const ir::OpSignature* signature = ir::find_signature(graph.node(id));
    if (const auto args = graph.args(id); signature && signature->name == "transpose" && args.size() == 3) {
      lines.push_back(fmt::format("{} = {}.transpose({}, {})", graph.node(id).name, graph.node(of.node).name,
                                  fx::print_arg(graph, args[1]), fx::print_arg(graph, args[2])));
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
  PythonText made;
  made.plan = out.size();
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i == first_launch) made.launches = out.size();
    out += fmt::format("    {}\n", lines[i]);
  }
  out += fmt::format("    return {}\n", fmt::join(results, ", "));
  made.end = out.size();
  out += fmt::format("\n\ndef replacement_func():\n    return {}\n", name);
  made.text = std::move(out);
  made.sites = sites_of(subject, definitions);
  return made;
}

std::string declining(const PythonText& python, const std::map<std::string, std::string>& declined) {
  std::map<std::string, std::vector<std::string>> reasons;  // by condition
  std::vector<std::string> all;
  for (const auto& [example, condition] : python.sites) {
    const auto found = declined.find(example);
    if (found == declined.end()) continue;
    all.push_back(fmt::format("{} {}", example, found->second));
    reasons[condition].push_back(all.back());
  }
  const std::string& text = python.text;
  const bool everywhere =
      std::ranges::all_of(python.sites, [&](const auto& site) { return reasons.contains(site.second); });
  if (everywhere)
    return fmt::format("{}    # Not faster anywhere: {}.\n    return NotImplemented\n{}", text.substr(0, python.plan),
                       fmt::join(all, ", "), text.substr(python.end));
  std::string lines;
  for (const auto& [condition, graphs] : reasons)
    lines += fmt::format("    # Not faster there: {}.\n    if {}:\n        return NotImplemented\n",
                         fmt::join(graphs, ", "), condition);
  return text.substr(0, python.launches) + lines + text.substr(python.launches);
}

}  // namespace passnet::author
