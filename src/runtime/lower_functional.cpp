// torch.nn.functional and torch.functional: one row for each function that is Python in PyTorch. Functions
// missing here are ATen operators of the same name. Source: torch/nn/functional.py, torch/functional.py of
// PyTorch 2.11 (behaviour).
#include <fmt/format.h>

#include "runtime/lower.h"

namespace passnet::runtime {

Operand call_in_place_or_not(Builder& builder, std::string_view name, const Bound& args,
                             std::vector<Operand> rest) {
  rest.insert(rest.begin(), args["input"]);
  return builder.call(args.flag("inplace") ? std::string(name) + "_" : std::string(name), rest);
}

namespace {

/// "mean" -> 1: the number ATen's losses take.
Operand reduction(const Bound& args) {
  const std::string text = args.text("reduction");
  const int64_t value = text == "none" ? 0 : text == "mean" ? 1 : text == "sum" ? 2 : -1;
  if (value < 0) refuse(fmt::format("reduction '{}': expected 'none', 'mean' or 'sum'", text));
  return Operand::of_int(value);
}

/// Dropout in evaluation is its input: the same tensor, not a copy.
Operand dropout(Builder& builder, const Bound& args, std::string_view name) {
  const bool training = args.flag("training");
  if (!training) return args["input"];
  return call_in_place_or_not(builder, name, args, {args["p"], Operand::of_bool(true)});
}

/// softmax(x, dim, dtype): without dim PyTorch takes 0 for ranks 0, 1 and 3, else 1, known only at run time.
Operand softmax(Builder& builder, const Bound& args, std::string_view name) {
  if (!args.given("dim"))
    throw LoweringError{unsupported(fmt::format("{} without 'dim'", name))
                            .with_hint("give the dimension, for example dim=-1")};
  return builder.call(name, {args["input"], args["dim"], args["dtype"]});
}

Operand max_pool(Builder& builder, const Bound& args, std::string_view name) {
  const Operand stride = args.given("stride") ? args["stride"] : Operand::sequence(Kind::List, {});
  const std::vector<Operand> all{args["input"],   args["kernel_size"], stride,
                                 args["padding"], args["dilation"],    args["ceil_mode"]};
  return builder.call(args.flag("return_indices") ? fmt::format("{}_with_indices", name) : std::string(name),
                      all);
}

/// Sizes that are None keep the input's size in that dimension.
Operand adaptive_size(Builder& builder, const Bound& args, size_t rank) {
  Operand size = args["output_size"];
  if (!size.is_sequence() || size.slot >= 0) return size;
  for (size_t i = 0; i < size.elements.size(); ++i) {
    if (size.elements[i].kind == Kind::None)
      size.elements[i] =
          size_of(builder, args["input"], static_cast<int64_t>(i) - static_cast<int64_t>(rank));
  }
  return size;
}

Operand adaptive_max_pool(Builder& builder, const Bound& args, std::string_view name, size_t rank) {
  Operand both = builder.call(name, {args["input"], adaptive_size(builder, args, rank)});
  return args.flag("return_indices") ? both : both.elements[0];
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

/// torch.norm of a dense tensor; also Tensor.norm.
Operand norm(Builder& builder, const Bound& args) {
  Operand p = args["p"];
  if (p.kind == Kind::String) {
    if (p.value.toStringRef() != "fro")
      return builder.call("linalg_matrix_norm", {args["input"], p, args["dim"], args["keepdim"]},
                          {{"dtype", args["dtype"]}});
    p = Operand::of_float(2.0);
  }
  if (p.kind == Kind::None) p = Operand::of_float(2.0);
  Operand dim = args["dim"];
  if (dim.is_number()) dim = Operand::sequence(Kind::List, {dim});
  return builder.call("linalg_vector_norm", {args["input"], p, dim, args["keepdim"]},
                      {{"dtype", args["dtype"]}});
}

Operand normalize(Builder& builder, const Bound& args) {
  const Operand dim = args["dim"].is_number() ? Operand::sequence(Kind::List, {args["dim"]}) : args["dim"];
  const Operand length =
      builder.call("linalg_vector_norm", {args["input"], args["p"], dim, Operand::of_bool(true)});
  const Operand denominator =
      builder.call("expand_as", {builder.call("clamp_min", {length, args["eps"]}), args["input"]});
  return builder.call("div", {args["input"], denominator});
}

Operand grid_sample(Builder& builder, const Bound& args) {
  const std::string mode = args.text("mode");
  const std::string padding = args.text("padding_mode");
  const int64_t mode_number = mode == "bilinear" ? 0 : mode == "nearest" ? 1 : mode == "bicubic" ? 2 : -1;
  const int64_t padding_number = padding == "zeros"        ? 0
                                 : padding == "border"     ? 1
                                 : padding == "reflection" ? 2
                                                           : -1;
  if (mode_number < 0)
    refuse(fmt::format("grid_sample(): mode '{}', expected 'bilinear', 'nearest' or 'bicubic'", mode));
  if (padding_number < 0)
    refuse(
        fmt::format("grid_sample(): padding_mode '{}', expected 'zeros', 'border' or 'reflection'", padding));
  const Operand align = args.given("align_corners") ? args["align_corners"] : Operand::of_bool(false);
  return builder.call("grid_sampler", {args["input"], args["grid"], Operand::of_int(mode_number),
                                       Operand::of_int(padding_number), align});
}

/// f(*tensors) takes tensors one by one or as one list.
Operand tensor_list(const Bound& args) {
  const Operand& rest = args["tensors"];
  return rest.elements.size() == 1 && rest.elements[0].is_sequence() ? rest.elements[0] : rest;
}

Operand meshgrid(Builder& builder, const Bound& args) {
  const Operand indexing = args.given("indexing") ? args["indexing"] : Operand::of_string("ij");
  return builder.call("meshgrid", {tensor_list(args)}, {{"indexing", indexing}});
}

/// torch.unique: one tensor, or a tuple with what else was asked for.
Operand unique(Builder& builder, const Bound& args) {
  const Operand sorted = args["sorted"], inverse = args["return_inverse"], counts = args["return_counts"];
  const Operand all = args.given("dim")
                          ? builder.call("unique_dim", {args["input"], args["dim"], sorted, inverse, counts})
                          : builder.call("_unique2", {args["input"], sorted, inverse, counts});
  std::vector<Operand> wanted{all.elements[0]};
  if (args.flag("return_inverse")) wanted.push_back(all.elements[1]);
  if (args.flag("return_counts")) wanted.push_back(all.elements[2]);
  return wanted.size() == 1 ? wanted[0] : Operand::sequence(Kind::Tuple, std::move(wanted));
}

constexpr std::string_view kUnique =
    "input, sorted=True, return_inverse=False, return_counts=False, dim=None";
constexpr std::string_view kLoss = "input, target, size_average=None, reduce=None, reduction='mean'";

const Rule kRules[] = {
    // activations: f(input, …, inplace=False)
    {"F.relu", "input, inplace=False",
     [](Builder& b, const Bound& a) { return call_in_place_or_not(b, "relu", a, {}); }},
    {"F.relu6", "input, inplace=False",
     [](Builder& b, const Bound& a) { return call_in_place_or_not(b, "relu6", a, {}); }},
    {"F.silu", "input, inplace=False",
     [](Builder& b, const Bound& a) { return call_in_place_or_not(b, "silu", a, {}); }},
    {"F.mish", "input, inplace=False",
     [](Builder& b, const Bound& a) { return call_in_place_or_not(b, "mish", a, {}); }},
    {"F.hardswish", "input, inplace=False",
     [](Builder& b, const Bound& a) { return call_in_place_or_not(b, "hardswish", a, {}); }},
    {"F.hardsigmoid", "input, inplace=False",
     [](Builder& b, const Bound& a) { return call_in_place_or_not(b, "hardsigmoid", a, {}); }},
    {"F.selu", "input, inplace=False",
     [](Builder& b, const Bound& a) { return call_in_place_or_not(b, "selu", a, {}); }},
    {"F.elu", "input, alpha=1.0, inplace=False",
     [](Builder& b, const Bound& a) { return call_in_place_or_not(b, "elu", a, {a["alpha"]}); }},
    {"F.celu", "input, alpha=1.0, inplace=False",
     [](Builder& b, const Bound& a) { return call_in_place_or_not(b, "celu", a, {a["alpha"]}); }},
    {"F.leaky_relu", "input, negative_slope=0.01, inplace=False",
     [](Builder& b, const Bound& a) {
       return call_in_place_or_not(b, "leaky_relu", a, {a["negative_slope"]});
     }},
    {"F.hardtanh", "input, min_val=-1.0, max_val=1.0, inplace=False",
     [](Builder& b, const Bound& a) {
       return call_in_place_or_not(b, "hardtanh", a, {a["min_val"], a["max_val"]});
     }},
    {"F.threshold", "input, threshold, value, inplace=False",
     [](Builder& b, const Bound& a) {
       return call_in_place_or_not(b, "threshold", a, {a["threshold"], a["value"]});
     }},
    {"F.rrelu", "input, lower=0.125, upper=0.3333333333333333, training=False, inplace=False",
     [](Builder& b, const Bound& a) {
       return call_in_place_or_not(b, "rrelu", a, {a["lower"], a["upper"], a["training"]});
     }},
    {"F.softsign", "input",
     [](Builder& b, const Bound& a) {
       return b.call("div", {a["input"], b.call("add", {b.call("abs", {a["input"]}), Operand::of_int(1)})});
     }},
    {"F.tanhshrink", "input",
     [](Builder& b, const Bound& a) {
       return b.call("sub", {a["input"], b.call("tanh", {a["input"]})});
     }},
    {"F.logsigmoid", "input", [](Builder& b, const Bound& a) { return b.call("log_sigmoid", {a["input"]}); }},
    {"F.softmax", "input, dim=None, _stacklevel=3, dtype=None",
     [](Builder& b, const Bound& a) { return softmax(b, a, "softmax"); }},
    {"F.log_softmax", "input, dim=None, _stacklevel=3, dtype=None",
     [](Builder& b, const Bound& a) { return softmax(b, a, "log_softmax"); }},
    {"F.softmin", "input, dim=None, _stacklevel=3, dtype=None",
     [](Builder& b, const Bound& a) {
       return b.call("softmax", {b.call("neg", {a["input"]}), a["dim"], a["dtype"]});
     }},
    // dropout
    {"F.dropout", "input, p=0.5, training=True, inplace=False",
     [](Builder& b, const Bound& a) { return dropout(b, a, "dropout"); }},
    {"F.dropout1d", "input, p=0.5, training=True, inplace=False",
     [](Builder& b, const Bound& a) { return dropout(b, a, "feature_dropout"); }},
    {"F.dropout2d", "input, p=0.5, training=True, inplace=False",
     [](Builder& b, const Bound& a) { return dropout(b, a, "feature_dropout"); }},
    {"F.dropout3d", "input, p=0.5, training=True, inplace=False",
     [](Builder& b, const Bound& a) { return dropout(b, a, "feature_dropout"); }},
    {"F.alpha_dropout", "input, p=0.5, training=False, inplace=False",
     [](Builder& b, const Bound& a) { return dropout(b, a, "alpha_dropout"); }},
    {"F.feature_alpha_dropout", "input, p=0.5, training=False, inplace=False",
     [](Builder& b, const Bound& a) { return dropout(b, a, "feature_alpha_dropout"); }},
    // normalisation
    {"F.batch_norm",
     "input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05",
     [](Builder& b, const Bound& a) {
       return b.call("batch_norm",
                     {a["input"], a["weight"], a["bias"], a["running_mean"], a["running_var"],
                      Operand::of_bool(a.flag("training")), a["momentum"], a["eps"], Operand::of_bool(true)});
     }},
    {"F.instance_norm",
     "input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, "
     "momentum=0.1, eps=1e-05",
     [](Builder& b, const Bound& a) {
       return b.call("instance_norm", {a["input"], a["weight"], a["bias"], a["running_mean"],
                                       a["running_var"], Operand::of_bool(a.flag("use_input_stats")),
                                       a["momentum"], a["eps"], Operand::of_bool(true)});
     }},
    {"F.layer_norm", "input, normalized_shape, weight=None, bias=None, eps=1e-05",
     [](Builder& b, const Bound& a) {
       return b.call("layer_norm", {a["input"], a["normalized_shape"], a["weight"], a["bias"], a["eps"],
                                    Operand::of_bool(true)});
     }},
    {"F.group_norm", "input, num_groups, weight=None, bias=None, eps=1e-05",
     [](Builder& b, const Bound& a) {
       return b.call("group_norm",
                     {a["input"], a["num_groups"], a["weight"], a["bias"], a["eps"], Operand::of_bool(true)});
     }},
    {"F.normalize", "input, p=2.0, dim=1, eps=1e-12, out=None", normalize},
    // pooling
    {"F.max_pool1d",
     "input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False",
     [](Builder& b, const Bound& a) { return max_pool(b, a, "max_pool1d"); }},
    {"F.max_pool2d",
     "input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False",
     [](Builder& b, const Bound& a) { return max_pool(b, a, "max_pool2d"); }},
    {"F.max_pool3d",
     "input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False",
     [](Builder& b, const Bound& a) { return max_pool(b, a, "max_pool3d"); }},
    {"F.adaptive_avg_pool2d", "input, output_size",
     [](Builder& b, const Bound& a) {
       return b.call("adaptive_avg_pool2d", {a["input"], adaptive_size(b, a, 2)});
     }},
    {"F.adaptive_avg_pool3d", "input, output_size",
     [](Builder& b, const Bound& a) {
       return b.call("adaptive_avg_pool3d", {a["input"], adaptive_size(b, a, 3)});
     }},
    {"F.adaptive_max_pool1d", "input, output_size, return_indices=False",
     [](Builder& b, const Bound& a) { return adaptive_max_pool(b, a, "adaptive_max_pool1d", 1); }},
    {"F.adaptive_max_pool2d", "input, output_size, return_indices=False",
     [](Builder& b, const Bound& a) { return adaptive_max_pool(b, a, "adaptive_max_pool2d", 2); }},
    {"F.adaptive_max_pool3d", "input, output_size, return_indices=False",
     [](Builder& b, const Bound& a) { return adaptive_max_pool(b, a, "adaptive_max_pool3d", 3); }},
    // images
    {"F.interpolate",
     "input, size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None, "
     "antialias=False",
     lower_interpolate},
    {"F.upsample", "input, size=None, scale_factor=None, mode='nearest', align_corners=None",
     [](Builder& b, const Bound& a) {
       return lower_interpolate(
           b,
           Bound(
               "interpolate",
               "input, size, scale_factor, mode, align_corners, recompute_scale_factor=None, antialias=False",
               {a["input"], a["size"], a["scale_factor"], a["mode"], a["align_corners"]}, {}));
     }},
    {"F.grid_sample", "input, grid, mode='bilinear', padding_mode='zeros', align_corners=None", grid_sample},
    {"F.affine_grid", "theta, size, align_corners=False",
     [](Builder& b, const Bound& a) {
       return b.call(
           "affine_grid_generator",
           {a["theta"], a["size"], Operand::of_bool(a.given("align_corners") && a.flag("align_corners"))});
     }},
    {"F.unfold", "input, kernel_size, dilation=1, padding=0, stride=1",
     [](Builder& b, const Bound& a) {
       return b.call("im2col", {a["input"], a["kernel_size"], a["dilation"], a["padding"], a["stride"]});
     }},
    {"F.fold", "input, output_size, kernel_size, dilation=1, padding=0, stride=1",
     [](Builder& b, const Bound& a) {
       return b.call("col2im", {a["input"], a["output_size"], a["kernel_size"], a["dilation"], a["padding"],
                                a["stride"]});
     }},
    // embedding and attention
    {"F.embedding",
     "input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False",
     embedding},
    {"F.multi_head_attention_forward",
     "query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, "
     "add_zero_attn, dropout_p, "
     "out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True, "
     "attn_mask=None, "
     "use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, "
     "static_k=None, static_v=None, "
     "average_attn_weights=True, is_causal=False",
     lower_multi_head_attention},
    // losses
    {"F.mse_loss", kLoss,
     [](Builder& b, const Bound& a) {
       return b.call("mse_loss", {a["input"], a["target"], reduction(a)});
     }},
    {"F.l1_loss", kLoss,
     [](Builder& b, const Bound& a) {
       return b.call("l1_loss", {a["input"], a["target"], reduction(a)});
     }},
    {"F.binary_cross_entropy_with_logits",
     "input, target, weight=None, size_average=None, reduce=None, reduction='mean', pos_weight=None",
     [](Builder& b, const Bound& a) {
       return b.call("binary_cross_entropy_with_logits",
                     {a["input"], a["target"], a["weight"], a["pos_weight"], reduction(a)});
     }},
    {"F.cross_entropy",
     "input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean', "
     "label_smoothing=0.0",
     [](Builder& b, const Bound& a) {
       return b.call("cross_entropy_loss", {a["input"], a["target"], a["weight"], reduction(a),
                                            a["ignore_index"], a["label_smoothing"]});
     }},
    {"F.nll_loss",
     "input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean'",
     [](Builder& b, const Bound& a) {
       return b.call("nll_loss_nd", {a["input"], a["target"], a["weight"], reduction(a), a["ignore_index"]});
     }},
    // torch.functional
    {"torch.unique", kUnique, unique},
    {"Tensor.unique", kUnique, unique},
    {"torch.functional.norm", "input, p='fro', dim=None, keepdim=False, out=None, dtype=None", norm},
    {"torch.functional.einsum", "equation, *tensors",
     [](Builder& b, const Bound& a) {
       return b.call("einsum", {a["equation"], tensor_list(a)});
     }},
    {"torch.functional.meshgrid", "*tensors, indexing=None", meshgrid},
    {"torch.functional.broadcast_tensors", "*tensors",
     [](Builder& b, const Bound& a) { return b.call("broadcast_tensors", {tensor_list(a)}); }},
    {"torch.functional.block_diag", "*tensors",
     [](Builder& b, const Bound& a) { return b.call("block_diag", {tensor_list(a)}); }},
    {"torch.functional.cartesian_prod", "*tensors",
     [](Builder& b, const Bound& a) { return b.call("cartesian_prod", {tensor_list(a)}); }},
    {"torch.functional.tensordot", "a, b, dims=2, out=None",
     [](Builder& b, const Bound& a) {
       return b.call("tensordot", {a["a"], a["b"], a["dims"], a["dims"]});
     }},
};

}  // namespace

std::span<const Rule> functional_rules() { return kRules; }

}  // namespace passnet::runtime
