// Values of a graph as the other processes know them. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/ivalue.h>

#include "ir/value.h"

namespace passnet::runtime {

/// The type of a tensor, a number, a list of values; None for all else, as for tensors of a kind that no graph takes or
/// returns (sparse, quantised).
/// Unknown for a list or tuple of more than 4,096 elements: a graph may split a tensor into millions.
ir::Value value_of(const c10::IValue& value);

}  // namespace passnet::runtime
