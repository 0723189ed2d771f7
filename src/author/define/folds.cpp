// Operators that look at whole rows: reductions, norms, softmax. What PyTorch keeps to itself (a mean, the largest
// element) is a value of its own here, in float and not rounded, as in PyTorch's kernels.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "author/define/definitions.h"

namespace passnet::author {

using ir::ArgKind;
using ir::NodeId;

namespace {

// Ones that a float counts without rounding.
constexpr int64_t kMostOnes = int64_t{1} << 24;
// Sums up to each place that are computed for each by itself take as many steps as there are pairs of places.
constexpr int64_t kMostSums = 64;

bool goes(const std::vector<int64_t>& dims, int64_t dim) { return std::ranges::find(dims, dim) != dims.end(); }

/// The place in what is reduced over these dimensions, of one in a result that keeps them.
std::vector<IndexId> place_without(const std::vector<IndexId>& place, const std::vector<int64_t>& dims) {
  std::vector<IndexId> kept;
  for (size_t i = 0; i < place.size(); ++i) {
    if (!goes(dims, static_cast<int64_t>(i))) kept.push_back(place[i]);
  }
  return kept;
}

/// An element as one of that type, to which operators with `dtype` convert it before.
ExprId converted(ExprTable& exprs, ExprId element, ElementId to, const Element& type) {
  if (type.compute == Compute::Int && exprs.at(element).is_real()) return exprs.truncate(element, to);
  const ExprId value = exprs.convert(element, type.compute);
  return type.is_exact() ? value : exprs.round(value, to);
}

}  // namespace

std::vector<SizeId> Definitions::shape_without(TensorId of, const std::vector<int64_t>& dims, bool keep) {
  const std::vector<SizeId>& whole = tensors_[of].shape;
  std::vector<SizeId> shape;
  for (size_t i = 0; i < whole.size(); ++i) {
    const bool gone = goes(dims, static_cast<int64_t>(i));
    if (!gone || keep) shape.push_back(gone ? sizes_.one() : whole[i]);
  }
  return shape;
}

ExprId Definitions::count(const std::vector<SizeId>& extents, Compute compute) {
  return exprs_.convert(exprs_.place(indices_.size(sizes_.product(extents))), compute);
}

TensorId Definitions::folded(const std::string& name, TensorId of, const std::vector<int64_t>& dims, Fold fold,
                             int work, std::function<ExprId(Scope&, ExprId, const Place&)> value, SumOrder order) {
  std::vector<SizeId> kept, extents;
  std::vector<bool> goes(tensors_[of].shape.size());
  for (const int64_t dim : dims) goes[static_cast<size_t>(dim)] = true;
  for (size_t i = 0; i < goes.size(); ++i) (goes[i] ? extents : kept).push_back(tensors_[of].shape[i]);
  const auto own = static_cast<TensorId>(tensors_.size());
  const auto at = [=, value = std::move(value)](Scope& scope, const Place& place) {
    const std::vector<VariableId> variables = scope.variables(extents, place);
    Place whole;
    size_t next_kept = 0, next_gone = 0;
    for (const bool gone : goes)
      whole.push_back(gone ? scope.indices().variable(variables[next_gone++]) : place[next_kept++]);
    const ExprId element = value(scope, scope.element(of, whole), place);
    // The largest of equal elements is one of them, and there is one.
    const bool is_extreme = fold == Fold::Largest || fold == Fold::Smallest;
    const auto is_the_same = [&](VariableId variable) {
      const SizeId extent = scope.indices().extent(variable);
      return scope.sizes().is_one(extent) || (is_extreme && !scope.exprs().free_variables(element).contains(variable));
    };
    std::vector<VariableId> loops;
    for (const VariableId variable : variables) {
      if (!is_the_same(variable)) loops.push_back(variable);
    }
    return loops.empty() ? element : scope.exprs().reduce(fold, own, loops, element, order);
  };
  const TensorId made = hidden(name, kept, {of}, work, at);
  tensors_[made].folds = true;
  return made;
}

TensorId Definitions::made_of(TensorId fold, const std::string& name,
                              std::function<ExprId(Scope&, ExprId element)> value) {
  const TensorId made =
      hidden(name, tensors_[fold].shape, {fold}, 0, [fold, value = std::move(value)](Scope& scope, const Place& place) {
        return value(scope, scope.element(fold, place));
      });
  tensors_[made].folds = true;
  tensors_[fold].stored_as = made;
  return made;
}

TensorId Definitions::mean_of(TensorId sum, const std::string& norm, ExprId elements) {
  return made_of(sum, norm + "_mean", [=](Scope& scope, ExprId total) {
    return scope.exprs().apply("$0 / $1", {total, elements}, Compute::Float);
  });
}

TensorId Definitions::scale_of(TensorId squares, const std::string& norm, ExprId elements, ExprId eps,
                               const std::string& variance) {
  return made_of(squares, norm + "_scale", [=](Scope& scope, ExprId total) {
    return scope.exprs().apply(fmt::format("rsqrt({} + $2)", variance), {total, elements, eps}, Compute::Float);
  });
}

Result<bool> Definitions::fold(NodeId id, const Arguments& call, std::string_view name) {
  constexpr std::string_view kReductions[] = {
      "sum", "mean", "amax", "amin", "max", "min", "var", "std", "norm", "linalg_vector_norm", "any", "all"};
  Result<void> done = unsupported("");
  if (std::ranges::find(kReductions, name) != std::end(kReductions))
    done = reduction(id, call, name);
  else if (name == "softmax" || name == "log_softmax" || name == "softmin")
    done = softmax(id, call, name);
  else if (name == "logsumexp")
    done = log_sum_exp(id, call);
  else if (name == "layer_norm" || name == "rms_norm")
    done = layer_norm(id, call, name == "rms_norm");
  else if (name == "group_norm")
    done = group_norm(id, call);
  else if (name == "instance_norm")
    done = instance_norm(id, call);
  else if (name == "cumsum")
    done = running_sum(id, call);
  else if (name == "normalize")
    done = normalize(id, call);
  else if (name == "adaptive_avg_pool1d" || name == "adaptive_avg_pool2d" || name == "adaptive_avg_pool3d")
    done = adaptive_mean(id, call);
  else
    return false;
  if (!done) return std::move(done).error();
  return true;
}

Result<void> Definitions::reduction(NodeId id, const Arguments& call, std::string_view name) {
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  const auto rank = static_cast<int64_t>(tensors_[x].shape.size());
  PASSNET_TRY(Tensor result, result_of(id));
  const ElementId stored = result.element;
  // Conditions are added up as what they are.
  const bool converts = call.given("dtype") && (elements_[tensors_[x].element].compute != Compute::Bool ||
                                                elements_[stored].compute != Compute::Int);
  const Compute in = elements_[converts ? stored : tensors_[x].element].compute;
  const bool extreme = name == "max" || name == "min";
  // Whole numbers are added as such; as floats where these are exact: ones and zeros, and not too many of them.
  const bool whole_sum = name == "sum" && (in == Compute::Int || in == Compute::Bool);
  const bool whole_extreme = (extreme || name == "amax" || name == "amin") && in == Compute::Int;
  if (name == "any" || name == "all" ? in == Compute::Double : in != Compute::Float && !whole_sum && !whole_extreme)
    return unsupported(fmt::format("{} of another type than float", name));
  PASSNET_TRY(const std::vector<int64_t> dims, extreme ? call.dimensions("none", rank) : call.dimensions("dim", rank));
  bool keep = false;
  if (!extreme && call.given("keepdim")) {
    PASSNET_TRY(keep, call.flag("keepdim"));
  }
  result.shape = shape_without(x, dims, keep);
  std::vector<SizeId> extents;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (goes(dims, dim)) extents.push_back(tensors_[x].shape[static_cast<size_t>(dim)]);
  }
  const std::string own(graph_.node(id).name);
  const auto plain = [this, converts, stored](Scope& scope, ExprId element, const Place&) {
    return converts ? converted(scope.exprs(), element, stored, elements_[stored]) : element;
  };
  TensorId made = 0;
  ExprId factor = 0;
  std::string text = "$0";
  if (whole_sum) {
    if (elements_[result.element].compute != Compute::Int) return unsupported("a sum of whole numbers as another type");
    const bool as_floats = in == Compute::Bool && sizes_.largest(sizes_.product(extents)) <= kMostOnes;
    const Compute compute = as_floats ? Compute::Float : Compute::Int;
    made = folded(own + "_sum", x, dims, Fold::Sum, 1, [=](Scope& scope, ExprId element, const Place& row) {
      return scope.exprs().convert(plain(scope, element, row), compute);
    });
    if (!as_floats) tensors_[made].element = result.element;
  } else if (name == "sum" || name == "mean") {
    made = folded(own + "_sum", x, dims, Fold::Sum, 1, plain);
    if (name == "mean") {
      factor = count(extents, Compute::Float);
      text = "$0 / $1";
    }
  } else if (name == "amax" || name == "amin" || extreme) {
    made = folded(own, x, dims, name.ends_with("max") ? Fold::Largest : Fold::Smallest, 1, plain);
    if (whole_extreme) tensors_[made].element = tensors_[x].element;
  } else if (name == "any" || name == "all") {
    made = folded(
        own, x, dims, name == "any" ? Fold::Any : Fold::All, 1,
        [](Scope& scope, ExprId element, const Place&) { return scope.exprs().convert(element, Compute::Bool); });
    tensors_[made].element = result.element;
  } else if (name == "norm" || name == "linalg_vector_norm") {
    const std::string_view order = call.given("p") ? "p" : "ord";
    const bool one = call.hold(fmt::format("{}=1", order)) || call.hold(fmt::format("{}=1.0", order));
    const bool two = call.hold(fmt::format("{}=2", order)) || call.hold(fmt::format("{}=2.0", order)) ||
                     call.hold(fmt::format("{}=\"fro\"", order));
    if (!one && !two) return unsupported("a norm of another order than 1 and 2");
    made = folded(own + "_sum", x, dims, Fold::Sum, 2, [=](Scope& scope, ExprId element, const Place& row) {
      return scope.exprs().apply(one ? "abs($0)" : "$0 * $0", {plain(scope, element, row)}, Compute::Float);
    });
    if (two) text = "sqrt($0)";
  } else {
    if (call.given("correction")) return unsupported("'correction' beside 'unbiased'");
    PASSNET_TRY(const bool unbiased, call.flag("unbiased"));
    const TensorId mean = folded(own + "_sum", x, dims, Fold::Sum, 1, plain);
    const ExprId elements = count(extents, Compute::Float);
    made = folded(own + "_squares", x, dims, Fold::Sum, 3, [=](Scope& scope, ExprId element, const Place& place) {
      ExprTable& exprs = scope.exprs();
      const ExprId center = exprs.apply("$0 / $1", {scope.element(mean, place), elements}, Compute::Float);
      const ExprId apart = exprs.apply("$0 - $1", {element, center}, Compute::Float);
      return exprs.apply("$0 * $0", {apart}, Compute::Float);
    });
    tensors_[made].takes.push_back(mean);
    factor = elements;
    text = unbiased ? "$0 / ($1 - 1.0f)" : "$0 / $1";
    if (name == "std") text = fmt::format("sqrt({})", text);
  }
  const auto at = [=](Scope& scope, const Place& place) {
    const ExprId element = scope.element(made, keep ? place_without(place, dims) : place);
    if (text == "$0") return whole_sum ? scope.exprs().convert(element, Compute::Int) : element;
    return scope.exprs().apply(
        text, text.find("$1") == std::string::npos ? std::vector{element} : std::vector{element, factor},
        Compute::Float);
  };
  PASSNET_TRY_VOID(define(id, std::move(result), {made}, 4, at));
  if (text != "$0") tensors_[made].stored_as = tensor_of_[id];
  return {};
}

