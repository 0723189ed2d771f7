#include "author/text/python_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <optional>
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
std::string pack_text(Definitions& definitions, const Packing& packing, const std::string& n,
                      const std::string& threads) {
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

/// Whether each thread has items, not a row, and no block a tile.
bool goes_by_items(const NamedKernel& kernel) {
  return kernel.lanes == Lanes::Items && !kernel.facts.tile && !kernel.facts.product;
}

/// What a plan calls the numbers that a launch goes by; empty: there is none.
struct LaunchNames {
  std::string pack, band, threads, block, parts, tile_rows, tile_columns;
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
  if (!names.band.empty()) arguments.push_back("BAND=" + names.band);
  if (!names.tile_rows.empty()) {
    arguments.push_back("TILE_ROWS=" + names.tile_rows);
    arguments.push_back("TILE_COLUMNS=" + names.tile_columns);
  }
  return arguments;
}

/// What threads have of their own: the items, or bands of them, "batch * width * triton.cdiv(height, band)".
std::string threads_text(SizeTable& sizes, const NamedKernel& kernel, const std::string& band) {
  if (!kernel.facts.band) return sizes.plan_text(kernel.facts.items);
  const Band& bands = *kernel.facts.band;
  return product_text(sizes.plan_text(sizes.product(bands.columns, bands.across)),
                      fmt::format("triton.cdiv({}, {})", sizes.plan_text(bands.down.extent), band));
}

/// "n, rows, columns" of a product.
std::string extents_text(SizeTable& sizes, const Product& product) {
  const auto text = [&](const std::vector<Loop>& loops) { return sizes.plan_text(loop_steps(sizes, loops)); };
  return fmt::format("{}, {}, {}", text(product.batch), text(product.rows.across), text(product.columns.across));
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
  } else if (kernel.facts.product) {
    grid = fmt::format("products_grid({0}, {1}, {2}), 256 if {1} * {2} == 128 * 128 else 128",
                       extents_text(sizes, *kernel.facts.product), names.tile_rows, names.tile_columns);
  } else if (kernel.facts.tile) {
    SizeId planes = sizes.one();
    for (const Loop& loop : kernel.facts.tile->outer) planes = sizes.product(planes, loop.extent);
    grid = fmt::format("tiles_grid({}, {}, {}, {}), 256", device_of, sizes.plan_text(planes),
                       sizes.plan_text(kernel.facts.tile->across.extent),
                       sizes.plan_text(kernel.facts.tile->along.extent));
  } else {
    grid = fmt::format("items_grid({}, {}, {}, {}, {}), {}", device_of, threads_text(sizes, kernel, names.band),
                       sizes.plan_text(kernel.facts.steps), names.pack.empty() ? "1" : names.pack, names.block,
                       names.block);
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
    grid = kernel.over_row ? fmt::format("items_grid({}, {}, {}, 1, 256), 256", device_of,
                                         product_text(items, names.parts), quotient_text(length, names.parts))
                           : fmt::format("items_grid({}, {}, {}, 1, 256), 256", device_of, items, names.parts);
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

/// A view of the graph as the plan's own.
std::string view_text(const Subject& subject, Definitions& definitions, NodeId id) {
  const ir::Graph& graph = subject.graph;
  const NodeId of = graph.args(id)[0].node;
  if (is_the_same(subject, of, id)) return fmt::format("{} = {}", graph.node(id).name, graph.node(of).name);
  if (subject.is_list(of)) return part_text(subject, definitions, id);
  // Of its other names (swapaxes) plans know none.
  const ir::OpSignature* signature = ir::find_signature(graph.node(id));
  if (const auto args = graph.args(id); signature && signature->name == "transpose" && args.size() == 3)
    return fmt::format("{} = {}.transpose({}, {})", graph.node(id).name, graph.node(of).name,
                       fx::print_arg(graph, args[1]), fx::print_arg(graph, args[2]));
  fx::StatementPrinter view(graph);
  view.statement(graph.node(id), false, "\n    ");
  return std::move(view.text());
}

/// The same convolution by cuDNN's own operator, which measures its algorithms. TF32 is what PyTorch allows by default.
std::string measured_text(ir::Graph& graph, const Tensor& made) {
  const ir::CanonicalCall call = *ir::canonicalize(graph, made.call->node);
  const auto argument = [&](std::string_view name) {
    return fx::print_arg(graph,
                         call.args[static_cast<size_t>(std::ranges::find(call.names, name) - call.names.begin())]);
  };
  return fmt::format(
      "{} = torch.cudnn_convolution({}, {}, {}, {}, {}, {}, benchmark=True, deterministic=False, allow_tf32=True)",
      made.name, argument("input"), argument("weight"), argument("padding"), argument("stride"), argument("dilation"),
      argument("groups"));
}

/// What the plan must ask of a call's result: that it lies as PyTorch had it lie in the graphs.
std::string layout_condition(Definitions& definitions, const Tensor& made) {
  if (std::ranges::is_sorted(made.order)) return fmt::format("not {}.is_contiguous()", made.name);
  std::vector<std::string> strides;
  for (const SizeId stride : made.strides) strides.push_back(definitions.sizes().plan_text(stride));
  return fmt::format("{}.stride() != {}", made.name, tuple_of(strides));
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

/// What tells the examples apart: dtypes and sizes that are not the same in all. late: sizes that the plan knows only later on.
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

/// The lines of a plan from its first launch or call on.
class StepLines {
 public:
  StepLines(Subject& subject, Definitions& definitions, const GraphPart& part, const std::vector<NamedKernel>& kernels,
            const std::vector<PlanStep>& steps, const Schedule& schedule)
      : subject_(subject), definitions_(definitions), part_(part), steps_(steps), schedule_(schedule) {
    for (const NodeId id : part.inputs) {
      if (device_of_.empty() && subject.types[0][id].is_tensor()) device_of_ = subject.graph.node(id).name;
    }
    // Launches first: they may name sizes that nothing has named before.
    for (const PlanStep& step : steps) {
      lines_.emplace_back();
      if (step.kernel) launch_kernel(kernels[*step.kernel]);
    }
    find_late_sizes();
  }

  /// Where a kernel adds a bias that PyTorch's own convolution for CPUs adds before it rounds: not on a CPU.
  std::vector<std::string> rounding_checks() const {
    std::vector<std::string> lines;
    for (const PlanStep& step : steps_) {
      const Tensor& made = definitions_.tensors()[step.call];
      const Element& element = definitions_.elements()[made.element];
      if (step.kernel || !made.call->without_bias || element.kernel == "float") continue;
      if (!lines.empty()) break;
      lines.emplace_back("# On a CPU PyTorch adds the bias of a convolution before it rounds.");
      decline(lines, element.varies ? fmt::format("not {}.is_cuda and {} != torch.float32", device_of_, element.plan)
                                    : fmt::format("not {}.is_cuda", device_of_));
    }
    return lines;
  }

  /// Where products go through tiles, which only a GPU does.
  std::vector<std::string> device_checks(const std::vector<NamedKernel>& kernels) const {
    std::vector<std::string> lines;
    if (std::ranges::none_of(kernels, [](const NamedKernel& one) { return one.facts.product.has_value(); }))
      return lines;
    lines.emplace_back("# On a CPU PyTorch's libraries are faster at products of so many steps.");
    decline(lines, fmt::format("not {}.is_cuda", device_of_));
    return lines;
  }

  /// Names of sizes that are dimensions of what a call makes, each with the number of its step.
  const std::map<std::string, size_t>& late() const { return late_; }
  /// Those lines and conditions of the sizes that hold before all steps.
  const std::vector<std::string>& early_lines() const { return early_lines_; }
  const std::vector<std::string>& early_conditions() const { return early_conditions_; }

  Result<std::vector<std::string>> run() {
    std::vector<std::string> all;
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (!steps_[i].kernel) call(i);
      for (std::string& line : lines_[i]) {
        for (const auto& [name, step] : late_) {
          if (step > i && has_word(line, name)) return unsupported("a size is needed before the call that gives it");
        }
        all.push_back(std::move(line));
      }
    }
    for (const NodeId id : part_.views) make_view(id, all);
    return all;
  }

 private:
  std::string number_name(const std::string& stem) {
    std::string own = stem;
    for (int i = 2; subject_.names.contains(own) || !taken_.insert(own).second; ++i)
      own = fmt::format("{}_{}", stem, i);
    return own;
  }

  void launch_kernel(const NamedKernel& kernel) {
    std::vector<std::string>& lines = lines_.back();
    for (const TensorId tensor : kernel.facts.stored) {
      if (definitions_.tensors()[tensor].overwrites) continue;
      lines.push_back(fmt::format("{} = {}", definitions_.tensors()[tensor].name, allocation(definitions_, tensor)));
    }
    const std::string& on = device_of_.empty() ? definitions_.tensors()[kernel.facts.stored[0]].name : device_of_;
    SizeTable& sizes = definitions_.sizes();
    const std::string items = sizes.plan_text(kernel.facts.items);
    LaunchNames names;
    if (kernel.facts.packing || kernel.facts.runs) names.pack = number_name("pack");
    std::string indent;
    if (!kernel.split.empty()) {
      launch_split(kernel, on, names);
      lines.emplace_back("else:");
      indent = "    ";
    }
    if (kernel.lanes == Lanes::Row) {
      names.threads = number_name("threads");
      names.block = number_name("block");
      lines.push_back(
          fmt::format("{}{} = threads_of({}, {})", indent, names.threads, items, sizes.plan_text(kernel.facts.row)));
      lines.push_back(fmt::format("{}{} = block_of({}, {}, {})", indent, names.block, items, names.threads,
                                  kernel.facts.beside ? "True" : "False"));
    }
    if (kernel.facts.packing) {
      const bool row = kernel.lanes == Lanes::Row;
      lines.push_back(fmt::format("{}{} = {}", indent, names.pack,
                                  pack_text(definitions_, *kernel.facts.packing,
                                            sizes.plan_text(row ? kernel.facts.packing->steps[0] : kernel.facts.items),
                                            row ? names.threads : std::to_string(schedule_.pack_threads))));
    }
    if (kernel.facts.runs)
      lines.push_back(fmt::format("{} = {}", names.pack, pack_text(definitions_, *kernel.facts.runs, "1", "0")));
    if (kernel.facts.product) {
      names.tile_rows = number_name("tile_rows");
      names.tile_columns = number_name("tile_columns");
      lines.push_back(fmt::format("{}, {} = tile_of({})", names.tile_rows, names.tile_columns,
                                  extents_text(sizes, *kernel.facts.product)));
    }
    if (kernel.facts.band) {
      names.band = number_name("band");
      lines.push_back(fmt::format("{}{} = band_of({}, {}, {})", indent, names.band, on, items,
                                  sizes.plan_text(kernel.facts.band->down.extent)));
    }
    if (goes_by_items(kernel)) {
      names.block = number_name("block");
      lines.push_back(fmt::format("{}{} = items_block({}, {})", indent, names.block,
                                  threads_text(sizes, kernel, names.band), names.pack.empty() ? "1" : names.pack));
    }
    lines.push_back(indent + launch(definitions_, kernel, on, names));
  }

  /// Where several share a row.
  void launch_split(const NamedKernel& kernel, const std::string& on, LaunchNames& names) {
    std::vector<std::string>& lines = lines_.back();
    SizeTable& sizes = definitions_.sizes();
    const std::string items = sizes.plan_text(kernel.facts.items);
    names.parts = number_name("parts");
    std::string parts = fmt::format("parts_of({}, {}, {}, {})", on, items, sizes.plan_text(kernel.split_length),
                                    kernel.lanes == Lanes::Items ? "True" : "False");
    if (kernel.split_loops.size() > 1)
      parts = fmt::format("max(1, min({}, {}))", parts, sizes.plan_text(kernel.split_loops[0].extent));
    lines.push_back(fmt::format("{} = {}", names.parts, parts));
    lines.push_back(fmt::format("if {} > 1:", names.parts));
    for (const NamedKernel& one : kernel.split) {
      for (const TensorId reduction : one.facts.shares_given) {
        names.shares[reduction] = number_name(definitions_.tensors()[reduction].name + "_parts");
        lines.push_back(fmt::format("    {} = torch.empty({}, dtype=torch.float32)", names.shares[reduction],
                                    tuple_of({names.parts, items})));
      }
    }
    if (kernel.facts.packing) {
      const std::string length = sizes.plan_text(kernel.facts.packing->steps[0]);
      const std::string share = kernel.split_loops.size() > 1 ? length : quotient_text(length, names.parts);
      lines.push_back(fmt::format("    {} = {}", names.pack,
                                  pack_text(definitions_, *kernel.facts.packing, share, std::to_string(kMostThreads))));
    }
    for (const NamedKernel& one : kernel.split)
      lines.push_back("    " + split_launch(definitions_, one, kernel, on, names));
  }

  /// The last step whose result, or a size of it, is named in the text.
  std::optional<size_t> step_of(const std::string& text) const {
    std::optional<size_t> last;
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (!steps_[i].kernel && has_word(text, definitions_.tensors()[steps_[i].call].name)) last = i;
    }
    for (const auto& [name, step] : late_) {
      if (has_word(text, name)) last = std::max(last.value_or(0), step);
    }
    return last;
  }

  void find_late_sizes() {
    sizes_of_step_.resize(steps_.size());
    conditions_of_step_.resize(steps_.size());
    for (const std::string& line : definitions_.sizes().lines()) {
      const std::optional<size_t> step = step_of(line);
      if (step) late_.emplace(line.substr(0, line.find(' ')), *step);
      (step ? sizes_of_step_[*step] : early_lines_).push_back(line);
    }
    for (const std::string& condition : definitions_.sizes().conditions()) {
      const std::optional<size_t> step = step_of(condition);
      (step ? conditions_of_step_[*step] : early_conditions_).push_back(condition);
    }
  }

  void call(size_t step) {
    const Tensor& made = definitions_.tensors()[steps_[step].call];
    std::vector<std::string>& lines = lines_[step];
    const ir::Graph& graph = subject_.graph;
    ir::for_each_input(graph, graph.node(made.call->node), [&](NodeId input) { make_view(input, lines); });
    if (made.call->measured) {
      lines.push_back(fmt::format("if {}.is_cuda:", device_of_));
      lines.push_back("    # By the fastest of cuDNN's algorithms, which the first call of this shape measures.");
      lines.push_back("    " + measured_text(subject_.graph, made));
      lines.emplace_back("else:");
      lines.push_back("    " + call_text(graph, made));
    } else {
      lines.push_back(call_text(graph, made));
    }
    for (const std::string& line : sizes_of_step_[step]) lines.push_back(line);
    std::vector<std::string> conditions;
    for (const std::string& condition : conditions_of_step_[step]) conditions.push_back(negated(condition));
    conditions.push_back(layout_condition(definitions_, made));
    decline(lines, fmt::format("{}", fmt::join(conditions, " or ")));
  }

  /// The views that the value is made by, from the first; none of what is no view of the plan.
  void make_view(NodeId id, std::vector<std::string>& lines) {
    if (std::ranges::find(part_.views, id) == part_.views.end() || !made_views_.insert(id).second) return;
    NodeId of = subject_.graph.args(id)[0].node;
    if (subject_.is_list(of)) of = subject_.graph.args(of)[0].node;
    make_view(of, lines);
    name_overwritten(of, lines);
    lines.push_back(view_text(subject_, definitions_, id));
  }

  /// Views are named after what they were made of, whose elements an operator in place gave another name since.
  void name_overwritten(NodeId id, std::vector<std::string>& lines) {
    const std::optional<TensorId> tensor = definitions_.tensor_of(id);
    if (!tensor || !is_in(part_, id) || std::ranges::find(part_.views, id) != part_.views.end()) return;
    const std::string_view name = subject_.graph.node(id).name, stored = definitions_.tensors()[*tensor].name;
    if (name != stored && made_views_.insert(id).second) lines.push_back(fmt::format("{} = {}", name, stored));
  }

  Subject& subject_;  // its graph's pool may grow
  Definitions& definitions_;
  const GraphPart& part_;
  const std::vector<PlanStep>& steps_;
  const Schedule& schedule_;
  std::string device_of_;
  std::set<std::string> taken_;
  std::set<NodeId> made_views_;
  std::map<std::string, size_t> late_;
  std::vector<std::string> early_lines_, early_conditions_;
  std::vector<std::vector<std::string>> lines_, sizes_of_step_, conditions_of_step_;
};

}  // namespace

