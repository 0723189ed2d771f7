#include "author/fuse/edge.h"

#include "author/fuse/access.h"

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
  if (expr.kind != Kind::Apply) return false;
  if (expr.text == kBoth)
    return add_conditions(exprs, expr.parts[0], lane, edge) && add_conditions(exprs, expr.parts[1], lane, edge);
  if (expr.text != kInside || edge.extent != 0) return false;
  const IndexId at = exprs.at(expr.parts[0]).places[0];
  const Access access = access_of(exprs, {at}, {exprs.indices().sizes().one()});
  const auto step = access.steps.find(lane);
  if (step == access.steps.end() || access.irregular.contains(lane)) return false;
  edge.at = at;
  edge.step = step->second;
  edge.extent = exprs.indices().at(exprs.at(expr.parts[1]).places[0]).size;
  return true;
}

}  // namespace

std::optional<Edge> edge_of(ExprTable& exprs, ExprId guard, VariableId lane) {
  if (exprs.at(guard).kind != Kind::Guard) return std::nullopt;
  Edge edge;
  if (!add_conditions(exprs, exprs.at(guard).parts[0], lane, edge) || edge.extent == 0) return std::nullopt;
  return edge;
}

}  // namespace passnet::author
