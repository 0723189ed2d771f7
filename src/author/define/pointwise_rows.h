// Element-wise operators: one row holds an operator's scalar semantics, for both targets.
#pragma once

#include <string_view>
#include <vector>

#include "author/loops/formula.h"

namespace passnet::author {

/// The type that an element-wise operator computes in.
enum class Takes : uint8_t {
  Result,    // the type of its result
  Ring,      // the same, by sums, differences and products alone, which wrap where the result is a whole number
  Real,      // the same; integers only by a formula of their own
  Operands,  // what its operands are promoted to; the result is a bool
};

/// How PyTorch takes a number beside elements of 16 bits.
enum class Beside : uint8_t {
  Late,       // as a float: the operator gives the same if only its result is rounded
  Cast,       // rounded to their type first
  CastOnCpu,  // the same on a CPU; as a float on a GPU
  Float,      // as a float; so does a CPU a second operand of one element, and rounds the result alone
};

struct PointwiseRow {
  std::string_view name;       // canonical (ir/ops/table.h)
  std::string_view operands;   // canonical parameters, separated by spaces: A, B … in formulas
  std::string_view condition;  // "parameter=literal parameter=literal": all must hold
  Formula formula;             // of real numbers, and of whole ones where `whole` is empty and `takes` allows them
  int work = 1;                // about how many additions it takes as long as
  Takes takes = Takes::Result;
  Beside beside = Beside::Late;  // of comparisons: Cast
  Formula on_gpu = {};           // of real numbers on a GPU, where PyTorch computes otherwise there
  Formula whole = {};            // of whole numbers
  Formula truth = {};            // of conditions; empty: it takes none
  Formula by_number = {};        // of real numbers on a GPU, where B is a number: PyTorch multiplies by its inverse
};

/// The first row counts whose condition holds and whose operands are given.
const std::vector<PointwiseRow>& pointwise_rows();

}  // namespace passnet::author
