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
  if (expr.kind == Kind::Apply && expr.text == kBoth)
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
  if (expr.kind != Kind::Apply || expr.text != kInside) return std::nullopt;
  const IndexId index = exprs.at(expr.parts[0]).places[0];
  return Inside{index, access_of(exprs, {index}, {exprs.indices().sizes().one()}),
                exprs.indices().at(exprs.at(expr.parts[1]).places[0]).size};
}

std::optional<Edge> edge_of(ExprTable& exprs, ExprId guard, VariableId lane) {
  if (exprs.at(guard).kind != Kind::Guard) return std::nullopt;
  Edge edge;
  if (!add_conditions(exprs, exprs.at(guard).parts[0], lane, edge) || edge.inside.extent == 0) return std::nullopt;
  return edge;
}

}  // namespace passnet::author
