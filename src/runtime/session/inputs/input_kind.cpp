#include "runtime/session/inputs/input_kind.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/_unique2.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randperm.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/view_as_real.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <span>

#include "base/hash.h"
#include "graphdir/inputs/replay.h"
#include "record/input_kinds.h"
#include "runtime/session/inputs/resample.h"

namespace passnet::runtime {

namespace {

/// Elements after which ramps begin anew, and NaN and infinities come again. Primes, so that rows differ; more where rows are
/// long, which should hold none twice: which of two is the largest is not for everyone to say.
constexpr int64_t kPeriod = (int64_t{1} << 16) - 15, kPeriodOfLongRows = (int64_t{1} << 18) - 5;
/// Elements of a large tensor that are made at a time.
constexpr int64_t kMadeAtATime = int64_t{1} << 20;

using Draw = at::Tensor (*)(const at::Tensor& like, const at::Generator& random);

/// float32 values in the shape of `like`; they are scaled and cast afterwards.
at::Tensor normal(const at::Tensor& like, const at::Generator& random) {
  return at::randn(like.sizes(), random, at::TensorOptions(at::kFloat));
}
at::Tensor uniform(const at::Tensor& like, const at::Generator& random) {
  return at::rand(like.sizes(), random, at::TensorOptions(at::kFloat));
}
/// Far from 0: where a variance is the difference of two larger numbers.
at::Tensor shifted(const at::Tensor& like, const at::Generator& random) { return normal(like, random).add_(4); }
/// Of many sizes: what is lost in a short type shows.
at::Tensor wide(const at::Tensor& like, const at::Generator& random) {
  const double octaves = like.scalar_type() == at::kHalf ? 6 : 12;
  return normal(like, random).mul_(uniform(like, random).sub_(0.5).mul_(2 * octaves).exp2_());
}
/// Few large values that cancel each other: who leaves some out is far off.
at::Tensor spikes(const at::Tensor& like, const at::Generator& random) {
  const at::Tensor values = normal(like, random);
  const at::Tensor chosen = uniform(like, random);
  values.add_(chosen.gt(0.98).to(at::kFloat), 32);
  values.sub_(chosen.lt(0.02).to(at::kFloat), 32);
  return values;
}
/// 0 and 1, whose sums are exact.
at::Tensor binary(const at::Tensor& like, const at::Generator& random) {
  return uniform(like, random).lt(0.5).to(at::kFloat);
}
/// Ramps: neighbours differ, and so do rows, in a way that a wrong index shows.
at::Tensor structured(const at::Tensor& like, const at::Generator& random) {
  const at::Tensor ramp = at::arange(like.numel(), at::TensorOptions(at::kFloat)).remainder_(1021).div_(512);
  return ramp.view(like.sizes()).add(normal(like, random), 0.01);
}
/// Half zeros of either sign, the rest small numbers that are exact in each type, many of them equal. None so small that
/// products of them vanish: whether they do depends on the order.
at::Tensor special(const at::Tensor& like, const at::Generator& random) {
  const at::Tensor chosen = at::tensor({1.F, 2.F, 0.5F, 0x1p-10F, 8.F, 3.F, 1.5F, 0.F}, at::TensorOptions(at::kFloat));
  const at::Tensor which = uniform(like, random).mul_(16).to(at::kLong).clamp_max_(7);
  return chosen.index_select(0, which.view(-1)).view(like.sizes()).mul_(normal(like, random).sign_());
}

constexpr float kNan[] = {std::numeric_limits<float>::quiet_NaN()};
constexpr float kInfinities[] = {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};

/// Elements of a tensor beyond those that are drawn. No kernel should be able to tell them from the values of a model, which it
/// could compute otherwise.
enum class Rest : uint8_t {
  Varied,    // numbers like those that were drawn
  Chosen,    // those that were drawn, in another order
  Repeated,  // the same over and over
};

struct InputKind {
  std::string_view name;
  Draw draw;
  double truth_share;  // of truth values; negative: what was recorded, the other way round
  Rest rest = Rest::Varied;
  bool scaled = true;  // to the size of the recorded values
  std::span<const float> planted =
      {};  // each in one place of a period: rows have one at most, and most results are numbers
};
constexpr InputKind kInputKinds[] = {
    {"normal", normal, 0.5},
    {"uniform", uniform, -1},
    {"shifted", shifted, 0.9},
    {"wide", wide, 0.5},
    {"spikes", spikes, 0.1},
    {"binary", binary, 0.5, Rest::Chosen},
    {"structured", structured, 0.7, Rest::Repeated},
    {"special", special, 0.3, Rest::Chosen, false},
    {record::kNanKind, normal, 0.5, Rest::Varied, true, kNan},
    {record::kInfiniteKind, normal, 0.5, Rest::Varied, true, kInfinities},
};

/// The size of the values that were recorded: models keep theirs in a range that their operators can take.
double recorded_scale(const graphdir::TensorMeta& record) {
  const double size = record.stddev.value_or(0) > 0 ? *record.stddev : std::abs(record.mean.value_or(0));
  return std::isfinite(size) && size > 0 ? std::clamp(size, 0x1p-8, 0x1p4) : 1;
}

bool is_literal(const graphdir::TensorMeta& record) { return record.int_data || record.float_data; }

bool has_digits(ir::DType dtype) {
  return ir::is_floating(dtype) || dtype == ir::DType::Complex64 || dtype == ir::DType::Complex128;
}

/// Tells whether all values are drawn, without a look at the recorded ones.
bool is_drawn(const graphdir::TensorMeta& record) {
  return record.redraw == graphdir::Redraw::Any && !is_literal(record) && record.numel() > 1 &&
         has_digits(record.dtype);
}

/// Other contents for one tensor.
class Drawing {
 public:
  Drawing(const InputKind& input_kind, const graphdir::TensorMeta& record, const at::Generator& random)
      : input_kind_(input_kind), record_(record), random_(random) {}

