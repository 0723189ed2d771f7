// Matrix products that are sums over a short loop, or of one row or column: what libraries are no faster at than a kernel that
// goes on with the result. Others are computed in tiles, where that is asked for, and left to libraries beyond that.

#include <algorithm>
#include <map>

#include "author/define/operators.h"
#include "author/define/products.h"

namespace passnet::author::op {

using namespace formula;  // NOLINT: A + B

using ir::Arg;
using ir::ArgKind;

namespace {

bool is_among(const std::vector<int>& letters, int letter) {
  return std::ranges::find(letters, letter) != letters.end();
}

/// Letters of an operand of matmul: those of its leading dimensions, counted from the last, then `rest`.
std::vector<int> leading(size_t count, std::vector<int> rest) {
  for (size_t i = 0; i < count; ++i) rest.insert(rest.begin(), static_cast<int>(i));
  return rest;
}

/// A tensor with a letter for each of its dimensions, as in an einsum.
struct Lettered {
  TensorId tensor = 0;
  std::vector<int> letters;
};

/// Returns the sizes by letter. element: that both must have.
Result<std::map<int, SizeId>> extents_of(Context& c, const Lettered& a, const Lettered& b, ElementId element) {
  std::map<int, SizeId> extents;
  for (const Lettered* operand : {&a, &b}) {
    const std::vector<SizeId>& shape = c.tensors[operand->tensor].shape;
    if (operand->letters.size() != shape.size()) return unsupported("a product of other ranks");
    if (c.tensors[operand->tensor].element != element) return unsupported("a product of several types");
    for (size_t i = 0; i < shape.size(); ++i) {
      const auto [known, is_new] = extents.emplace(operand->letters[i], shape[i]);
      if (!is_new && c.sizes.is_one(known->second)) known->second = shape[i];
      if (known->second != shape[i] && !c.sizes.is_one(shape[i])) return unsupported("a product of other shapes");
    }
  }
  return extents;
}

// Sums of products over all letters that the result does not have.
Result<void> contracted(Context& c, const Arguments& call, const Lettered& a, const Lettered& b,
                        const std::vector<int>& letters, std::optional<TensorId> bias) {
  PASSNET_TRY(Tensor result, c.float_result_of(call.id(), "a product"));
  PASSNET_TRY(const auto extents, extents_of(c, a, b, result.element));
  std::vector<int> summed;
  std::vector<SizeId> sums;
  Matrices largest;
  std::vector<Matrices> matrices(c.subject.types.size());  // by graph
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
    for (size_t i = 0; i < matrices.size(); ++i) matrices[i].*side *= c.sizes.values(extent)[i];
    largest.*side *= c.sizes.largest(extent);
  }
  const Lettered& larger = largest.rows <= largest.columns ? b : a;
  const bool in_order = summed.size() == 1 && !larger.letters.empty() && larger.letters.back() == summed[0];
  const bool is_thin = largest.are_thin(in_order, c.products.tiles);
  // Passes decline the graphs that they are no faster on.
  const auto fits_tiles = [&](const Matrices& of) { return of.fit(c.products.tiles); };
  const bool in_tiles = !is_thin && c.products.tiles != InTiles::None && std::ranges::any_of(matrices, fits_tiles);
  if (!is_thin && !in_tiles) return unsupported("a product that libraries are faster at");
  for (const int letter : letters) {
    if (!extents.contains(letter)) return unsupported("a product of other ranks");
    result.shape.push_back(extents.at(letter));
  }
  const auto own = static_cast<TensorId>(c.tensors.size());
  const std::vector<SizeId> shape_a = c.tensors[a.tensor].shape, shape_b = c.tensors[b.tensor].shape;
  const auto at = [=](Scope& scope, const Place& place) {
    const std::vector<VariableId> variables = scope.variables(sums, place);
    std::map<int, IndexId> by_letter;
    for (size_t i = 0; i < letters.size(); ++i) by_letter[letters[i]] = place[i];
    for (size_t i = 0; i < summed.size(); ++i) by_letter[summed[i]] = scope.indices.variable(variables[i]);
    const auto element = [&](const Lettered& operand, const std::vector<SizeId>& shape) {
      Place from;
      for (size_t i = 0; i < shape.size(); ++i)
        from.push_back(scope.sizes.is_one(shape[i]) ? scope.indices.zero() : by_letter.at(operand.letters[i]));
      return scope.element(operand.tensor, from);
    };
    const ExprId product = scope.exprs.apply(A * B, {element(a, shape_a), element(b, shape_b)});
    return scope.folded(Fold::Sum, own, variables, product);
  };
  if (in_tiles) return define_in_tiles(c, std::move(result), {a.tensor, b.tensor}, bias, letters.size() - 1, at);
  return define_sum(c, std::move(result), {a.tensor, b.tensor}, bias, letters.size() - 1, largest.depth, at);
}

}  // namespace

