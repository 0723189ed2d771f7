// Pooling of torch.nn.functional. Source: torch/nn/functional.py of PyTorch 2.11 (behaviour).
#include <ATen/ops/rand.h>
#include <fmt/format.h>

#include <array>

#include "runtime/lower/lower.h"

namespace passnet::runtime {

namespace {

/// One number stands for all dimensions.
std::vector<Operand> spread(const Operand& value, size_t rank) {
  if (value.is_number()) return std::vector<Operand>(rank, value);
  if (value.elements.size() == 1) return std::vector<Operand>(rank, value.elements[0]);
  return value.elements;
}

Operand max_pool(Builder& builder, const Bound& args, std::string_view name, bool indices) {
  const Operand stride = args.given("stride") ? args["stride"] : Operand::sequence(Kind::List, {});
  return builder.call(
      indices ? fmt::format("{}_with_indices", name) : std::string(name),
      {args["input"], args["kernel_size"], stride, args["padding"], args["dilation"], args["ceil_mode"]});
}

Operand max_pool(Builder& builder, const Bound& args, std::string_view name) {
  return max_pool(builder, args, name, args.flag("return_indices"));
}

/// Sizes that are None keep the input's size in that dimension.
Operand adaptive_size(Builder& builder, const Bound& args, size_t rank) {
  Operand size = args["output_size"];
  if (!size.is_sequence() || size.slot >= 0) return size;
  for (size_t i = 0; i < size.elements.size(); ++i) {
    if (size.elements[i].kind == Kind::None)
      size.elements[i] = size_of(builder, args["input"], static_cast<int64_t>(i) - static_cast<int64_t>(rank));
  }
  return size;
}

Operand adaptive_max_pool(Builder& builder, const Bound& args, std::string_view name, size_t rank) {
  Operand both = builder.call(name, {args["input"], adaptive_size(builder, args, rank)});
  return args.flag("return_indices") ? both : both.elements[0];
}

/// (mean over the window of x^p, times its size)^(1/p); negative sums are 0.
Operand lp_pool(Builder& builder, const Bound& args, std::string_view average, size_t rank) {
  const Operand stride = args.given("stride") ? args["stride"] : Operand::sequence(Kind::List, {});
  const Operand powers = builder.call("pow", {args["input"], args["norm_type"]});
  const Operand mean =
      builder.call(average, {powers, args["kernel_size"], stride, Operand::of_int(0), args["ceil_mode"]});
  int64_t window = 1;
  for (const Operand& size : spread(args["kernel_size"], rank)) {
    if (size.kind != Kind::Int || size.slot >= 0) refuse("lp_pool(): kernel_size is not a literal integer");
    window *= size.value.toInt();
  }
  const Operand positive = builder.call("relu", {builder.call("abs", {mean})});
  const Operand sum = builder.call("mul", {builder.call("sign", {mean}), positive});
  return builder.call(
      "pow", {builder.call("mul", {sum, Operand::of_int(window)}), Operand::of_float(1.0 / args.real("norm_type"))});
}

/// The size that a max_unpool gives: as asked for, without batch and channels, or what the pooling undone
/// leaves.
c10::IValue unpooled_size(std::vector<c10::IValue>& inputs) {
  const at::Tensor& input = inputs[0].toTensor();
  const auto kernel = inputs[1].toIntVector(), stride = inputs[2].toIntVector(), padding = inputs[3].toIntVector();
  const auto rank = static_cast<int64_t>(kernel.size());
  std::vector<int64_t> size;
  for (int64_t d = 0; d < rank; ++d)
    size.push_back((input.size(d - rank) - 1) * stride[d] + kernel[d] - 2 * padding[d]);
  if (inputs[4].isNone()) return size;
  std::vector<int64_t> wanted = inputs[4].toIntVector();
  if (wanted.size() == kernel.size() + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  TORCH_CHECK_VALUE(wanted.size() == kernel.size(), "output_size should be a sequence containing ", rank, " or ",
                    rank + 2, " elements, but it has a length of '", wanted.size(), "'");
  for (int64_t d = 0; d < rank; ++d)
    TORCH_CHECK_VALUE(size[d] - stride[d] < wanted[d] && wanted[d] < size[d] + stride[d], "invalid output_size (dim ",
                      d, " must be between ", size[d] - stride[d], " and ", size[d] + stride[d], ")");
  return wanted;
}

Operand max_unpool(Builder& builder, const Bound& args, size_t rank) {
  const auto ints = [&](const Operand& value) { return Operand::sequence(Kind::List, spread(value, rank)); };
  const Operand kernel = ints(args["kernel_size"]), padding = ints(args["padding"]);
  const Operand stride = args.given("stride") ? ints(args["stride"]) : kernel;
  Operand size = builder.host(unpooled_size, Kind::List, {args["input"], kernel, stride, padding, args["output_size"]});
  if (rank == 3) return builder.call("max_unpool3d", {args["input"], args["indices"], size, stride, padding});
  if (rank == 2) return builder.call("max_unpool2d", {args["input"], args["indices"], size});
  size = lower_operator(builder, "+", {size, Operand::sequence(Kind::List, {Operand::of_int(1)})});
  const Operand last = Operand::of_int(-1);
  const Operand flat = builder.call("max_unpool2d", {builder.call("unsqueeze", {args["input"], last}),
                                                     builder.call("unsqueeze", {args["indices"], last}), size});
  return builder.call("squeeze", {flat, last});
}

/// Where the windows of a fractional pooling start: drawn as the Python function draws them.
template <int64_t Rank>
c10::IValue fractional_samples(std::vector<c10::IValue>& inputs) {
  const at::Tensor& input = inputs[0].toTensor();
  const int64_t batch = input.dim() == Rank + 1 ? 1 : input.size(0);
  return at::rand({batch, input.size(-Rank - 1), Rank}, input.options());
}

c10::IValue part_of_size(std::vector<c10::IValue>& inputs) {
  return static_cast<int64_t>(static_cast<double>(inputs[0].toTensor().size(inputs[1].toInt())) *
                              inputs[2].toScalar().toDouble());
}

template <int64_t Rank>
Operand fractional_max_pool(Builder& builder, const Bound& args, bool indices) {
  if (!args.given("output_size") && !args.given("output_ratio"))
    refuse(fmt::format("fractional_max_pool{}d() requires specifying either an output_size or an output_ratio", Rank));
  Operand size = args["output_size"];
  if (!args.given("output_size")) {
    size = Operand::sequence(Kind::List, spread(args["output_ratio"], Rank));
    for (int64_t d = 0; d < Rank; ++d)
      size.elements[d] =
          builder.host(part_of_size, Kind::Int, {args["input"], Operand::of_int(d - Rank), size.elements[d]});
  }
  const Operand samples = args.given("_random_samples")
                              ? args["_random_samples"]
                              : builder.host(fractional_samples<Rank>, Kind::Tensor, {args["input"]});
  Operand both =
      builder.call(fmt::format("fractional_max_pool{}d", Rank), {args["input"], args["kernel_size"], size, samples});
  return indices ? both : both.elements[0];
}

constexpr std::string_view kMaxPool =
    "input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False";
constexpr std::string_view kAdaptive = "input, output_size, return_indices=False";
constexpr std::string_view kLpPool = "input, norm_type, kernel_size, stride=None, ceil_mode=False";
constexpr std::string_view kUnpool = "input, indices, kernel_size, stride=None, padding=0, output_size=None";
constexpr std::string_view kFractional =
    "input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None";

const Rule kPoolRules[] = {
    {"F.max_pool1d", "", [](Builder& b, const Bound& a) { return max_pool(b, a, "max_pool1d"); }},
    {"F.max_pool2d", "", [](Builder& b, const Bound& a) { return max_pool(b, a, "max_pool2d"); }},
    {"F.max_pool3d", "", [](Builder& b, const Bound& a) { return max_pool(b, a, "max_pool3d"); }},
    {"F.max_pool1d_with_indices", kMaxPool,
     [](Builder& b, const Bound& a) { return max_pool(b, a, "max_pool1d", true); }},
    {"F.max_pool2d_with_indices", kMaxPool,
     [](Builder& b, const Bound& a) { return max_pool(b, a, "max_pool2d", true); }},
    {"F.max_pool3d_with_indices", kMaxPool,
     [](Builder& b, const Bound& a) { return max_pool(b, a, "max_pool3d", true); }},
    {"F.adaptive_avg_pool2d", "",
     [](Builder& b, const Bound& a) {
       return b.call("adaptive_avg_pool2d", {a["input"], adaptive_size(b, a, 2)});
     }},
    {"F.adaptive_avg_pool3d", "",
     [](Builder& b, const Bound& a) {
       return b.call("adaptive_avg_pool3d", {a["input"], adaptive_size(b, a, 3)});
     }},
    {"F.adaptive_max_pool1d", "",
     [](Builder& b, const Bound& a) { return adaptive_max_pool(b, a, "adaptive_max_pool1d", 1); }},
    {"F.adaptive_max_pool2d", "",
     [](Builder& b, const Bound& a) { return adaptive_max_pool(b, a, "adaptive_max_pool2d", 2); }},
    {"F.adaptive_max_pool3d", "",
     [](Builder& b, const Bound& a) { return adaptive_max_pool(b, a, "adaptive_max_pool3d", 3); }},
    {"F.adaptive_max_pool1d_with_indices", kAdaptive,
     [](Builder& b, const Bound& a) {
       return b.call("adaptive_max_pool1d", {a["input"], adaptive_size(b, a, 1)});
     }},
    {"F.adaptive_max_pool2d_with_indices", kAdaptive,
     [](Builder& b, const Bound& a) {
       return b.call("adaptive_max_pool2d", {a["input"], adaptive_size(b, a, 2)});
     }},
    {"F.adaptive_max_pool3d_with_indices", kAdaptive,
     [](Builder& b, const Bound& a) {
       return b.call("adaptive_max_pool3d", {a["input"], adaptive_size(b, a, 3)});
     }},
    {"F.lp_pool1d", kLpPool, [](Builder& b, const Bound& a) { return lp_pool(b, a, "avg_pool1d", 1); }},
    {"F.lp_pool2d", "", [](Builder& b, const Bound& a) { return lp_pool(b, a, "avg_pool2d", 2); }},
    {"F.lp_pool3d", kLpPool, [](Builder& b, const Bound& a) { return lp_pool(b, a, "avg_pool3d", 3); }},
    {"F.max_unpool1d", kUnpool, [](Builder& b, const Bound& a) { return max_unpool(b, a, 1); }},
    {"F.max_unpool2d", kUnpool, [](Builder& b, const Bound& a) { return max_unpool(b, a, 2); }},
    {"F.max_unpool3d", kUnpool, [](Builder& b, const Bound& a) { return max_unpool(b, a, 3); }},
    {"F.fractional_max_pool2d", kFractional,
     [](Builder& b, const Bound& a) { return fractional_max_pool<2>(b, a, a.flag("return_indices")); }},
    {"F.fractional_max_pool3d", kFractional,
     [](Builder& b, const Bound& a) { return fractional_max_pool<3>(b, a, a.flag("return_indices")); }},
    {"F.fractional_max_pool2d_with_indices", kFractional,
     [](Builder& b, const Bound& a) { return fractional_max_pool<2>(b, a, true); }},
    {"F.fractional_max_pool3d_with_indices", kFractional,
     [](Builder& b, const Bound& a) { return fractional_max_pool<3>(b, a, true); }},
};

}  // namespace

std::span<const Rule> pool_rules() { return kPoolRules; }

}  // namespace passnet::runtime
