// Products that are sums over a short loop, or of one row or column: what libraries are no faster at than a kernel that goes
// on with the result. Others are computed in tiles, where that is asked for, and left to libraries beyond that.
#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "author/define/definitions.h"

namespace passnet::author {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;

namespace {

// Products that are added up: of any two matrices, and where one of them has few rows or columns.
constexpr int64_t kMostProducts = 16, kMostProductsOfFew = 64, kFew = 8;
// Products of a single row with columns that do not lie in memory one after the other.
constexpr int64_t kMostProductsOfColumns = 256;
// Products of few rows or columns that do: multiplications and elements in all, which a GPU has done before a library's
// kernel has begun.
constexpr int64_t kMostInOrder = int64_t{1} << 24, kMostElementsInOrder = 16384, kFewInOrder = 16;
// Steps of a convolution: over few channels, and over a single one.
constexpr int64_t kMostTaps = 32, kMostTapsOfChannel = 128;

// In tiles: steps at least, and rows or columns; and how many of the others, so that a tile holds more than next to nothing.
constexpr int64_t kFewestInTiles = 16, kFewestStepsOnCpu = 8, kFewestOfOthersOnCpu = 2;
// Multiplications in tiles at most: libraries are faster at more, unless there are few of them for each element.
constexpr int64_t kMostInTiles = int64_t{1} << 32, kFewForElement = 64;
// Most multiplications of a 1x1 convolution in 16 bits on a GPU: with more, tiles took 4 to 16 times as long as libraries.
constexpr int64_t kMostOfPlacesIn16Bits = int64_t{1} << 26;

/// Products of two matrices in one graph, `batch` of them.
struct Matrices {
  int64_t batch = 1, rows = 1, columns = 1, depth = 1;

