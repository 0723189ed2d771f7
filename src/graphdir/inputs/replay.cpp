#include "graphdir/inputs/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "base/check.h"
#include "base/memory.h"
#include "base/text/strings.h"
#include "graphdir/inputs/numpy_random.h"

namespace passnet::graphdir {

namespace {

using ir::DType;

// float32 to the nearest float16, ties to even; overflow gives infinity, nan stays nan.
uint16_t half_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude >= 0x7f800000u) return static_cast<uint16_t>(sign | (magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u));
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65520 and more round to infinity
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
    case DType::Float64: return visit(AsFloat64{});
    case DType::Float16: return visit(AsFloat16{});
    case DType::BFloat16: return visit(AsBFloat16{});
    case DType::Int8: return visit(AsInt<int8_t>{});
    case DType::Int16: return visit(AsInt<int16_t>{});
    case DType::Int32: return visit(AsInt<int32_t>{});
    case DType::Int64: return visit(AsInt<int64_t>{});
    case DType::UInt8:
    case DType::Bool: return visit(AsInt<uint8_t>{});
    case DType::Complex64: return visit(AsComplex<float>{});
    case DType::Complex128: return visit(AsComplex<double>{});
    case DType::Float32: break;
  }
  return visit(AsFloat32{});
}

// Where the elements of a tensor go.
struct Place {
  std::byte* data = nullptr;
  int64_t numel = 0;
};

template <class As>
typename As::Stored* elements(const Place& place) {
  return reinterpret_cast<typename As::Stored*>(place.data);
}

Result<void> check_range(const TensorMeta& meta) {
  const double low = *meta.min_value, high = *meta.max_value;
  if (!(low <= high) || std::abs(low) > 0x1p53 || std::abs(high) > 0x1p53 || low != std::trunc(low) ||
      high != std::trunc(high)) {
    return bad_input(
        fmt::format("tensor {}: found the range {} to {}, expected whole numbers, the smaller one as min_val",
                    quoted(meta.name), low, high),
        meta.at);
  }
  return {};
}

Result<void> check_data(const TensorMeta& meta) {
  if (!meta.int_data || meta.dtype == DType::Bool) return {};
  return with_storage(meta.dtype, [&](auto as) -> Result<void> {
    using Stored = typename decltype(as)::Stored;
    if constexpr (std::is_integral_v<Stored>) {
      for (const int64_t value : *meta.int_data) {
        if (value >= static_cast<int64_t>(std::numeric_limits<Stored>::min()) &&
            value <= static_cast<int64_t>(std::numeric_limits<Stored>::max()))
          continue;
        return bad_input(fmt::format("tensor {}: data holds {}, which is no value of torch.{}", quoted(meta.name),
                                     value, ir::name(meta.dtype)),
                         meta.at);
      }
    }
    return {};
  });
}

// Rule 1: uniform integers.
void draw_integers(const TensorMeta& meta, const Place& place, NumpyRandom& random) {
  const auto first = static_cast<int64_t>(*meta.min_value), last = static_cast<int64_t>(*meta.max_value);
  with_storage(meta.dtype, [&](auto as) {
    using As = decltype(as);
    if constexpr (std::is_integral_v<typename As::Stored>) {
      auto* out = elements<As>(place);
      for (int64_t i = 0; i < place.numel; ++i) out[i] = static_cast<typename As::Stored>(random.integer(first, last));
    }
  });
}

// Rule 2: the recorded values.
void copy_data(const TensorMeta& meta, const Place& place) {
  with_storage(meta.dtype, [&](auto as) {
    using As = decltype(as);
    using Stored = typename As::Stored;
    auto* out = elements<As>(place);
    if (meta.float_data) {
      std::ranges::transform(*meta.float_data, out, As::store);
    } else if constexpr (std::is_integral_v<Stored>) {
      const bool is_bool = meta.dtype == DType::Bool;
      std::ranges::transform(*meta.int_data, out,
                             [&](int64_t value) { return static_cast<Stored>(is_bool ? value != 0 : value); });
    }
  });
}

