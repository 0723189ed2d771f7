// Norms and softmax: each element by what its row is reduced to.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "author/define/operators.h"

namespace passnet::author::op {

using namespace formula;  // NOLINT: A + B

using ir::ArgKind;

namespace {

void take_given(std::vector<TensorId>& takes, std::initializer_list<std::optional<TensorId>> tensors) {
  for (const auto& given : tensors) {
    if (given) takes.push_back(*given);
  }
}

TensorId mean_of(Context& c, TensorId sum, const std::string& norm, ExprId elements) {
  return made_of(c, sum, norm + "_mean", [=](Scope& scope, ExprId total) {
    return scope.exprs.apply(A / B, {total, elements});
  });
}

TensorId scale_of(Context& c, TensorId squares, const std::string& norm, ExprId elements, ExprId eps,
                  const Formula& variance = A / B) {
  return made_of(c, squares, norm + "_scale", [=](Scope& scope, ExprId total) {
    return scope.exprs.apply(rsqrt(Term(variance) + C), {total, elements, eps});
  });
}

/// Returns the same elements with the groups apart.
TensorId in_groups(Context& c, const std::string& name, TensorId x, const std::vector<SizeId>& apart) {
  const std::vector<SizeId> all = c.tensors[x].shape;
  const TensorId grouped = c.hidden(name, apart, {x}, 0, [=](Scope& scope, const Place& place) {
    return scope.element(x, scope.indices.reshape(place, apart, all));
  });
  c.tensors[grouped].is_view = true;
  c.tensors[grouped].element = c.tensors[x].element;
  return grouped;
}

/// The values that an element of a norm of groups follows from.
struct GroupNorm {
  TensorId x, mean, scale;
  std::optional<TensorId> weight, bias;     // per channel
  std::vector<SizeId> all, apart;           // the shape, and that with the groups apart
  std::optional<ElementId> rounds_to = {};  // the type that mean and scale are stored in
  RoundsOn stores_on = RoundsOn::Both;
  bool has_summand = false;  // on a GPU it has one factor and one summand per channel

