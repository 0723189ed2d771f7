// What is recorded of a tensor's values in place of the values. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/Tensor.h>

#include "base/json/json.h"

namespace passnet::runtime {

/// Tensors with fewer elements are recorded in full.
inline constexpr int64_t kRecordedInFull = 64;

/// STATISTICS of docs/protocol.md. {} for element types that have none.
Json statistics_json(const at::Tensor& tensor);

}  // namespace passnet::runtime