// Rules 4 to 6: noise around the recorded mean, clamped.
class Noise {
 public:
  Noise(const TensorMeta& meta, const Place& place)
      : dtype_(meta.dtype),
        place_(place),
        spread_(meta.has_std ? meta.stddev.value_or(0.1) : 1.0),
        mean_(meta.has_mean ? meta.mean.value_or(0.0) : 0.0),
        floating_(ir::is_floating(meta.dtype)) {
    with_storage(dtype_, [&](auto as) {
      using As = decltype(as);
      // Bounds as the dtype holds them, for the clamp comes after the cast.
      if (meta.min_value) low_ = As::load(As::store(*meta.min_value));
      if (meta.max_value) high_ = As::load(As::store(*meta.max_value));
    });
    bounded_ = meta.min_value || meta.max_value;
  }

  bool is_drawn() const { return spread_ != 0; }
  int64_t numel() const { return place_.numel; }

  /// Elements from `first` on, one per value of randn. Returns how many are not finite.
  int64_t write(int64_t first, std::span<const double> draws) const {
    return with_storage(dtype_, [&](auto as) {
      using As = decltype(as);
      auto* out = elements<As>(place_) + first;
      int64_t non_finite = 0;
      for (const double draw : draws) *out++ = element<As>(draw * spread_ * 0.2 + mean_, non_finite);
      return non_finite;
    });
  }
  /// All elements, when nothing is drawn.
  int64_t fill() const {
    return with_storage(dtype_, [&](auto as) {
      using As = decltype(as);
      int64_t non_finite = 0;
      const auto value = element<As>(mean_, non_finite);
      std::fill_n(elements<As>(place_), place_.numel, value);
      return non_finite * place_.numel;
    });
  }

 private:
  template <class As>
  typename As::Stored element(double value, int64_t& non_finite) const {
    typename As::Stored stored = As::store(value);
    if (!bounded_ && !floating_) return stored;
    double held = As::load(stored);
    if (bounded_) {
      if (held < low_) held = low_;
      if (held > high_) held = high_;
    }
    if (floating_) {
      const bool finite = std::isfinite(held);
      non_finite += finite ? 0 : 1;
      held = finite ? std::clamp(held, -100.0, 100.0) : held;
    }
    return As::store(held);
  }

  DType dtype_;
  Place place_;
  double spread_, mean_;
  double low_ = -std::numeric_limits<double>::infinity(), high_ = std::numeric_limits<double>::infinity();
  bool floating_, bounded_ = false;
};

// Rule 3.
void draw_bools(const Place& place, NumpyRandom& random) {
  auto* out = elements<AsInt<uint8_t>>(place);
  for (int64_t i = 0; i < place.numel; ++i) out[i] = random.uniform() < 0.5;
}

// Draws all tensors of `run`, one after the other, by as many threads; adds to non_finite what each has of
// it.
void draw_noise(const std::vector<std::pair<Noise, int64_t*>>& run, int threads, NumpyRandom& random) {
  std::vector<int64_t> ends;
  int64_t end = 0;
  for (const auto& [noise, non_finite] : run) ends.push_back(end += noise.numel());
  std::mutex counting;
  random.gauss(end, threads, [&](int64_t first, std::span<const double> draws) {
    size_t i = static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), first) - ends.begin());
    while (!draws.empty()) {
      const int64_t start = ends[i] - run[i].first.numel();
      const auto part = std::min(draws.size(), static_cast<size_t>(ends[i] - first));
      const int64_t non_finite = run[i].first.write(first - start, draws.first(part));
      if (non_finite > 0) {
        const std::lock_guard guard(counting);
        *run[i].second += non_finite;
      }
      draws = draws.subspan(part);
      first += static_cast<int64_t>(part);
      ++i;
    }
  });
}