Result<void> Definitions::softmax(NodeId id, const Arguments& call, std::string_view name) {
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  const auto rank = static_cast<int64_t>(tensors_[x].shape.size());
  if (rank == 0) return unsupported(fmt::format("{} of a number", name));
  PASSNET_TRY(const int64_t dim, call.dimension("dim", rank));
  PASSNET_TRY(Tensor result, result_of(id));
  if (elements_[tensors_[x].element].compute != Compute::Float || elements_[result.element].compute != Compute::Float)
    return unsupported(fmt::format("{} of another type than float", name));
  result.shape = tensors_[x].shape;
  const std::string own(graph_.node(id).name);
  const bool negative = name == "softmin", logarithm = name == "log_softmax";
  const ElementId element_type = result.element;
  // With `dtype` the elements are converted before.
  const bool converts = call.given("dtype") && !elements_[element_type].is_exact();
  const auto taken = [=](Scope& scope, ExprId element) {
    if (converts) element = scope.exprs().round(element, element_type);
    return negative ? scope.exprs().apply("-$0", {element}, Compute::Float) : element;
  };
  const TensorId largest = folded(own + "_largest", x, {dim}, Fold::Largest, 1,
                                  [=](Scope& scope, ExprId element, const Place&) { return taken(scope, element); });
  const auto shifted = [=](Scope& scope, ExprId element, const Place& row) {
    return scope.exprs().apply("$0 - $1", {taken(scope, element), scope.element(largest, row)}, Compute::Float);
  };
  const TensorId total = folded(
      own + "_total", x, {dim}, Fold::Sum, 12,
      [=](Scope& scope, ExprId element, const Place& row) {
        return scope.exprs().apply("exp($0)", {shifted(scope, element, row)}, Compute::Float);
      },
      SumOrder::Softmax);
  tensors_[total].takes.push_back(largest);
  const TensorId last = !logarithm ? total : made_of(total, own + "_logarithm", [](Scope& scope, ExprId sum) {
    return scope.exprs().apply("log($0)", {sum}, Compute::Float);
  });
  const auto at = [=](Scope& scope, const Place& place) {
    ExprTable& exprs = scope.exprs();
    Place row = place;
    row.erase(row.begin() + dim);
    const ExprId apart = shifted(scope, scope.element(x, place), row);
    if (logarithm) return exprs.apply("$0 - $1", {apart, scope.element(last, row)}, Compute::Float);
    const ExprId power = exprs.apply("exp($0)", {apart}, Compute::Float), sum = scope.element(last, row);
    const ExprId inverse = exprs.apply("1.0f / $0", {sum}, Compute::Float);
    return exprs.by_target(exprs.apply("$0 * $1", {power, inverse}, Compute::Float),
                           exprs.apply(kQuotient, {power, sum}, Compute::Float));
  };
  return define(id, std::move(result), {x, largest, last}, 12, at);
}

