// Reductions of rows. What PyTorch keeps to itself (a mean, the largest element) is a value of its own here, in float and not
// rounded, as in PyTorch's kernels.
#include <fmt/format.h>

#include <algorithm>

#include "author/define/operators.h"

namespace passnet::author::op {

using namespace formula;  // NOLINT: A + B

namespace {

// Ones that a float counts without rounding.
constexpr int64_t kMostOnes = int64_t{1} << 24;
// Sums up to each place that are computed for each by itself take as many steps as there are pairs of places.
constexpr int64_t kMostSums = 64;
// Places are compared as floats, which hold whole numbers up to this.
constexpr int64_t kMostPlaces = int64_t{1} << 24;

bool goes(const std::vector<int64_t>& dims, int64_t dim) { return std::ranges::find(dims, dim) != dims.end(); }

/// An element as one of that type, to which operators with `dtype` convert it before.
ExprId converted(ExprTable& exprs, ExprId element, ElementId to, const Element& type) {
  if (type.compute == Compute::Int && exprs.at(element).is_real()) return exprs.truncate(element, to);
  const ExprId value = exprs.convert(element, type.compute);
  return type.is_exact() ? value : exprs.round(value, to);
}

/// The parts that all reductions have.
struct Reduced {
  TensorId x = 0;
  Tensor result;
  std::vector<int64_t> dims;
  bool keeps = false;
  bool converts = false;        // elements to the type of the result, before they are reduced
  Compute in = Compute::Float;  // that elements have then
  std::string name;
  std::vector<SizeId> extents;  // of the dimensions that go

