// Pooling of torch.nn.functional. Source: torch/nn/functional.py of PyTorch 2.11 (behaviour).
#include <ATen/ops/rand.h>
#include <fmt/format.h>

#include "runtime/lower/lower.h"

namespace passnet::runtime {

namespace {

/// One number stands for all dimensions. Throws when there are neither one nor `rank` numbers.
std::vector<Operand> spread(const Operand& value, size_t rank) {
  if (value.is_number()) return std::vector<Operand>(rank, value);
  if (value.elements.size() == 1) return std::vector<Operand>(rank, value.elements[0]);
  if (value.elements.size() != rank)
    refuse(fmt::format("{} of {} elements, expected {} numbers", to_string(value.kind), value.elements.size(), rank));
  return value.elements;
}

/// Of max_pool2d and its like: 2.
size_t rank_of(const Bound& args) {
  const std::string_view name = args.name();
  return static_cast<size_t>(name[name.find_first_of("123")] - '0');
}

bool gives_indices(const Bound& args) { return args.name().ends_with("_with_indices") || args.flag("return_indices"); }

Operand max_pool(Builder& builder, const Bound& args) {
  const Operand stride = args.given("stride") ? args["stride"] : Operand::sequence(Kind::List, {});
  return builder.call(
      fmt::format("max_pool{}d{}", rank_of(args), gives_indices(args) ? "_with_indices" : ""),
      {args["input"], args["kernel_size"], stride, args["padding"], args["dilation"], args["ceil_mode"]});
}

/// Sizes that are None keep the input's size in that dimension.
Operand adaptive_size(Builder& builder, const Bound& args) {
  Operand size = args["output_size"];
  if (!size.is_sequence() || size.slot >= 0) return size;
  for (size_t i = 0; i < size.elements.size(); ++i) {
    if (size.elements[i].kind == Kind::None)
      size.elements[i] = size_of(builder, args["input"], static_cast<int64_t>(i) - static_cast<int64_t>(rank_of(args)));
  }
  return size;
}

Operand adaptive_avg_pool(Builder& builder, const Bound& args) {
  return builder.call(args.name(), {args["input"], adaptive_size(builder, args)});
}

Operand adaptive_max_pool(Builder& builder, const Bound& args) {
  Operand both =
      builder.call(fmt::format("adaptive_max_pool{}d", rank_of(args)), {args["input"], adaptive_size(builder, args)});
  return gives_indices(args) ? both : both.elements[0];
}

/// (mean over the window of x^p, times its size)^(1/p); negative sums are 0.
Operand lp_pool(Builder& builder, const Bound& args) {
  const size_t rank = rank_of(args);
  const Operand stride = args.given("stride") ? args["stride"] : Operand::sequence(Kind::List, {});
  const Operand powers = builder.call("pow", {args["input"], args["norm_type"]});
  const Operand mean = builder.call(fmt::format("avg_pool{}d", rank),
                                    {powers, args["kernel_size"], stride, Operand::of_int(0), args["ceil_mode"]});
  int64_t window = 1;
  for (const Operand& size : spread(args["kernel_size"], rank)) {
    if (size.kind != Kind::Int || size.slot >= 0) refuse("lp_pool(): kernel_size is not a literal integer");
    if (__builtin_mul_overflow(window, size.value.toInt(), &window)) refuse("lp_pool(): kernel_size is beyond 64 bits");
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

Operand max_unpool(Builder& builder, const Bound& args) {
  const size_t rank = rank_of(args);
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

Operand fractional_max_pool(Builder& builder, const Bound& args) {
  const auto rank = static_cast<int64_t>(rank_of(args));
  if (!args.given("output_size") && !args.given("output_ratio"))
    refuse(fmt::format("fractional_max_pool{}d() requires specifying either an output_size or an output_ratio", rank));
  Operand size = args["output_size"];
  if (!args.given("output_size")) {
    size = Operand::sequence(Kind::List, spread(args["output_ratio"], rank_of(args)));
    for (int64_t d = 0; d < rank; ++d)
      size.elements[d] =
          builder.host(part_of_size, Kind::Int, {args["input"], Operand::of_int(d - rank), size.elements[d]});
  }
  const Operand samples =
      args.given("_random_samples")
          ? args["_random_samples"]
          : builder.host(rank == 2 ? fractional_samples<2> : fractional_samples<3>, Kind::Tensor, {args["input"]});
  Operand both =
      builder.call(fmt::format("fractional_max_pool{}d", rank), {args["input"], args["kernel_size"], size, samples});
  return gives_indices(args) ? both : both.elements[0];
}

const Rule kPoolRules[] = {
    {"F.max_pool1d F.max_pool2d F.max_pool3d", max_pool},
    {"F.max_pool1d_with_indices F.max_pool2d_with_indices F.max_pool3d_with_indices", max_pool},
    {"F.adaptive_avg_pool2d F.adaptive_avg_pool3d", adaptive_avg_pool},
    {"F.adaptive_max_pool1d F.adaptive_max_pool2d F.adaptive_max_pool3d", adaptive_max_pool},
    {"F.adaptive_max_pool1d_with_indices F.adaptive_max_pool2d_with_indices F.adaptive_max_pool3d_with_indices",
     adaptive_max_pool},
    {"F.lp_pool1d F.lp_pool2d F.lp_pool3d", lp_pool},
    {"F.max_unpool1d F.max_unpool2d F.max_unpool3d", max_unpool},
    {"F.fractional_max_pool2d F.fractional_max_pool3d F.fractional_max_pool2d_with_indices "
     "F.fractional_max_pool3d_with_indices",
     fractional_max_pool},
};

}  // namespace

std::span<const Rule> pool_rules() { return kPoolRules; }

}  // namespace passnet::runtime