Result<void> matrix_product(Context& c, const Arguments& call, TensorId a) {
  PASSNET_TRY(const TensorId b, c.tensor(call.at(call.name() == "bmm" ? "mat2" : "other")));
  constexpr int kRow = 100, kColumn = 101, kInner = 102;
  const size_t rank_a = c.tensors[a].shape.size(), rank_b = c.tensors[b].shape.size();
  if (rank_a == 0 || rank_b == 0) return unsupported("a product of numbers");
  const std::vector<int> of_a = rank_a == 1 ? std::vector{kInner} : leading(rank_a - 2, {kRow, kInner});
  const std::vector<int> of_b = rank_b == 1 ? std::vector{kInner} : leading(rank_b - 2, {kInner, kColumn});
  std::vector<int> result;
  if (rank_a > 1) result.push_back(kRow);
  if (rank_b > 1) result.push_back(kColumn);
  result = leading(std::max(std::max(rank_a, rank_b), size_t{2}) - 2, std::move(result));
  return contracted(c, call, {a, of_a}, {b, of_b}, result, std::nullopt);
}

Result<void> linear(Context& c, const Arguments& call, TensorId x) {
  PASSNET_TRY(const TensorId weight, c.tensor(call.at("weight")));
  constexpr int kColumn = 101, kInner = 102;
  if (c.tensors[x].shape.empty() || c.tensors[weight].shape.size() != 2) return unsupported("a product of other ranks");
  const size_t rows = c.tensors[x].shape.size() - 1;
  return contracted(c, call, {x, leading(rows, {kInner})}, {weight, {kColumn, kInner}}, leading(rows, {kColumn}),
                    c.optional_tensor(call.at("bias")));
}

// Takes two tensors, without diagonals and dots.
Result<void> einsum(Context& c, const Arguments& call) {
  const Arg& equation = call.at("equation");
  const Arg& list = call.at("operands");
  if (equation.kind != ArgKind::String) return unsupported("einsum without an equation");
  const std::span<const Arg> operands = is_sequence(list) ? c.graph.elements(list) : std::span(&list, 1);
  std::vector<std::vector<int>> letters(1);
  for (const char letter : equation.string()) {
    if (letter == ',' || letter == '>')
      letters.emplace_back();
    else if (letter >= 'a' && letter <= 'z' && !is_among(letters.back(), letter))
      letters.back().push_back(letter);
    else if (letter != ' ' && letter != '-')
      return unsupported("einsum with dots, diagonals or capitals");
  }
  if (operands.size() != 2 || letters.size() != 3) return unsupported("einsum of other than two tensors");
  PASSNET_TRY(const TensorId a, c.tensor(operands[0]));
  PASSNET_TRY(const TensorId b, c.tensor(operands[1]));
  return contracted(c, call, {a, letters[0]}, {b, letters[1]}, letters[2], std::nullopt);
}

}  // namespace passnet::author::op
