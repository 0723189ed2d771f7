// torch.functional (whose functions are torch.X, too) and methods of the same names: one row for each
// function that is Python in PyTorch. Source: torch/functional.py of PyTorch 2.11 (behaviour), without the
// opt_einsum package.
#include <ATen/ExpandUtils.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include "runtime/lower/lower.h"

namespace passnet::runtime {

namespace {

/// torch.norm of a dense tensor; also Tensor.norm.
Operand norm(Builder& builder, const Bound& args) {
  Operand p = args["p"], dim = args["dim"];
  if (dim.is_number()) dim = Operand::sequence(Kind::List, {dim});
  if (p.kind == Kind::String) {
    if (p.value.toStringRef() != "fro" || (dim.is_sequence() && dim.elements.size() > 2)) {
      // Without dimensions: all of them, which must be two.
      if (dim.kind == Kind::None) dim = Operand::sequence(Kind::List, {Operand::of_int(-2), Operand::of_int(-1)});
      return builder.call("linalg_matrix_norm", {args["input"], p, dim, args["keepdim"]}, {{"dtype", args["dtype"]}});
    }
    p = Operand::of_float(2.0);
  }
  if (p.kind == Kind::None) p = Operand::of_float(2.0);
  return builder.call("linalg_vector_norm", {args["input"], p, dim, args["keepdim"]}, {{"dtype", args["dtype"]}});
}

Operand one_or_list(const Bound& args) {
  const Operand& rest = args["tensors"];
  return rest.elements.size() == 1 ? rest.elements[0] : rest;
}

Operand meshgrid(Builder& builder, const Bound& args) {
  const Operand indexing = args.given("indexing") ? args["indexing"] : Operand::of_string("ij");
  return builder.call("meshgrid", {args.list("tensors")}, {{"indexing", indexing}});
}

/// Of three results the first, and the others as far as they were asked for.
Operand wanted_of(const Operand& all, const Bound& args) {
  std::vector<Operand> wanted{all.elements[0]};
  if (args.flag("return_inverse")) wanted.push_back(all.elements[1]);
  if (args.flag("return_counts")) wanted.push_back(all.elements[2]);
  return wanted.size() == 1 ? wanted[0] : Operand::sequence(Kind::Tuple, std::move(wanted));
}

Operand unique(Builder& builder, const Bound& args) {
  const Operand sorted = args["sorted"], inverse = args["return_inverse"], counts = args["return_counts"];
  return wanted_of(args.given("dim") ? builder.call("unique_dim", {args["input"], args["dim"], sorted, inverse, counts})
                                     : builder.call("_unique2", {args["input"], sorted, inverse, counts}),
                   args);
}

Operand unique_consecutive(Builder& builder, const Bound& args) {
  return wanted_of(
      builder.call("unique_consecutive", {args["input"], args["return_inverse"], args["return_counts"], args["dim"]}),
      args);
}

/// dims: how many last dimensions of `a` meet the first of `b`, or both lists.
Operand tensordot(Builder& builder, const Bound& args) {
  const Operand& dims = args["dims"];
  if (dims.is_sequence() && dims.slot < 0) {
    if (dims.elements.size() != 2)
      refuse(fmt::format("tensordot(): dims has {} elements, expected 2", dims.elements.size()));
    const auto list = [](const Operand& one) { return one.is_number() ? Operand::sequence(Kind::List, {one}) : one; };
    return builder.call("tensordot", {args["a"], args["b"], list(dims.elements[0]), list(dims.elements[1])});
  }
  constexpr int64_t kMostDimensions = 64;  // of a tensor that a sum over listed dimensions takes
  std::vector<Operand> of_a, of_b;
  const int64_t count = args.integer("dims");
  if (count < 0 || count > kMostDimensions)
    refuse(fmt::format("tensordot(): dims is {}, expected 0 to {}", count, kMostDimensions));
  for (int64_t i = 0; i < count; ++i) {
    of_a.push_back(Operand::of_int(i - count));
    of_b.push_back(Operand::of_int(i));
  }
  return builder.call("tensordot",
                      {args["a"], args["b"], Operand::sequence(Kind::List, of_a), Operand::sequence(Kind::List, of_b)});
}

Operand cdist(Builder& builder, const Bound& args) {
  const std::string mode = args.text("compute_mode");
  const int64_t number = mode == "use_mm_for_euclid_dist_if_necessary" ? 0
                         : mode == "use_mm_for_euclid_dist"            ? 1
                         : mode == "donot_use_mm_for_euclid_dist"      ? 2
                                                                       : -1;
  if (number < 0) refuse(fmt::format("cdist(): compute_mode '{}' is not valid", mode));
  return builder.call("cdist",
                      {args["x1"], args["x2"], args["p"], number == 0 ? Operand::none() : Operand::of_int(number)});
}

c10::IValue broadcast_shape(std::vector<c10::IValue>& inputs) {
  return at::infer_size(inputs[0].toIntVector(), inputs[1].toIntVector());
}

Operand broadcast_shapes(Builder& builder, const Bound& args) {
  Operand result = Operand::sequence(Kind::Tuple, {});
  for (const Operand& shape : args["shapes"].elements)
    result = builder.host(broadcast_shape, Kind::List,
                          {result, shape.is_number() ? Operand::sequence(Kind::Tuple, {shape}) : shape});
  return result;
}

/// What each dimension's index is: indices / (product of later sizes) % size.
Operand unravel_index(Builder& builder, const Bound& args) {
  const Operand shape = args["shape"].is_number() ? Operand::sequence(Kind::Tuple, {args["shape"]}) : args["shape"];
  if (shape.slot >= 0) throw LoweringError{unsupported("unravel_index() with a shape that is known only at run time")};
  std::vector<Operand> results(shape.elements.size());
  Operand later = Operand::of_int(1);
  for (size_t i = results.size(); i-- > 0;) {
    results[i] = builder.call("remainder", {builder.call("floor_divide", {args["indices"], later}), shape.elements[i]});
    later = lower_number_operator(builder, "*", {later, shape.elements[i]});
  }
  return Operand::sequence(Kind::Tuple, std::move(results));
}

Operand lu(Builder& builder, const Bound& args) {
  Operand all = builder.call("_lu_with_info", {args["A"], args["pivot"], Operand::of_bool(!args.flag("get_infos"))});
  if (!args.flag("get_infos")) all.elements.pop_back();
  return all;
}

Operand nonzero(Builder& builder, const Bound& args) {
  return builder.call(args.flag("as_tuple") ? "nonzero_numpy" : "nonzero", {args["input"]});
}

/// einsum(equation, *operands), or einsum(x, [0, 1], y, [1, 2], [0, 2]).
Operand einsum(Builder& builder, const Bound& args) {
  const std::vector<Operand>& all = args["args"].elements;
  if (all.empty()) refuse("einsum(): expected an equation and its operands");
  if (all[0].kind == Kind::String) {
    const bool listed = all.size() == 2 && all[1].is_sequence();
    return builder.call("einsum",
                        {all[0], listed ? all[1] : Operand::sequence(Kind::List, {all.begin() + 1, all.end()})});
  }
  std::string equation;
  std::vector<Operand> operands;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i % 2 == 0 && i + 1 < all.size()) {
      operands.push_back(all[i]);
      continue;
    }
    if (i > 0) equation += i + 1 == all.size() && i % 2 == 0 ? "->" : i > 1 ? "," : "";
    for (const Operand& subscript : all[i].elements) {
      const int64_t n = subscript.kind == Kind::Int && subscript.slot < 0 ? subscript.value.toInt() : -1;
      if (subscript.kind != Kind::Ellipsis && (n < 0 || n >= 52))
        refuse("einsum(): a subscript is no integer from 0 to 51");
      equation +=
          subscript.kind == Kind::Ellipsis ? "..." : std::string(1, static_cast<char>(n < 26 ? 'A' + n : 'a' + n - 26));
    }
  }
  return builder.call("einsum", {Operand::of_string(equation), Operand::sequence(Kind::List, std::move(operands))});
}

