#include "runtime/plan/plan.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/text/strings.h"
#include "ir/ops/table.h"
#include "runtime/plan/fused.h"
#include "runtime/plan/package.h"
#include "runtime/tensor/dtype.h"

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
    case ir::ArgKind::Node: return nodes[arg.node];
    case ir::ArgKind::Constant: return torch_constant(arg.string());
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
      for (const ir::Arg& element : graph.elements(arg)) elements.push_back(operand_of(graph, element, nodes));
      const Kind kind = arg.kind == ir::ArgKind::Slice   ? Kind::Slice
                        : arg.kind == ir::ArgKind::Tuple ? Kind::Tuple
                                                         : Kind::List;
      return Operand::sequence(kind, std::move(elements));
    }
    default: return literal_operand(arg);
  }
}

Operand lower_node(Builder& builder, const ir::Graph& graph, const ir::Node& node, const std::vector<Operand>& nodes,
                   const Lowerer& lowerer, FusedLibrary* fused, Package* package) {
  std::vector<Operand> args;
  std::vector<NamedOperand> keywords;
  for (const ir::Arg& arg : graph.args(node)) args.push_back(operand_of(graph, arg, nodes));
  for (const ir::Keyword& keyword : graph.keywords(node))
    keywords.push_back({keyword.name, operand_of(graph, keyword.value, nodes)});
  if (node.kind == ir::NodeKind::CallFunction && node.target == ir::kFusedTarget)
    return lower_fused(builder, fused, args);
  if (node.kind == ir::NodeKind::CallFunction && node.target == "passnet.package")
    return lower_package(builder, package, args);
  return lowerer.lower_call(builder, node.kind, node.target, args, keywords);
}

/// Calls `visit(slot)` for each slot that an operand refers to.
template <class Visit>
void for_each_slot(const Operand& operand, Visit&& visit) {
  if (operand.slot >= 0) visit(operand.slot);
  for (const Operand& element : operand.elements) for_each_slot(element, visit);
}

/// Each slot that is filled at run time is freed by its last reader, or, unread, by the step after which it
/// lies idle.
void place_frees(Builder& builder, const Operand& result, size_t input_count) {
  std::vector<bool> keep = builder.persistent;
  keep.resize(builder.initial.size(), false);
  for_each_slot(result, [&](int32_t slot) { keep[slot] = true; });
  std::vector<size_t> last(builder.initial.size(), SIZE_MAX);
  for (size_t i = 0; i < builder.steps.size(); ++i) {
    for (const int32_t slot : builder.steps[i]->reads) last[slot] = i;
    for (const int32_t slot : builder.steps[i]->writes) {
      if (last[slot] == SIZE_MAX) last[slot] = i;
    }
  }
  for (size_t slot = input_count; slot < last.size(); ++slot) {
    if (!keep[slot] && last[slot] != SIZE_MAX) builder.steps[last[slot]]->frees.push_back(static_cast<int32_t>(slot));
  }
}

/// Launches stand in line until something reads what they write; what only moves it does not.
void let_launches_wait(std::vector<std::unique_ptr<Step>>& steps, FusedLibrary& fused) {
  bool next_launches = false;
  for (size_t i = steps.size(); i-- > 0;) {
    steps[i]->next_launches = next_launches;
    const Moving::When moves = steps[i]->moving.when;
    if (moves == Moving::When::Never) next_launches = steps[i]->launches();
    if (moves != Moving::When::Never && moves != Moving::When::Always)
      steps[i] = make_unless_copying(std::move(steps[i]), fused);
  }
}

/// The exception under way, in words that name the node. REQUIRES: called while one is handled.
Error refusal_at(const ir::Graph& graph, const ir::Node& node) {
  const auto said = [&](const std::string& message, Error::Kind kind = Error::Kind::BadInput) {
    Error error = bad_input(fmt::format("'{}': {}", node.target, first_line(message)), graph.locate(node));
    error.kind = kind;
    return error;
  };
  try {
    throw;
  } catch (const LoweringError& refused) {
    Error error = refused.error;
    if (!error.at) error.at = graph.locate(node);
    return error;
  } catch (const c10::OutOfMemoryError& refused) {
    return said(refused.what_without_backtrace(), Error::Kind::Resource);
  } catch (const std::bad_alloc&) {
    return said("out of memory", Error::Kind::Resource);
  } catch (const c10::Error& refused) {
    return said(refused.what_without_backtrace());
  } catch (const InternalError&) {
    throw;
  } catch (const std::exception& refused) {
    return said(refused.what());
  }
}

}  // namespace

