// Attention whose queries and keys are few and short: scores, a softmax of each row of them, and a mean of the values.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "author/define/definitions.h"

namespace passnet::author {

using ir::NodeId;

namespace {

// Elements of a query or a value, keys, and multiplications in all: libraries are faster at more.
constexpr int64_t kMostLong = 64, kMostKeys = 64, kMostAttended = int64_t{1} << 20;

}  // namespace

Result<Definitions::Attention> Definitions::attention_of(const Arguments& call) {
  Attention made;
  PASSNET_TRY(made.query, tensor(call.at("query")));
  PASSNET_TRY(made.key, tensor(call.at("key")));
  PASSNET_TRY(made.value, tensor(call.at("value")));
  const std::vector<SizeId>&q = tensors_[made.query].shape, &k = tensors_[made.key].shape,
        &v = tensors_[made.value].shape;
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
    PASSNET_TRY(const Operand scale, operand(call.at("scale"), Compute::Float));
    if (scale.tensor) return unsupported("attention scaled by a tensor");
    made.scale = scale.number;
  } else {
    made.scale = exprs_.apply("1.0f / sqrt($0)", {count({made.length}, Compute::Float)});
  }
  if (!call.given("attn_mask")) return made;
  PASSNET_TRY(made.mask, tensor(call.at("attn_mask")));
  std::vector<SizeId> scores(q.begin(), q.end() - 1);
  scores.push_back(made.keys);
  const std::vector<SizeId>& mask = tensors_[*made.mask].shape;
  if (mask.size() > scores.size()) return unsupported("a mask of more dimensions than the scores");
  for (size_t i = 0; i < mask.size(); ++i) {
    if (!sizes_.is_one(mask[i]) && mask[i] != scores[scores.size() - mask.size() + i])
      return unsupported("a mask of another shape");
  }
  return made;
}

/// The scores before the softmax: products of queries and keys, scaled and masked.
TensorId Definitions::scores_of(const std::string& name, const Attention& of) {
  const std::vector<SizeId>& query = tensors_[of.query].shape;
  const size_t kept = query.size() - 2;
  std::vector<SizeId> shape(query.begin(), query.end() - 1);
  shape.push_back(of.keys);
  std::vector<TensorId> takes = {of.query, of.key};
  if (of.mask) takes.push_back(*of.mask);
  const bool adds = of.mask && elements_[tensors_[*of.mask].element].compute == Compute::Float;
  const auto own = static_cast<TensorId>(tensors_.size());
  const int work = static_cast<int>(2 * sizes_.largest(of.length));
  const TensorId made =
      hidden(name + "_scores", shape, std::move(takes), work, [=, this](Scope& scope, const Place& place) {
        ExprTable& exprs = scope.exprs();
        IndexTable& indices = scope.indices();
        const VariableId variable = scope.variables({of.length}, place)[0];
        Place from(place.begin(), place.end() - 1), to(place.begin(), place.begin() + static_cast<ptrdiff_t>(kept));
        to.push_back(place.back());
        for (Place* const one : {&from, &to}) one->push_back(indices.variable(variable));
        const ExprId product = exprs.apply("$0 * $1", {scope.element(of.query, from), scope.element(of.key, to)});
        const ExprId sum =
            scope.sizes().is_one(of.length) ? product : exprs.reduce(Fold::Sum, own, {variable}, product);
        ExprId score = exprs.apply("$0 * $1", {sum, of.scale});
        const ExprId nothing = exprs.number(-std::numeric_limits<double>::infinity());
        if (of.is_causal) {
          const ExprId row = exprs.place(place[kept]), column = exprs.place(place.back());
          score = exprs.apply("?($0, $1, $2)", {exprs.apply("$0 <= $1", {column, row}, Compute::Bool), score, nothing});
        }
        if (!of.mask) return score;
        const ExprId mask = scope.element(*of.mask, broadcast(scope, *of.mask, place));
        return adds ? exprs.apply("$0 + $1", {score, mask}) : exprs.apply("?($0, $1, $2)", {mask, score, nothing});
      });
  tensors_[made].folds = true;
  return made;
}

// A row without keys to look at gives 0.
Result<void> Definitions::attention(NodeId id, const Arguments& call) {
  PASSNET_TRY(Tensor result, result_of(id));
  if (elements_[result.element].compute != Compute::Float) return unsupported("attention of another type than float");
  PASSNET_TRY(const Attention of, attention_of(call));
  const std::vector<SizeId> query = tensors_[of.query].shape;
  const SizeId width = tensors_[of.value].shape.back();
  const int64_t longest = std::max(sizes_.largest(of.length), sizes_.largest(width));
  std::vector<SizeId> all(query.begin(), query.end() - 1);
  all.insert(all.end(), {of.keys, of.length});
  if (longest > kMostLong || sizes_.largest(of.keys) > kMostKeys || sizes_.largest(sizes_.product(all)) > kMostAttended)
    return unsupported("attention that libraries are faster at");
  const std::string own(graph_.node(id).name);
  const TensorId scores = scores_of(own, of);
  const auto last = static_cast<int64_t>(query.size()) - 1;
  const TensorId largest = folded(own + "_largest", scores, {last}, Fold::Largest, 1,
                                  [](Scope&, ExprId element, const Place&) { return element; });
  const auto power = [scores, largest](Scope& scope, ExprId element, const Place& row) {
    return scope.exprs().apply("exp($0 - $1)", {element, scope.element(largest, row)});
  };
  const TensorId total = folded(own + "_total", scores, {last}, Fold::Sum, 12, power);
  tensors_[total].takes.push_back(largest);
  const TensorId share = hidden(
      own + "_shares", tensors_[scores].shape, {scores, largest, total}, 14, [=](Scope& scope, const Place& place) {
        const Place row(place.begin(), place.end() - 1);
        return scope.exprs().apply(
            "?($2 < 0.0f & $2 == $2 + $2, 0.0f, $0 / $1)",
            {power(scope, scope.element(scores, place), row), scope.element(total, row), scope.element(largest, row)});
      });
  result.shape.assign(query.begin(), query.end() - 1);
  result.shape.push_back(width);
  const auto sum = static_cast<TensorId>(tensors_.size());
  const auto at = [=](Scope& scope, const Place& place) {
    ExprTable& exprs = scope.exprs();
    const VariableId variable = scope.variables({of.keys}, place)[0];
    const IndexId key = scope.indices().variable(variable);
    Place from(place.begin(), place.end() - 1), to(place.begin(), place.end() - 2);
    from.push_back(key);
    to.insert(to.end(), {key, place.back()});
    const ExprId product = exprs.apply("$0 * $1", {scope.element(share, from), scope.element(of.value, to)});
    return scope.sizes().is_one(of.keys) ? product : exprs.reduce(Fold::Sum, sum, {variable}, product);
  };
  return define_sum(id, std::move(result), {share, of.value}, std::nullopt, query.size() - 1, sizes_.largest(of.keys),
                    at);
}

}  // namespace passnet::author
