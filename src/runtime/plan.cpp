#include "runtime/plan.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/strings.h"
#include "runtime/dtype.h"
#include "runtime/fused.h"
#include "runtime/lower.h"

namespace passnet::runtime {

namespace {

/// Python's names for torch constants that are neither dtypes nor devices.
Operand torch_constant(std::string_view name) {
  struct Row {
    std::string_view name;
    Kind kind;
    int64_t value;
  };
  static constexpr Row kRows[] = {
      {"torch.contiguous_format", Kind::MemoryFormat, static_cast<int64_t>(at::MemoryFormat::Contiguous)},
      {"torch.preserve_format", Kind::MemoryFormat, static_cast<int64_t>(at::MemoryFormat::Preserve)},
      {"torch.channels_last", Kind::MemoryFormat, static_cast<int64_t>(at::MemoryFormat::ChannelsLast)},
      {"torch.channels_last_3d", Kind::MemoryFormat, static_cast<int64_t>(at::MemoryFormat::ChannelsLast3d)},
      {"torch.strided", Kind::Layout, static_cast<int64_t>(at::Layout::Strided)},
  };
  for (const Row& row : kRows) {
    if (row.name != name) continue;
    Operand operand = Operand::of_int(row.value);
    operand.kind = row.kind;
    return operand;
  }
  throw LoweringError{unsupported(fmt::format("unknown constant '{}'", name))};
}

Operand operand_of(const ir::Graph& graph, const ir::Arg& arg, const std::vector<Operand>& nodes) {
  switch (arg.kind) {
    case ir::ArgKind::None:
      return Operand::none();
    case ir::ArgKind::Node:
      return nodes[arg.node];
    case ir::ArgKind::Bool:
      return Operand::of_bool(arg.boolean);
    case ir::ArgKind::Int:
      return Operand::of_int(arg.integer);
    case ir::ArgKind::Float:
      return Operand::of_float(arg.real);
    case ir::ArgKind::String:
      return Operand::of_string(std::string(arg.string()));
    case ir::ArgKind::DType:
      return Operand::of_dtype(scalar_type(arg.dtype));
    case ir::ArgKind::Constant:
      return torch_constant(arg.string());
    case ir::ArgKind::Device:
    case ir::ArgKind::Ellipsis: {
      Operand operand;
      operand.kind = arg.kind == ir::ArgKind::Device ? Kind::Device : Kind::Ellipsis;
      return operand;
    }
    case ir::ArgKind::Slice:
    case ir::ArgKind::Tuple:
    case ir::ArgKind::List: {
      std::vector<Operand> elements;
      for (const ir::Arg& element : graph.elements(arg))
        elements.push_back(operand_of(graph, element, nodes));
      const Kind kind = arg.kind == ir::ArgKind::Slice   ? Kind::Slice
                        : arg.kind == ir::ArgKind::Tuple ? Kind::Tuple
                                                         : Kind::List;
      return Operand::sequence(kind, std::move(elements));
    }
  }
  return Operand::none();
}

Operand lower_node(Builder& builder, const ir::Graph& graph, const ir::Node& node,
                   const std::vector<Operand>& nodes, FusedLibrary* fused) {
  std::vector<Operand> args;
  std::vector<NamedOperand> keywords;
  for (const ir::Arg& arg : graph.args(node)) args.push_back(operand_of(graph, arg, nodes));
  for (const ir::Keyword& keyword : graph.keywords(node))
    keywords.push_back({keyword.name, operand_of(graph, keyword.value, nodes)});
  if (node.kind == ir::NodeKind::CallFunction && node.target == "passnet.fused")
    return lower_fused(builder, fused, args);
  return lower_call(builder, node.kind, node.target, args, keywords);
}

/// Slots that an operand refers to.
void collect_slots(const Operand& operand, std::vector<bool>& keep) {
  if (operand.slot >= 0) keep[operand.slot] = true;
  for (const Operand& element : operand.elements) collect_slots(element, keep);
}

/// Each slot that is filled at run time is freed by its last reader, or, unread, by the step after which it
/// lies idle.
void place_frees(Builder& builder, const Operand& result, size_t input_count) {
  std::vector<bool> keep = builder.persistent;
  keep.resize(builder.initial.size(), false);
  collect_slots(result, keep);
  std::vector<size_t> last(builder.initial.size(), SIZE_MAX);
  for (size_t i = 0; i < builder.steps.size(); ++i) {
    for (const int32_t slot : builder.steps[i]->reads) last[slot] = i;
    for (const int32_t slot : builder.steps[i]->writes) {
      if (last[slot] == SIZE_MAX) last[slot] = i;
    }
  }
  for (size_t slot = input_count; slot < last.size(); ++slot) {
    if (!keep[slot] && last[slot] != SIZE_MAX)
      builder.steps[last[slot]]->frees.push_back(static_cast<int32_t>(slot));
  }
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

Result<Plan> Plan::build(const ir::Graph& graph, FusedLibrary* fused) {
  Plan plan;
  plan.graph_ = graph;
  Builder builder;
  plan.node_operands_.resize(graph.size());
  for (ir::NodeId id = 0; id < graph.size(); ++id) {
    const ir::Node& node = graph.node(id);
    builder.node = id;
    Operand& operand = plan.node_operands_[id];
    try {
      if (node.kind == ir::NodeKind::Placeholder) {
        operand = Operand::in_slot(Kind::Tensor, builder.new_slot(true));
        plan.input_slots_.push_back(operand.slot);
        plan.input_names_.emplace_back(node.target);
      } else if (node.kind == ir::NodeKind::Output) {
        operand = operand_of(graph, graph.args(node)[0], plan.node_operands_);
        plan.result_ = operand;
      } else {
        operand = lower_node(builder, graph, node, plan.node_operands_, fused);
      }
    } catch (LoweringError& refused) {
      if (!refused.error.at) refused.error.at = graph.locate(node);
      return std::move(refused.error);
    } catch (const c10::Error& refused) {
      return bad_input(fmt::format("'{}': {}", node.target, first_line(refused.what_without_backtrace())),
                       graph.locate(node));
    }
  }
  place_frees(builder, plan.result_, plan.input_slots_.size());
  plan.operator_calls_ = builder.operator_calls;
  for (size_t slot = 0; slot < builder.initial.size(); ++slot) {
    if (!builder.persistent[slot]) plan.transient_slots_.push_back(static_cast<int32_t>(slot));
  }
  plan.steps_ = std::move(builder.steps);
  plan.slots_ = std::move(builder.initial);
  return plan;
}

Error Plan::step_error(const Step& step, std::string message) const {
  const ir::Node& node = graph_.node(step.node);
  return bad_input(fmt::format("'{}': {}", node.target, first_line(message)), graph_.locate(node));
}

Result<void> Plan::run(bool keep_all) {
  c10::IValue* slots = slots_.data();
  const Step* current = nullptr;
  try {
    for (const std::unique_ptr<Step>& step : steps_) {
      current = step.get();
      step->run(slots);
      if (keep_all) continue;
      for (const int32_t slot : step->frees) slots[slot] = c10::IValue();
    }
    leave_autocast();
  } catch (const LoweringError& refused) {
    abandon();
    Error error = refused.error;
    if (!error.at) error.at = graph_.locate(graph_.node(current->node));
    return error;
  } catch (const c10::OutOfMemoryError& refused) {
    abandon();
    Error error = step_error(*current, refused.what_without_backtrace());
    error.kind = Error::Kind::Resource;
    return error;
  } catch (const std::bad_alloc&) {
    abandon();
    Error error = step_error(*current, "out of memory");
    error.kind = Error::Kind::Resource;
    return error;
  } catch (const c10::Error& refused) {
    abandon();
    return step_error(*current, refused.what_without_backtrace());
  } catch (const InternalError&) {
    throw;
  } catch (const std::exception& refused) {
    abandon();
    return step_error(*current, refused.what());
  }
  return {};
}

void Plan::abandon() {
  release();
  leave_vmap();
  leave_autocast();
}

c10::IValue Plan::value_of(const Operand& operand) const {
  if (operand.slot >= 0) return slots_[operand.slot];
  if (!operand.is_sequence()) return operand.value;
  std::vector<c10::IValue> elements;
  for (const Operand& element : operand.elements) elements.push_back(value_of(element));
  return c10::ivalue::Tuple::create(std::move(elements));
}

std::vector<c10::IValue> Plan::outputs() const {
  std::vector<c10::IValue> values;
  if (result_.is_sequence() && result_.slot < 0) {
    for (const Operand& element : result_.elements) values.push_back(value_of(element));
  } else {
    values.push_back(value_of(result_));
  }
  return values;
}

void Plan::release() {
  for (const int32_t slot : transient_slots_) slots_[slot] = c10::IValue();
}

std::vector<Plan::NodeValue> Plan::node_values() const {
  std::vector<NodeValue> values;
  for (ir::NodeId id = 0; id < graph_.size(); ++id) {
    if (graph_.node(id).kind != ir::NodeKind::Output)
      values.push_back({graph_.node(id).name, value_of(node_operands_[id])});
  }
  return values;
}

}  // namespace passnet::runtime