Result<Plan> Plan::build(const ir::Graph& graph, const Lowerer& lowerer, FusedLibrary* fused, Package* package) {
  Plan plan;
  plan.graph_ = graph;
  plan.lowerer_ = lowerer;
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
        operand = lower_node(builder, graph, node, plan.node_operands_, lowerer, fused, package);
      }
    } catch (...) {
      return refusal_at(graph, node);
    }
  }
  place_frees(builder, plan.result_, plan.input_slots_.size());
  plan.operator_calls_ = builder.operator_calls;
  for (size_t slot = 0; slot < builder.initial.size(); ++slot) {
    if (!builder.persistent[slot]) plan.transient_slots_.push_back(static_cast<int32_t>(slot));
  }
  plan.steps_ = std::move(builder.steps);
  if (fused != nullptr) let_launches_wait(plan.steps_, *fused);
  plan.slots_ = std::move(builder.initial);
  return plan;
}

bool Plan::launches_only() const {
  const auto waits = [](const auto& step) { return step->launches() || step->moving.may_move(); };
  return std::ranges::any_of(steps_, [](const auto& step) { return step->launches(); }) &&
         std::ranges::all_of(steps_, waits);
}

Error Plan::refusal(const Step& step) const { return refusal_at(graph_, graph_.node(step.node)); }

Result<void> Plan::run(bool keep) {
  c10::IValue* slots = slots_.data();
  const Step* current = nullptr;
  try {
    for (const std::unique_ptr<Step>& step : steps_) {
      current = step.get();
      step->run(slots);
      if (keep) continue;
      for (const int32_t slot : step->frees) slots[slot] = c10::IValue();
    }
    lowerer_.leave_autocast();
  } catch (...) {
    abandon();
    return refusal(*current);
  }
  return {};
}

Result<void> Plan::run_visiting(const NodeVisitor& visit) {
  const std::vector<std::vector<ir::NodeId>> ready = nodes_by_step();
  const auto visit_all = [&](const std::vector<ir::NodeId>& nodes) {
    for (const ir::NodeId id : nodes) visit(graph_.node(id), value_of(node_operands_[id]));
  };
  visit_all(ready[0]);
  size_t freed = 0;  // steps whose frees are done
  for (size_t i = 0; i < steps_.size(); ++i) {
    try {
      steps_[i]->run(slots_.data());
    } catch (...) {
      abandon();
      return refusal(*steps_[i]);
    }
    visit_all(ready[i + 1]);
    // What no step reads is freed by the step that makes it; its node may have further steps before it is seen.
    if (i + 1 < steps_.size() && steps_[i + 1]->node == steps_[i]->node) continue;
    for (; freed <= i; ++freed) {
      for (const int32_t slot : steps_[freed]->frees) slots_[slot] = c10::IValue();
    }
  }
  lowerer_.leave_autocast();
  return {};
}

std::vector<std::vector<ir::NodeId>> Plan::nodes_by_step() const {
  std::vector<size_t> written(slots_.size(), 0);  // the step that fills a slot, plus one
  for (size_t i = 0; i < steps_.size(); ++i) {
    for (const int32_t slot : steps_[i]->writes) written[slot] = i + 1;
  }
  std::vector<size_t> own(graph_.size(), 0);  // the last step of a node, plus one
  for (size_t i = 0; i < steps_.size(); ++i) own[steps_[i]->node] = i + 1;
  std::vector<std::vector<ir::NodeId>> nodes(steps_.size() + 1);
  for (ir::NodeId id = 0; id < graph_.size(); ++id) {
    if (graph_.node(id).kind == ir::NodeKind::Output) continue;
    size_t ready = own[id];
    for_each_slot(node_operands_[id], [&](int32_t slot) { ready = std::max(ready, written[slot]); });
    nodes[ready].push_back(id);
  }
  return nodes;
}

void Plan::abandon() {
  release();
  lowerer_.leave_vmap();
  lowerer_.leave_autocast();
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

}  // namespace passnet::runtime