  int64_t elements() const { return batch * rows * columns; }
  int64_t products() const { return elements() * depth; }
  /// Tells whether tiles are worth a try.
  bool fit(InTiles tiles) const {
    const bool on_cpu = tiles == InTiles::OnCpu;
    if (depth < (on_cpu ? kFewestStepsOnCpu : kFewestInTiles) || std::max(rows, columns) < kFewestInTiles) return false;
    if (std::min(rows, columns) < (on_cpu ? kFewestOfOthersOnCpu : kFewestInTiles)) return false;
    const int64_t one = rows * columns * depth, moved = rows * depth + depth * columns + rows * columns;
    return products() <= kMostInTiles || one <= kFewForElement * moved;
  }
};

/// Tells whether the product is added up step by step for each element. in_order: the larger operand is read one
/// element after the other.
bool is_thin_product(const Matrices& largest, bool in_order, InTiles tiles) {
  const int64_t fewest = std::min(largest.rows, largest.columns);
  if (largest.depth <= kMostProducts || (largest.depth <= kMostProductsOfFew && fewest <= kFew)) return true;
  if (fewest == 1) return in_order || largest.depth <= kMostProductsOfColumns;
  // On a CPU tiles read each operand once.
  return in_order && tiles != InTiles::OnCpu && fewest <= kFewInOrder && largest.elements() <= kMostElementsInOrder &&
         largest.products() <= kMostInOrder;
}

bool is_among(const std::vector<int>& letters, int letter) {
  return std::ranges::find(letters, letter) != letters.end();
}

/// Letters of an operand of matmul: those of its leading dimensions, counted from the last, then `rest`.
std::vector<int> leading(size_t count, std::vector<int> rest) {
  for (size_t i = 0; i < count; ++i) rest.insert(rest.begin(), static_cast<int>(i));
  return rest;
}

}  // namespace

Result<bool> Definitions::contraction(NodeId id, const Arguments& call, std::string_view name) {
  Result<void> done = unsupported("");
  if (name == "matmul" || name == "bmm") {
    done = matrix_product(id, call, name == "bmm" ? "mat2" : "other");
  } else if (name == "linear") {
    done = linear(id, call);
  } else if (name == "einsum") {
    done = einsum(id, call);
  } else if (name == "conv1d" || name == "conv2d" || name == "conv3d") {
    done = convolution(id, call);
  } else if (name.starts_with("conv_transpose")) {
    done = transposed_convolution(id, call);
  } else if (name == "outer") {
    done = outer_product(id, call);
  } else if (name == "scaled_dot_product_attention") {
    done = attention(id, call);
  } else {
    return false;
  }
  if (!done) return std::move(done).error();
  return true;
}

Result<void> Definitions::matrix_product(NodeId id, const Arguments& call, std::string_view other) {
  PASSNET_TRY(const TensorId a, tensor(call.at("input")));
  PASSNET_TRY(const TensorId b, tensor(call.at(other)));
  constexpr int kRow = 100, kColumn = 101, kInner = 102;
  const size_t rank_a = tensors_[a].shape.size(), rank_b = tensors_[b].shape.size();
  if (rank_a == 0 || rank_b == 0) return unsupported("a product of numbers");
  const std::vector<int> of_a = rank_a == 1 ? std::vector{kInner} : leading(rank_a - 2, {kRow, kInner});
  const std::vector<int> of_b = rank_b == 1 ? std::vector{kInner} : leading(rank_b - 2, {kInner, kColumn});
  std::vector<int> result;
  if (rank_a > 1) result.push_back(kRow);
  if (rank_b > 1) result.push_back(kColumn);
  result = leading(std::max(std::max(rank_a, rank_b), size_t{2}) - 2, std::move(result));
  return contracted(id, {a, of_a}, {b, of_b}, result, std::nullopt);
}

Result<void> Definitions::linear(NodeId id, const Arguments& call) {
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  PASSNET_TRY(const TensorId weight, tensor(call.at("weight")));
  constexpr int kColumn = 101, kInner = 102;
  if (tensors_[x].shape.empty() || tensors_[weight].shape.size() != 2) return unsupported("a product of other ranks");
  const size_t rows = tensors_[x].shape.size() - 1;
  return contracted(id, {x, leading(rows, {kInner})}, {weight, {kColumn, kInner}}, leading(rows, {kColumn}),
                    optional_tensor(call.at("bias")));
}

// Takes two tensors, without diagonals and dots.
Result<void> Definitions::einsum(NodeId id, const Arguments& call) {
  const Arg& equation = call.at("equation");
  const Arg& list = call.at("operands");
  if (equation.kind != ArgKind::String) return unsupported("einsum without an equation");
  const std::span<const Arg> operands =
      list.kind == ArgKind::Tuple || list.kind == ArgKind::List ? graph_.elements(list) : std::span(&list, 1);
  std::vector<std::vector<int>> letters(1);
  for (const char c : equation.string()) {
    if (c == ',' || c == '>')
      letters.emplace_back();
    else if (c >= 'a' && c <= 'z' && !is_among(letters.back(), c))
      letters.back().push_back(c);
    else if (c != ' ' && c != '-')
      return unsupported("einsum with dots, diagonals or capitals");
  }
  if (operands.size() != 2 || letters.size() != 3) return unsupported("einsum of other than two tensors");
  PASSNET_TRY(const TensorId a, tensor(operands[0]));
  PASSNET_TRY(const TensorId b, tensor(operands[1]));
  return contracted(id, {a, letters[0]}, {b, letters[1]}, letters[2], std::nullopt);
}

// Sums of products over all letters that the result does not have.
Result<void> Definitions::contracted(NodeId id, const Lettered& a, const Lettered& b, const std::vector<int>& letters,
                                     std::optional<TensorId> bias) {
  PASSNET_TRY(Tensor result, result_of(id));
  if (elements_[result.element].compute != Compute::Float) return unsupported("a product of another type than float");
  std::map<int, SizeId> extents;
  for (const Lettered* operand : {&a, &b}) {
    const std::vector<SizeId>& shape = tensors_[operand->tensor].shape;
    if (operand->letters.size() != shape.size()) return unsupported("a product of other ranks");
    if (tensors_[operand->tensor].element != result.element) return unsupported("a product of several types");
    for (size_t i = 0; i < shape.size(); ++i) {
      const auto [known, is_new] = extents.emplace(operand->letters[i], shape[i]);
      if (!is_new && sizes_.is_one(known->second)) known->second = shape[i];
      if (known->second != shape[i] && !sizes_.is_one(shape[i])) return unsupported("a product of other shapes");
    }
  }
  std::vector<int> summed;
  std::vector<SizeId> sums;
  Matrices largest;
  std::vector<Matrices> matrices(subject_.types.size());  // by graph
  for (const auto& [letter, extent] : extents) {
    const bool in_a = is_among(a.letters, letter), in_b = is_among(b.letters, letter);
    if (!is_among(letters, letter)) {
      summed.push_back(letter);
      sums.push_back(extent);
    }
    int64_t Matrices::*const side = !is_among(letters, letter) ? &Matrices::depth
                                    : !in_b                    ? &Matrices::rows
                                    : !in_a                    ? &Matrices::columns
                                                               : &Matrices::batch;
    for (size_t i = 0; i < matrices.size(); ++i) matrices[i].*side *= sizes_.values(extent)[i];
    largest.*side *= sizes_.largest(extent);
  }
  const Lettered& larger = largest.rows <= largest.columns ? b : a;
  const bool in_order = summed.size() == 1 && !larger.letters.empty() && larger.letters.back() == summed[0];
  const bool is_thin = is_thin_product(largest, in_order, products_.tiles);
  // Passes decline the graphs that they are no faster on.
  const auto fits_tiles = [&](const Matrices& of) { return of.fit(products_.tiles); };
  const bool in_tiles = !is_thin && products_.tiles != InTiles::None && std::ranges::any_of(matrices, fits_tiles);
  if (!is_thin && !in_tiles) return unsupported("a product that libraries are faster at");
  for (const int letter : letters) {
    if (!extents.contains(letter)) return unsupported("a product of other ranks");
    result.shape.push_back(extents.at(letter));
  }
  const auto own = static_cast<TensorId>(tensors_.size());
  const std::vector<SizeId> shape_a = tensors_[a.tensor].shape, shape_b = tensors_[b.tensor].shape;
  const auto at = [=](Scope& scope, const Place& place) {
    IndexTable& indices = scope.indices();
    const std::vector<VariableId> variables = scope.variables(sums, place);
    std::map<int, IndexId> by_letter;
    for (size_t i = 0; i < letters.size(); ++i) by_letter[letters[i]] = place[i];
    std::vector<VariableId> loops;
    for (size_t i = 0; i < summed.size(); ++i) {
      by_letter[summed[i]] = indices.variable(variables[i]);
      if (!scope.sizes().is_one(sums[i])) loops.push_back(variables[i]);
    }
    const auto element = [&](const Lettered& operand, const std::vector<SizeId>& shape) {
      Place from;
      for (size_t i = 0; i < shape.size(); ++i)
        from.push_back(scope.sizes().is_one(shape[i]) ? indices.zero() : by_letter.at(operand.letters[i]));
      return scope.element(operand.tensor, from);
    };
    const ExprId product = scope.exprs().apply("$0 * $1", {element(a, shape_a), element(b, shape_b)}, Compute::Float);
    return loops.empty() ? product : scope.exprs().reduce(Fold::Sum, own, loops, product);
  };
  if (in_tiles) return define_in_tiles(id, std::move(result), {a.tensor, b.tensor}, bias, letters.size() - 1, at);
  return define_sum(id, std::move(result), {a.tensor, b.tensor}, bias, letters.size() - 1, largest.depth, at);
}

Result<void> Definitions::define_sum(NodeId id, Tensor result, std::vector<TensorId> takes,
                                     std::optional<TensorId> bias, size_t dim, int64_t products, At at) {
  const TensorId sum = hidden(std::string(graph_.node(id).name) + "_sum", result.shape, std::move(takes),
                              static_cast<int>(std::min<int64_t>(2 * products, 1000)), std::move(at));
  tensors_[sum].folds = true;
  return define_with_bias(id, std::move(result), sum, bias, dim);
}

// PyTorch rounds once, after the bias.
Result<void> Definitions::define_with_bias(NodeId id, Tensor result, TensorId sum, std::optional<TensorId> bias,
                                           size_t dim) {
  if (!bias)
    return define(id, std::move(result), {sum}, 1,
                  [sum](Scope& scope, const Place& place) { return scope.element(sum, place); });
  if (tensors_[*bias].shape.size() != 1) return unsupported("a bias of several dimensions");
  return define(id, std::move(result), {sum, *bias}, 1, [=, bias = *bias](Scope& scope, const Place& place) {
    return scope.exprs().apply("$0 + $1", {scope.element(sum, place), scope.element(bias, {place[dim]})},
                               Compute::Float);
  });
}

Result<void> Definitions::define_in_tiles(NodeId id, Tensor result, std::vector<TensorId> takes,
                                          std::optional<TensorId> bias, size_t dim, At sum) {
  if (bias && tensors_[*bias].shape.size() != 1) return unsupported("a bias of several dimensions");
  if (bias) takes.push_back(*bias);
  const auto with_bias = [sum = std::move(sum), bias, dim](Scope& scope, const Place& place) {
    const ExprId total = sum(scope, place);
    if (!bias) return total;
    return scope.exprs().apply("$0 + $1", {total, scope.element(*bias, {place[dim]})}, Compute::Float);
  };
  constexpr int kWork = 1000;  // far from cheap
  if (result.loops.empty()) result.loops = result.shape;
  PASSNET_TRY_VOID(define(id, std::move(result), std::move(takes), kWork, with_bias));
  Tensor& made = tensors_[*tensor_of_[id]];
  made.folds = made.tiled = true;
  return {};
}

TensorId Definitions::weight_in_blocks(TensorId weight, SizeId blocks) {
  Tensor made = same_elements(weight, tensors_[weight].name + "_in_blocks");
  const SizeId block = sizes_.literal(kBlockOfChannels);
  made.shape[1] = blocks;
  made.shape.push_back(block);
  made.reorders = true;
  made.at = [=](Scope& scope, const Place& place) {
    Place from(place.begin(), place.end() - 1);
    from[1] = scope.indices().add(scope.indices().scale(place[1], block), place.back());
    return scope.element(weight, from);
  };
  return add(std::move(made));
}

Result<Definitions::Convolved> Definitions::convolved(NodeId id, const Arguments& call) {
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  PASSNET_TRY(const TensorId weight, tensor(call.at("weight")));
  PASSNET_TRY(Tensor result, result_of(id));
  if (elements_[result.element].compute != Compute::Float || tensors_[weight].element != result.element)
    return unsupported("a convolution of another type than float");
  const size_t rank = tensors_[x].shape.size();
  if (rank < 3 || rank != tensors_[weight].shape.size()) return unsupported("a convolution of other ranks");
  return Convolved{x, weight, std::move(result)};
}

// Takes few channels each: groups with one channel first of all.
Result<void> Definitions::convolution(NodeId id, const Arguments& call) {
  PASSNET_TRY(Convolved operands, convolved(id, call));
  const TensorId x = operands.x, weight = operands.weight;
  Tensor& result = operands.result;
  const std::vector<SizeId> shape = tensors_[x].shape, window = tensors_[weight].shape;
  const size_t spatial = shape.size() - 2;
  const SizeId channels = window[1];  // of a group
  PASSNET_TRY(const SizeId groups, sizes_.quotient(shape[1], channels));
  PASSNET_TRY(const SizeId in_group, sizes_.quotient(window[0], groups));
  const std::vector<ValueType> types = subject_.types_of(id);
  int64_t taps = 1;
  for (size_t dim = 1; dim < window.size(); ++dim) taps *= sizes_.largest(window[dim]);
  PASSNET_TRY(const std::vector<Number> steps, numbers_for(call.at("stride"), spatial));
  PASSNET_TRY(const std::vector<Number> paddings, numbers_for(call.at("padding"), spatial));
  const auto matrices_of = [&](size_t graph) {
    Matrices of{sizes_.values(groups)[graph], sizes_.values(in_group)[graph], sizes_.values(shape[0])[graph], 1};
    for (size_t dim = 1; dim < window.size(); ++dim) of.depth *= sizes_.values(window[dim])[graph];
    for (size_t dim = 2; dim < window.size(); ++dim) of.columns *= types[graph].tensor.shape[dim];
    return of;
  };
  const auto fits_tiles = [&](size_t graph) { return matrices_of(graph).fit(products_.tiles); };
  const bool of_places =
      std::all_of(window.begin() + 2, window.end(), [&](SizeId size) { return sizes_.is_one(size); });
  const auto is_lost = [&](size_t graph) {
    return of_places && ir::size_bytes(types[graph].tensor.dtype) == 2 &&
           matrices_of(graph).products() > kMostOfPlacesIn16Bits;
  };
  bool overlaps = false, is_whole = true;  // a window that is the whole picture: a product of matrices, both in order
  for (size_t i = 0; i < spatial; ++i) {
    overlaps = overlaps || !paddings[i].is(0) || sizes_.largest(window[2 + i]) > sizes_.largest(magnitude(steps[i]));
    is_whole = is_whole && paddings[i].is(0) && window[2 + i] == shape[2 + i];
  }
  const Matrices largest{sizes_.largest(groups), sizes_.largest(in_group), sizes_.largest(shape[0]), taps};
  const bool is_thin = taps <= (sizes_.is_one(channels) ? kMostTapsOfChannel : kMostTaps) ||
                       (is_whole && is_thin_product(largest, true, products_.tiles));
  // A GPU finds windows that overlap place by place, which pays where it does so for many channels at once.
  const bool goes_in_blocks = products_.tiles == InTiles::OnGpu && overlaps;
  const auto fill_blocks = [](int64_t size) { return size % kBlockOfChannels == 0; };
  const auto graphs = std::views::iota(size_t{0}, types.size());
  const bool may_tile = products_.tiles != InTiles::None &&
                        (products_.tiles != InTiles::OnGpu || std::ranges::none_of(graphs, is_lost)) &&
                        (!goes_in_blocks || std::ranges::all_of(sizes_.values(channels), fill_blocks));
  // A processor's tiles take up to thousands of sums at once, however few steps they have.
  const bool is_worth_tiles = !is_thin || (products_.tiles == InTiles::OnCpu && taps >= kFewestStepsOnCpu);
  const bool in_tiles = is_worth_tiles && may_tile && std::ranges::any_of(graphs, fits_tiles);
  if (!is_thin && !in_tiles) return unsupported("a convolution that libraries are faster at");
  PASSNET_TRY(const std::vector<Number> dilations, numbers_for(call.at("dilation"), spatial));
  result.shape = {shape[0], window[0]};
  std::vector<SizeId> step(spatial), spread(spatial);
  std::vector<IndexId> padding(spatial);
  std::vector<bool> padded(spatial);
  for (size_t i = 0; i < spatial; ++i) {
    step[i] = magnitude(steps[i]);
    spread[i] = magnitude(dilations[i]);
    padded[i] = !paddings[i].is(0);
    padding[i] = counted(paddings[i], shape[2 + i]);
    const SizeId length = window_count(shape[2 + i], window[2 + i], step[i], magnitude(paddings[i]), spread[i]);
    result.shape.push_back(length);
    for (size_t e = 0; e < types.size(); ++e) {
      if (sizes_.values(length)[e] != types[e].tensor.shape[2 + i]) return unsupported("windows of another number");
    }
  }
  std::vector<SizeId> extents(window.begin() + 1, window.end());
  if (in_tiles && !sizes_.is_one(groups)) {
    result.loops = result.shape;
    result.loops[1] = in_group;
    result.loops.insert(result.loops.begin() + 1, groups);
  }
  std::optional<SizeId> blocks;
  TensorId filters = weight;
  if (in_tiles && goes_in_blocks) {
    PASSNET_TRY(blocks, sizes_.quotient(channels, sizes_.literal(kBlockOfChannels)));
    filters = weight_in_blocks(weight, *blocks);
    extents[0] = *blocks;
    extents.push_back(sizes_.literal(kBlockOfChannels));
  }
  const auto own = static_cast<TensorId>(tensors_.size());
  const auto at = [=](Scope& scope, const Place& place) {
    ExprTable& exprs = scope.exprs();
    IndexTable& indices = scope.indices();
    const std::vector<VariableId> variables = scope.variables(extents, place);
    const IndexId group = indices.divide(place[1], in_group), first = indices.variable(variables[0]);
    const IndexId in_block = blocks ? indices.variable(variables.back()) : indices.zero();
    const IndexId channel = blocks ? indices.add(indices.scale(first, extents.back()), in_block) : first;
    Place from = {place[0], indices.add(indices.scale(group, channels), channel)};
    Place tap = {place[1], first};
    std::optional<ExprId> inside;
    for (size_t i = 0; i < spatial; ++i) {
      tap.push_back(indices.variable(variables[1 + i]));
      const IndexId there = indices.add(indices.scale(place[2 + i], step[i]), indices.scale(tap.back(), spread[i]));
      from.push_back(indices.subtract(there, padding[i]));
      if (!padded[i]) continue;
      const ExprId here = exprs.inside(from.back(), shape[2 + i]);
      inside = inside ? exprs.apply(kBoth, {*inside, here}, Compute::Bool) : here;
    }
    ExprId element = scope.element(x, from);
    if (inside) element = exprs.guard(*inside, element, exprs.number(0));
    if (blocks) tap.push_back(in_block);
    const ExprId product = exprs.apply("$0 * $1", {element, scope.element(filters, tap)}, Compute::Float);
    std::vector<VariableId> loops;
    for (const VariableId variable : variables) {
      if (!scope.sizes().is_one(indices.extent(variable))) loops.push_back(variable);
    }
    return loops.empty() ? product : exprs.reduce(Fold::Sum, own, loops, product);
  };
  if (in_tiles) {
    PASSNET_TRY_VOID(define_in_tiles(id, std::move(result), {x, filters}, optional_tensor(call.at("bias")), 1, at));
    Tensor& made = tensors_[*tensor_of_[id]];
    made.overlaps = overlaps;
    made.channels = channels;
    made.blocks = blocks;
    return {};
  }
  result.loops = result.shape;
  return define_sum(id, std::move(result), {x, weight}, optional_tensor(call.at("bias")), 1, taps, at);
}

// Takes windows that lie side by side: a product of the channels of each place with the filters of each place of a
// window.
Result<void> Definitions::transposed_convolution(NodeId id, const Arguments& call) {
  PASSNET_TRY(Convolved operands, convolved(id, call));
  const TensorId x = operands.x, weight = operands.weight;
  Tensor& result = operands.result;
  const std::vector<SizeId> shape = tensors_[x].shape, window = tensors_[weight].shape;
  const size_t spatial = shape.size() - 2;
  PASSNET_TRY(const std::vector<Number> steps, numbers_for(call.at("stride"), spatial));
  PASSNET_TRY(const std::vector<Number> paddings, numbers_for(call.at("padding"), spatial));
  PASSNET_TRY(const std::vector<Number> added, numbers_for(call.at("output_padding"), spatial));
  PASSNET_TRY(const std::vector<Number> dilations, numbers_for(call.at("dilation"), spatial));
  if (!call.hold("groups=1")) return unsupported("a transposed convolution of groups");
  result.shape = {shape[0], window[1]};
  result.loops = result.shape;
  for (size_t i = 0; i < spatial; ++i) {
    if (as_size(steps[i]) != window[2 + i] || !paddings[i].is(0) || !added[i].is(0) || !dilations[i].is(1))
      return unsupported("a transposed convolution whose windows overlap");
    result.shape.push_back(sizes_.product({shape[2 + i], window[2 + i]}));
    result.loops.insert(result.loops.end(), {shape[2 + i], window[2 + i]});
  }
  const SizeId channels = shape[1];
  const int64_t products = sizes_.largest(channels);
  const auto fits_tiles = [&](size_t graph) {
    Matrices of{sizes_.values(shape[0])[graph], sizes_.values(window[1])[graph], 1, sizes_.values(channels)[graph]};
    for (size_t i = 2; i < window.size(); ++i) {
      of.rows *= sizes_.values(window[i])[graph];
      of.columns *= sizes_.values(shape[i])[graph];
    }
    return of.fit(products_.tiles);
  };
  const bool is_thin = products <= kMostProducts;
  const bool in_tiles = !is_thin && products_.tiles != InTiles::None &&
                        std::ranges::any_of(std::views::iota(size_t{0}, subject_.types.size()), fits_tiles);
  if (!is_thin && !in_tiles) return unsupported("a transposed convolution that libraries are faster at");
  const auto own = static_cast<TensorId>(tensors_.size());
  const auto at = [=](Scope& scope, const Place& place) {
    ExprTable& exprs = scope.exprs();
    IndexTable& indices = scope.indices();
    const std::vector<VariableId> variables = scope.variables({channels}, place);
    const IndexId channel = indices.variable(variables[0]);
    Place from = {place[0], channel}, tap = {channel, place[1]};
    for (size_t i = 2; i < place.size(); ++i) {
      from.push_back(indices.divide(place[i], window[i]));
      tap.push_back(indices.remainder(place[i], window[i]));
    }
    const ExprId product = exprs.apply("$0 * $1", {scope.element(x, from), scope.element(weight, tap)}, Compute::Float);
    return scope.sizes().is_one(channels) ? product : exprs.reduce(Fold::Sum, own, variables, product);
  };
  const std::optional<TensorId> bias = optional_tensor(call.at("bias"));
  if (in_tiles) return define_in_tiles(id, std::move(result), {x, weight}, bias, 1, at);
  return define_sum(id, std::move(result), {x, weight}, bias, 1, products, at);
}

}  // namespace passnet::author
