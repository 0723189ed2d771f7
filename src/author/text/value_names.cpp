#include "author/text/value_names.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "author/subject/words.h"
#include "base/strings.h"

namespace passnet::author {

namespace {

using Kind = Expr::Kind;

/// Names of the results of operations that are only a part of an operator.
constexpr std::array kResults = {
    std::pair{"$0 * $1", "product"},
    std::pair{"$0 * $0", "square"},
    std::pair{"$0 + $1", "sum"},
    std::pair{"$0 - $1", "difference"},
    std::pair{"$1 - $0", "rest"},
    std::pair{"$0 / $1", "quotient"},
    std::pair{"$0 * $0 * $0", "cube"},
    std::pair{"-$0", "negative"},
    std::pair{"sqrt($0)", "root"},
    std::pair{"1.0f / $0", "inverse"},
    std::pair{"exp($0)", "power"},
    std::pair{"exp($0 - $1)", "power"},
    std::pair{"log($0)", "logarithm"},
    std::pair{"abs($0)", "size"},
    std::pair{"sigmoid($0)", "gate"},
    std::pair{"rsqrt($0 + $1)", "inverse_deviation"},
    std::pair{"1.0f / sqrt($0 + $1)", "inverse_deviation"},
    std::pair{"$0 - multiply($1, $2)", "difference"},
    std::pair{"$0 * $1 + $2", "sum"},
    std::pair{"$0 + $1 * $2", "sum"},
    std::pair{"$0 - $1 * $2", "difference"},
};

std::string_view result_of(const Expr& apply) {
  const auto* const found = std::ranges::find(kResults, apply.text, [](const auto& one) { return one.first; });
  if (found != kResults.end()) return found->second;
  if (apply.compute == Compute::Bool) return "holds";
  return apply.text.starts_with('?') ? "chosen" : "value";
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
    case Kind::Truncate:
      return definitions_.exprs().at(expr.parts[0]).kind == Kind::Place ? "number"
                                                                        : stem_of(expr.parts[0]) + "_converted";
    case Kind::Guard:
      return definitions_.exprs().at(expr.parts[2]).kind == Kind::Number ? stem_of(expr.parts[1]) + "_padded"
                                                                         : "chosen";
    case Kind::Place: return "index";
    case Kind::Apply: return std::string(result_of(expr));
    default: return "value";
  }
}

}  // namespace passnet::author
