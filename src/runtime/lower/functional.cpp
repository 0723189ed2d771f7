// torch.nn.functional: one row for each function that is Python in PyTorch and more than a call of operators on its
// arguments, which the operator table holds. Losses are in loss.cpp, pooling in pool.cpp. Source:
// torch/nn/functional.py of PyTorch 2.11 (behaviour).
#include <ATen/ops/arange.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/avg_pool3d.h>
#include <ATen/ops/embedding_bag.h>
#include <ATen/ops/embedding_renorm.h>
#include <ATen/ops/feature_dropout.h>
#include <ATen/ops/pad.h>
#include <fmt/format.h>

#include "runtime/lower/lower.h"

namespace passnet::runtime {

namespace {

/// Dropout in evaluation is its input: the same tensor, not a copy.
Operand dropout(Builder& builder, const Bound& args) {
  if (!args.flag("training")) return args["input"];
  const std::string_view name = args.name() == "dropout2d" ? "feature_dropout" : args.name();
  return builder.call(args.flag("inplace") ? std::string(name) + "_" : std::string(name),
                      {args["input"], args["p"], Operand::of_bool(true)});
}

/// Whole channels of an input with that many spatial dimensions, with or without a batch dimension.
template <int64_t Spatial>
c10::IValue dropped_channels(std::vector<c10::IValue>& inputs) {
  at::Tensor x = inputs[0].toTensor();
  const double p = inputs[1].toScalar().toDouble();
  const bool batched = x.dim() == Spatial + 2;
  const at::Tensor batch = batched ? x : x.unsqueeze(0);
  if (inputs[2].toBool()) {
    at::Tensor written = batch;  // shares x's memory
    at::feature_dropout_(written, p, true);
    return x;
  }
  const at::Tensor result = at::feature_dropout(batch, p, true);
  return batched ? result : result.squeeze(0);
}

template <int64_t Spatial>
Operand channel_dropout(Builder& builder, const Bound& args) {
  if (!args.flag("training")) return args["input"];
  return builder.host(dropped_channels<Spatial>, Kind::Tensor, {args["input"], args["p"], args["inplace"]});
}

/// Without `dim`: 0 for ranks 0, 1 and 3, else 1.
c10::IValue softmax_dim(std::vector<c10::IValue>& inputs) {
  const int64_t rank = inputs[0].toTensor().dim();
  return rank == 0 || rank == 1 || rank == 3 ? 0 : 1;
}

Operand softmax(Builder& builder, const Bound& args) {
  const Operand dim = args.given("dim") ? args["dim"] : builder.host(softmax_dim, Kind::Int, {args["input"]});
  if (args.name() == "softmin")
    return builder.call("softmax", {builder.call("neg", {args["input"]}), dim, args["dtype"]});
  return builder.call(args.name(), {args["input"], dim, args["dtype"]});
}

Operand gumbel_softmax(Builder& builder, const Bound& args) {
  const Operand &logits = args["logits"], &dim = args["dim"];
  Operand contiguous = Operand::of_int(static_cast<int64_t>(at::MemoryFormat::Contiguous));
  contiguous.kind = Kind::MemoryFormat;
  const Operand draws =
      builder.call("exponential_", {builder.call("empty_like", {logits}, {{"memory_format", contiguous}})});
  const Operand noise = builder.call("neg", {builder.call("log", {draws})});
  const Operand noisy = builder.call("div", {builder.call("add", {logits, noise}), args["tau"]});
  const Operand soft = builder.call("softmax", {noisy, dim});
  if (!args.flag("hard")) return soft;
  const Operand index = builder.call("max", {soft, dim}, {{"keepdim", Operand::of_bool(true)}}).elements[1];
  const Operand zeros = builder.call("zeros_like", {logits}, {{"memory_format", contiguous}});
  const Operand hard = builder.call("scatter_", {zeros, dim, index, Operand::of_float(1.0)});
  return builder.call("add", {builder.call("sub", {hard, soft}), soft});
}

Operand embedding(Builder& builder, const Bound& args) {
  Operand padding = Operand::of_int(-1);
  if (args.given("padding_idx")) {
    padding = args["padding_idx"];
    if (padding.slot < 0 && padding.value.toInt() < 0)
      padding = lower_number_operator(builder, "+", {size_of(builder, args["weight"], 0), padding});
  }
  if (args.given("max_norm"))
    builder.call("embedding_renorm_", {args["weight"], args["input"], args["max_norm"], args["norm_type"]});
  return builder.call("embedding",
                      {args["weight"], args["input"], padding, args["scale_grad_by_freq"], args["sparse"]});
}

/// A bag per row when the input has two dimensions: where each starts is then known without `offsets`.
c10::IValue bag(std::vector<c10::IValue>& inputs) {
  at::Tensor weight = inputs[0].toTensor(), given = inputs[1].toTensor(), offsets;
  // The order of these two was the other way round once; PyTorch still tells by the types.
  if (weight.scalar_type() == at::kLong && given.is_floating_point()) std::swap(weight, given);
  at::Tensor input = given;
  auto weights = inputs[7].isNone() ? std::nullopt : std::optional(inputs[7].toTensor());
  bool last_offset = inputs[8].toBool();
  if (given.dim() == 2) {
    TORCH_CHECK_VALUE(inputs[2].isNone(),
                      "if input is 2D, then offsets has to be None, as input is treated is a "
                      "mini-batch of fixed length sequences");
    offsets = at::arange(0, given.numel(), given.size(1), given.options());
    last_offset = false;
    input = given.reshape(-1);
    if (weights) weights = weights->reshape(-1);
  } else {
    TORCH_CHECK_VALUE(given.dim() == 1, "input has to be 1D or 2D Tensor, but got Tensor of dimension ", given.dim());
    TORCH_CHECK_VALUE(!inputs[2].isNone(), "offsets has to be a 1D Tensor but got None");
    offsets = inputs[2].toTensor();
  }
  if (!inputs[9].isNone())
    at::embedding_renorm_(weight, input.contiguous(), inputs[9].toScalar().toDouble(),
                          inputs[10].toScalar().toDouble());
  const auto padding = inputs[6].isNone() ? std::nullopt : std::optional(inputs[6].toInt());
  return std::get<0>(at::embedding_bag(weight, input, offsets, inputs[3].toBool(), inputs[4].toInt(),
                                       inputs[5].toBool(), weights, last_offset, padding));
}

Operand embedding_bag(Builder& builder, const Bound& args) {
  const std::string mode = args.text("mode");
  const int64_t number = mode == "sum" ? 0 : mode == "mean" ? 1 : mode == "max" ? 2 : -1;
  if (number < 0) refuse(fmt::format("embedding_bag(): mode '{}', expected 'sum', 'mean' or 'max'", mode));
  if (args.given("per_sample_weights") && mode != "sum")
    refuse(fmt::format("embedding_bag(): per_sample_weights with mode '{}', expected 'sum'", mode));
  return builder.host(bag, Kind::Tensor,
                      {args["weight"], args["input"], args["offsets"], args["scale_grad_by_freq"],
                       Operand::of_int(number), args["sparse"], args["padding_idx"], args["per_sample_weights"],
                       args["include_last_offset"], args["max_norm"], args["norm_type"]});
}

/// x / (k + alpha * mean of x^2 over `size` neighbouring channels)^beta
c10::IValue divided_by_neighbours(std::vector<c10::IValue>& inputs) {
  const at::Tensor& x = inputs[0].toTensor();
  const int64_t size = inputs[1].toInt();
  TORCH_CHECK_VALUE(x.dim() >= 3, "Expected 3D or higher dimensionality input (got ", x.dim(), " dimensions)");
  if (x.numel() == 0) return x;
  at::Tensor mean = x.mul(x);
  if (x.dim() == 3) {
    mean = at::pad(mean.unsqueeze(1), {0, 0, size / 2, (size - 1) / 2});
    mean = at::avg_pool2d(mean, {size, 1}, 1).squeeze(1);
  } else {
    mean = mean.view({x.size(0), 1, x.size(1), x.size(2), -1});
    mean = at::pad(mean, {0, 0, 0, 0, size / 2, (size - 1) / 2});
    mean = at::avg_pool3d(mean, {size, 1, 1}, 1).squeeze(1).view(x.sizes());
  }
  return x.div(mean.mul(inputs[2].toScalar()).add(inputs[4].toScalar()).pow(inputs[3].toScalar()));
}

Operand normalize(Builder& builder, const Bound& args) {
  const Operand dim = args["dim"].is_number() ? Operand::sequence(Kind::List, {args["dim"]}) : args["dim"];
  const Operand length = builder.call("linalg_vector_norm", {args["input"], args["p"], dim, Operand::of_bool(true)});
  const Operand denominator =
      builder.call("expand_as", {builder.call("clamp_min", {length, args["eps"]}), args["input"]});
  return builder.call("div", {args["input"], denominator});
}

Operand grid_sample(Builder& builder, const Bound& args) {
  const std::string mode = args.text("mode");
  const std::string padding = args.text("padding_mode");
  const int64_t mode_number = mode == "bilinear" ? 0 : mode == "nearest" ? 1 : mode == "bicubic" ? 2 : -1;
  const int64_t padding_number = padding == "zeros" ? 0 : padding == "border" ? 1 : padding == "reflection" ? 2 : -1;
  if (mode_number < 0)
    refuse(fmt::format("grid_sample(): mode '{}', expected 'bilinear', 'nearest' or 'bicubic'", mode));
  if (padding_number < 0)
    refuse(fmt::format("grid_sample(): padding_mode '{}', expected 'zeros', 'border' or 'reflection'", padding));
  const Operand align = args.given("align_corners") ? args["align_corners"] : Operand::of_bool(false);
  return builder.call("grid_sampler", {args["input"], args["grid"], Operand::of_int(mode_number),
                                       Operand::of_int(padding_number), align});
}

/// The older names of interpolate.
Operand upsample(Builder& builder, const Bound& args) {
  const bool any = args.name() == "upsample", bilinear = args.name() == "upsample_bilinear";
  const Operand mode = any ? args["mode"] : Operand::of_string(bilinear ? "bilinear" : "nearest");
  const Operand align = any ? args["align_corners"] : bilinear ? Operand::of_bool(true) : Operand::none();
  return lower_call(builder, ir::NodeKind::CallFunction, "torch.nn.functional.interpolate",
                    {args["input"], args["size"], args["scale_factor"], mode, align}, {});
}

const Rule kFunctionalRules[] = {
    {"F.softmax F.log_softmax F.softmin", softmax},
    {"F.gumbel_softmax", gumbel_softmax},
    // dropout
    {"F.dropout F.dropout2d F.alpha_dropout F.feature_alpha_dropout", dropout},
    {"F.dropout1d", channel_dropout<1>},
    {"F.dropout3d", channel_dropout<3>},
    // normalisation
    {"F.normalize", normalize},
    {"F.local_response_norm", host_call<divided_by_neighbours, Kind::Tensor>},
    // images
    {"F.interpolate", lower_interpolate},
    {"F.upsample", upsample},
    {"F.upsample_nearest F.upsample_bilinear", upsample},
    {"F.grid_sample", grid_sample},
    {"F.affine_grid",
     [](Builder& b, const Bound& a) {
       return b.call("affine_grid_generator",
                     {a["theta"], a["size"], Operand::of_bool(a.given("align_corners") && a.flag("align_corners"))});
     }},
    // embedding and attention
    {"F.embedding", embedding},
    {"F.embedding_bag", embedding_bag},
    {"F.grouped_mm", "_grouped_mm(mat_a, mat_b, offs, bias, out_dtype)"},
    {"F.multi_head_attention_forward", lower_multi_head_attention},
};

}  // namespace

std::span<const Rule> functional_rules() { return kFunctionalRules; }

}  // namespace passnet::runtime
