// Convolutions of few channels, or in tiles.

#include <algorithm>
#include <ranges>

#include "author/define/operators.h"
#include "author/define/products.h"

namespace passnet::author::op {

using namespace formula;  // NOLINT: A + B

namespace {

// Steps of a convolution: over few channels, and over a single one.
constexpr int64_t kMostTaps = 32, kMostTapsOfChannel = 128;
// Most multiplications of a 1x1 convolution in 16 bits on a GPU: with more, tiles took 4 to 16 times as long as libraries.
constexpr int64_t kMostOfPlacesIn16Bits = int64_t{1} << 26;

/// A convolution, as it becomes known.
struct Convolution {
  TensorId x = 0, weight = 0, filters = 0;  // filters: the weight, or its channels in blocks
  Tensor result;
  std::vector<SizeId> shape, window;
  SizeId channels = 0, groups = 0, in_group = 0;  // channels: of a group
  std::vector<Number> steps, paddings;
  bool overlaps = false;  // windows, or they hang over an edge
  bool in_tiles = false;
  bool is_depthwise = false;               // each channel has filters of its own
  std::optional<SizeId> blocks = {};       // of channels
  std::vector<SizeId> step, spread, sums;  // sums: the loops over a window
  std::vector<IndexId> padding;
  std::vector<bool> padded;