  /// An element as it is reduced.
  ExprId taken(const Context& c, Scope& scope, ExprId element) const {
    return converts ? converted(scope.exprs, element, result.element, c.elements[result.element]) : element;
  }
  FoldedPart part(const Context& c) const {
    return [&c, one = *this](Scope& scope, ExprId element, const Place&) { return one.taken(c, scope, element); };
  }
};

/// types: those that elements may have.
Result<Reduced> reduced(Context& c, const Arguments& call, TensorId x, std::initializer_list<Compute> types,
                        std::string_view dims = "dim") {
  Reduced made;
  made.x = x;
  PASSNET_TRY(made.result, c.result_of(call.id()));
  const Compute own = c.element(made.x).compute, given = c.elements[made.result.element].compute;
  // Conditions are added up as what they are.
  made.converts = call.given("dtype") && (own != Compute::Bool || given != Compute::Int);
  made.in = made.converts ? given : own;
  if (std::ranges::find(types, made.in) == types.end())
    return unsupported(fmt::format("{} of another type than float", call.name()));
  PASSNET_TRY(made.dims, call.dimensions(dims, c.rank(made.x)));
  if (call.given("keepdim")) {
    PASSNET_TRY(made.keeps, call.flag("keepdim"));
  }
  made.result.shape = shape_without(c, made.x, made.dims, made.keeps);
  for (int64_t dim = 0; dim < c.rank(made.x); ++dim) {
    if (goes(made.dims, dim)) made.extents.push_back(c.tensors[made.x].shape[static_cast<size_t>(dim)]);
  }
  made.name = call.value_name();
  return made;
}

/// Defines the result as what is made of the fold. made: of A, the fold, and B, the factor.
Result<void> define_reduced(Context& c, Reduced of, TensorId fold, const Formula& made = A, ExprId factor = 0) {
  const ir::NodeId id = *of.result.node;
  const bool is_whole = c.elements[of.result.element].compute == Compute::Int;
  const auto at = [=, keeps = of.keeps, dims = of.dims](Scope& scope, const Place& place) {
    const ExprId element = scope.element(fold, keeps ? place_without(place, dims) : place);
    if (made.is_operand()) return is_whole ? scope.exprs.convert(element, Compute::Int) : element;
    return scope.exprs.apply(made, made.operand_count() == 1 ? std::vector{element} : std::vector{element, factor});
  };
  PASSNET_TRY_VOID(c.define(std::move(of.result), {fold}, 4, at));
  if (!made.is_operand()) c.tensors[fold].stored_as = c.tensor_of[id];
  return {};
}

}  // namespace

/// The place in what is reduced over these dimensions, of one in a result that keeps them.
Place place_without(const Place& place, const std::vector<int64_t>& dims) {
  Place kept;
  for (size_t i = 0; i < place.size(); ++i) {
    if (!goes(dims, static_cast<int64_t>(i))) kept.push_back(place[i]);
  }
  return kept;
}

std::vector<SizeId> shape_without(Context& c, TensorId of, const std::vector<int64_t>& dims, bool keep) {
  const std::vector<SizeId>& whole = c.tensors[of].shape;
  std::vector<SizeId> shape;
  for (size_t i = 0; i < whole.size(); ++i) {
    const bool gone = goes(dims, static_cast<int64_t>(i));
    if (!gone || keep) shape.push_back(gone ? c.sizes.one() : whole[i]);
  }
  return shape;
}

ExprId count(Context& c, const std::vector<SizeId>& extents, Compute compute) {
  return c.exprs.convert(c.exprs.place(c.indices.size(c.sizes.product(extents))), compute);
}

TensorId folded(Context& c, const std::string& name, TensorId of, const std::vector<int64_t>& dims, Fold fold, int work,
                FoldedPart value, SumOrder order) {
  std::vector<SizeId> kept, extents;
  std::vector<bool> goes(c.tensors[of].shape.size());
  for (const int64_t dim : dims) goes[static_cast<size_t>(dim)] = true;
  for (size_t i = 0; i < goes.size(); ++i) (goes[i] ? extents : kept).push_back(c.tensors[of].shape[i]);
  const auto own = static_cast<TensorId>(c.tensors.size());
  const auto at = [=, value = std::move(value)](Scope& scope, const Place& place) {
    std::vector<VariableId> variables = scope.variables(extents, place);
    Place whole;
    size_t next_kept = 0, next_gone = 0;
    for (const bool gone : goes)
      whole.push_back(gone ? scope.indices.variable(variables[next_gone++]) : place[next_kept++]);
    ExprId element = scope.element(of, whole);
    if (value) element = value(scope, element, place);
    // The largest of equal elements is one of them.
    if (fold == Fold::Largest || fold == Fold::Smallest)
      std::erase_if(variables, [&](VariableId one) { return !scope.exprs.free_variables(element).contains(one); });
    return scope.folded(fold, own, variables, element, order);
  };
  const TensorId made = c.hidden(name, kept, {of}, work, at);
  c.tensors[made].folds = true;
  return made;
}

TensorId made_of(Context& c, TensorId fold, const std::string& name,
                 std::function<ExprId(Scope&, ExprId element)> value) {
  const TensorId made = c.hidden(name, c.tensors[fold].shape, {fold}, 0,
                                 [fold, value = std::move(value)](Scope& scope, const Place& place) {
                                   return value(scope, scope.element(fold, place));
                                 });
  c.tensors[made].folds = true;
  c.tensors[fold].stored_as = made;
  return made;
}

Result<void> sum(Context& c, const Arguments& call, TensorId x) {
  PASSNET_TRY(Reduced of, reduced(c, call, x, {Compute::Float, Compute::Int, Compute::Bool}));
  if (of.in == Compute::Float) {
    const TensorId made = folded(c, of.name + "_sum", of.x, of.dims, Fold::Sum, 1, of.part(c));
    return define_reduced(c, std::move(of), made);
  }
  // Whole numbers are added as such; as floats where these are exact: ones and zeros, and not too many of them.
  if (c.elements[of.result.element].compute != Compute::Int)
    return unsupported("a sum of whole numbers as another type");
  const bool as_floats = of.in == Compute::Bool && c.sizes.largest(c.sizes.product(of.extents)) <= kMostOnes;
  const Compute compute = as_floats ? Compute::Float : Compute::Int;
  const TensorId made = folded(c, of.name + "_sum", of.x, of.dims, Fold::Sum, 1,
                               [&c, of, compute](Scope& scope, ExprId element, const Place&) {
                                 return scope.exprs.convert(of.taken(c, scope, element), compute);
                               });
  if (!as_floats) c.tensors[made].element = of.result.element;
  return define_reduced(c, std::move(of), made);
}

Result<void> mean(Context& c, const Arguments& call, TensorId x) {
  PASSNET_TRY(Reduced of, reduced(c, call, x, {Compute::Float}));
  const TensorId made = folded(c, of.name + "_sum", of.x, of.dims, Fold::Sum, 1, of.part(c));
  const ExprId elements = count(c, of.extents, Compute::Float);
  return define_reduced(c, std::move(of), made, A / B, elements);
}

Result<void> extreme(Context& c, const Arguments& call, TensorId x) {
  const bool of_all = call.name() == "max" || call.name() == "min";
  PASSNET_TRY(Reduced of, reduced(c, call, x, {Compute::Float, Compute::Int}, of_all ? "none" : "dim"));
  const Fold fold = call.name().ends_with("max") ? Fold::Largest : Fold::Smallest;
  const TensorId made = folded(c, of.name, of.x, of.dims, fold, 1, of.part(c));
  if (of.in == Compute::Int) c.tensors[made].element = c.tensors[of.x].element;
  return define_reduced(c, std::move(of), made);
}

Result<void> any_or_all(Context& c, const Arguments& call, TensorId x) {
  PASSNET_TRY(Reduced of, reduced(c, call, x, {Compute::Float, Compute::Int, Compute::Bool}));
  const TensorId made =
      folded(c, of.name, of.x, of.dims, call.name() == "any" ? Fold::Any : Fold::All, 1,
             [](Scope& scope, ExprId element, const Place&) { return scope.exprs.convert(element, Compute::Bool); });
  c.tensors[made].element = of.result.element;
  return define_reduced(c, std::move(of), made);
}

Result<void> vector_norm(Context& c, const Arguments& call, TensorId x) {
  PASSNET_TRY(Reduced of, reduced(c, call, x, {Compute::Float}));
  const std::string_view order = call.given("p") ? "p" : "ord";
  const bool one = call.hold(fmt::format("{}=1", order)) || call.hold(fmt::format("{}=1.0", order));
  const bool two = call.hold(fmt::format("{}=2", order)) || call.hold(fmt::format("{}=2.0", order)) ||
                   call.hold(fmt::format("{}=\"fro\"", order));
  if (!one && !two) return unsupported("a norm of another order than 1 and 2");
  const TensorId made = folded(c, of.name + "_sum", of.x, of.dims, Fold::Sum, 2,
                               [&c, of, one](Scope& scope, ExprId element, const Place&) {
                                 return scope.exprs.apply(one ? abs(A) : A * A, {of.taken(c, scope, element)});
                               });
  return define_reduced(c, std::move(of), made, two ? sqrt(A) : A);
}

Result<void> variance(Context& c, const Arguments& call, TensorId x) {
  PASSNET_TRY(Reduced of, reduced(c, call, x, {Compute::Float}));
  if (call.given("correction")) return unsupported("'correction' beside 'unbiased'");
  PASSNET_TRY(const bool unbiased, call.flag("unbiased"));
  const TensorId total = folded(c, of.name + "_sum", of.x, of.dims, Fold::Sum, 1, of.part(c));
  const ExprId elements = count(c, of.extents, Compute::Float);
  const TensorId made = folded(
      c, of.name + "_squares", of.x, of.dims, Fold::Sum, 3, [=](Scope& scope, ExprId element, const Place& place) {
        const ExprId center = scope.exprs.apply(A / B, {scope.element(total, place), elements});
        return scope.exprs.apply(A * A, {scope.exprs.apply(A - B, {element, center})});
      });
  c.tensors[made].takes.push_back(total);
  const Term made_of_squares = unbiased ? A / (B - 1.0) : A / B;
  return define_reduced(c, std::move(of), made, call.name() == "std" ? sqrt(made_of_squares) : made_of_squares,
                        elements);
}

Result<void> max_or_min(Context& c, const Arguments& call, TensorId x) {
  if (call.given("dim")) return several(c, call);
  return call.given("other") ? pointwise(c, call) : extreme(c, call, x);
}

Result<void> cumsum(Context& c, const Arguments& call, TensorId x) {
  PASSNET_TRY(Tensor result, c.result_of(call.id()));
  if (c.rank(x) == 0) return unsupported("cumsum of a number");
  PASSNET_TRY(const int64_t dim, call.dimension("dim", c.rank(x)));
  const Compute compute = c.elements[result.element].compute;
  if (compute == Compute::Bool) return unsupported("cumsum of conditions");
  const SizeId length = c.tensors[x].shape[static_cast<size_t>(dim)];
  const bool is_long = c.sizes.largest(length) > kMostSums;
  if (!is_long) c.sizes.require_at_most(length, c.sizes.literal(kMostSums));
  result.shape = c.tensors[x].shape;
  result.folds = true;
  const auto own = static_cast<TensorId>(c.tensors.size());
  const int work = static_cast<int>(2 * std::min(kMostSums, c.sizes.largest(length)));
  const ElementId stored = result.element;
  // PyTorch adds float32 up as doubles on a CPU, 16 bits as floats, and both in another order on a GPU.
  const Compute sum = compute == Compute::Float && c.elements[stored].has_float32() ? Compute::Double : compute;
  return c.define(std::move(result), {x}, work, [=, &c](Scope& scope, const Place& place) {
    if (is_long) {
      const ExprId element = converted(scope.exprs, scope.element(x, place), stored, c.elements[stored]);
      const IndexId along = place[static_cast<size_t>(dim)];
      return scope.exprs.convert(scope.exprs.running(own, along, scope.exprs.convert(element, sum)), compute);
    }
    const VariableId variable = scope.variables({length}, place)[0];
    Place from = place;
    from[static_cast<size_t>(dim)] = scope.indices.variable(variable);
    const ExprId element = converted(scope.exprs, scope.element(x, from), stored, c.elements[stored]);
    if (scope.sizes.is_one(length)) return element;
    const ExprId before = scope.exprs.apply(
        A <= B, {scope.exprs.place(from[static_cast<size_t>(dim)]), scope.exprs.place(place[static_cast<size_t>(dim)])},
        Compute::Bool);
    return scope.exprs.reduce(Fold::Sum, own, {variable},
                              scope.exprs.guard(before, element, scope.exprs.integer(0, compute)));
  });
}

// PyTorch takes the largest element from the others before, where it is finite.
Result<void> log_sum_exp(Context& c, const Arguments& call, TensorId x) {
  if (c.element(x).compute != Compute::Float) return unsupported("logsumexp of another type than float");
  const auto rank = c.rank(x);
  PASSNET_TRY(const std::vector<int64_t> dims, call.dimensions("dim", rank));
  PASSNET_TRY(const bool keep, call.flag("keepdim"));
  PASSNET_TRY(Tensor result, c.result_of(call.id()));
  result.shape = shape_without(c, x, dims, keep);
  const std::string own = call.value_name();
  const TensorId largest = folded(c, own + "_largest", x, dims, Fold::Largest, 1);
  const auto center = [largest](Scope& scope, const Place& row) {
    return scope.exprs.apply(choose(abs(A) < B, A, 0.0), {scope.element(largest, row),
                                                          scope.exprs.number(std::numeric_limits<double>::infinity())});
  };
  const TensorId total =
      folded(c, own + "_total", x, dims, Fold::Sum, 12, [center](Scope& scope, ExprId element, const Place& row) {
        return scope.exprs.apply(exp(A - B), {element, center(scope, row)});
      });
  c.tensors[total].takes.push_back(largest);
  const auto at = [=](Scope& scope, const Place& place) {
    const Place row = keep ? place_without(place, dims) : place;
    return scope.exprs.apply(log(A) + B, {scope.element(total, row), center(scope, row)});
  };
  return c.define(std::move(result), {largest, total}, 12, at);
}

// The largest or smallest elements, or where each of them is first: the first place at which an element is equal to it.
Result<void> best(Context& c, ir::NodeId id, const Arguments& call, TensorId x, bool largest, bool where) {
  PASSNET_TRY(Tensor result, c.result_of(id));
  const Compute compute = c.element(x).compute;
  if (compute != Compute::Float && compute != Compute::Int)
    return unsupported("the best elements of another type than float and int");
  const std::vector<SizeId> shape = c.tensors[x].shape;
  const auto rank = static_cast<int64_t>(shape.size());
  if (!call.given("dim") && rank != 1) return unsupported("the best of all elements of several dimensions");
  int64_t dim = 0;
  if (call.given("dim")) {
    PASSNET_TRY(dim, call.dimension("dim", rank));
  }
  if (rank == 0) return unsupported("the best of one element");
  PASSNET_TRY(const bool keep, call.flag("keepdim"));
  if (c.sizes.largest(shape[static_cast<size_t>(dim)]) > kMostPlaces) return unsupported("the place in too long a row");
  const std::string own(c.graph.node(id).name);
  const TensorId extreme = folded(c, own + "_extreme", x, {dim}, largest ? Fold::Largest : Fold::Smallest, 1);
  if (compute == Compute::Int) c.tensors[extreme].element = c.tensors[x].element;
  TensorId made = extreme;
  if (where) {
    made = c.hidden(own + "_place", c.tensors[extreme].shape, {x, extreme}, 3, {});
    c.tensors[made].folds = true;
    const SizeId length = shape[static_cast<size_t>(dim)];
    c.tensors[made].at = [=](Scope& scope, const Place& place) {
      const VariableId variable = scope.variables({length}, place)[0];
      Place whole = place;
      whole.insert(whole.begin() + dim, scope.indices.variable(variable));
      // NaN is larger and smaller than all, and equal to nothing.
      const ExprId candidate =
          scope.exprs.apply(choose((A == B) | (A != A), C, D),
                            {scope.element(x, whole), scope.element(extreme, place),
                             scope.exprs.convert(scope.exprs.place(scope.indices.variable(variable)), Compute::Float),
                             scope.exprs.number(kMostPlaces)});
      return scope.folded(Fold::Smallest, made, {variable}, candidate);
    };
  }
  result.shape = shape;
  if (keep)
    result.shape[static_cast<size_t>(dim)] = c.sizes.one();
  else
    result.shape.erase(result.shape.begin() + dim);
  return c.define(std::move(result), {made}, 1, [=](Scope& scope, const Place& place) {
    Place row = place;
    if (keep) row.erase(row.begin() + dim);
    const ExprId element = scope.element(made, row);
    return where ? scope.exprs.convert(element, Compute::Int) : element;
  });
}

Result<void> argmax_or_argmin(Context& c, const Arguments& call, TensorId x) {
  return best(c, call.id(), call, x, call.name() == "argmax", true);
}

}  // namespace passnet::author::op
