#include "runtime/session/inputs/resample.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>

#include "base/check.h"
#include "runtime/tensor/parallel.h"

namespace passnet::runtime {

namespace {

// A hash that gives each of 2^32 numbers another: the lower half is the place, the upper half what the number is varied by.
constexpr uint32_t kFirst = 0x9e3779b1, kSecond = 0x85ebca77;
constexpr int kFirstShift = 15, kSecondShift = 13;
constexpr int32_t kLower = 0xffff;
constexpr float kVaried = 0x1p-22F;

/// Shifts to the right repeat the sign, as PyTorch's do.
uint32_t shifted(uint32_t value, int by) { return static_cast<uint32_t>(static_cast<int32_t>(value) >> by); }

uint32_t hashed(uint32_t number, uint32_t salt) {
  uint32_t hash = number * kFirst + salt;
  hash = (hash ^ shifted(hash, kFirstShift)) * kSecond;
  return hash ^ shifted(hash, kSecondShift);
}

}  // namespace

at::Tensor resample(const at::Tensor& pool, int64_t first, int64_t count, int32_t salt, Chosen chosen) {
  PASSNET_CHECK(pool.numel() == kPool && pool.scalar_type() == at::kFloat, "numbers are chosen among kPool of float32");
  if (!pool.is_cpu()) return resample_by_operators(pool, first, count, salt, chosen);
  at::Tensor made = at::empty({count}, pool.options());
  const auto* const from = pool.const_data_ptr<float>();
  auto* const to = made.mutable_data_ptr<float>();
  const float varied = chosen == Chosen::Varied ? kVaried : 0;
  for_each_range(count, kPartElements, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const uint32_t hash = hashed(static_cast<uint32_t>(first + i), static_cast<uint32_t>(salt));
      to[i] = from[hash & kLower] * (1 - varied * static_cast<float>(hash >> 16));
    }
  });
  return made;
}

at::Tensor resample_by_operators(const at::Tensor& pool, int64_t first, int64_t count, int32_t salt, Chosen chosen) {
  const auto number = [](uint32_t value) { return static_cast<int64_t>(static_cast<int32_t>(value)); };
  const at::Tensor hash =
      at::arange(first, first + count, pool.options().dtype(at::kLong)).to(at::kInt).mul_(number(kFirst)).add_(salt);
  hash.bitwise_xor_(hash.bitwise_right_shift(kFirstShift)).mul_(number(kSecond));
  hash.bitwise_xor_(hash.bitwise_right_shift(kSecondShift));
  at::Tensor made = pool.index_select(0, hash.bitwise_and(kLower));
  if (chosen == Chosen::Unchanged) return made;
  const at::Tensor upper = hash.bitwise_right_shift(16).bitwise_and(kLower).to(at::kFloat);
  return made.mul_(upper.mul_(-kVaried).add_(1));
}

}  // namespace passnet::runtime
