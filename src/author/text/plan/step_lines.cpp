#include "author/text/plan/step_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "author/text/operations.h"
#include "author/text/plan/call_text.h"
#include "base/text/strings.h"
#include "fx/print.h"

namespace passnet::author {

using ir::NodeId;

StepLines::StepLines(Subject& subject, Definitions& definitions, const GraphPart& part,
                     const std::vector<NamedKernel>& kernels, const std::vector<PlanStep>& steps)
    : subject_(subject), definitions_(definitions), part_(part), steps_(steps) {
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

std::vector<std::string> StepLines::rounding_checks() const {
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

std::vector<std::string> StepLines::device_checks(const std::vector<NamedKernel>& kernels) const {
  std::vector<std::string> lines;
  const auto overlaps = [](const NamedKernel& one) {
    return one.facts.product && one.facts.product->overlaps && !one.facts.product->windows;
  };
  if (std::ranges::none_of(kernels, overlaps)) return lines;
  lines.emplace_back("# On a GPU cuDNN is faster at windows that overlap.");
  decline(lines, fmt::format("{}.is_cuda", device_of_));
  return lines;
}

Result<std::vector<std::string>> StepLines::run() {
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

std::string StepLines::number_name(const std::string& stem) {
  return numbered(stem,
                  [&](const std::string& one) { return !subject_.names.contains(one) && taken_.insert(one).second; });
}

void StepLines::allocate(TensorId id) {
  const Tensor& tensor = definitions_.tensors()[id];
  if (tensor.overwrites || !allocated_.insert(id).second) return;
  std::string text = allocation(definitions_, id);
  if (tensor.shares) {
    allocate(*tensor.shares);
    const Tensor& other = definitions_.tensors()[*tensor.shares];
    const std::vector<Element>& elements = definitions_.elements();
    text = fmt::format("{} if {} == {} else {}", other.name, elements[other.element].plan,
                       elements[tensor.element].plan, text);
  }
  lines_.back().push_back(fmt::format("{} = {}", tensor.name, text));
}

void StepLines::launch_kernel(const NamedKernel& kernel) {
  std::vector<std::string>& lines = lines_.back();
  for (const TensorId tensor : kernel.facts.stored) allocate(tensor);
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
    lines.push_back(fmt::format("{}{} = {}", indent, names.threads, threads_of_row(sizes, kernel)));
    lines.push_back(fmt::format("{}{} = block_of({}, {}, {})", indent, names.block, items, names.threads,
                                kernel.facts.beside ? "True" : "False"));
  }
  if (kernel.facts.tile) {
    names.tile = number_name("tile");
    lines.push_back(fmt::format("{} = tile_side({}, {})", names.tile,
                                longest_side_text(definitions_, *kernel.facts.tile),
                                extents_text(sizes, *kernel.facts.tile)));
  }
  if (kernel.facts.packing) {
    const bool row = kernel.lanes == Lanes::Row;
    lines.push_back(fmt::format("{}{} = {}", indent, names.pack,
                                pack_text(definitions_, *kernel.facts.packing, kernel.facts.stored,
                                          sizes.plan_text(row ? kernel.facts.packing->steps[0] : kernel.facts.items),
                                          !row                                        ? "PACK_THREADS"
                                          : kernel.facts.order == SumOrder::LayerNorm ? "1"
                                                                                      : names.threads,
                                          names.tile)));
  }
  if (kernel.facts.runs)
    lines.push_back(fmt::format("{} = {}", names.pack, pack_text(definitions_, *kernel.facts.runs, {}, "1", "0")));
  if (kernel.facts.product) {
    names.tile_rows = number_name("tile_rows");
    names.tile_columns = number_name("tile_columns");
    names.cluster = number_name("cluster");
    lines.push_back(fmt::format("{}, {}, {} = tile_of({})", names.tile_rows, names.tile_columns, names.cluster,
                                extents_text(sizes, *kernel.facts.product)));
  }
  if (kernel.facts.band) {
    names.band = number_name("band");
    lines.push_back(fmt::format("{}{} = band_of({}, {}, {})", indent, names.band, on, items,
                                sizes.plan_text(kernel.facts.band->down.extent)));
  }
  if (kernel.facts.column) {
    name_columns(on, items, sizes.plan_text(*kernel.facts.column), indent, names);
  } else if (goes_by_items(kernel)) {
    names.block = number_name("block");
    lines.push_back(fmt::format("{}{} = items_block({}, {})", indent, names.block, threads_text(sizes, kernel, names),
                                names.pack.empty() ? "1" : names.pack));
  }
  lines.push_back(indent + launch_text(definitions_, kernel, on, names));
}

void StepLines::name_columns(const std::string& on, const std::string& columns, const std::string& height,
                             const std::string& indent, LaunchNames& names) {
  names.down = number_name("down");
  names.block = number_name("block");
  std::vector<std::string>& lines = lines_.back();
  lines.push_back(fmt::format("{}{} = down_of({}, {}, {})", indent, names.down, on, columns, height));
  lines.push_back(fmt::format("{}{} = max(FEWEST_COLUMNS * {}, items_block({}, 1))", indent, names.block, names.down,
                              product_text(columns, names.down)));
}

void StepLines::launch_split(const NamedKernel& kernel, const std::string& on, LaunchNames& names) {
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
    lines.push_back(
        fmt::format("    {} = {}", names.pack,
                    pack_text(definitions_, *kernel.facts.packing, kernel.facts.stored, share, "MOST_THREADS")));
  }
  LaunchNames over_parts = names;
  const auto name_where = [&](bool over_row, const std::string& columns, const std::string& height, LaunchNames& of) {
    const auto is_so = [&](const NamedKernel& one) { return one.facts.column && one.over_row == over_row; };
    if (std::ranges::any_of(kernel.split, is_so)) name_columns(on, columns, height, "    ", of);
  };
  const std::string length = sizes.plan_text(kernel.split_length);
  name_where(true, product_text(items, names.parts), quotient_text(length, names.parts), names);
  name_where(false, items, names.parts, over_parts);
  for (const NamedKernel& one : kernel.split)
    lines.push_back("    " + split_launch_text(definitions_, one, kernel, on, one.over_row ? names : over_parts));
  names.down.clear();
}

std::optional<size_t> StepLines::step_of(const std::string& text) const {
  std::optional<size_t> last;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (!steps_[i].kernel && has_word(text, definitions_.tensors()[steps_[i].call].name)) last = i;
  }
  for (const auto& [name, step] : late_) {
    if (has_word(text, name)) last = std::max(last.value_or(0), step);
  }
  return last;
}

void StepLines::find_late_sizes() {
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

void StepLines::call(size_t step) {
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

void StepLines::make_view(NodeId id, std::vector<std::string>& lines) {
  if (std::ranges::find(part_.views, id) == part_.views.end() || !made_views_.insert(id).second) return;
  NodeId of = subject_.graph.args(id)[0].node;
  if (subject_.is_list(of)) of = subject_.graph.args(of)[0].node;
  make_view(of, lines);
  name_overwritten(of, lines);
  lines.push_back(view_text(subject_, definitions_, id));
}

void StepLines::name_overwritten(NodeId id, std::vector<std::string>& lines) {
  const std::optional<TensorId> tensor = definitions_.tensor_of(id);
  if (!tensor || !is_in(part_, id) || std::ranges::find(part_.views, id) != part_.views.end()) return;
  const std::string_view name = subject_.graph.node(id).name, stored = definitions_.tensors()[*tensor].name;
  if (name != stored && made_views_.insert(id).second) lines.push_back(fmt::format("{} = {}", name, stored));
}

std::string negated(const std::string& condition) {
  constexpr std::pair<std::string_view, std::string_view> kOpposites[] = {
      {" == ", " != "}, {" <= ", " > "}, {" >= ", " < "}, {" > ", " <= "}, {" < ", " >= "}};
  for (const auto& [sign, opposite] : kOpposites) {
    const size_t at = condition.find(sign);
    if (at != std::string::npos)
      return fmt::format("{}{}{}", condition.substr(0, at), opposite, condition.substr(at + sign.size()));
  }
  return fmt::format("not ({})", condition);
}

}  // namespace passnet::author
