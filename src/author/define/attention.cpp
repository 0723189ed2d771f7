// Attention whose queries and keys are few and short: scores, a softmax of each row of them, and a mean of the values.

#include <algorithm>
#include <limits>

#include "author/define/operators.h"
#include "author/define/products.h"

namespace passnet::author::op {

using namespace formula;  // NOLINT: A + B

namespace {

// Elements of a query or a value, keys, and multiplications in all: libraries are faster at more.
constexpr int64_t kMostLong = 64, kMostKeys = 64, kMostAttended = int64_t{1} << 20;

/// The operands of attention, and its score of each query and key.
struct Attention {
  TensorId query = 0, key = 0, value = 0;
  std::optional<TensorId> mask = {};
  SizeId keys = 0, length = 0;  // length: elements of a query
  bool is_causal = false;
  ExprId scale = 0;
};

Result<Attention> attention_of(Context& c, const Arguments& call) {
  Attention made;
  PASSNET_TRY(made.query, c.tensor(call.at("query")));
  PASSNET_TRY(made.key, c.tensor(call.at("key")));
  PASSNET_TRY(made.value, c.tensor(call.at("value")));
  const std::vector<SizeId>&q = c.tensors[made.query].shape, &k = c.tensors[made.key].shape,
        &v = c.tensors[made.value].shape;
  const size_t rank = q.size();
  if (rank < 3 || k.size() != rank || v.size() != rank) return unsupported("attention of other ranks");
  const bool are_alike = std::equal(q.begin(), q.end() - 2, k.begin()) &&
                         std::equal(q.begin(), q.end() - 2, v.begin()) && q[rank - 1] == k[rank - 1] &&
                         k[rank - 2] == v[rank - 2];
  if (!are_alike) return unsupported("attention of other shapes");
  made.keys = k[rank - 2];
  made.length = q[rank - 1];
  if (!call.hold("dropout_p=0.0") && !call.hold("dropout_p=0"))
    return unsupported("attention that drops elements at random");
  if (call.given("enable_gqa") && !call.hold("enable_gqa=False")) return unsupported("attention of grouped heads");
  PASSNET_TRY(made.is_causal, call.flag("is_causal"));
  if (call.given("scale")) {
    PASSNET_TRY(const Operand scale, c.operand(call.at("scale"), Compute::Float));
    if (scale.tensor) return unsupported("attention scaled by a tensor");
    made.scale = scale.number;
  } else {
    made.scale = c.exprs.apply(1.0 / sqrt(A), {count(c, {made.length}, Compute::Float)});
  }
  if (!call.given("attn_mask")) return made;
  PASSNET_TRY(made.mask, c.tensor(call.at("attn_mask")));
  std::vector<SizeId> scores(q.begin(), q.end() - 1);
  scores.push_back(made.keys);
  const std::vector<SizeId>& mask = c.tensors[*made.mask].shape;
  if (mask.size() > scores.size()) return unsupported("a mask of more dimensions than the scores");
  for (size_t i = 0; i < mask.size(); ++i) {
    if (!c.sizes.is_one(mask[i]) && mask[i] != scores[scores.size() - mask.size() + i])
      return unsupported("a mask of another shape");
  }
  return made;
}

/// The scores before the softmax: products of queries and keys, scaled and masked.
TensorId scores_of(Context& c, const std::string& name, const Attention& of) {
  const std::vector<SizeId>& query = c.tensors[of.query].shape;
  const size_t kept = query.size() - 2;
  std::vector<SizeId> shape(query.begin(), query.end() - 1);
  shape.push_back(of.keys);
  std::vector<TensorId> takes = {of.query, of.key};
  if (of.mask) takes.push_back(*of.mask);
  const bool adds = of.mask && c.element(*of.mask).compute == Compute::Float;
  const auto own = static_cast<TensorId>(c.tensors.size());
  const int work = static_cast<int>(2 * c.sizes.largest(of.length));
  const TensorId made =
      c.hidden(name + "_scores", shape, std::move(takes), work, [=, &c](Scope& scope, const Place& place) {
        const VariableId variable = scope.variables({of.length}, place)[0];
        Place from(place.begin(), place.end() - 1), to(place.begin(), place.begin() + static_cast<ptrdiff_t>(kept));
        to.push_back(place.back());
        for (Place* const one : {&from, &to}) one->push_back(scope.indices.variable(variable));
        const ExprId product = scope.exprs.apply(A * B, {scope.element(of.query, from), scope.element(of.key, to)});
        const ExprId sum = scope.folded(Fold::Sum, own, {variable}, product);
        ExprId score = scope.exprs.apply(A * B, {sum, of.scale});
        const ExprId nothing = scope.exprs.number(-std::numeric_limits<double>::infinity());
        if (of.is_causal) {
          const ExprId row = scope.exprs.place(place[kept]), column = scope.exprs.place(place.back());
          score = scope.exprs.apply(choose(A, B, C),
                                    {scope.exprs.apply(A <= B, {column, row}, Compute::Bool), score, nothing});
        }
        if (!of.mask) return score;
        const ExprId mask = scope.element(*of.mask, c.broadcast(scope, *of.mask, place));
        return adds ? scope.exprs.apply(A + B, {score, mask})
                    : scope.exprs.apply(choose(A, B, C), {mask, score, nothing});
      });
  c.tensors[made].folds = true;
  return made;
}

}  // namespace

// A row without keys to look at gives 0.
Result<void> attention(Context& c, const Arguments& call) {
  PASSNET_TRY(Tensor result, c.float_result_of(call.id(), "attention"));
  PASSNET_TRY(const Attention of, attention_of(c, call));
  const std::vector<SizeId> query = c.tensors[of.query].shape;
  const SizeId width = c.tensors[of.value].shape.back();
  const int64_t longest = std::max(c.sizes.largest(of.length), c.sizes.largest(width));
  std::vector<SizeId> all(query.begin(), query.end() - 1);
  all.insert(all.end(), {of.keys, of.length});
  if (longest > kMostLong || c.sizes.largest(of.keys) > kMostKeys ||
      c.sizes.largest(c.sizes.product(all)) > kMostAttended)
    return unsupported("attention that libraries are faster at");
  const std::string own = call.value_name();
  const TensorId scores = scores_of(c, own, of);
  const auto last = static_cast<int64_t>(query.size()) - 1;
  const TensorId largest = folded(c, own + "_largest", scores, {last}, Fold::Largest, 1);
  const auto power = [scores, largest](Scope& scope, ExprId element, const Place& row) {
    return scope.exprs.apply(exp(A - B), {element, scope.element(largest, row)});
  };
  const TensorId total = folded(c, own + "_total", scores, {last}, Fold::Sum, 12, power);
  c.tensors[total].takes.push_back(largest);
  const TensorId share = c.hidden(
      own + "_shares", c.tensors[scores].shape, {scores, largest, total}, 14, [=](Scope& scope, const Place& place) {
        const Place row(place.begin(), place.end() - 1);
        return scope.exprs.apply(
            choose((C < 0.0) & (C == C + C), 0.0, A / B),
            {power(scope, scope.element(scores, place), row), scope.element(total, row), scope.element(largest, row)});
      });
  result.shape.assign(query.begin(), query.end() - 1);
  result.shape.push_back(width);
  const auto sum = static_cast<TensorId>(c.tensors.size());
  const auto at = [=](Scope& scope, const Place& place) {
    const VariableId variable = scope.variables({of.keys}, place)[0];
    const IndexId key = scope.indices.variable(variable);
    Place from(place.begin(), place.end() - 1), to(place.begin(), place.end() - 2);
    from.push_back(key);
    to.insert(to.end(), {key, place.back()});
    const ExprId product = scope.exprs.apply(A * B, {scope.element(share, from), scope.element(of.value, to)});
    return scope.folded(Fold::Sum, sum, {variable}, product);
  };
  return define_sum(c, std::move(result), {share, of.value}, std::nullopt, query.size() - 1, c.sizes.largest(of.keys),
                    at);
}

}  // namespace passnet::author::op