// PyTorch takes the largest element from the others before, where it is finite.
Result<void> Definitions::log_sum_exp(NodeId id, const Arguments& call) {
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  if (elements_[tensors_[x].element].compute != Compute::Float)
    return unsupported("logsumexp of another type than float");
  const auto rank = static_cast<int64_t>(tensors_[x].shape.size());
  PASSNET_TRY(const std::vector<int64_t> dims, call.dimensions("dim", rank));
  PASSNET_TRY(const bool keep, call.flag("keepdim"));
  PASSNET_TRY(Tensor result, result_of(id));
  result.shape = shape_without(x, dims, keep);
  const std::string own(graph_.node(id).name);
  const TensorId largest =
      folded(own + "_largest", x, dims, Fold::Largest, 1, [](Scope&, ExprId element, const Place&) { return element; });
  const auto center = [largest](Scope& scope, const Place& row) {
    return scope.exprs().apply(
        "?(abs($0) < $1, $0, 0.0f)",
        {scope.element(largest, row), scope.exprs().number(std::numeric_limits<double>::infinity())}, Compute::Float);
  };
  const TensorId total =
      folded(own + "_total", x, dims, Fold::Sum, 12, [center](Scope& scope, ExprId element, const Place& row) {
        return scope.exprs().apply("exp($0 - $1)", {element, center(scope, row)}, Compute::Float);
      });
  tensors_[total].takes.push_back(largest);
  const auto at = [=](Scope& scope, const Place& place) {
    const Place row = keep ? place_without(place, dims) : place;
    return scope.exprs().apply("log($0) + $1", {scope.element(total, row), center(scope, row)}, Compute::Float);
  };
  return define(id, std::move(result), {largest, total}, 12, at);
}