Operand stft(Builder& builder, const Bound& args) {
  return builder.call("stft", args.values(), {}, {.overload = "center"});
}

/// Rows of `input`, sorted by expert, times that expert's matrix; offs: where each expert's rows end.
c10::IValue grouped_product(std::vector<c10::IValue>& inputs) {
  const at::Tensor &input = inputs[0].toTensor(), &weight = inputs[1].toTensor();
  at::Tensor output = at::zeros({input.size(0), weight.size(2)}, input.options());
  if (output.is_meta()) return output;  // its type is all that is asked for
  const at::Tensor ends = inputs[2].toTensor().to(at::kLong).contiguous();
  int64_t start = 0;
  for (int64_t i = 0; i < ends.numel(); ++i) {
    const int64_t end = ends.const_data_ptr<int64_t>()[i];
    TORCH_CHECK(start <= end && end <= input.size(0), "group ", i, " ends at row ", end, ", expected one from ", start,
                " to ", input.size(0));
    if (start == end) continue;
    at::Tensor rows = output.slice(0, start, end);
    at::mm_out(rows, input.slice(0, start, end), weight.select(0, i));
    start = end;
  }
  return output;
}

const Rule kTorchRules[] = {
    {"torch.functional.unique Tensor.unique", unique},
    {"torch.functional.unique_consecutive Tensor.unique_consecutive", unique_consecutive},
    {"torch.functional.stft Tensor.stft", stft},
    {"torch.functional.cdist", cdist},
    {"torch.functional.broadcast_shapes", broadcast_shapes},
    {"torch.functional.unravel_index", unravel_index},
    {"torch.functional.lu", lu},
    {"Tensor.lu", lu},
    {"torch.nonzero", nonzero},
    {"Tensor.nonzero", nonzero},
    {"torch.functional.norm", norm},
    {"Tensor.norm", norm},
    {"torch.functional.einsum", einsum},
    {"torch.functional.meshgrid", meshgrid},
    {"torch.functional.block_diag", "block_diag(list(tensors))"},
    {"torch.functional.cartesian_prod", "cartesian_prod(list(tensors))"},
    {"torch.ops.transformers.grouped_mm_fallback", host_call<grouped_product, Kind::Tensor>},
    {"torch.functional.chain_matmul", "chain_matmul(list(tensors))"},
    {"torch.functional.atleast_1d torch.functional.atleast_2d torch.functional.atleast_3d",
     [](Builder& b, const Bound& a) { return b.call(a.name(), {one_or_list(a)}); }},
    {"torch.functional.tensordot", tensordot},
};

}  // namespace

std::span<const Rule> torch_rules() { return kTorchRules; }

}  // namespace passnet::runtime
