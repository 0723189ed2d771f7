#include "analysis/size_expression.h"

#include <fmt/format.h>

#include "base/json/python_number.h"

namespace passnet::analysis {

namespace {

python::Integer product(const std::vector<Dim>& dims, int64_t start, const ValueShapes& shapes) {
  python::Integer result = start;
  for (const Dim& dim : dims) {
    const auto& shape = shapes.shape[dim.node];
    if (!result || !shape || dim.axis >= shape->size()) return std::nullopt;
    result = python::multiply(*result, (*shape)[dim.axis]);
  }
  return result;
}

std::string print_product(const std::vector<Dim>& dims, int64_t factor, const ir::Graph& graph) {
  std::string text = factor != 1 || dims.empty() ? fmt::format("{}", factor) : "";
  for (const Dim& dim : dims)
    text += fmt::format("{}{}.size({})", text.empty() ? "" : " * ", graph.node(dim.node).name, dim.axis);
  return text;
}

}  // namespace

SizeExpression SizeExpression::constant(int64_t value) {
  SizeExpression made;
  made.factor = value;
  return made;
}

SizeExpression SizeExpression::of(Dim dim) {
  SizeExpression made;
  made.factors = {dim};
  return made;
}

std::optional<int64_t> evaluate(const SizeExpression& expression, const ValueShapes& shapes) {
  const auto above = product(expression.factors, expression.factor, shapes);
  const auto below = product(expression.divisors, expression.divisor, shapes);
  if (!above || !below || *below == 0 || *above % *below != 0) return std::nullopt;
  return python::add(*above / *below, expression.offset);
}

std::string to_string(const SizeExpression& expression, const ir::Graph& graph) {
  std::string text = print_product(expression.factors, expression.factor, graph);
  if (!expression.divisors.empty() || expression.divisor != 1)
    text += fmt::format(" // ({})", print_product(expression.divisors, expression.divisor, graph));
  if (expression.offset != 0) text += fmt::format(" + {}", expression.offset);
  return text;
}

}  // namespace passnet::analysis