Result<void> Definitions::layer_norm(NodeId id, const Arguments& call, bool rms) {
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  PASSNET_TRY(Tensor result, result_of(id));
  if (elements_[tensors_[x].element].compute != Compute::Float) return unsupported("a norm of another type than float");
  const ir::Arg& shape = call.at("normalized_shape");
  const bool whole = shape.kind == ArgKind::Node;  // one input of the pattern for the whole shape
  if (!whole && shape.kind != ArgKind::Tuple && shape.kind != ArgKind::List)
    return unsupported("'normalized_shape' is no shape");
  const size_t length =
      whole ? std::max<size_t>(1, subject_.types[0][shape.node].length) : graph_.elements(shape).size();
  if (rms && !call.given("eps")) return unsupported("rms_norm whose 'eps' is that of the dtype");
  const std::vector<SizeId> all = tensors_[x].shape;
  if (length == 0 || length > all.size()) return unsupported("'normalized_shape' is no shape");
  const size_t kept = all.size() - length;
  std::vector<int64_t> dims(length);
  std::iota(dims.begin(), dims.end(), static_cast<int64_t>(kept));
  const std::vector<SizeId> row_shape(all.begin() + static_cast<ptrdiff_t>(kept), all.end());
  PASSNET_TRY(const Operand eps, operand(call.at("eps"), Compute::Float));
  const std::optional<TensorId> weight = optional_tensor(call.at("weight")), bias = optional_tensor(call.at("bias"));
  const ExprId elements = count(row_shape, Compute::Float);
  const std::string own(graph_.node(id).name);
  const auto plain = [](Scope&, ExprId element, const Place&) { return element; };
  std::vector<TensorId> takes = {x};
  std::optional<TensorId> mean;
  if (!rms) {
    mean = mean_of(folded(own + "_sum", x, dims, Fold::Sum, 1, plain, SumOrder::LayerNorm), own, elements);
    takes.push_back(*mean);
  }
  const auto centered = [=](Scope& scope, ExprId element, const Place& row) {
    return mean ? scope.exprs().apply("$0 - $1", {element, scope.element(*mean, row)}, Compute::Float) : element;
  };
  const TensorId squares = folded(
      own + "_squares", x, dims, Fold::Sum, 3,
      [=](Scope& scope, ExprId element, const Place& row) {
        return scope.exprs().apply("$0 * $0", {centered(scope, element, row)}, Compute::Float);
      },
      rms ? SumOrder::Any : SumOrder::LayerNorm);
  if (mean) tensors_[squares].takes.push_back(*mean);
  const TensorId scale = scale_of(squares, own, elements, eps.number);
  takes.push_back(scale);
  for (const auto& given : {weight, bias}) {
    if (given) takes.push_back(*given);
  }
  result.shape = all;
  const auto at = [=](Scope& scope, const Place& place) {
    ExprTable& exprs = scope.exprs();
    const Place row(place.begin(), place.begin() + static_cast<ptrdiff_t>(kept));
    const Place within(place.begin() + static_cast<ptrdiff_t>(kept), place.end());
    ExprId value = exprs.apply("$0 * $1", {centered(scope, scope.element(x, place), row), scope.element(scale, row)},
                               Compute::Float);
    if (weight) value = exprs.apply("$0 * $1", {value, scope.element(*weight, within)}, Compute::Float);
    if (bias) value = exprs.apply("$0 + $1", {value, scope.element(*bias, within)}, Compute::Float);
    return value;
  };
  return define(id, std::move(result), std::move(takes), 4, at);
}

