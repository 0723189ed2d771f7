#include "author/fuse/edge.h"

#include <utility>

namespace passnet::author {

namespace {

using Kind = Expr::Kind;

/// False where it is no edge.
bool add_conditions(ExprTable& exprs, ExprId id, VariableId lane, Edge& edge) {
  const Expr expr = exprs.at(id);
  if (!exprs.free_variables(id).contains(lane)) {
    edge.others.push_back(id);
    return true;
  }
  if (expr.is_apply_of(kBoth))
    return add_conditions(exprs, expr.parts[0], lane, edge) && add_conditions(exprs, expr.parts[1], lane, edge);
  std::optional<Inside> inside = inside_of(exprs, id);
  if (!inside || edge.inside.extent != 0) return false;
  const auto step = inside->at.steps.find(lane);
  if (step == inside->at.steps.end() || inside->at.irregular.contains(lane)) return false;
  edge.step = step->second;
  edge.inside = std::move(*inside);
  return true;
}

}  // namespace

std::optional<Inside> inside_of(ExprTable& exprs, ExprId condition) {
  const Expr expr = exprs.at(condition);
  if (!expr.is_apply_of(kInside)) return std::nullopt;
  const IndexId index = exprs.at(expr.parts[0]).places[0];
  return Inside{index, access_of(exprs, {index}, {exprs.indices().sizes().one()}),
                exprs.indices().at(exprs.at(expr.parts[1]).places[0]).size};
}

std::optional<Parts> any_parts_of(ExprTable& exprs, ExprId guard) {
  const IndexTable& indices = exprs.indices();
  Parts parts;
  ExprId rest = guard;
  for (Expr one = exprs.at(rest); one.kind == Kind::Guard; one = exprs.at(rest)) {
    const Expr condition = exprs.at(one.parts[0]);
    if (!condition.is_apply_of(kBelow)) break;
    const Expr place = exprs.at(condition.parts[0]), end = exprs.at(condition.parts[1]);
    if (place.kind != Kind::Place || end.kind != Kind::Place || indices.at(end.places[0]).kind != Index::Kind::Size)
      break;
    if (parts.values.empty())
      parts.index = place.places[0];
    else if (place.places[0] != parts.index)
      break;
    parts.ends.push_back(indices.at(end.places[0]).size);
    parts.values.push_back(one.parts[1]);
    rest = one.parts[2];
  }
  if (parts.ends.empty()) return std::nullopt;
  parts.values.push_back(rest);
  return parts;
}

std::optional<Parts> parts_of(ExprTable& exprs, ExprId guard, VariableId lane) {
  std::optional<Parts> parts = any_parts_of(exprs, guard);
  if (!parts) return std::nullopt;
  const Access at = access_of(exprs, {parts->index}, {exprs.indices().sizes().one()});
  const auto step = at.steps.find(lane);
  if (step == at.steps.end() || at.irregular.contains(lane)) return std::nullopt;
  parts->step = step->second;
  return parts;
}

std::optional<Edge> edge_of(ExprTable& exprs, ExprId guard, VariableId lane) {
  if (exprs.at(guard).kind != Kind::Guard) return std::nullopt;
  Edge edge;
  if (!add_conditions(exprs, exprs.at(guard).parts[0], lane, edge) || edge.inside.extent == 0) return std::nullopt;
  return edge;
}

}  // namespace passnet::author