  void replace(const at::Tensor& tensor) const {
    if (tensor.numel() == 0 || record_.redraw == graphdir::Redraw::None) return;
    if (record_.redraw == graphdir::Redraw::Order)
      reorder(tensor);
    else if (is_drawn(record_))
      draw(tensor.is_complex() ? at::view_as_real(tensor) : tensor);
    else if (tensor.is_floating_point() || tensor.is_complex())
      draw_near(tensor.is_complex() ? at::view_as_real(tensor) : tensor);
    else if (tensor.scalar_type() == at::kBool)
      draw_truths(tensor);
    else
      draw_integers(tensor);
  }

 private:
  /// Tells whether values stay as positive as the record says they are. Without bounds they are drawn around the mean, a fifth of the
  /// deviation apart (graphdir/inputs/replay.h): from 4.5 of these on none is expected to be negative; no deviation counts as 0.1.
  /// On kInfiniteKind, where any answer is right in place of a NaN such as that of a root, only bounds count.
  bool is_never_negative() const {
    if (record_.min_value) return *record_.min_value >= 0;
    return input_kind_.name != record::kInfiniteKind &&
           record_.mean.value_or(0) > 4.5 * 0.2 * record_.stddev.value_or(0.1);
  }

  void draw(const at::Tensor& tensor) const {
    const at::Tensor flat = tensor.view(-1);
    const bool has_long_rows = tensor.dim() > 0 && tensor.size(-1) > kPeriod;
    const int64_t all = flat.numel(), period = has_long_rows ? kPeriodOfLongRows : kPeriod;
    const bool repeats = input_kind_.rest == Rest::Repeated;
    const int64_t drawn = std::min(all, repeats ? period : kPool);
    at::Tensor values = input_kind_.draw(flat.narrow(0, 0, drawn), random_);
    if (input_kind_.scaled) values.mul_(recorded_scale(record_));
    if (is_never_negative()) values = values.abs_();
    flat.narrow(0, 0, drawn).copy_(values);
    if (repeats)
      repeat(flat, drawn);
    else if (drawn < all)
      go_on(flat, values.to(tensor.device()));
    plant(flat, period);
  }

  static void repeat(const at::Tensor& flat, int64_t drawn) {
    for (int64_t done = drawn; done < flat.numel(); done += drawn) {
      const int64_t part = std::min(drawn, flat.numel() - done);
      flat.narrow(0, done, part).copy_(flat.narrow(0, 0, part));
    }
  }

  void go_on(const at::Tensor& flat, const at::Tensor& pool) const {
    const auto salt =
        at::randint(std::numeric_limits<int32_t>::max(), {1}, random_, at::TensorOptions(at::kInt)).item<int32_t>();
    const Chosen chosen = input_kind_.rest == Rest::Varied ? Chosen::Varied : Chosen::Unchanged;
    for (int64_t done = kPool; done < flat.numel(); done += kMadeAtATime) {
      const int64_t part = std::min(kMadeAtATime, flat.numel() - done);
      flat.narrow(0, done, part).copy_(resample(pool, done, part, salt, chosen));
    }
  }

  void plant(const at::Tensor& flat, int64_t period) const {
    for (const float value : input_kind_.planted) {
      const int64_t within = std::min(period, flat.numel());
      const auto place = at::randint(within, {1}, random_, at::TensorOptions(at::kLong)).item<int64_t>();
      flat.slice(0, place, std::nullopt, period).fill_(is_never_negative() ? std::abs(value) : value);
    }
  }

