// Makes the inputs of a graph from its metas, by the documented rule of the bench loader (spec section A.3), bit for
// bit as NumPy's legacy global generator draws them: seed 123, integers with a range first, then the rest, each in
// the alphabetical order of class names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "fx/meta.h"
#include "ir/tensor_type.h"

namespace passnet::fx {

/// A contiguous tensor in host memory.
struct HostTensor {
  std::string name;
  ir::TensorType type;
  std::vector<std::byte> bytes;
};

inline constexpr uint32_t kReplaySeed = 123;

/// One tensor per record, in record order. Elements that are not finite (rule 6) are left as they are and counted in
/// `*non_finite` (may be null); the worker replaces them with torch's generator.
/// inputs: records of input_meta.py; weights: of weight_meta.py.
Result<std::vector<HostTensor>> replay(const std::vector<TensorMeta>& inputs, const std::vector<TensorMeta>& weights,
                                       uint32_t seed = kReplaySeed);

}  // namespace passnet::fx