// Positions of `metas` in the order of draws: by class name within [first, last).
void append_sorted(const std::vector<const TensorMeta*>& metas, size_t first, size_t last, std::vector<size_t>& order) {
  const size_t start = order.size();
  order.resize(start + last - first);
  const auto added = order.begin() + static_cast<ptrdiff_t>(start);
  std::iota(added, order.end(), first);
  std::stable_sort(added, order.end(), [&](size_t a, size_t b) { return metas[a]->class_name < metas[b]->class_name; });
}

}  // namespace

bool is_ranged(const TensorMeta& meta) {
  return ir::is_integral(meta.dtype) && meta.dtype != DType::UInt8 && meta.min_value && meta.max_value;
}

Result<void> check_record(const TensorMeta& meta) { return is_ranged(meta) ? check_range(meta) : check_data(meta); }

double input_bytes(const std::vector<TensorMeta>& records) {
  double bytes = 0;
  for (const TensorMeta& meta : records)
    bytes += static_cast<double>(ir::contiguous(meta.dtype, meta.shape).size_bytes());
  return bytes;
}

Result<std::vector<int64_t>> replay(const std::vector<TensorMeta>& inputs, const std::vector<TensorMeta>& weights,
                                    std::span<std::byte* const> memory, uint32_t seed, int threads) {
  std::vector<const TensorMeta*> metas;
  for (const auto* records : {&inputs, &weights}) {
    for (const TensorMeta& meta : *records) metas.push_back(&meta);
  }
  PASSNET_CHECK(memory.size() == metas.size(), "a place for each tensor");
  std::vector<size_t> order;
  append_sorted(metas, 0, inputs.size(), order);
  append_sorted(metas, inputs.size(), metas.size(), order);

  const auto place = [&](size_t i) {
    return Place{memory[i], ir::contiguous(metas[i]->dtype, metas[i]->shape).numel()};
  };
  std::vector<int64_t> non_finite(metas.size());
  NumpyRandom random(seed);
  std::vector<size_t> rest;
  for (size_t i : order) {
    PASSNET_TRY_VOID(check_record(*metas[i]));
    if (is_ranged(*metas[i]))
      draw_integers(*metas[i], place(i), random);
    else if (metas[i]->int_data || metas[i]->float_data)
      copy_data(*metas[i], place(i));
    else
      rest.push_back(i);
  }
  std::vector<std::pair<Noise, int64_t*>> run;  // neighbours that take nothing but values of randn
  for (size_t i : rest) {
    if (metas[i]->dtype == DType::Bool) {
      draw_noise(run, threads, random);
      run.clear();
      draw_bools(place(i), random);
      continue;
    }
    const Noise noise(*metas[i], place(i));
    if (!noise.is_drawn())
      non_finite[i] = noise.fill();
    else if (noise.numel() > 0)
      run.emplace_back(noise, &non_finite[i]);
  }
  draw_noise(run, threads, random);
  return non_finite;
}

Result<std::vector<HostTensor>> replay(const std::vector<TensorMeta>& inputs, const std::vector<TensorMeta>& weights,
                                       uint32_t seed, int threads) {
  std::vector<HostTensor> tensors;
  std::vector<std::byte*> memory;
  PASSNET_TRY_VOID(require_memory("the inputs", input_bytes(inputs) + input_bytes(weights)));
  for (const auto* records : {&inputs, &weights}) {
    for (const TensorMeta& meta : *records) {
      HostTensor tensor{meta.name, ir::contiguous(meta.dtype, meta.shape), {}, 0};
      tensor.bytes.resize(static_cast<size_t>(tensor.type.size_bytes()));
      memory.push_back(tensor.bytes.data());
      tensors.push_back(std::move(tensor));
    }
  }
  PASSNET_TRY(const std::vector<int64_t> non_finite, replay(inputs, weights, memory, seed, threads));
  for (size_t i = 0; i < tensors.size(); ++i) tensors[i].non_finite = non_finite[i];
  return tensors;
}

}  // namespace passnet::graphdir
