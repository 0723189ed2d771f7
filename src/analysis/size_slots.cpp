#include "analysis/size_slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "ir/copy.h"

namespace passnet::analysis {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;

namespace {

/// Calls `visit(literal, ordinal)` for the integer literals of an argument; `next` counts on.
void for_each_integer(const ir::Graph& graph, const Arg& arg, uint32_t& next,
                      const std::function<void(int64_t, uint32_t)>& visit) {
  if (arg.kind == ArgKind::Int) {
    visit(arg.integer, next++);
  } else if (arg.kind == ArgKind::Tuple || arg.kind == ArgKind::List || arg.kind == ArgKind::Slice) {
    for (const Arg& element : graph.elements(arg)) for_each_integer(graph, element, next, visit);
  }
}

uint32_t count_integers(const ir::Graph& graph, const Arg& arg) {
  uint32_t count = 0;
  for_each_integer(graph, arg, count, [](int64_t, uint32_t) {});
  return count;
}

/// Reads the slots of one node.
class Reading {
 public:
  Reading(const ir::Graph& graph, NodeId id, const ValueShapes& shapes)
      : graph_(graph), id_(id), node_(graph.node(id)), shapes_(shapes) {}

  std::vector<SizeSlot> run() {
    const ir::OpSignature* signature = ir::find_signature(node_);
    if (signature == nullptr || !holds_sizes(*signature)) return {};
    parameters_ = ir::argument_parameters(graph_, id_);
    const std::span<const Arg> args = graph_.args(node_);
    uint32_t position = 0;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const Arg& arg = i < args.size() ? args[i] : graph_.keywords(node_)[i - args.size()].value;
      const ir::Parameter* parameter = signature->find(parameters_[i]);
      const std::optional<SizeRule> rule = parameter == nullptr ? std::nullopt : size_rule(parameter->role);
      if (rule)
        read(arg, *rule, position++);
      else
        next_ += count_integers(graph_, arg);
    }
    return std::move(slots_);
  }

 private:
  bool holds_sizes(const ir::OpSignature& signature) const {
    return std::ranges::any_of(signature.parameters, [&](const ir::Parameter& parameter) {
      const std::optional<SizeRule> rule = size_rule(parameter.role);
      return rule && (rule != SizeRule::Number || is_of_integers());
    });
  }

  bool is_of_integers() const {
    bool integers = false;
    for_each_input(graph_, node_, [&](NodeId input) { integers |= shapes_.integral[input]; });
    return integers;
  }

  void add(int64_t value, uint32_t ordinal, SizeRule rule, uint32_t position) {
    if (value > 0 || (value < -1 && (rule == SizeRule::Slice || rule == SizeRule::Range)))
      slots_.push_back({ordinal, value, rule, position});
  }

  void read(const Arg& arg, SizeRule rule, uint32_t position) {
    if (rule == SizeRule::Slice) return read_index(arg);
    if (rule == SizeRule::Split) position = split_axis();
    if (arg.kind == ArgKind::Tuple || arg.kind == ArgKind::List) {
      for (const Arg& element : graph_.elements(arg)) {
        read(element, rule, position);
        position += rule != SizeRule::Split;
      }
    } else if (arg.kind == ArgKind::Int) {
      add(arg.integer, next_++, rule, position);
    }
  }

  uint32_t rank() const {
    const Arg* first = ir::find_argument(graph_, id_, "input");
    return first != nullptr && first->kind == ArgKind::Node && shapes_.shape[first->node]
               ? static_cast<uint32_t>(shapes_.shape[first->node]->size())
               : 0;
  }

  uint32_t split_axis() const {
    const Arg* dim = ir::find_argument(graph_, id_, "dim");
    const int64_t axis = dim != nullptr && dim->kind == ArgKind::Int ? dim->integer : 0;
    return static_cast<uint32_t>(axis < 0 ? axis + rank() : axis);
  }

  // Bounds of slices; an integer that takes one element is none.
  void read_index(const Arg& index) {
    const std::vector<Arg> items = index.kind == ArgKind::Tuple
                                       ? std::vector<Arg>(graph_.elements(index).begin(), graph_.elements(index).end())
                                       : std::vector<Arg>{index};
    uint32_t taken = 0;
    for (const Arg& item : items)
      taken += item.kind != ArgKind::None && item.kind != ArgKind::Ellipsis && item.kind != ArgKind::Bool;
    uint32_t axis = 0;
    for (const Arg& item : items) {
      if (item.kind == ArgKind::Slice) {
        const std::span<const Arg> bounds = graph_.elements(item);
        for (size_t i = 0; i < bounds.size(); ++i) {
          if (bounds[i].kind != ArgKind::Int) continue;
          if (i < 2)
            add(bounds[i].integer, next_++, SizeRule::Slice, axis);
          else
            ++next_;
        }
      } else {
        next_ += count_integers(graph_, item);
      }
      if (item.kind == ArgKind::Ellipsis)
        axis += rank() > taken ? rank() - taken : 0;
      else if (item.kind != ArgKind::None && item.kind != ArgKind::Bool)
        ++axis;
    }
  }

