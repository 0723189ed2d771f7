// Many numbers like few that were drawn, as drawing takes longer than most operators. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace passnet::runtime {

/// Numbers that resample() chooses among.
inline constexpr int64_t kPool = int64_t{1} << 16;

/// Varied numbers are up to 1/64 smaller than those of the pool, so that hardly any comes twice.
enum class Chosen : uint8_t { Varied, Unchanged };

/// Numbers `first` to `first + count` of a row without end, each from a random place of the pool. salt: decides the places, which
/// nobody can tell from the numbers. REQUIRES: kPool numbers of float32.
at::Tensor resample(const at::Tensor& pool, int64_t first, int64_t count, int32_t salt, Chosen chosen);
/// Calls operators of PyTorch for the same numbers, on any device.
at::Tensor resample_by_operators(const at::Tensor& pool, int64_t first, int64_t count, int32_t salt, Chosen chosen);

}  // namespace passnet::runtime
