// Inside the operator table: how the arguments of one spelling map to the canonical parameters. Used by
// table.cpp (which builds it from table_rows.h) and canonicalize.cpp; others use table.h.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/ops/table.h"

namespace passnet::ir {

/// A Python literal of the table; `elements` holds the items of a tuple.
struct Literal {
  Arg value;
  std::vector<Arg> elements;
};

/// Which literal arguments fit; picks among the rows of one spelling.
enum class Fit : uint8_t { Anything, Tensor, Int, DType, Device, None };

/// One parameter of a spelling.
struct Slot {
  static constexpr uint16_t kIgnored = 0xffff;
  std::string_view call_name;  // the keyword in this spelling
  uint16_t canonical = 0;      // index of the canonical parameter, or kIgnored
  Fit fit = Fit::Anything;
  ParameterKind kind = ParameterKind::Any;
  uint8_t length = 0;  // Ints: fixed length, 0 when any
  bool required = true;
  bool variadic = false;
  bool keyword_only = false;
  bool fixed = false;  // cannot be given; has its default
  Literal value;       // default or fixed value
};

/// A signature and the defaults of its parameters as values.
struct Operator {
  OpSignature signature;
  std::vector<Parameter> parameters;
  std::vector<Literal> defaults;
  std::vector<uint8_t> lengths;  // as Slot::length
};

/// One way to call an operator.
struct Binding {
  const Operator* op = nullptr;
  std::vector<Slot> slots;
};

/// The ways a node's spelling can be called, in the order to try; empty when unknown.
const std::vector<Binding>& find_bindings(const Node& node);

}  // namespace passnet::ir
