// Values of a graph as docs/protocol.md writes them. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/ivalue.h>

#include "base/json.h"

namespace passnet::runtime {

/// VALUE of docs/protocol.md: the type of a tensor, a number, a list of values; {"none": true} for all else.
Json value_json(const c10::IValue& value);

}  // namespace passnet::runtime
