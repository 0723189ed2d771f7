#include "fx/replay.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/strings.h"
#include "fx/numpy_random.h"

namespace passnet::fx {

namespace {

using ir::DType;

// float32 to the nearest float16, ties to even; overflow gives infinity, nan stays nan.
uint16_t half_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude >= 0x7f800000u)
    return static_cast<uint16_t>(sign | (magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u));
  if (magnitude >= 0x477ff000u)
    return static_cast<uint16_t>(sign | 0x7c00u);  // 65520 and more round to infinity
  if (magnitude < 0x38800000u) {
    // Below 2**-14: adding 0.5 lets the hardware round at 2**-24, the smallest half.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  const uint32_t odd = magnitude >> 13 & 1u;
  return static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

uint16_t bfloat_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return 0x7fc0u;
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

float half_value(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = bits >> 10 & 0x1fu, mantissa = bits & 0x3ffu;
  if (exponent == 0)
    return std::bit_cast<float>(std::bit_cast<uint32_t>(static_cast<float>(mantissa) * 0x1p-24f) | sign);
  const uint32_t biased = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | biased << 23 | mantissa << 13);
}

// How a dtype is stored, and back: the element as a double.
struct AsFloat64 {
  using Stored = double;
  static Stored store(double v) { return v; }
  static double load(Stored v) { return v; }
};
struct AsFloat32 {
  using Stored = float;
  static Stored store(double v) { return static_cast<float>(v); }
  static double load(Stored v) { return v; }
};
struct AsFloat16 {
  using Stored = uint16_t;
  static Stored store(double v) { return half_bits(static_cast<float>(v)); }
  static double load(Stored v) { return half_value(v); }
};
struct AsBFloat16 {
  using Stored = uint16_t;
  static Stored store(double v) { return bfloat_bits(static_cast<float>(v)); }
  static double load(Stored v) { return std::bit_cast<float>(static_cast<uint32_t>(v) << 16); }
};
// Toward zero; what does not fit becomes what the processor gives: the least int32 (int64), cut to the
// dtype's width.
template <class Int>
struct AsInt {
  using Stored = Int;
  static Stored store(double v) {
    using Wide = std::conditional_t<sizeof(Int) == 8, int64_t, int32_t>;
    constexpr double limit = sizeof(Int) == 8 ? 0x1p63 : 0x1p31;
    const Wide wide = v > -limit - 1 && v < limit ? static_cast<Wide>(v) : std::numeric_limits<Wide>::min();
    return static_cast<Int>(wide);
  }
  static double load(Stored v) { return static_cast<double>(v); }
};
template <class Real>
struct AsComplex {
  struct Stored {
    Real real, imaginary;
  };
  static Stored store(double v) { return {static_cast<Real>(v), 0}; }
  static double load(Stored v) { return static_cast<double>(v.real); }
};

// Calls visit(AsX{}) for the storage of `dtype`; bool is stored as one byte.
template <class Visit>
auto with_storage(DType dtype, Visit&& visit) {
  switch (dtype) {
    case DType::Float64:
      return visit(AsFloat64{});
    case DType::Float16:
      return visit(AsFloat16{});
    case DType::BFloat16:
      return visit(AsBFloat16{});
    case DType::Int8:
      return visit(AsInt<int8_t>{});
    case DType::Int16:
      return visit(AsInt<int16_t>{});
    case DType::Int32:
      return visit(AsInt<int32_t>{});
    case DType::Int64:
      return visit(AsInt<int64_t>{});
    case DType::UInt8:
    case DType::Bool:
      return visit(AsInt<uint8_t>{});
    case DType::Complex64:
      return visit(AsComplex<float>{});
    case DType::Complex128:
      return visit(AsComplex<double>{});
    case DType::Float32:
      break;
  }
  return visit(AsFloat32{});
}

template <class As>
typename As::Stored* elements(HostTensor& tensor) {
  return reinterpret_cast<typename As::Stored*>(tensor.bytes.data());
}

bool is_ranged(const TensorMeta& meta) {
  return ir::is_integral(meta.dtype) && meta.dtype != DType::UInt8 && meta.min_value && meta.max_value;
}

// Rule 1: uniform integers.
Result<void> draw_integers(const TensorMeta& meta, HostTensor& tensor, NumpyRandom& random) {
  const double low = *meta.min_value, high = *meta.max_value;
  if (!(low <= high) || std::abs(low) > 0x1p53 || std::abs(high) > 0x1p53 || low != std::trunc(low) ||
      high != std::trunc(high)) {
    return bad_input(
        fmt::format("tensor {}: found the range {} to {}, expected whole numbers, the smaller one as min_val",
                    quoted(meta.name), low, high),
        meta.at);
  }
  const auto first = static_cast<int64_t>(low), last = static_cast<int64_t>(high);
  with_storage(meta.dtype, [&](auto as) {
    using As = decltype(as);
    if constexpr (std::is_integral_v<typename As::Stored>) {
      auto* out = elements<As>(tensor);
      for (int64_t i = 0; i < tensor.type.numel(); ++i)
        out[i] = static_cast<typename As::Stored>(random.integer(first, last));
    }
  });
  return {};
}

// Rule 2: the recorded values.
Result<void> copy_data(const TensorMeta& meta, HostTensor& tensor) {
  return with_storage(meta.dtype, [&](auto as) -> Result<void> {
    using As = decltype(as);
    using Stored = typename As::Stored;
    auto* out = elements<As>(tensor);
    if (meta.float_data) {
      std::ranges::transform(*meta.float_data, out, As::store);
      return {};
    }
    for (int64_t value : *meta.int_data) {
      if constexpr (std::is_integral_v<Stored>) {
        const bool fits =
            meta.dtype == DType::Bool || (value >= static_cast<int64_t>(std::numeric_limits<Stored>::min()) &&
                                          value <= static_cast<int64_t>(std::numeric_limits<Stored>::max()));
        if (!fits) {
          return bad_input(fmt::format("tensor {}: data holds {}, which is no value of torch.{}",
                                       quoted(meta.name), value, ir::name(meta.dtype)),
                           meta.at);
        }
        *out++ = meta.dtype == DType::Bool ? static_cast<Stored>(value != 0) : static_cast<Stored>(value);
      }
    }
    return {};
  });
}

// Rules 4 to 6: noise around the recorded mean, clamped.
template <class As>
void draw_noise(const TensorMeta& meta, HostTensor& tensor, NumpyRandom& random) {
  const double spread = meta.has_std ? meta.stddev.value_or(0.1) : 1.0;
  const double mean = meta.has_mean ? meta.mean.value_or(0.0) : 0.0;
  const bool is_floating = ir::is_floating(meta.dtype);
  // Bounds as the dtype holds them, for the clamp comes after the cast.
  const auto bound = [](double value) { return As::load(As::store(value)); };
  const bool clamps = meta.min_value || meta.max_value || is_floating;
  const double infinity = std::numeric_limits<double>::infinity();
  const double low = meta.min_value ? bound(*meta.min_value) : -infinity;
  const double high = meta.max_value ? bound(*meta.max_value) : infinity;
  auto* out = elements<As>(tensor);
  for (int64_t i = 0; i < tensor.type.numel(); ++i) {
    const double value = spread == 0 ? mean : random.gauss() * spread * 0.2 + mean;
    typename As::Stored stored = As::store(value);
    if (clamps) {
      double held = As::load(stored);
      if (held < low) held = low;
      if (held > high) held = high;
      if (is_floating && !std::isfinite(held))
        ++tensor.non_finite;
      else if (is_floating)
        held = std::clamp(held, -100.0, 100.0);
      stored = As::store(held);
    }
    out[i] = stored;
  }
}

void draw(const TensorMeta& meta, HostTensor& tensor, NumpyRandom& random) {
  if (meta.dtype == DType::Bool) {  // rule 3
    auto* out = elements<AsInt<uint8_t>>(tensor);
    for (int64_t i = 0; i < tensor.type.numel(); ++i) out[i] = random.uniform() < 0.5;
    return;
  }
  with_storage(meta.dtype, [&](auto as) { draw_noise<decltype(as)>(meta, tensor, random); });
}

Result<void> check_memory(const std::vector<const TensorMeta*>& metas) {
  const double available =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  double needed = 0;
  for (const TensorMeta* meta : metas)
    needed += static_cast<double>(ir::contiguous(meta->dtype, meta->shape).size_bytes());
  if (needed <= available) return {};
  return resource_error(fmt::format("the inputs need {:.1f} GiB, found {:.1f} GiB of memory",
                                    needed * 0x1p-30, available * 0x1p-30));
}

// Positions of `metas` in the order of draws: by class name within [first, last).
void append_sorted(const std::vector<const TensorMeta*>& metas, size_t first, size_t last,
                   std::vector<size_t>& order) {
  const size_t start = order.size();
  order.resize(start + last - first);
  const auto added = order.begin() + static_cast<ptrdiff_t>(start);
  std::iota(added, order.end(), first);
  std::stable_sort(added, order.end(),
                   [&](size_t a, size_t b) { return metas[a]->class_name < metas[b]->class_name; });
}

}  // namespace