  /// Numbers that mean something by themselves (a gate, a scale, a table): each at least a half of what it was, and no
  /// more. Zeros alone do not tell what size others would have.
  void draw_near(const at::Tensor& tensor) const {
    at::Tensor factors = uniform(tensor, random_).add_(1).div_(2);
    if (tensor.ne(0).any().item<bool>()) {
      tensor.mul_(factors.to(tensor.options()));
      return;
    }
    if (!is_never_negative()) factors.mul_(binary(tensor, random_).mul_(2).sub_(1));
    tensor.copy_(factors.mul_(recorded_scale(record_)));
  }

  void draw_truths(const at::Tensor& tensor) const {
    const bool varies = tensor.any().item<bool>() && !tensor.all().item<bool>();
    if (is_literal(record_) && varies)
      draw_literal(tensor);
    else
      tensor.copy_(input_kind_.truth_share < 0 ? tensor.logical_not()
                                               : uniform(tensor, random_).lt(input_kind_.truth_share));
  }

  /// Within the range that is declared, else among those that were recorded: an index stays one. What is all one number
  /// gets the number next to it as well.
  void draw_integers(const at::Tensor& tensor) const {
    const auto all_of = [&](int64_t low, int64_t past) {
      return at::randint(low, past, tensor.sizes(), random_, at::TensorOptions(at::kLong));
    };
    if (graphdir::is_ranged(record_)) {
      tensor.copy_(all_of(static_cast<int64_t>(*record_.min_value), static_cast<int64_t>(*record_.max_value) + 1));
      return;
    }
    const auto least = tensor.min().item<int64_t>(), most = tensor.max().item<int64_t>();
    if (least == most) {
      const int64_t low = least > 0 ? least - 1 : least;
      tensor.copy_(all_of(low, low + 2));
    } else if (is_literal(record_)) {
      draw_literal(tensor);
    } else {
      draw_among(tensor);
    }
  }

  /// Puts the recorded elements in another order. On every second kind draws among them, so that neither their sum nor the number of
  /// ones can be built in, unless no element is there twice, as in a permutation, or a mask would be empty.
  void draw_literal(const at::Tensor& tensor) const {
    const bool is_second = (&input_kind_ - std::begin(kInputKinds)) % 2 == 1;
    const at::Tensor recorded = tensor.clone();
    if (is_second && std::get<0>(at::_unique2(tensor)).numel() < tensor.numel()) draw_among(tensor);
    if (tensor.equal(recorded) || tensor.eq(tensor.view(-1)[0]).all().item<bool>()) reorder(tensor.copy_(recorded));
  }

  /// The recorded elements, some of them several times and others not at all.
  void draw_among(const at::Tensor& tensor) const {
    const at::Tensor from =
        at::randint(0, tensor.numel(), {tensor.numel()}, random_, at::TensorOptions(at::kLong)).to(tensor.device());
    tensor.copy_(tensor.view(-1).index_select(0, from).view(tensor.sizes()));
  }

  void reorder(const at::Tensor& tensor) const {
    const at::Tensor order = at::randperm(tensor.numel(), random_, at::TensorOptions(at::kLong)).to(tensor.device());
    tensor.copy_(tensor.view(-1).index_select(0, order).view(tensor.sizes()));
  }

  const InputKind& input_kind_;
  const graphdir::TensorMeta& record_;
  const at::Generator& random_;
};

}  // namespace

bool needs_recorded_values(const graphdir::TensorMeta& record) { return !is_drawn(record); }

graphdir::Metas to_replay(const graphdir::Metas& metas) {
  const auto stays = [](const graphdir::TensorMeta& record) {
    return record.redraw != graphdir::Redraw::Any && !is_literal(record);
  };
  if (std::ranges::any_of(metas.inputs, stays) || std::ranges::any_of(metas.weights, stays)) return metas;
  graphdir::Metas some;
  std::ranges::copy_if(metas.inputs, std::back_inserter(some.inputs), needs_recorded_values);
  std::ranges::copy_if(metas.weights, std::back_inserter(some.weights), needs_recorded_values);
  return some;
}

Result<void> apply_input_kind(std::string_view input_kind, const graphdir::Metas& metas,
                              const std::vector<at::Tensor>& tensors, uint64_t seed) {
  const auto* const found = std::ranges::find(kInputKinds, input_kind, &InputKind::name);
  if (found == std::end(kInputKinds)) return bad_input(fmt::format("there is no input kind '{}'", input_kind));
  const at::Generator random = at::detail::createCPUGenerator(fast_hash(input_kind.data(), input_kind.size(), seed));
  size_t next = 0;
  for (const auto* records : {&metas.inputs, &metas.weights}) {
    for (const graphdir::TensorMeta& record : *records) Drawing(*found, record, random).replace(tensors[next++]);
  }
  return {};
}

}  // namespace passnet::runtime
