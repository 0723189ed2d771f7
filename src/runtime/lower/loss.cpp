// The losses of torch.nn.functional. Source: torch/nn/functional.py and torch/nn/_reduction.py of
// PyTorch 2.11 (behaviour).
#include <ATen/ops/any.h>
#include <ATen/ops/lt.h>
#include <fmt/format.h>

#include <cmath>

#include "runtime/lower/lower.h"

namespace passnet::runtime {

namespace {

enum class Reduction : uint8_t { None, Mean, Sum };

/// By `reduction`, or by the two flags that were its form before.
Reduction reduction_of(const Bound& args) {
  if (args.has("size_average") && (args.given("size_average") || args.given("reduce"))) {
    const bool reduce = !args.given("reduce") || args.flag("reduce");
    const bool average = !args.given("size_average") || args.flag("size_average");
    return !reduce ? Reduction::None : average ? Reduction::Mean : Reduction::Sum;
  }
  const std::string text = args.text("reduction");
  if (text == "none") return Reduction::None;
  if (text == "mean") return Reduction::Mean;
  if (text == "sum") return Reduction::Sum;
  refuse(fmt::format("reduction '{}': expected 'none', 'mean' or 'sum'", text));
}

}  // namespace

Operand reduction(const Bound& args) { return Operand::of_int(static_cast<int64_t>(reduction_of(args))); }

namespace {

Operand reduce(Builder& builder, const Operand& loss, Reduction how) {
  if (how == Reduction::None) return loss;
  return builder.call(how == Reduction::Mean ? "mean" : "sum", {loss});
}

/// mse_loss and l1_loss with `weight`: the weighted sum is divided by the sum of the weights.
Operand weighted(Builder& builder, const Bound& args, const Operand& unweighted) {
  const Operand loss = builder.call("mul", {unweighted, args["weight"]});
  if (reduction_of(args) != Reduction::Mean) return reduce(builder, loss, reduction_of(args));
  return builder.call("div", {builder.call("sum", {loss}), builder.call("sum", {args["weight"]})});
}

Operand mse_loss(Builder& builder, const Bound& args) {
  if (!args.given("weight")) return builder.call("mse_loss", {args["input"], args["target"], reduction(args)});
  const Operand gap = builder.call("sub", {args["input"], args["target"]});
  return weighted(builder, args, builder.call("pow", {gap, Operand::of_int(2)}));
}

Operand l1_loss(Builder& builder, const Bound& args) {
  if (!args.given("weight")) return builder.call("l1_loss", {args["input"], args["target"], reduction(args)});
  const Operand gap = builder.call("sub", {args["input"], args["target"]});
  return weighted(builder, args, builder.call("abs", {gap}));
}

Operand smooth_l1_loss(Builder& builder, const Bound& args) {
  if (args.real("beta") == 0) return builder.call("l1_loss", {args["input"], args["target"], reduction(args)});
  return builder.call("smooth_l1_loss", {args["input"], args["target"], reduction(args), args["beta"]});
}

Operand huber_loss(Builder& builder, const Bound& args) {
  if (!args.given("weight"))
    return builder.call("huber_loss", {args["input"], args["target"], reduction(args), args["delta"]});
  const Operand loss = builder.call("huber_loss", {args["input"], args["target"], Operand::of_int(0), args["delta"]});
  return reduce(builder, builder.call("mul", {loss, args["weight"]}), reduction_of(args));
}

c10::IValue first_size(std::vector<c10::IValue>& inputs) {
  const at::Tensor& tensor = inputs[0].toTensor();
  return tensor.dim() == 0 ? 1 : tensor.size(0);
}

Operand kl_div(Builder& builder, const Bound& args) {
  const bool by_batch = args.text("reduction") == "batchmean";
  const Operand how = by_batch ? Operand::of_int(static_cast<int64_t>(Reduction::Sum)) : reduction(args);
  const Operand loss = builder.call("kl_div", {args["input"], args["target"], how},
                                    {{"log_target", Operand::of_bool(args.flag("log_target"))}});
  return by_batch ? builder.call("div", {loss, builder.host(first_size, Kind::Int, {args["input"]})}) : loss;
}

/// The weight as large as the target, as the Python function makes it.
Operand binary_cross_entropy(Builder& builder, const Bound& args) {
  const Operand weight =
      args.given("weight")
          ? builder.call("broadcast_tensors", {Operand::sequence(Kind::List, {args["weight"], args["target"]})})
          : Operand::none();
  const Operand expanded = args.given("weight") ? lower_getitem(builder, weight, Operand::of_int(0)) : Operand::none();
  return builder.call("binary_cross_entropy", {args["input"], args["target"], expanded, reduction(args)});
}

Operand multilabel_soft_margin_loss(Builder& builder, const Bound& args) {
  const Operand &x = args["input"], &y = args["target"];
  const Operand hit = builder.call("mul", {y, builder.call("log_sigmoid", {x})});
  const Operand rest = builder.call("rsub", {y, Operand::of_int(1)});
  const Operand miss = builder.call("mul", {rest, builder.call("log_sigmoid", {builder.call("neg", {x})})});
  Operand loss = builder.call("neg", {builder.call("add", {hit, miss})});
  if (args.given("weight")) loss = builder.call("mul", {loss, args["weight"]});
  const Operand last = Operand::sequence(Kind::List, {Operand::of_int(-1)});
  loss = builder.call("div", {builder.call("sum", {loss, last}), size_of(builder, x, -1)});
  return reduce(builder, loss, reduction_of(args));
}

/// `var` as a tensor that broadcasts against the input: one variance per row gets a last dimension.
c10::IValue variance(std::vector<c10::IValue>& inputs) {
  const at::Tensor &input = inputs[0].toTensor(), &var = inputs[1].toTensor();
  TORCH_CHECK_VALUE(!at::any(at::lt(var, 0)).item<bool>(), "var has negative entry/entries");
  if (var.sizes() == input.sizes()) return var.clone();
  if (input.dim() > 0 && input.sizes().slice(0, static_cast<size_t>(input.dim()) - 1) == var.sizes())
    return var.unsqueeze(-1).clone();
  int64_t differing = 0;
  for (int64_t dim = 0; dim < input.dim() && input.dim() == var.dim(); ++dim) {
    if (input.size(dim) != var.size(dim)) differing += var.size(dim);
  }
  TORCH_CHECK_VALUE(differing == 1, "var is of incorrect size");
  return var.clone();
}

Operand gaussian_nll_loss(Builder& builder, const Bound& args) {
  Operand var = args["var"];
  if (var.is_number()) var = builder.call("mul", {builder.call("ones_like", {args["input"]}), var});
  var = builder.host(variance, Kind::Tensor, {args["input"], var});
  var = builder.call("clamp_", {var}, {{"min", args["eps"]}});
  const Operand gap = builder.call("sub", {args["input"], args["target"]});
  const Operand square = builder.call("pow", {gap, Operand::of_int(2)});
  const Operand terms = builder.call("add", {builder.call("log", {var}), builder.call("div", {square, var})});
  Operand loss = builder.call("mul", {terms, Operand::of_float(0.5)});
  if (args.flag("full")) loss = builder.call("add_", {loss, Operand::of_float(0.5 * std::log(2 * M_PI))});
  return reduce(builder, loss, reduction_of(args));
}

const Rule kLossRules[] = {
    {"F.mse_loss", mse_loss},
    {"F.l1_loss", l1_loss},
    {"F.smooth_l1_loss", smooth_l1_loss},
    {"F.huber_loss", huber_loss},
    {"F.kl_div", kl_div},
    {"F.binary_cross_entropy", binary_cross_entropy},
    {"F.poisson_nll_loss", "poisson_nll_loss(input, target, log_input, full, eps, reduction)"},
    {"F.gaussian_nll_loss", gaussian_nll_loss},
    {"F.ctc_loss", "ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)"},
    {"F.margin_ranking_loss", "margin_ranking_loss(input1, input2, target, margin, reduction)"},
    {"F.cosine_embedding_loss", "cosine_embedding_loss(input1, input2, target, margin, reduction)"},
    {"F.hinge_embedding_loss", "hinge_embedding_loss(input, target, margin, reduction)"},
    {"F.multilabel_margin_loss", "multilabel_margin_loss(input, target, reduction)"},
    {"F.soft_margin_loss", "soft_margin_loss(input, target, reduction)"},
    {"F.multilabel_soft_margin_loss", multilabel_soft_margin_loss},
    {"F.multi_margin_loss", "multi_margin_loss(input, target, p, margin, weight, reduction)"},
    {"F.triplet_margin_loss", "triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction)"},
};

}  // namespace

std::span<const Rule> loss_rules() { return kLossRules; }

}  // namespace passnet::runtime