  const ir::Graph& graph_;
  const NodeId id_;
  const ir::Node& node_;
  const ValueShapes& shapes_;
  std::vector<std::string_view> parameters_;  // of the arguments, then of the keywords
  uint32_t next_ = 0;                         // ordinal
  std::vector<SizeSlot> slots_;
};

/// Copies a graph with something else in the slots.
class SlotCopy {
 public:
  /// Returns what stands for an expression in the graph that is made; nullopt gives up.
  using Replace = std::function<std::optional<Arg>(SlotCopy&, const SizeExpression&)>;

  SlotCopy(const ir::Graph& graph, std::span<const NodeSizes> changes, Replace replace)
      : graph_(graph), changes_(changes), replace_(std::move(replace)), copy_(graph, made_) {
    made_.reserve(graph.size(), 4 * graph.size());
    made_.file = graph.file;
    copy_.replace = [this](const Arg& arg) -> std::optional<Arg> {
      if (arg.kind != ArgKind::Int) return std::nullopt;
      const auto found = std::ranges::find(replacements_, next_++, &std::pair<uint32_t, Arg>::first);
      return found == replacements_.end() ? std::nullopt : std::optional(found->second);
    };
  }

  std::optional<ir::Graph> run() {
    size_t change = 0;
    for (NodeId id = 0; id < graph_.size(); ++id) {
      const bool changes = change < changes_.size() && changes_[change].node == id;
      if (!find_replacements(changes ? &changes_[change++] : nullptr)) return std::nullopt;
      copy_.copy(id);
    }
    return std::move(made_);
  }

  // Calls in the graph that is made:
  Arg size_of(const Dim& dim) {
    const Arg args[] = {copy_.here(dim.node), Arg::of_int(dim.axis)};
    return add(ir::NodeKind::CallMethod, "size", args);
  }
  Arg compute(std::string_view op, const Arg& left, const Arg& right) {
    const Arg args[] = {left, right};
    return add(ir::NodeKind::Operator, op, args);
  }

 private:
  Arg add(ir::NodeKind kind, std::string_view target, std::span<const Arg> args) {
    return copy_.add(kind, target, fmt::format("passnet_size_{}", sizes_++), args);
  }

  /// For the node that is copied next. Returns false to give up.
  bool find_replacements(const NodeSizes* sizes) {
    next_ = 0;
    replacements_.clear();
    for (size_t i = 0; sizes != nullptr && i < sizes->slots.size(); ++i) {
      const auto replacement = replace_(*this, sizes->sizes[i]);
      if (!replacement) return false;
      replacements_.emplace_back(sizes->slots[i].ordinal, *replacement);
    }
    return true;
  }

  const ir::Graph& graph_;
  const std::span<const NodeSizes> changes_;
  const Replace replace_;
  ir::Graph made_;
  ir::GraphCopy copy_;
  std::vector<std::pair<uint32_t, Arg>> replacements_;  // of the node that is copied: ordinal and what stands there
  uint32_t next_ = 0;                                   // ordinal
  size_t sizes_ = 0;
};

Arg product(SlotCopy& copying, const std::vector<Dim>& dims, int64_t factor) {
  std::optional<Arg> value;
  for (const Dim& dim : dims) {
    const Arg size = copying.size_of(dim);
    value = value ? copying.compute("*", *value, size) : size;
  }
  if (!value) return Arg::of_int(factor);
  return factor == 1 ? *value : copying.compute("*", *value, Arg::of_int(factor));
}

std::optional<Arg> size_calls(SlotCopy& copying, const SizeExpression& expression) {
  if (expression.is_constant()) return Arg::of_int(expression.factor + expression.offset);
  Arg value = product(copying, expression.factors, expression.factor);
  if (expression.divisor != 1 || !expression.divisors.empty())
    value = copying.compute("//", value, product(copying, expression.divisors, expression.divisor));
  return expression.offset == 0 ? value : copying.compute("+", value, Arg::of_int(expression.offset));
}

}  // namespace

std::optional<SizeRule> size_rule(ir::Role role) {
  if (role == ir::Role::Bound) return SizeRule::Number;
  return role <= ir::Role::Number ? std::optional(role) : std::nullopt;
}

std::vector<SizeSlot> size_slots(const ir::Graph& graph, NodeId id, const ValueShapes& shapes) {
  return Reading(graph, id, shapes).run();
}

ir::Graph with_size_calls(const ir::Graph& graph, std::span<const NodeSizes> changes) {
  return *SlotCopy(graph, changes, size_calls).run();
}

std::optional<ir::Graph> with_sizes_at(const ir::Graph& graph, std::span<const NodeSizes> changes,
                                       const ValueShapes& shapes) {
  return SlotCopy(graph, changes,
                  [&](SlotCopy&, const SizeExpression& expression) -> std::optional<Arg> {
                    const std::optional<int64_t> value = evaluate(expression, shapes);
                    return value ? std::optional(Arg::of_int(*value)) : std::nullopt;
                  })
      .run();
}

}  // namespace passnet::analysis
