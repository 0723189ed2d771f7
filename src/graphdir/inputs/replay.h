// Makes the inputs of a graph from its records, bit for bit as the public benchmark makes them by NumPy's legacy
// generator with seed 123: first the integers with a range, then the rest, each in the alphabetical order of class
// names.
// Source: docs/graphs.md, "How inputs are made from records". Its rules have the numbers used here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "graphdir/inputs/meta.h"
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

/// Fills memory[i] with the elements of the i-th record, counting through `inputs` first, then `weights`.
/// inputs:   records of input_meta.py.
/// weights:  records of weight_meta.py.
/// memory:   one entry per record, with room for all its elements, contiguous in row-major order; may be null for a
///           tensor without elements.
/// seed:     of NumPy's generator.
/// threads:  how many make the values, which do not depend on it.
/// Returns:  by record, how many elements are not finite (rule 6; a recorded std of nan makes such). They are left as
///           they are, as it is PyTorch's generator that draws what replaces them. Elements given by `data` are not
///           counted.
/// Errors:   BadInput: a range that is empty or beyond int64, a value of `data` that its dtype cannot hold.
Result<std::vector<int64_t>> replay(const std::vector<TensorMeta>& inputs, const std::vector<TensorMeta>& weights,
                                    std::span<std::byte* const> memory, uint32_t seed = kReplaySeed, int threads = 1);

/// Errors: those of replay for this record, which are known without its elements.
Result<void> check_record(const TensorMeta& meta);

/// Whether rule 1 applies: integers drawn from min_val to max_val, before all others.
bool is_ranged(const TensorMeta& meta);

/// Returns: the bytes of all tensors of the records together.
double input_bytes(const std::vector<TensorMeta>& records);

/// The same into memory of their own.
/// Returns:  one tensor per record, those of `inputs` first.
/// Errors:   also Resource, when they need more memory than there is.
Result<std::vector<HostTensor>> replay(const std::vector<TensorMeta>& inputs, const std::vector<TensorMeta>& weights,
                                       uint32_t seed = kReplaySeed, int threads = 1);

}  // namespace passnet::graphdir
