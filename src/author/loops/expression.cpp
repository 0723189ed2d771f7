#include "author/loops/expression.h"

#include <cmath>

namespace passnet::author {

using Kind = Expr::Kind;

bool Expr::is_product() const {
  using formula::A, formula::B;
  return compute == Compute::Float && (is_apply_of(A * B) || is_apply_of(A * A));
}

ExprId ExprTable::intern(Expr node) {
  const auto found = known_.find(node);
  if (found != known_.end()) return found->second;
  const auto id = static_cast<ExprId>(nodes_.size());
  nodes_.push_back(node);
  known_.emplace(std::move(node), id);
  return id;
}

void ExprTable::call_after(ExprId id, TensorId tensor) {
  if (!called_after_.emplace(id, tensor).second) return;
  // A value has no other name before it is rounded, or on one of the targets.
  const Expr& expr = nodes_[id];
  if (expr.kind != Kind::Round && expr.kind != Kind::ByTarget) return;
  for (const ExprId part : expr.parts) call_after(part, tensor);
}

ExprId ExprTable::called_like(ExprId other, ExprId id) {
  if (const std::optional<TensorId> tensor = called_after(other)) call_after(id, *tensor);
  return id;
}

std::optional<TensorId> ExprTable::called_after(ExprId id) const {
  const auto found = called_after_.find(id);
  return found == called_after_.end() ? std::nullopt : std::optional(found->second);
}

ExprId ExprTable::load(TensorId tensor, std::vector<IndexId> places, ElementId element, Compute compute) {
  return intern(
      {.kind = Kind::Load, .compute = compute, .tensor = tensor, .element = element, .places = std::move(places)});
}

ExprId ExprTable::number(double value, Compute compute) {
  return intern({.kind = Kind::Number, .compute = compute, .integer = std::bit_cast<int64_t>(value)});
}

ExprId ExprTable::integer(int64_t value, Compute compute) {
  if (compute == Compute::Float || compute == Compute::Double) return number(static_cast<double>(value), compute);
  return intern({.kind = Kind::Number, .compute = compute, .integer = value});
}

ExprId ExprTable::parameter(std::string text, Compute compute) {
  return intern({.kind = Kind::Parameter, .compute = compute, .text = std::move(text)});
}

ExprId ExprTable::place(IndexId index) {
  return intern({.kind = Kind::Place, .compute = Compute::Int, .places = {index}});
}

ExprId ExprTable::apply(const Formula& formula, std::vector<ExprId> parts, Compute compute) {
  return intern({.kind = Kind::Apply, .compute = compute, .formula = formula, .parts = std::move(parts)});
}

ExprId ExprTable::convert(ExprId part, Compute compute) {
  const Expr& of = nodes_[part];
  if (of.compute == compute) return part;
  if (of.kind == Kind::Number) {
    if (of.is_real() && (compute == Compute::Float || compute == Compute::Double)) return number(of.real(), compute);
    if (!of.is_real()) return integer(of.integer, compute);
  }
  return intern({.kind = Kind::Convert, .compute = compute, .parts = {part}});
}

ExprId ExprTable::truncate(ExprId part, ElementId element) {
  return intern({.kind = Kind::Truncate, .compute = Compute::Int, .element = element, .parts = {part}});
}

ExprId ExprTable::round(ExprId part, ElementId element) {
  return is_one_of(part, element) ? part : round_on(RoundsOn::Both, part, element);
}

ExprId ExprTable::round_on(RoundsOn where, ExprId part, ElementId element) {
  return intern(
      {.kind = Kind::Round, .compute = nodes_[part].compute, .element = element, .parts = {part}, .rounds_on = where});
}

/// Tells whether its value is one of the element's: it is there as such, or chosen among such.
bool ExprTable::is_one_of(ExprId id, ElementId element) const {
  constexpr double kMostExact = 256;   // whole numbers up to this are in every floating type
  constexpr int64_t kMostWhole = 127;  // and from 0 up to this in every type
  const Expr& expr = nodes_[id];
  switch (expr.kind) {
    case Kind::Load:
    case Kind::Truncate: return expr.element == element;
    case Kind::Round: return expr.element == element && expr.rounds_on == RoundsOn::Both;
    case Kind::Number:
      if (!expr.is_real()) return expr.integer >= 0 && expr.integer <= kMostWhole;
      return expr.real() == std::trunc(expr.real()) && std::abs(expr.real()) <= kMostExact;
    case Kind::Guard: return is_one_of(expr.parts[1], element) && is_one_of(expr.parts[2], element);
    case Kind::Apply: return gives_one_of(expr, element);
    default: return false;
  }
}

bool ExprTable::gives_one_of(const Expr& apply, ElementId element) const {
  std::vector<bool> are;  // of the results so far, as they are taken again
  const auto take = [&are] {
    const bool last = are.back();
    are.pop_back();
    return last;
  };
  for (const Formula::Step& step : apply.formula.steps()) {
    switch (step.op) {
      case Op::Operand: are.push_back(is_one_of(apply.parts[static_cast<size_t>(step.of)], element)); break;
      case Op::Whole:
      case Op::Real: are.push_back(step.of == 0); break;
      // The smallest whole number has no opposite.
      case Op::Abs:
      case Op::Negate: are.push_back(take() && apply.is_real()); break;
      case Op::Choose: {
        const bool otherwise = take(), then = take();
        take();
        are.push_back(then && otherwise);
        break;
      }
      default: {
        for (size_t i = 0; i < step.operands; ++i) take();
        are.push_back(false);
      }
    }
  }
  return are.back();
}

ExprId ExprTable::reduce(Fold fold, TensorId tensor, std::vector<VariableId> variables, ExprId part, SumOrder order) {
  return intern({.kind = Kind::Reduce,
                 .compute = nodes_[part].compute,
                 .fold = fold,
                 .order = order,
                 .tensor = tensor,
                 .parts = {part},
                 .variables = std::move(variables)});
}

ExprId ExprTable::running(TensorId tensor, IndexId place, ExprId part) {
  return intern(
      {.kind = Kind::Running, .compute = nodes_[part].compute, .tensor = tensor, .places = {place}, .parts = {part}});
}

ExprId ExprTable::inside(IndexId index, SizeId extent) {
  return apply(kInside, {place(index), place(indices_.size(extent))}, Compute::Bool);
}

ExprId ExprTable::both(std::optional<ExprId> condition, ExprId more) {
  return condition ? apply(kBoth, {*condition, more}, Compute::Bool) : more;
}

ExprId ExprTable::below(IndexId index, SizeId end) {
  return apply(kBelow, {place(index), place(indices_.size(end))}, Compute::Bool);
}

ExprId ExprTable::guard(ExprId condition, ExprId then, ExprId otherwise) {
  return intern({.kind = Kind::Guard, .compute = nodes_[then].compute, .parts = {condition, then, otherwise}});
}

ExprId ExprTable::by_target(ExprId cpu, ExprId gpu) {
  return cpu == gpu ? cpu : intern({.kind = Kind::ByTarget, .compute = nodes_[cpu].compute, .parts = {cpu, gpu}});
}

ExprId ExprTable::for_target(ExprId id, Target target) {
  const auto [known, is_new] = for_target_.emplace(std::pair(id, target), id);
  if (!is_new) return known->second;
  Expr node = nodes_[id];
  ExprId made = id;
  if (node.kind == Kind::ByTarget) {
    made = for_target(node.parts[target == Target::Cpu ? 0 : 1], target);
  } else if (!node.parts.empty()) {
    for (ExprId& part : node.parts) part = for_target(part, target);
    made = called_like(id, intern(std::move(node)));
  }
  return for_target_[{id, target}] = made;
}

ExprId ExprTable::placed(ExprId id, Placed& placed) {
  if (const auto known = placed.known.find(id); known != placed.known.end()) return known->second;
  Expr node = nodes_[id];
  for (ExprId& part : node.parts) part = this->placed(part, placed);
  const auto element = [&](ExprId one) { return this->placed(one, placed); };
  for (IndexId& place : node.places) place = indices_.with(place, placed.places, element);
  if (std::set<VariableId>(node.variables.begin(), node.variables.end()) == placed.over) node.variables = {placed.one};
  return placed.known[id] = called_like(id, intern(std::move(node)));
}

const std::set<VariableId>& ExprTable::free_variables(ExprId id) {
  const auto known = free_.find(id);
  if (known != free_.end()) return known->second;
  std::set<VariableId> found;
  for (const IndexId place : nodes_[id].places) variables_in(place, found);
  for (const ExprId part : nodes_[id].parts) {
    const std::set<VariableId>& more = free_variables(part);
    found.insert(more.begin(), more.end());
  }
  for (const VariableId bound : nodes_[id].variables) found.erase(bound);
  return free_.emplace(id, std::move(found)).first->second;
}

void ExprTable::variables_in(IndexId index, std::set<VariableId>& found) {
  indices_.variables_in(index, found);
  std::vector<ExprId> elements;
  indices_.elements_in(index, elements);
  for (const ExprId element : elements) {
    const std::set<VariableId>& more = free_variables(element);
    found.insert(more.begin(), more.end());
  }
}

bool ExprTable::has(Kind kind, ExprId id, std::map<ExprId, bool>& known) {
  if (const auto before = known.find(id); before != known.end()) return before->second;
  bool found = nodes_[id].kind == kind;
  for_each_part(id, [&](ExprId part) { found = has(kind, part, known) || found; });
  return known[id] = found;
}

}  // namespace passnet::author