  size_t spatial() const { return shape.size() - 2; }
};

TensorId weight_in_blocks(Context& c, TensorId weight, SizeId blocks) {
  Tensor made = same_elements(c, weight, c.tensors[weight].name + "_in_blocks");
  const SizeId block = c.sizes.literal(kBlockOfChannels);
  made.shape[1] = blocks;
  made.shape.push_back(block);
  made.reorders = true;
  made.at = [=](Scope& scope, const Place& place) {
    Place from(place.begin(), place.end() - 1);
    from[1] = scope.indices.add(scope.indices.scale(place[1], block), place.back());
    return scope.element(weight, from);
  };
  return c.add(std::move(made));
}

/// Reads the operands. what else they have is not known yet.
Result<Convolution> convolved(Context& c, const Arguments& call) {
  Convolution made;
  PASSNET_TRY(made.x, c.tensor(call.at("input")));
  PASSNET_TRY(made.weight, c.tensor(call.at("weight")));
  PASSNET_TRY(made.result, c.result_of(call.id()));
  if (c.elements[made.result.element].compute != Compute::Float ||
      c.tensors[made.weight].element != made.result.element)
    return unsupported("a convolution of another type than float");
  made.shape = c.tensors[made.x].shape;
  made.window = c.tensors[made.weight].shape;
  if (made.shape.size() < 3 || made.shape.size() != made.window.size())
    return unsupported("a convolution of other ranks");
  PASSNET_TRY(made.steps, c.numbers_for(call.at("stride"), made.spatial()));
  PASSNET_TRY(made.paddings, c.numbers_for(call.at("padding"), made.spatial()));
  return made;
}

/// Decides whether tiles or loops compute it. taps: products of a sum, at most. Errors: Unsupported: libraries are faster.
Result<void> choose_way(Context& c, const std::vector<ValueType>& types, Convolution& of, int64_t taps) {
  const std::vector<SizeId>&shape = of.shape, &window = of.window;
  const InTiles tiles = c.products.tiles;
  const auto matrices_of = [&](size_t graph) {
    Matrices made{c.sizes.values(of.groups)[graph], c.sizes.values(of.in_group)[graph], c.sizes.values(shape[0])[graph],
                  1};
    for (size_t dim = 1; dim < window.size(); ++dim) made.depth *= c.sizes.values(window[dim])[graph];
    for (size_t dim = 2; dim < window.size(); ++dim) made.columns *= types[graph].tensor.shape[dim];
    return made;
  };
  const bool of_places =
      std::all_of(window.begin() + 2, window.end(), [&](SizeId size) { return c.sizes.is_one(size); });
  const auto is_lost = [&](size_t graph) {
    return of_places && ir::size_bytes(types[graph].tensor.dtype) == 2 &&
           matrices_of(graph).products() > kMostOfPlacesIn16Bits;
  };
  bool is_whole = true;  // a window that is the whole picture: a product of matrices, both in order
  for (size_t i = 0; i < of.spatial(); ++i) {
    of.overlaps = of.overlaps || !of.paddings[i].is(0) ||
                  c.sizes.largest(window[2 + i]) > c.sizes.largest(c.magnitude(of.steps[i]));
    is_whole = is_whole && of.paddings[i].is(0) && window[2 + i] == shape[2 + i];
  }
  const Matrices largest{c.sizes.largest(of.groups), c.sizes.largest(of.in_group), c.sizes.largest(shape[0]), taps};
  const bool is_thin = taps <= (c.sizes.is_one(of.channels) ? kMostTapsOfChannel : kMostTaps) ||
                       (is_whole && largest.are_thin(true, tiles));
  // A GPU finds windows that overlap place by place, which pays where it does so for many channels at once.
  const bool goes_in_blocks = tiles == InTiles::OnGpu && of.overlaps;
  const auto fill_blocks = [](int64_t size) { return size % kBlockOfChannels == 0; };
  const auto graphs = std::views::iota(size_t{0}, types.size());
  const bool may_tile = tiles != InTiles::None && (tiles != InTiles::OnGpu || std::ranges::none_of(graphs, is_lost)) &&
                        (!goes_in_blocks || std::ranges::all_of(c.sizes.values(of.channels), fill_blocks));
  // A processor's tiles take up to thousands of sums at once, however few steps they have.
  const bool is_worth_tiles = !is_thin || (tiles == InTiles::OnCpu && taps >= kFewestStepsOnCpu);
  of.in_tiles = is_worth_tiles && may_tile &&
                std::ranges::any_of(graphs, [&](size_t graph) { return matrices_of(graph).fit(tiles); });
  if (!is_thin && !of.in_tiles) return unsupported("a convolution that libraries are faster at");
  return {};
}

/// Finds where windows lie, and with that the shape of the result and the loops of a sum.
Result<void> place_windows(Context& c, const Arguments& call, const std::vector<ValueType>& types, Convolution& of) {
  PASSNET_TRY(const std::vector<Number> dilations, c.numbers_for(call.at("dilation"), of.spatial()));
  of.result.shape = {of.shape[0], of.window[0]};
  for (size_t i = 0; i < of.spatial(); ++i) {
    const SizeId whole = of.shape[2 + i];
    of.step.push_back(c.magnitude(of.steps[i]));
    of.spread.push_back(c.magnitude(dilations[i]));
    of.padded.push_back(!of.paddings[i].is(0));
    of.padding.push_back(c.counted(of.paddings[i], whole));
    const SizeId length =
        window_count(c, whole, of.window[2 + i], of.step[i], c.magnitude(of.paddings[i]), of.spread[i]);
    of.result.shape.push_back(length);
    if (c.sizes.values(length) != sizes_along(types, 2 + i)) return unsupported("windows of another number");
  }
  of.sums.assign(of.window.begin() + 1, of.window.end());
  of.filters = of.weight;
  if (!of.in_tiles) return {};
  if (!c.sizes.is_one(of.groups)) {
    of.result.loops = of.result.shape;
    of.result.loops[1] = of.in_group;
    of.result.loops.insert(of.result.loops.begin() + 1, of.groups);
  }
  if (c.products.tiles == InTiles::OnGpu && of.overlaps) {
    PASSNET_TRY(of.blocks, c.sizes.quotient(of.channels, c.sizes.literal(kBlockOfChannels)));
    of.filters = weight_in_blocks(c, of.weight, *of.blocks);
    of.sums[0] = *of.blocks;
    of.sums.push_back(c.sizes.literal(kBlockOfChannels));
  }
  return {};
}

/// The sum that is an element. own: the tensor that sums are elements of.
ExprId sum_of_window(const Convolution& of, TensorId own, Scope& scope, const Place& place) {
  const std::vector<VariableId> variables = scope.variables(of.sums, place);
  const IndexId group = scope.indices.divide(place[1], of.in_group), first = scope.indices.variable(variables[0]);
  const IndexId in_block = of.blocks ? scope.indices.variable(variables.back()) : scope.indices.zero();
  const IndexId channel = of.blocks ? scope.indices.add(scope.indices.scale(first, of.sums.back()), in_block) : first;
  Place from = {place[0], scope.indices.add(scope.indices.scale(group, of.channels), channel)};
  Place tap = {place[1], first};
  std::optional<ExprId> inside;
  for (size_t i = 0; i < of.spatial(); ++i) {
    tap.push_back(scope.indices.variable(variables[1 + i]));
    const IndexId there =
        scope.indices.add(scope.indices.scale(place[2 + i], of.step[i]), scope.indices.scale(tap.back(), of.spread[i]));
    from.push_back(scope.indices.subtract(there, of.padding[i]));
    if (of.padded[i]) inside = scope.exprs.both(inside, scope.exprs.inside(from.back(), of.shape[2 + i]));
  }
  ExprId element = scope.element(of.x, from);
  if (inside) element = scope.exprs.guard(*inside, element, scope.exprs.number(0));
  if (of.blocks) tap.push_back(in_block);
  ExprId product = scope.exprs.apply(A * B, {element, scope.element(of.filters, tap)});
  // PyTorch's kernels for channels of their own leave these out on a GPU; on a CPU an infinite weight times 0 counts.
  if (inside && of.is_depthwise && !of.in_tiles)
    product = scope.exprs.by_target(product, scope.exprs.apply(choose(A, B, 0), {*inside, product}));
  return scope.folded(Fold::Sum, own, variables, product);
}

}  // namespace

// Takes few channels each: groups with one channel first of all.
Result<void> convolution(Context& c, const Arguments& call) {
  PASSNET_TRY(Convolution of, convolved(c, call));
  of.channels = of.window[1];
  PASSNET_TRY(of.groups, c.sizes.quotient(of.shape[1], of.channels));
  PASSNET_TRY(of.in_group, c.sizes.quotient(of.window[0], of.groups));
  of.is_depthwise = c.sizes.is_one(of.channels) && !c.sizes.is_one(of.groups);
  const std::vector<ValueType> types = c.subject.types_of(call.id());
  int64_t taps = 1;
  for (size_t dim = 1; dim < of.window.size(); ++dim) taps *= c.sizes.largest(of.window[dim]);
  PASSNET_TRY_VOID(choose_way(c, types, of, taps));
  PASSNET_TRY_VOID(place_windows(c, call, types, of));
  Tensor result = of.result;
  const auto own = static_cast<TensorId>(c.tensors.size());
  const At at = [of, own](Scope& scope, const Place& place) { return sum_of_window(of, own, scope, place); };
  const std::optional<TensorId> bias = c.optional_tensor(call.at("bias"));
  if (!of.in_tiles) {
    result.loops = result.shape;
    return define_sum(c, std::move(result), {of.x, of.weight}, bias, 1, taps, at);
  }
  PASSNET_TRY_VOID(define_in_tiles(c, std::move(result), {of.x, of.filters}, bias, 1, at));
  Tensor& made = c.tensors.back();
  made.overlaps = of.overlaps;
  made.channels = of.channels;
  made.blocks = of.blocks;
  return {};
}

// Takes windows that lie side by side: a product of the channels of each place with the filters of each place of a
// window.
Result<void> transposed_convolution(Context& c, const Arguments& call) {
  PASSNET_TRY(Convolution of, convolved(c, call));
  const TensorId x = of.x, weight = of.weight;
  Tensor& result = of.result;
  const std::vector<SizeId> shape = of.shape, window = of.window;
  const size_t spatial = of.spatial();
  PASSNET_TRY(const std::vector<Number> added, c.numbers_for(call.at("output_padding"), spatial));
  PASSNET_TRY(const std::vector<Number> dilations, c.numbers_for(call.at("dilation"), spatial));
  if (!call.hold("groups=1")) return unsupported("a transposed convolution of groups");
  result.shape = {shape[0], window[1]};
  result.loops = result.shape;
  for (size_t i = 0; i < spatial; ++i) {
    if (c.as_size(of.steps[i]) != window[2 + i] || !of.paddings[i].is(0) || !added[i].is(0) || !dilations[i].is(1))
      return unsupported("a transposed convolution whose windows overlap");
    result.shape.push_back(c.sizes.product({shape[2 + i], window[2 + i]}));
    result.loops.insert(result.loops.end(), {shape[2 + i], window[2 + i]});
  }
  const SizeId channels = shape[1];
  const int64_t products = c.sizes.largest(channels);
  const auto fits_tiles = [&](size_t graph) {
    Matrices made{c.sizes.values(shape[0])[graph], c.sizes.values(window[1])[graph], 1,
                  c.sizes.values(channels)[graph]};
    for (size_t i = 2; i < window.size(); ++i) {
      made.rows *= c.sizes.values(window[i])[graph];
      made.columns *= c.sizes.values(shape[i])[graph];
    }
    return made.fit(c.products.tiles);
  };
  const bool is_thin = products <= kMostProducts;
  const bool in_tiles = !is_thin && c.products.tiles != InTiles::None &&
                        std::ranges::any_of(std::views::iota(size_t{0}, c.subject.types.size()), fits_tiles);
  if (!is_thin && !in_tiles) return unsupported("a transposed convolution that libraries are faster at");
  const auto own = static_cast<TensorId>(c.tensors.size());
  const auto at = [=](Scope& scope, const Place& place) {
    const std::vector<VariableId> variables = scope.variables({channels}, place);
    const IndexId channel = scope.indices.variable(variables[0]);
    Place from = {place[0], channel}, tap = {channel, place[1]};
    for (size_t i = 2; i < place.size(); ++i) {
      from.push_back(scope.indices.divide(place[i], window[i]));
      tap.push_back(scope.indices.remainder(place[i], window[i]));
    }
    const ExprId product = scope.exprs.apply(A * B, {scope.element(x, from), scope.element(weight, tap)});
    return scope.folded(Fold::Sum, own, variables, product);
  };
  const std::optional<TensorId> bias = c.optional_tensor(call.at("bias"));
  if (in_tiles) return define_in_tiles(c, std::move(result), {x, weight}, bias, 1, at);
  return define_sum(c, std::move(result), {x, weight}, bias, 1, products, at);
}

}  // namespace passnet::author::op