Result<void> Definitions::group_norm(NodeId id, const Arguments& call) {
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  PASSNET_TRY(const int64_t groups, call.integer("num_groups"));
  if (tensors_[x].shape.size() < 2) return unsupported("group_norm of fewer than two dimensions");
  const SizeId group_count = sizes_.literal(groups);
  PASSNET_TRY(const SizeId in_group, sizes_.quotient(tensors_[x].shape[1], group_count));
  return norm_of_groups(id, call, group_count, in_group, RoundsOn::Gpu);
}

// Each channel is a group.
Result<void> Definitions::instance_norm(NodeId id, const Arguments& call) {
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  if (call.given("running_mean") || call.given("running_var") || !call.hold("use_input_stats=True"))
    return unsupported("instance_norm with statistics that are kept");
  if (tensors_[x].shape.size() < 3) return unsupported("instance_norm of fewer than three dimensions");
  return norm_of_groups(id, call, tensors_[x].shape[1], sizes_.one(), RoundsOn::Cpu);
}

// PyTorch stores the mean and the deviation before it goes on with them: those of group_norm on a GPU, and those of
// instance_norm on a CPU, with what the deviation is made of.
Result<void> Definitions::norm_of_groups(NodeId id, const Arguments& call, SizeId group_count, SizeId in_group,
                                         RoundsOn stores_on) {
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  PASSNET_TRY(Tensor result, result_of(id));
  if (elements_[tensors_[x].element].compute != Compute::Float) return unsupported("a norm of another type than float");
  const std::vector<SizeId> all = tensors_[x].shape;
  PASSNET_TRY(const Operand eps, operand(call.at("eps"), Compute::Float));
  // The same elements with the groups apart.
  std::vector<SizeId> apart = {all[0], group_count, in_group};
  apart.insert(apart.end(), all.begin() + 2, all.end());
  const std::string own(graph_.node(id).name);
  const TensorId grouped = hidden(own + "_grouped", apart, {x}, 0, [=](Scope& scope, const Place& place) {
    return scope.element(x, scope.indices().reshape(place, apart, all));
  });
  tensors_[grouped].is_view = true;
  tensors_[grouped].element = tensors_[x].element;
  std::vector<int64_t> dims(apart.size() - 2);
  std::iota(dims.begin(), dims.end(), 2);
  const ExprId elements = count({apart.begin() + 2, apart.end()}, Compute::Float);
  const SumOrder order = stores_on == RoundsOn::Gpu ? SumOrder::GroupNorm : SumOrder::Any;
  const TensorId sum = folded(
      own + "_sum", grouped, dims, Fold::Sum, 1, [](Scope&, ExprId element, const Place&) { return element; }, order);
  const TensorId mean = mean_of(sum, own, elements);
  const TensorId squares = folded(
      own + "_squares", grouped, dims, Fold::Sum, 3,
      [=](Scope& scope, ExprId element, const Place& row) {
        const ExprId centered = scope.exprs().apply("$0 - $1", {element, scope.element(mean, row)}, Compute::Float);
        return scope.exprs().apply("$0 * $0", {centered}, Compute::Float);
      },
      order);
  tensors_[squares].takes.push_back(mean);
  const std::optional<TensorId> weight = optional_tensor(call.at("weight")), bias = optional_tensor(call.at("bias"));
  const ElementId stored = tensors_[x].element;
  const bool is_mixed = weight && tensors_[*weight].element != stored;
  const bool stores_variance = stores_on == RoundsOn::Cpu && !is_mixed;
  const std::string variance =
      stores_variance ? fmt::format("instance_variance<{}>($0, $1)", elements_[stored].kernel) : "$0 / $1";
  const TensorId scale = scale_of(squares, own, elements, eps.number, variance);
  std::vector<TensorId> takes = {x, mean, scale};
  for (const auto& given : {weight, bias}) {
    if (given) takes.push_back(*given);
  }
  const auto as_stored = [=](Scope& scope, ExprId value) {
    return is_mixed ? value : scope.exprs().round_on(stores_on, value, stored);
  };
  result.shape = all;
  result.loops = apart;
  // PyTorch has a kernel of its own for planes of one element.
  const bool is_flat =
      std::ranges::all_of(all.begin() + 2, all.end(), [&](SizeId size) { return sizes_.is_one(size); });
  const bool has_summand = stores_on == RoundsOn::Gpu && (weight || bias) && !is_flat;
  const auto at = [=](Scope& scope, const Place& place) {
    ExprTable& exprs = scope.exprs();
    const Place own_place = scope.indices().reshape(place, all, apart), channel = {place[1]};
    const Place row(own_place.begin(), own_place.begin() + 2);
    const ExprId element = scope.element(x, place), center = as_stored(scope, scope.element(mean, row));
    const ExprId by = as_stored(scope, scope.element(scale, row));
    const std::optional<ExprId> factor = weight ? std::optional(scope.element(*weight, channel)) : std::nullopt;
    const std::optional<ExprId> summand = bias ? std::optional(scope.element(*bias, channel)) : std::nullopt;
    ExprId value = exprs.apply("$0 * $1", {exprs.apply("$0 - $1", {element, center}), by});
    if (factor) value = exprs.apply("$0 * $1", {value, *factor});
    if (summand) value = exprs.apply("$0 + $1", {value, *summand});
    if (!has_summand) return value;
    // On a GPU it has one factor and one summand per channel.
    const ExprId scaled = factor ? exprs.apply("$0 * $1", {by, *factor}) : by;
    const ExprId shift = exprs.apply("$0 - multiply($1, $2)", {summand ? *summand : exprs.number(0), center, scaled});
    return exprs.by_target(value, exprs.apply("$0 * $1 + $2", {element, scaled, shift}));
  };
  return define(id, std::move(result), std::move(takes), 4, at);
}

