// Pictures made larger or smaller: each place of the result lies somewhere between places of the operand.
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "author/define/operators.h"

namespace passnet::author::op {

using namespace formula;  // NOLINT: A + B

using ir::ArgKind;

namespace {

/// A place beside where one of the result lies along a dimension, and its share.
struct Neighbour {
  IndexId place;
  ExprId weight;
};
using ElementAt = std::function<ExprId(IndexId row, IndexId column)>;

/// The places within, as whole numbers.
ExprId at_most(Scope& scope, ExprId value, IndexId length) {
  return scope.exprs.apply(choose(A < B - 1, A, B - 1), {value, scope.exprs.place(length)}, Compute::Int);
}

/// A mean along rows first, then of these. Compilers of PyTorch round each product and its sum once.
ExprId mean_by_rows(ExprTable& exprs, const std::vector<Neighbour>& rows, const std::vector<Neighbour>& columns,
                    const ElementAt& element) {
  const auto mean = [&](const std::vector<Neighbour>& of, const std::function<ExprId(IndexId)>& part) {
    if (of.size() == 1) return part(of[0].place);
    return exprs.apply(fma(C, A, D * B), {part(of[0].place), part(of[1].place), of[0].weight, of[1].weight});
  };
  return mean(rows, [&](IndexId row) { return mean(columns, [&](IndexId column) { return element(row, column); }); });
}

/// The same by products of weights.
ExprId mean_at_once(ExprTable& exprs, const std::vector<Neighbour>& rows, const std::vector<Neighbour>& columns,
                    const ElementAt& element) {
  if (rows.size() == 1 || columns.size() == 1) return mean_by_rows(exprs, rows, columns, element);
  const auto weight = [&](size_t row, size_t column) {
    return exprs.apply(A * B, {rows[row].weight, columns[column].weight});
  };
  const auto part = [&](size_t row, size_t column) { return element(rows[row].place, columns[column].place); };
  ExprId sum = exprs.apply(fma(C, A, D * B), {part(0, 0), part(0, 1), weight(0, 0), weight(0, 1)});
  for (const size_t column : {size_t{0}, size_t{1}})
    sum = exprs.apply(fma(B, A, C), {part(1, column), weight(1, column), sum});
  return sum;
}

/// A picture of that shape made one of another. steps: by dimension, as steps_of_picture() has them.
struct Resized {
  std::vector<SizeId> from, to;
  std::vector<std::optional<double>> steps;
  bool nearest = false, corners = false;
  bool stays(size_t dim) const { return to[dim] == from[dim] && !steps[dim]; }
};

// Returns, by dimension of the operand, the step in it for each place of the result: 1 / factor where a factor is given;
// nullopt: the ratio of the sizes, which is the same for whole factors.
Result<std::vector<std::optional<double>>> steps_of_picture(const Context& c, const Arguments& call, size_t rank) {
  std::vector<std::optional<double>> steps(rank);
  if (!call.given("scale_factor") || call.hold("recompute_scale_factor=True")) return steps;
  const ir::Arg& given = call.at("scale_factor");
  const bool are_several = is_sequence(given);
  const std::span<const ir::Arg> factors = are_several ? c.graph.elements(given) : std::span(&given, 1);
  if (are_several && factors.size() + 2 != rank) return unsupported("factors for other dimensions");
  for (size_t dim = 2; dim < rank; ++dim) {
    const ir::Arg& one = factors[are_several ? dim - 2 : 0];
    if (one.kind != ArgKind::Float && one.kind != ArgKind::Int) return unsupported("a factor that is no number");
    const double factor = one.kind == ArgKind::Float ? one.real : static_cast<double>(one.integer);
    if (factor <= 0) return unsupported("a factor that is not above 0");
    if (factor != std::trunc(factor)) steps[dim] = static_cast<double>(static_cast<float>(1 / factor));
  }
  return steps;
}

/// Computes the source index of a place of the result, in float as PyTorch does.
ExprId between_places(Scope& scope, IndexId at, const Resized& of, size_t dim) {
  const auto number = [&](IndexId index) { return scope.exprs.convert(scope.exprs.place(index), Compute::Float); };
  const ExprId place = number(at), in = number(scope.indices.size(of.from[dim])),
               out = number(scope.indices.size(of.to[dim]));
  if (of.corners) return scope.exprs.apply(A * choose(C > 1.0, (B - 1.0) / (C - 1.0), 0.0), {place, in, out});
  const bool is_given = of.steps[dim].has_value();
  const Term step = is_given ? B : B / C;
  const std::vector<ExprId> parts =
      is_given ? std::vector{place, scope.exprs.number(*of.steps[dim])} : std::vector{place, in, out};
  if (of.nearest) return scope.exprs.apply(A * step, parts);
  const ExprId moved = scope.exprs.apply(fma(step, A + 0.5, -0.5), parts);
  return scope.exprs.apply(choose(A < 0.0, 0.0, A), {moved});
}

// PyTorch takes means of large pictures by rows on a CPU, with weights that are elements of the result's type.
Result<bool> means_by_rows(Context& c, const std::vector<SizeId>& shape, ElementId stored) {
  constexpr int64_t kMostAtOnce = 128;
  const ByExample rows = c.sizes.values(shape[2]), columns = c.sizes.values(shape[3]);
  size_t large = 0;
  for (size_t e = 0; e < rows.size(); ++e) large += rows[e] + columns[e] > kMostAtOnce ? 1 : 0;
  if (large > 0 && large < rows.size() && !c.elements[stored].is_exact())
    return unsupported("pictures of 16 bits, of which PyTorch takes means in two ways");
  return large > 0;
}

Result<void> interpolate_linearly(Context& c, TensorId x, Tensor result, const Resized& of) {
  if (of.from.size() != 4) return unsupported("a picture of other dimensions");
  const ElementId stored = result.element;
  PASSNET_TRY(const bool by_rows, means_by_rows(c, of.to, stored));
  const bool rounds = by_rows && !c.elements[stored].is_exact();
  return c.define(std::move(result), {x}, 30, [=](Scope& scope, const Place& place) {
    const auto neighbours = [&](size_t dim) -> std::vector<Neighbour> {
      if (of.stays(dim)) return {{place[dim], scope.exprs.number(1)}};
      const ExprId at = between_places(scope, place[dim], of, dim);
      const ExprId whole = at_most(scope, scope.exprs.convert(at, Compute::Int), scope.indices.size(of.from[dim]));
      const ExprId next = scope.exprs.apply(A + choose(A < B - 1, 1, 0),
                                            {whole, scope.exprs.place(scope.indices.size(of.from[dim]))}, Compute::Int);
      const auto weight = [&](ExprId exact) {
        return rounds ? scope.exprs.round_on(RoundsOn::Cpu, exact, stored) : exact;
      };
      const ExprId share = weight(scope.exprs.apply(A - B, {at, scope.exprs.convert(whole, Compute::Float)}));
      return {{scope.indices.element(whole), weight(scope.exprs.apply(1.0 - A, {share}))},
              {scope.indices.element(next), share}};
    };
    const std::vector<Neighbour> rows = neighbours(2), columns = neighbours(3);
    const auto element = [&](IndexId row, IndexId column) {
      return scope.element(x, {place[0], place[1], row, column});
    };
    const ExprId mean = mean_by_rows(scope.exprs, rows, columns, element);
    return by_rows ? mean : scope.exprs.by_target(mean_at_once(scope.exprs, rows, columns, element), mean);
  });
}

}  // namespace

Result<void> interpolate(Context& c, const Arguments& call, TensorId x) {
  if (call.given("scale_factor") && !call.given("size")) {
    // Records a whole factor between two sizes as their product.
    for (size_t dim = 2; dim < c.tensors[x].shape.size(); ++dim) {
      const SizeId from = c.tensors[x].shape[dim];
      const int64_t into = c.subject.types[0][call.id()].tensor.shape[dim], factor = into / c.sizes.values(from)[0];
      if (factor * c.sizes.values(from)[0] == into) c.sizes.product(from, c.sizes.literal(factor));
    }
  }
  PASSNET_TRY(Tensor result, sized_result(c, call.id(), call.at("size")));
  if (c.elements[result.element].compute != Compute::Float) return unsupported("a picture of another type than float");
  Resized of{c.tensors[x].shape, result.shape, {}, call.hold("mode=\"nearest\""), false};
  if (!of.nearest && !call.hold("mode=\"bilinear\""))
    return unsupported("a picture of another mode than nearest and bilinear");
  if (call.given("antialias") && !call.hold("antialias=False")) return unsupported("a picture with antialiasing");
  of.corners = !of.nearest && call.given("align_corners") && call.hold("align_corners=True");
  PASSNET_TRY(of.steps, steps_of_picture(c, call, of.from.size()));
  if (!of.nearest) return interpolate_linearly(c, x, std::move(result), of);
  return c.define(std::move(result), {x}, 8, [=](Scope& scope, const Place& place) {
    Place own = place;
    for (size_t dim = 2; dim < own.size(); ++dim) {
      if (of.stays(dim)) continue;
      const ExprId whole = scope.exprs.convert(between_places(scope, place[dim], of, dim), Compute::Int);
      own[dim] = scope.indices.element(at_most(scope, whole, scope.indices.size(of.from[dim])));
    }
    return scope.element(x, own);
  });
}

}  // namespace passnet::author::op