std::string call_text(const ir::Graph& graph, const Tensor& made) {
  const NodeId id = made.call->node;
  const ir::Node& node = graph.node(id);
  ir::Graph own;
  std::vector<ir::Arg> map(graph.size());
  ir::for_each_input(graph, node, [&](NodeId input) {
    const std::string_view name = own.intern(graph.node(input).name);
    map[input] = ir::Arg::of_node(own.add_placeholder(name, name));
  });
  const ir::Arg* bias = made.call->without_bias ? ir::find_argument(graph, id, "bias") : nullptr;
  const auto copied = [&](const ir::Arg& arg) {
    return &arg == bias ? ir::Arg::none() : own.import_arg(graph, arg, map);
  };
  std::vector<ir::Arg> args;
  for (const ir::Arg& arg : graph.args(node)) args.push_back(copied(arg));
  std::vector<ir::Keyword> keywords;
  for (const ir::Keyword& one : graph.keywords(node)) keywords.push_back({own.intern(one.name), copied(one.value)});
  const NodeId called = own.add_node(node.kind, own.intern(node.target), own.intern(made.name), args, keywords);
  fx::StatementPrinter printer(own);
  printer.statement(own.node(called), false, "\n    ");
  return std::move(printer.text());
}

int64_t parts_of(const Schedule& schedule, const SizeTable& sizes, const NamedKernel& kernel, bool on_gpu,
                 size_t example) {
  if (kernel.split.empty()) return 1;
  const auto of = [&](SizeId size) { return sizes.values(size)[example]; };
  const int64_t parts =
      parts_of(schedule, on_gpu, of(kernel.facts.items), of(kernel.split_length), kernel.lanes == Lanes::Items);
  return kernel.split_loops.size() == 1 ? parts
                                        : std::max<int64_t>(1, std::min(parts, of(kernel.split_loops[0].extent)));
}

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
  out += fmt::format("\n\ndef pattern({}):\n{}    return {}\n", inputs, printer.text(),
                     fmt::join(names_of(graph, part.outputs), ", "));
  out += fmt::format("\n\ndef replacement_args({}):\n    return ({}{})\n\n", inputs, inputs,
                     part.inputs.size() == 1 ? "," : "");
  const auto uses = [&](const auto& is_so) { return std::ranges::any_of(kernels, is_so); };
  if (uses(goes_by_items)) out += items_grid_text(schedule);
  if (uses([](const NamedKernel& one) { return one.facts.product.has_value(); })) out += products_grid_text(schedule);
  if (uses([](const NamedKernel& one) { return one.facts.tile.has_value(); })) out += tiles_grid_text(schedule);
  if (uses([](const NamedKernel& one) { return one.lanes == Lanes::Row; })) out += rows_grid_text(schedule);
  if (uses([](const NamedKernel& one) { return one.facts.packing || one.facts.runs; })) out += pack_of_text();
  if (uses([](const NamedKernel& one) { return one.facts.band.has_value(); })) out += band_of_text(schedule);
  if (uses([](const NamedKernel& one) { return !one.split.empty(); })) out += parts_of_text(schedule);
  std::vector<std::string> lines = type_checks(subject, part);
  StepLines of_steps(subject, definitions, part, kernels, steps, schedule);
  for (const std::string& line : of_steps.early_lines()) lines.push_back(line);
  for (const std::string& condition : by_shape(subject, part, of_steps.early_conditions()))
    decline(lines, negated(condition));
  for (const std::string& line : of_steps.rounding_checks()) lines.push_back(line);
  for (const std::string& line : of_steps.device_checks(kernels)) lines.push_back(line);
  const size_t first_step = lines.size();
  PASSNET_TRY(const std::vector<std::string> step_lines, of_steps.run());
  lines.insert(lines.end(), step_lines.begin(), step_lines.end());
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
    if (i == first_step) made.launches = out.size();
    out += fmt::format("    {}\n", lines[i]);
  }
  out += fmt::format("    return {}\n", fmt::join(results, ", "));
  made.end = out.size();
  out += fmt::format("\n\ndef replacement_func():\n    return {}\n", name);
  made.text = std::move(out);
  made.sites = sites_of(subject, definitions, of_steps.late());
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