  ExprId statistic(Scope& scope, TensorId of, const Place& row) const {
    const ExprId value = scope.element(of, row);
    return rounds_to ? scope.exprs.round_on(stores_on, value, *rounds_to) : value;
  }
  ExprId at(Scope& scope, const Place& place) const {
    const Place own_place = scope.indices.reshape(place, all, apart), channel = {place[1]};
    const Place row(own_place.begin(), own_place.begin() + 2);
    const ExprId element = scope.element(x, place), center = statistic(scope, mean, row);
    const ExprId by = statistic(scope, scale, row);
    const std::optional<ExprId> factor = weight ? std::optional(scope.element(*weight, channel)) : std::nullopt;
    const std::optional<ExprId> summand = bias ? std::optional(scope.element(*bias, channel)) : std::nullopt;
    ExprId value = scope.exprs.apply(A * B, {scope.exprs.apply(A - B, {element, center}), by});
    if (factor) value = scope.exprs.apply(A * B, {value, *factor});
    if (summand) value = scope.exprs.apply(A + B, {value, *summand});
    if (!has_summand) return value;
    const ExprId scaled = factor ? scope.exprs.apply(A * B, {by, *factor}) : by;
    const ExprId shift =
        scope.exprs.apply(A - multiply(B, C), {summand ? *summand : scope.exprs.number(0), center, scaled});
    return scope.exprs.by_target(value, scope.exprs.apply(A * B + C, {element, scaled, shift}));
  }
};

// PyTorch stores the mean and the deviation before it goes on with them: those of group_norm on a GPU, and those of
// instance_norm on a CPU, with what the deviation is made of.
Result<void> norm_of_groups(Context& c, const Arguments& call, TensorId x, SizeId group_count, SizeId in_group,
                            RoundsOn stores_on) {
  PASSNET_TRY(Tensor result, c.result_of(call.id()));
  if (c.element(x).compute != Compute::Float) return unsupported("a norm of another type than float");
  const std::vector<SizeId> all = c.tensors[x].shape;
  PASSNET_TRY(const Operand eps, c.operand(call.at("eps"), Compute::Float));
  std::vector<SizeId> apart = {all[0], group_count, in_group};
  apart.insert(apart.end(), all.begin() + 2, all.end());
  const std::string own = call.value_name();
  const TensorId grouped = in_groups(c, own + "_grouped", x, apart);
  std::vector<int64_t> dims(apart.size() - 2);
  std::iota(dims.begin(), dims.end(), 2);
  const ExprId elements = count(c, {apart.begin() + 2, apart.end()}, Compute::Float);
  const SumOrder order = stores_on == RoundsOn::Gpu ? SumOrder::GroupNorm : SumOrder::Any;
  const TensorId sum = folded(c, own + "_sum", grouped, dims, Fold::Sum, 1, {}, order);
  const TensorId mean = mean_of(c, sum, own, elements);
  const TensorId squares = folded(
      c, own + "_squares", grouped, dims, Fold::Sum, 3,
      [=](Scope& scope, ExprId element, const Place& row) {
        const ExprId centered = scope.exprs.apply(A - B, {element, scope.element(mean, row)});
        return scope.exprs.apply(A * A, {centered});
      },
      order);
  c.tensors[squares].takes.push_back(mean);
  const std::optional<TensorId> weight = c.optional_tensor(call.at("weight")),
                                bias = c.optional_tensor(call.at("bias"));
  const ElementId stored = c.tensors[x].element;
  const bool is_mixed = weight && c.tensors[*weight].element != stored;
  const bool stores_variance = stores_on == RoundsOn::Cpu && !is_mixed;
  const Formula variance = stores_variance ? Formula(Op::InstanceVariance, stored, {A, B}) : A / B;
  const TensorId scale = scale_of(c, squares, own, elements, eps.number, variance);
  std::vector<TensorId> takes = {x, mean, scale};
  take_given(takes, {weight, bias});
  result.shape = all;
  result.loops = apart;
  // PyTorch has a kernel of its own for planes of one element.
  const bool is_flat =
      std::ranges::all_of(all.begin() + 2, all.end(), [&](SizeId size) { return c.sizes.is_one(size); });
  const GroupNorm norm = {.x = x,
                          .mean = mean,
                          .scale = scale,
                          .weight = weight,
                          .bias = bias,
                          .all = all,
                          .apart = apart,
                          .rounds_to = is_mixed ? std::nullopt : std::optional(stored),
                          .stores_on = stores_on,
                          .has_summand = stores_on == RoundsOn::Gpu && (weight || bias) && !is_flat};
  return c.define(std::move(result), std::move(takes), 4,
                  [norm](Scope& scope, const Place& place) { return norm.at(scope, place); });
}

}  // namespace

Result<void> softmax(Context& c, const Arguments& call, TensorId x) {
  const std::string_view name = call.name();
  if (c.rank(x) == 0) return unsupported(fmt::format("{} of a number", name));
  PASSNET_TRY(const int64_t dim, call.dimension("dim", c.rank(x)));
  PASSNET_TRY(Tensor result, c.result_of(call.id()));
  if (c.element(x).compute != Compute::Float || c.elements[result.element].compute != Compute::Float)
    return unsupported(fmt::format("{} of another type than float", name));
  result.shape = c.tensors[x].shape;
  const std::string own = call.value_name();
  const bool negative = name == "softmin", logarithm = name == "log_softmax";
  const ElementId element_type = result.element;
  // With `dtype` the elements are converted before.
  const bool converts = call.given("dtype") && !c.elements[element_type].is_exact();
  const auto taken = [=](Scope& scope, ExprId element) {
    if (converts) element = scope.exprs.round(element, element_type);
    return negative ? scope.exprs.apply(-A, {element}) : element;
  };
  const TensorId largest = folded(c, own + "_largest", x, {dim}, Fold::Largest, 1,
                                  [=](Scope& scope, ExprId element, const Place&) { return taken(scope, element); });
  const auto shifted = [=](Scope& scope, ExprId element, const Place& row) {
    return scope.exprs.apply(A - B, {taken(scope, element), scope.element(largest, row)});
  };
  const TensorId total = folded(
      c, own + "_total", x, {dim}, Fold::Sum, 12,
      [=](Scope& scope, ExprId element, const Place& row) {
        return scope.exprs.apply(exp(A), {shifted(scope, element, row)});
      },
      SumOrder::Softmax);
  c.tensors[total].takes.push_back(largest);
  const TensorId last = !logarithm ? total : made_of(c, total, own + "_logarithm", [](Scope& scope, ExprId sum) {
    return scope.exprs.apply(log(A), {sum});
  });
  const auto at = [=](Scope& scope, const Place& place) {
    Place row = place;
    row.erase(row.begin() + dim);
    const ExprId apart = shifted(scope, scope.element(x, place), row);
    if (logarithm) return scope.exprs.apply(A - B, {apart, scope.element(last, row)});
    const ExprId power = scope.exprs.apply(exp(A), {apart}), sum = scope.element(last, row);
    const ExprId inverse = scope.exprs.apply(1.0 / A, {sum});
    return scope.exprs.by_target(scope.exprs.apply(A * B, {power, inverse}),
                                 scope.exprs.apply(kQuotient, {power, sum}));
  };
  return c.define(std::move(result), {x, largest, last}, 12, at);
}

Result<void> layer_norm(Context& c, const Arguments& call, TensorId x) {
  const bool rms = call.name() == "rms_norm";
  PASSNET_TRY(Tensor result, c.result_of(call.id()));
  if (c.element(x).compute != Compute::Float) return unsupported("a norm of another type than float");
  const ir::Arg& shape = call.at("normalized_shape");
  const bool whole = shape.kind == ArgKind::Node;  // one input of the pattern for the whole shape
  if (!whole && !is_sequence(shape)) return unsupported("'normalized_shape' is no shape");
  const size_t length =
      whole ? std::max<size_t>(1, c.subject.types[0][shape.node].length) : c.graph.elements(shape).size();
  if (rms && !call.given("eps")) return unsupported("rms_norm whose 'eps' is that of the dtype");
  const std::vector<SizeId> all = c.tensors[x].shape;
  if (length == 0 || length > all.size()) return unsupported("'normalized_shape' is no shape");
  const size_t kept = all.size() - length;
  std::vector<int64_t> dims(length);
  std::iota(dims.begin(), dims.end(), static_cast<int64_t>(kept));
  const std::vector<SizeId> row_shape(all.begin() + static_cast<ptrdiff_t>(kept), all.end());
  PASSNET_TRY(const Operand eps, c.operand(call.at("eps"), Compute::Float));
  const std::optional<TensorId> weight = c.optional_tensor(call.at("weight")),
                                bias = c.optional_tensor(call.at("bias"));
  const ExprId elements = count(c, row_shape, Compute::Float);
  const std::string own = call.value_name();
  std::vector<TensorId> takes = {x};
  std::optional<TensorId> mean;
  if (!rms) {
    mean = mean_of(c, folded(c, own + "_sum", x, dims, Fold::Sum, 1, {}, SumOrder::LayerNorm), own, elements);
    takes.push_back(*mean);
  }
  const auto centered = [=](Scope& scope, ExprId element, const Place& row) {
    return mean ? scope.exprs.apply(A - B, {element, scope.element(*mean, row)}) : element;
  };
  const TensorId squares = folded(
      c, own + "_squares", x, dims, Fold::Sum, 3,
      [=](Scope& scope, ExprId element, const Place& row) {
        return scope.exprs.apply(A * A, {centered(scope, element, row)});
      },
      rms ? SumOrder::Any : SumOrder::LayerNorm);
  if (mean) c.tensors[squares].takes.push_back(*mean);
  const TensorId scale = scale_of(c, squares, own, elements, eps.number);
  takes.push_back(scale);
  take_given(takes, {weight, bias});
  result.shape = all;
  const auto at = [=](Scope& scope, const Place& place) {
    const Place row(place.begin(), place.begin() + static_cast<ptrdiff_t>(kept));
    const Place within(place.begin() + static_cast<ptrdiff_t>(kept), place.end());
    ExprId value = scope.exprs.apply(A * B, {centered(scope, scope.element(x, place), row), scope.element(scale, row)});
    if (weight) value = scope.exprs.apply(A * B, {value, scope.element(*weight, within)});
    if (bias) value = scope.exprs.apply(A + B, {value, scope.element(*bias, within)});
    return value;
  };
  return c.define(std::move(result), std::move(takes), 4, at);
}

Result<void> group_norm(Context& c, const Arguments& call, TensorId x) {
  PASSNET_TRY(const int64_t groups, call.integer("num_groups"));
  if (c.tensors[x].shape.size() < 2) return unsupported("group_norm of fewer than two dimensions");
  const SizeId group_count = c.sizes.literal(groups);
  PASSNET_TRY(const SizeId in_group, c.sizes.quotient(c.tensors[x].shape[1], group_count));
  return norm_of_groups(c, call, x, group_count, in_group, RoundsOn::Gpu);
}

// Each channel is a group.
Result<void> instance_norm(Context& c, const Arguments& call, TensorId x) {
  if (call.given("running_mean") || call.given("running_var") || !call.hold("use_input_stats=True"))
    return unsupported("instance_norm with statistics that are kept");
  if (c.tensors[x].shape.size() < 3) return unsupported("instance_norm of fewer than three dimensions");
  return norm_of_groups(c, call, x, c.tensors[x].shape[1], c.sizes.one(), RoundsOn::Cpu);
}

// x / max(norm, eps), each rounded as PyTorch does, which computes it by four operators.
Result<void> normalize(Context& c, const Arguments& call, TensorId x) {
  PASSNET_TRY(Tensor result, c.result_of(call.id()));
  if (!call.hold("p=2") && !call.hold("p=2.0")) return unsupported("a norm of another order than 2");
  if (c.elements[result.element].compute != Compute::Float) return unsupported("normalize of another type than float");
  PASSNET_TRY(const std::vector<int64_t> dims, call.dimensions("dim", c.rank(x)));
  if (dims.size() != 1) return unsupported("normalize over several dimensions");
  PASSNET_TRY(const Operand eps, c.operand(call.at("eps"), Compute::Float));
  const int64_t dim = dims[0];
  const TensorId squares =
      folded(c, call.value_name() + "_squares", x, dims, Fold::Sum, 2,
             [](Scope& scope, ExprId element, const Place&) { return scope.exprs.apply(A * A, {element}); });
  const ElementId stored = result.element;
  const bool exact = c.elements[stored].is_exact();
  const TensorId norm = made_of(c, squares, call.value_name() + "_norm", [=](Scope& scope, ExprId sum) {
    const auto rounded = [&](ExprId part) { return exact ? part : scope.exprs.round(part, stored); };
    const ExprId root = rounded(scope.exprs.apply(sqrt(A), {sum})), least = rounded(eps.number);
    return scope.exprs.apply(choose(A < B, B, A), {root, least});
  });
  result.shape = c.tensors[x].shape;
  const auto at = [=](Scope& scope, const Place& place) {
    Place row = place;
    row.erase(row.begin() + dim);
    return scope.exprs.apply(A / B, {scope.element(x, place), scope.element(norm, row)});
  };
  return c.define(std::move(result), {x, norm}, 6, at);
}

// The mean over all places, which is what pooling to a single one is.
Result<void> adaptive_mean(Context& c, const Arguments& call, TensorId x) {
  PASSNET_TRY(Tensor result, c.float_result_of(call.id(), "pooling"));
  PASSNET_TRY(const std::vector<int64_t> sizes, call.integers("output_size"));
  const std::vector<SizeId> shape = c.tensors[x].shape;
  const size_t spatial = call.name().ends_with("1d") ? 1 : call.name().ends_with("2d") ? 2 : 3;
  if (std::ranges::any_of(sizes, [](int64_t size) { return size != 1; }))
    return unsupported("pooling to several places");
  if (shape.size() < spatial) return unsupported("pooling of too few dimensions");
  std::vector<int64_t> dims(spatial);
  std::iota(dims.begin(), dims.end(), static_cast<int64_t>(shape.size() - spatial));
  const TensorId total = folded(c, call.value_name() + "_sum", x, dims, Fold::Sum, 1);
  const size_t kept = shape.size() - spatial;
  const ExprId elements = count(c, {shape.begin() + static_cast<ptrdiff_t>(kept), shape.end()}, Compute::Float);
  result.shape = shape;
  for (const int64_t dim : dims) result.shape[static_cast<size_t>(dim)] = c.sizes.one();
  const auto at = [=](Scope& scope, const Place& place) {
    const Place own(place.begin(), place.begin() + static_cast<ptrdiff_t>(kept));
    return scope.exprs.apply(A / B, {scope.element(total, own), elements});
  };
  PASSNET_TRY_VOID(c.define(std::move(result), {total}, 4, at));
  c.tensors[total].stored_as = c.tensor_of[call.id()];
  return {};
}

Result<void> batch_norm(Context& c, const Arguments& call, TensorId x) {
  PASSNET_TRY(const bool training, call.flag("training"));
  if (training) return unsupported("batch_norm in training changes its statistics");
  PASSNET_TRY(Tensor result, c.result_of(call.id()));
  result.shape = c.tensors[x].shape;
  if (c.element(x).compute != Compute::Float) return unsupported("batch_norm of another type than float");
  if (result.shape.size() < 2) return unsupported("batch_norm of fewer than two dimensions");
  PASSNET_TRY(const Operand eps, c.operand(call.at("eps"), Compute::Float));
  PASSNET_TRY(const TensorId mean, c.tensor(call.at("running_mean")));
  PASSNET_TRY(const TensorId variance, c.tensor(call.at("running_var")));
  const std::optional<TensorId> weight = c.optional_tensor(call.at("weight")),
                                bias = c.optional_tensor(call.at("bias"));
  std::vector<TensorId> takes = {x, mean, variance};
  take_given(takes, {weight, bias});
  // Rounds as PyTorch does: on a CPU it has one factor and one summand per channel, on a GPU it subtracts the mean
  // first.
  const auto at = [=](Scope& scope, const Place& place) {
    const Place channel = {place[1]};
    const ExprId element = scope.element(x, place), center = scope.element(mean, channel);
    const ExprId spread = scope.element(variance, channel),
                 inverse = scope.exprs.apply(1.0 / sqrt(A + B), {spread, eps.number});
    const ExprId factor = weight ? scope.element(*weight, channel) : scope.exprs.number(1);
    const ExprId summand = bias ? scope.element(*bias, channel) : scope.exprs.number(0);
    const ExprId scale = weight ? scope.exprs.apply(A * B, {inverse, factor}) : inverse;
    const ExprId shift =
        bias ? scope.exprs.apply(A - B * C, {summand, center, scale}) : scope.exprs.apply(-(A * B), {center, scale});
    return scope.exprs.by_target(
        scope.exprs.apply(A * B + C, {element, scale, shift}),
        scope.exprs.apply(batch_normalized(A, B, C, D, E),
                          {element, center, scope.exprs.apply(rsqrt(A + B), {spread, eps.number}), factor, summand}));
  };
  return c.define(std::move(result), std::move(takes), 3, at);
}

}  // namespace passnet::author::op
