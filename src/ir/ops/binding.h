// Inside the operator table: how the arguments of one spelling map to the canonical parameters. Used by
// table.cpp (which builds it from table_rows.h), canonicalize.cpp and runtime/lower; others use table.h.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/ops/table.h"

namespace passnet::ir {

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
  std::string_view lowering;  // of the row
  bool in_place = false;      // the spelling is of an in-place form
  bool wraps_number = false;  // of the row: `wrap`
};

}  // namespace passnet::ir
