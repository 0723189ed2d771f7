// Makes the inputs of a graph from its metas, by the documented rule of the bench loader (spec section A.3),
// bit for bit as NumPy's legacy global generator draws them: seed 123, integers with a range first, then the
// rest, each in the alphabetical order of class names.
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
  int64_t non_finite = 0;  // elements that rule 6 replaces, see replay
};

inline constexpr uint32_t kReplaySeed = 123;

/// One tensor per record: those of `inputs`, then those of `weights`, in record order.
/// inputs:  records of input_meta.py; weights: of weight_meta.py.
/// An element of a bool tensor is true when random_sample() < 0.5.
/// Values are drawn in double and rounded to nearest even as torch does: to float16 and bfloat16 by way of
/// float32. Non-finite elements (rule 6; a recorded std of nan makes them) stay as they are and are counted
/// in HostTensor::non_finite: replacing them is torch's generator's business. `data` is never changed, so
/// never counted. Errors:  BadInput (a range that is empty or beyond int64, a value of `data` outside its
/// dtype),
///          Resource (more bytes than this machine has memory).
Result<std::vector<HostTensor>> replay(const std::vector<TensorMeta>& inputs,
                                       const std::vector<TensorMeta>& weights, uint32_t seed = kReplaySeed);

}  // namespace passnet::fx
