// What an integer of a node may stand for, and how far-fetched each guess is: a table of rules.
// Source: docs/dataset-format.md, "Sizes" under "Generalize".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/size_slots.h"
#include "dataset/sizes/pool.h"
#include "ir/graph.h"

namespace passnet::dataset {

/// A node with integers that may be sizes, and what is known of it.
struct SizedNode {
  const ir::Graph& graph;
  ir::NodeId id;
  std::span<const analysis::SizeSlot> slots;  // its integers
  const Probes& probes;
  const SizePool& pool;              // the sizes of the values before it
  ir::NodeId operand = ir::kNoNode;  // its first argument, when that is a tensor
  std::vector<int64_t> shape = {};   // of the operand, as captured
  std::vector<bool> changing = {};   // by axis of the operand: its size differs between probes
};

/// What comes from `begin` to before `end`: axes of an operand, or sizes of a view.
struct Stretch {
  size_t begin = 0, end = 0;
  size_t size() const { return end - begin; }
};

/// What an integer may stand for. cost: the lowest is the best guess; those of a node's integers are added up.
struct Guess {
  analysis::SizeExpression size;
  int cost = 0;
};

/// The cost of a last resort.
constexpr int kFar = 8;

/// axes:     of a size of a view: the operand's axes that it is made of; of other integers: all axes.
/// Returns:  what the rules say of the integer `slot` of the node, in the order of the rules. A guess need not give
///           the captured value, and several may be the same size.
std::vector<Guess> guesses(const SizedNode& node, size_t slot, Stretch axes);

/// Returns: the product of the operand's sizes on these axes; the constant 1 when there are none.
analysis::SizeExpression product_of(const SizedNode& node, Stretch axes);

}  // namespace passnet::dataset