Result<void> Definitions::running_sum(NodeId id, const Arguments& call) {
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  PASSNET_TRY(Tensor result, result_of(id));
  const auto rank = static_cast<int64_t>(tensors_[x].shape.size());
  if (rank == 0) return unsupported("cumsum of a number");
  PASSNET_TRY(const int64_t dim, call.dimension("dim", rank));
  const Compute compute = elements_[result.element].compute;
  if (compute == Compute::Bool) return unsupported("cumsum of conditions");
  const SizeId length = tensors_[x].shape[static_cast<size_t>(dim)];
  const bool is_long = sizes_.largest(length) > kMostSums;
  if (!is_long) sizes_.require_at_most(length, sizes_.literal(kMostSums));
  result.shape = tensors_[x].shape;
  result.folds = true;
  const auto own = static_cast<TensorId>(tensors_.size());
  const int work = static_cast<int>(2 * std::min(kMostSums, sizes_.largest(length)));
  const ElementId stored = result.element;
  // PyTorch adds float32 up as doubles on a CPU, 16 bits as floats, and both in another order on a GPU.
  const Compute sum = compute == Compute::Float && elements_[stored].has_float32() ? Compute::Double : compute;
  return define(id, std::move(result), {x}, work, [=, this](Scope& scope, const Place& place) {
    ExprTable& exprs = scope.exprs();
    if (is_long) {
      const ExprId element = converted(exprs, scope.element(x, place), stored, elements_[stored]);
      const IndexId along = place[static_cast<size_t>(dim)];
      return exprs.convert(exprs.running(own, along, exprs.convert(element, sum)), compute);
    }
    const VariableId variable = scope.variables({length}, place)[0];
    Place from = place;
    from[static_cast<size_t>(dim)] = scope.indices().variable(variable);
    const ExprId element = converted(exprs, scope.element(x, from), stored, elements_[stored]);
    if (scope.sizes().is_one(length)) return element;
    const ExprId before = exprs.apply(
        "$0 <= $1", {exprs.place(from[static_cast<size_t>(dim)]), exprs.place(place[static_cast<size_t>(dim)])},
        Compute::Bool);
    return exprs.reduce(Fold::Sum, own, {variable}, exprs.guard(before, element, exprs.integer(0, compute)));
  });
}