Result<std::vector<HostTensor>> replay(const std::vector<TensorMeta>& inputs,
                                       const std::vector<TensorMeta>& weights, uint32_t seed) {
  std::vector<const TensorMeta*> metas;
  for (const auto* records : {&inputs, &weights}) {
    for (const TensorMeta& meta : *records) metas.push_back(&meta);
  }
  PASSNET_TRY_VOID(check_memory(metas));
  std::vector<size_t> order;
  append_sorted(metas, 0, inputs.size(), order);
  append_sorted(metas, inputs.size(), metas.size(), order);

  std::vector<HostTensor> tensors(metas.size());
  NumpyRandom random(seed);
  for (size_t i : order) {
    const TensorMeta& meta = *metas[i];
    HostTensor& tensor = tensors[i];
    tensor.name = meta.name;
    tensor.type = ir::contiguous(meta.dtype, meta.shape);
    tensor.bytes.resize(static_cast<size_t>(tensor.type.size_bytes()));
    if (is_ranged(meta))
      PASSNET_TRY_VOID(draw_integers(meta, tensor, random));
    else if (meta.int_data || meta.float_data)
      PASSNET_TRY_VOID(copy_data(meta, tensor));
  }
  for (size_t i : order) {
    if (!is_ranged(*metas[i]) && !metas[i]->int_data && !metas[i]->float_data)
      draw(*metas[i], tensors[i], random);
  }
  return tensors;
}

}  // namespace passnet::fx
