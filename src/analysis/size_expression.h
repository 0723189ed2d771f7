// Sizes as expressions over the shapes of a graph's values: what a constant such as the 196 of `view(1, 196, -1)`
// stands for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace passnet::analysis {

/// The shapes of all values of a graph at one choice of its inputs' sizes, by node id.
struct ValueShapes {
  std::vector<std::optional<std::vector<int64_t>>> shape;  // of tensors; nullopt: not a tensor, or not known
  std::vector<std::string> unknown;                        // why a value has no type; empty: it has one
  std::vector<bool> integral;                              // the value is a tensor of integers
};

/// A size of a value.
struct Dim {
  ir::NodeId node = ir::kNoNode;
  uint32_t axis = 0;
  bool operator==(const Dim&) const = default;
};

/// factor * (product of `factors`) / (divisor * product of `divisors`) + offset; a constant when there are no dims.
struct SizeExpression {
  std::vector<Dim> factors, divisors;
  int64_t factor = 1, divisor = 1, offset = 0;
  bool operator==(const SizeExpression&) const = default;

  static SizeExpression constant(int64_t value);
  static SizeExpression of(Dim dim);
  bool is_constant() const { return factors.empty(); }
};

/// Returns: the size; nullopt when a size in it is not known, or the division leaves a remainder.
std::optional<int64_t> evaluate(const SizeExpression& expression, const ValueShapes& shapes);

/// Returns: the expression for messages: "x.size(1) * y.size(2) // 7".
std::string to_string(const SizeExpression& expression, const ir::Graph& graph);

}  // namespace passnet::analysis
