// Makes the inputs of a graph from its metas, by the documented rule of the bench loader (spec section A.3),
// bit for bit as NumPy's legacy global generator draws them: seed 123, integers with a range first, then the
// rest, each in the alphabetical order of class names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "graphdir/meta.h"
#include "ir/tensor_type.h"

namespace passnet::graphdir {

/// A contiguous tensor in host memory.
struct HostTensor {
  std::string name;
  ir::TensorType type;
  std::vector<std::byte> bytes;
  int64_t non_finite = 0;  // see replay
};

inline constexpr uint32_t kReplaySeed = 123;

/// Fills memory[i] with the elements of the i-th record: those of `inputs` come first, then those of
/// `weights`, in record order. memory[i] has room for all of them and may be null when there are none.
/// inputs:  records of input_meta.py; weights: of weight_meta.py. threads: how many make the values; the
/// values do not depend on it. An element of a bool tensor is true when random_sample() < 0.5. Values are
/// drawn in double and rounded to nearest even as torch does: to float16 and bfloat16 by way of float32.
/// Returns: per record, the elements that are not finite (rule 6; a recorded std of nan makes them). They
/// stay as they are: replacing them is torch's generator's business. `data` is never changed, so never
/// counted. Errors:  BadInput (a range that is empty or beyond int64, a value of `data` outside its dtype).
Result<std::vector<int64_t>> replay(const std::vector<TensorMeta>& inputs, const std::vector<TensorMeta>& weights,
                                    std::span<std::byte* const> memory, uint32_t seed = kReplaySeed, int threads = 1);

/// Rule 1: drawn as integers from min_val to max_val, before all else.
bool is_ranged(const TensorMeta& meta);

/// Bytes of all tensors of the records.
double input_bytes(const std::vector<TensorMeta>& records);

/// The same into memory of their own: one tensor per record. Errors: also Resource (more bytes than there is
/// memory).
Result<std::vector<HostTensor>> replay(const std::vector<TensorMeta>& inputs, const std::vector<TensorMeta>& weights,
                                       uint32_t seed = kReplaySeed, int threads = 1);

}  // namespace passnet::graphdir
