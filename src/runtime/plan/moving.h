// Operators that only move what they are given: their results lie in the first argument's memory, and no element is read.
// Launches that stand in line need not have run before them. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/ivalue.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/plan/arg_source.h"

namespace passnet::runtime {

struct Binding;

/// When a call's results lie in its first argument's memory.
struct Moving {
  enum class When : uint8_t {
    Never,       // it reads or writes elements, or may
    Always,      // they are views
    Contiguous,  // where that is contiguous; else it may copy
    Reshaped,    // where the shape that is asked for is a view of it; else it copies
    OfType,      // where that has the type that is asked for; else it copies
  };
  When when = When::Never;
  c10::ScalarType type = c10::ScalarType::Undefined;  // OfType: asked for
  int32_t like = -1;                                  // slot of a tensor that has it; -1: it is `type`
  std::optional<ArgSource> shape = {};                // Reshaped: asked for

  bool may_move() const { return when != When::Never; }
  /// Whether the call, made now, would read elements. first: its first argument.
  bool copies(const at::Tensor& first, const c10::IValue* slots) const;
};

/// sources: of the call's arguments.
Moving moving_of(const Binding& binding, const std::vector<ArgSource>& sources);

}  // namespace passnet::runtime
