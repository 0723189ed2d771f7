// What a plan needs from the folder above it that knows operators (lower/lower.h). Internal to runtime/ (includes
// torch).
#pragma once

#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "runtime/plan/builder.h"

namespace passnet::runtime {

struct Lowerer {
  /// Adds the steps of a call. kind: CallFunction, CallMethod, Operator or Attribute. Throws LoweringError or
  /// c10::Error.
  Operand (*lower_call)(Builder& builder, ir::NodeKind kind, std::string_view target, const std::vector<Operand>& args,
                        const std::vector<NamedOperand>& keywords);
  /// Ends the regions of autocast (vmap) that a call left open.
  void (*leave_autocast)();
  void (*leave_vmap)();
};

}  // namespace passnet::runtime