// The mean over all places, which is what pooling to a single one is.
Result<void> Definitions::adaptive_mean(NodeId id, const Arguments& call) {
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  PASSNET_TRY(Tensor result, result_of(id));
  if (elements_[result.element].compute != Compute::Float) return unsupported("pooling of another type than float");
  PASSNET_TRY(const std::vector<int64_t> sizes, call.integers("output_size"));
  const std::vector<SizeId> shape = tensors_[x].shape;
  const size_t spatial = graph_.node(id).target.ends_with("1d") ? 1 : graph_.node(id).target.ends_with("2d") ? 2 : 3;
  if (std::ranges::any_of(sizes, [](int64_t size) { return size != 1; }))
    return unsupported("pooling to several places");
  if (shape.size() < spatial) return unsupported("pooling of too few dimensions");
  std::vector<int64_t> dims(spatial);
  std::iota(dims.begin(), dims.end(), static_cast<int64_t>(shape.size() - spatial));
  const TensorId total = folded(std::string(graph_.node(id).name) + "_sum", x, dims, Fold::Sum, 1,
                                [](Scope&, ExprId element, const Place&) { return element; });
  const size_t kept = shape.size() - spatial;
  const ExprId elements = count({shape.begin() + static_cast<ptrdiff_t>(kept), shape.end()}, Compute::Float);
  result.shape = shape;
  for (const int64_t dim : dims) result.shape[static_cast<size_t>(dim)] = sizes_.one();
  const auto at = [=](Scope& scope, const Place& place) {
    const Place own(place.begin(), place.begin() + static_cast<ptrdiff_t>(kept));
    return scope.exprs().apply("$0 / $1", {scope.element(total, own), elements}, Compute::Float);
  };
  PASSNET_TRY_VOID(define(id, std::move(result), {total}, 4, at));
  tensors_[total].stored_as = tensor_of_[id];
  return {};
}

