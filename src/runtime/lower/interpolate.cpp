// torch.nn.functional.interpolate: which upsample operator, with sizes or scale factors, by mode and rank.
// Source: torch/nn/functional.py of PyTorch 2.11 (behaviour).
#include <ATen/ops/_upsample_nearest_exact1d.h>
#include <ATen/ops/_upsample_nearest_exact2d.h>
#include <ATen/ops/_upsample_nearest_exact3d.h>
#include <ATen/ops/adaptive_avg_pool1d.h>
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/adaptive_avg_pool3d.h>
#include <ATen/ops/upsample_nearest1d.h>
#include <ATen/ops/upsample_nearest2d.h>
#include <ATen/ops/upsample_nearest3d.h>
#include <fmt/format.h>

#include <cmath>

#include "runtime/lower/lower.h"

namespace passnet::runtime {

namespace {

/// Spatial dimensions a mode works in; 0: any, found from the sizes given.
size_t mode_rank(const std::string& mode) {
  if (mode == "linear") return 1;
  if (mode == "bilinear" || mode == "bicubic") return 2;
  if (mode == "trilinear") return 3;
  if (mode == "nearest" || mode == "nearest-exact" || mode == "area") return 0;
  refuse(fmt::format("interpolate(): unknown mode '{}'", mode),
         "known: nearest, nearest-exact, area, linear, bilinear, bicubic, trilinear");
}

Operand one_per_axis(const Operand& value, size_t rank) {
  return value.is_number() ? Operand::sequence(Kind::List, std::vector<Operand>(rank, value)) : value;
}

c10::IValue scaled_size(std::vector<c10::IValue>& inputs) {
  const auto size = static_cast<double>(inputs[0].toTensor().size(inputs[1].toInt()));
  return static_cast<int64_t>(std::floor(size * inputs[2].toScalar().toDouble()));
}

Operand sizes_from_scales(Builder& builder, const Operand& input, const Operand& scales) {
  std::vector<Operand> sizes;
  for (size_t i = 0; i < scales.elements.size(); ++i)
    sizes.push_back(builder.host(scaled_size, Kind::Int,
                                 {input, Operand::of_int(static_cast<int64_t>(i) + 2), scales.elements[i]}));
  return Operand::sequence(Kind::List, std::move(sizes));
}

/// One number for all dimensions and a mode for any rank: which operator is known when the tensor is.
c10::IValue resize_any_rank(std::vector<c10::IValue>& inputs) {
  const at::Tensor& x = inputs[0].toTensor();
  const auto rank = static_cast<size_t>(x.dim() - 2);
  TORCH_CHECK(rank >= 1 && rank <= 3, "interpolate(): input of rank ", x.dim(), ", expected 3, 4 or 5");
  const std::string& mode = inputs[1].toStringRef();
  at::OptionalIntArrayRef size;
  std::optional<at::ArrayRef<double>> scale;
  std::vector<int64_t> sizes;
  std::vector<double> scales;
  const bool recompute = inputs[4].toBool();
  if (!inputs[2].isNone()) {
    sizes.assign(rank, inputs[2].toScalar().toLong());
  } else if (recompute) {
    for (size_t i = 0; i < rank; ++i)
      sizes.push_back(static_cast<int64_t>(
          std::floor(static_cast<double>(x.size(static_cast<int64_t>(i) + 2)) * inputs[3].toScalar().toDouble())));
  } else {
    scales.assign(rank, inputs[3].toScalar().toDouble());
  }
  if (sizes.empty())
    scale = scales;
  else
    size = sizes;
  if (mode == "area")
    return rank == 1   ? at::adaptive_avg_pool1d(x, sizes)
           : rank == 2 ? at::adaptive_avg_pool2d(x, sizes)
                       : at::adaptive_avg_pool3d(x, sizes);
  if (mode == "nearest")
    return rank == 1   ? at::upsample_nearest1d(x, size, scale)
           : rank == 2 ? at::upsample_nearest2d(x, size, scale)
                       : at::upsample_nearest3d(x, size, scale);
  return rank == 1   ? at::_upsample_nearest_exact1d(x, size, scale)
         : rank == 2 ? at::_upsample_nearest_exact2d(x, size, scale)
                     : at::_upsample_nearest_exact3d(x, size, scale);
}

bool recomputes(const Bound& args, const std::string& mode) {
  return (args.given("recompute_scale_factor") && args.flag("recompute_scale_factor")) || mode == "area";
}

Operand any_rank(Builder& builder, const Bound& args, const std::string& mode) {
  ++builder.operator_calls;
  return builder.host(resize_any_rank, Kind::Tensor,
                      {args["input"], Operand::of_string(mode), args["size"], args["scale_factor"],
                       Operand::of_bool(recomputes(args, mode))});
}

}  // namespace

Operand lower_interpolate(Builder& builder, const Bound& args) {
  const std::string mode = args.text("mode");
  const Operand &input = args["input"], &size = args["size"], &scale = args["scale_factor"];
  if (args.given("size") == args.given("scale_factor"))
    refuse(args.given("size") ? "interpolate(): both size and scale_factor are given, expected one"
                              : "interpolate(): neither size nor scale_factor is given");
  const Operand& given = args.given("size") ? size : scale;
  size_t rank = given.is_sequence() && given.slot < 0 ? given.elements.size() : mode_rank(mode);
  if (mode_rank(mode) != 0) rank = mode_rank(mode);
  if (rank == 0) return any_rank(builder, args, mode);
  Operand sizes = args.given("size") ? one_per_axis(size, rank) : Operand::none();
  Operand scales = args.given("scale_factor") ? one_per_axis(scale, rank) : Operand::none();
  if (recomputes(args, mode) && args.given("scale_factor")) {
    sizes = sizes_from_scales(builder, input, scales);
    scales = Operand::none();
  }
  const std::string nd = std::to_string(rank) + "d";
  if (mode == "area") return builder.call("adaptive_avg_pool" + nd, {input, sizes});
  if (mode == "nearest") return builder.call("upsample_nearest" + nd, {input, sizes, scales}, {}, {.overload = "vec"});
  if (mode == "nearest-exact")
    return builder.call("_upsample_nearest_exact" + nd, {input, sizes, scales}, {}, {.overload = "vec"});
  const Operand align = Operand::of_bool(args.given("align_corners") && args.flag("align_corners"));
  std::string name = "upsample_" + mode + nd;
  if (args.flag("antialias")) {
    if (rank != 2)
      refuse(fmt::format("interpolate(): antialias with mode '{}', expected 'bilinear' or 'bicubic'", mode));
    name = "_" + name + "_aa";
  }
  return builder.call(name, {input, sizes, align, scales}, {}, {.overload = "vec"});
}

}  // namespace passnet::runtime
