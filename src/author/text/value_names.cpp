#include "author/text/value_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "author/subject/words.h"
#include "base/text/strings.h"

namespace passnet::author {

namespace {

using Kind = Expr::Kind;

/// Returns the name of the result of an operation that is only a part of an operator.
std::string_view result_of(const Expr& apply) {
  using namespace formula;  // NOLINT: A + B
  static const std::vector<std::pair<Formula, std::string_view>> names = {
      {A * B, "product"},
      {A * A, "square"},
      {A + B, "sum"},
      {A - B, "difference"},
      {B - A, "rest"},
      {A / B, "quotient"},
      {A * A * A, "cube"},
      {-A, "negative"},
      {sqrt(A), "root"},
      {1.0 / A, "inverse"},
      {exp(A), "power"},
      {exp(A - B), "power"},
      {log(A), "logarithm"},
      {abs(A), "size"},
      {sigmoid(A), "gate"},
      {rsqrt(A + B), "inverse_deviation"},
      {1.0 / sqrt(A + B), "inverse_deviation"},
      {A - multiply(B, C), "difference"},
      {A * B + C, "sum"},
      {A + B * C, "sum"},
      {A - B * C, "difference"},
  };
  const auto found = std::ranges::find(names, apply.formula, [](const auto& one) { return one.first; });
  if (found != names.end()) return found->second;
  if (apply.compute == Compute::Bool) return "holds";
  switch (apply.formula.root()) {
    case Op::Choose: return "chosen";
    case Op::Add: return "sum";
    case Op::Subtract: return "difference";
    case Op::Multiply: return "product";
    case Op::Divide: return "quotient";
    default: return "value";
  }
}

}  // namespace

ValueNames::ValueNames(const Definitions& definitions)
    : definitions_(definitions), taken_(kernel_words().begin(), kernel_words().end()) {}

std::string ValueNames::fresh(const std::string& stem) {
  return numbered(stem, [&](const std::string& one) { return taken_.insert(one).second; });
}

std::string ValueNames::of(ExprId id) {
  const auto known = known_.find(id);
  if (known != known_.end()) return known->second;
  std::string stem = stem_of(id);
  const bool is_tensor =
      std::ranges::any_of(definitions_.tensors(), [&](const Tensor& one) { return one.name == stem; });
  if (is_tensor && taken_.contains(stem)) stem += "_value";  // its name is that of what lies in memory
  return known_[id] = fresh(stem);
}

std::string ValueNames::stem_of(ExprId id) const {
  const Expr& expr = definitions_.exprs().at(id);
  const auto name = [&](TensorId tensor) { return definitions_.tensors()[tensor].name; };
  if (expr.kind == Kind::Load || expr.kind == Kind::Reduce || expr.kind == Kind::Running) return name(expr.tensor);
  const std::optional<TensorId> tensor = definitions_.exprs().called_after(id);
  if (expr.kind == Kind::Round) {
    const bool has_name = !tensor || definitions_.exprs().called_after(expr.parts[0]) == tensor;
    return (has_name ? stem_of(expr.parts[0]) : name(*tensor)) + "_rounded";
  }
  if (tensor) return name(*tensor);
  switch (expr.kind) {
    case Kind::Convert:
    case Kind::Truncate: {
      const Expr& part = definitions_.exprs().at(expr.parts[0]);
      return part.kind == Kind::Place ? name_of_place(part.places[0]) : stem_of(expr.parts[0]) + "_converted";
    }
    case Kind::Guard:
      return definitions_.exprs().at(expr.parts[2]).kind == Kind::Number ? stem_of(expr.parts[1]) + "_padded"
                                                                         : "chosen";
    case Kind::Place: return "index";
    case Kind::Apply: return std::string(result_of(expr));
    default: return "value";
  }
}

std::string ValueNames::name_of_place(IndexId place) const {
  const IndexTable& indices = definitions_.exprs().indices();
  const Index& index = indices.at(place);
  const bool is_variable = index.kind == Index::Kind::Variable;
  if (!is_variable && index.kind != Index::Kind::Size) return "number";
  const std::string size = indices.sizes().plan_text(is_variable ? indices.extent(index.variable) : index.size);
  if (!is_identifier(size)) return "number";
  return fmt::format("{}{}_converted", is_variable ? "at_" : "", size);
}

}  // namespace passnet::author