// x / max(norm, eps), each rounded as PyTorch does, which computes it by four operators.
Result<void> Definitions::normalize(NodeId id, const Arguments& call) {
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  PASSNET_TRY(Tensor result, result_of(id));
  if (!call.hold("p=2") && !call.hold("p=2.0")) return unsupported("a norm of another order than 2");
  if (elements_[result.element].compute != Compute::Float) return unsupported("normalize of another type than float");
  const auto rank = static_cast<int64_t>(tensors_[x].shape.size());
  PASSNET_TRY(const std::vector<int64_t> dims, call.dimensions("dim", rank));
  if (dims.size() != 1) return unsupported("normalize over several dimensions");
  PASSNET_TRY(const Operand eps, operand(call.at("eps"), Compute::Float));
  const int64_t dim = dims[0];
  const TensorId squares = folded(std::string(graph_.node(id).name) + "_squares", x, dims, Fold::Sum, 2,
                                  [](Scope& scope, ExprId element, const Place&) {
                                    return scope.exprs().apply("$0 * $0", {element}, Compute::Float);
                                  });
  const ElementId stored = result.element;
  const bool exact = elements_[stored].is_exact();
  const TensorId norm = made_of(squares, std::string(graph_.node(id).name) + "_norm", [=](Scope& scope, ExprId sum) {
    ExprTable& exprs = scope.exprs();
    const auto rounded = [&](ExprId part) { return exact ? part : exprs.round(part, stored); };
    const ExprId root = rounded(exprs.apply("sqrt($0)", {sum}, Compute::Float)), least = rounded(eps.number);
    return exprs.apply("?($0 < $1, $1, $0)", {root, least}, Compute::Float);
  });
  result.shape = tensors_[x].shape;
  const auto at = [=](Scope& scope, const Place& place) {
    Place row = place;
    row.erase(row.begin() + dim);
    return scope.exprs().apply("$0 / $1", {scope.element(x, place), scope.element(norm, row)}, Compute::Float);
  };
  return define(id, std::move(result), {x, norm}, 6, at);
}

}  // namespace passnet::author
