// torch.nn.functional.multi_head_attention_forward: one step that calls the operators PyTorch's Python code
// calls. Source: torch/nn/functional.py of PyTorch 2.11 (behaviour). Shapes: L = target length, S = source
// length, N = batch, E = embedding, H = heads.
#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "runtime/lower/lower.h"

namespace passnet::runtime {

namespace {

using at::Tensor;

/// Positions of the parameters, which are the step's inputs.
enum In : size_t {
  kQuery,
  kKey,
  kValue,
  kEmbedding,
  kHeads,
  kInWeight,
  kInBias,
  kBiasK,
  kBiasV,
  kAddZero,
  kDropout,
  kOutWeight,
  kOutBias,
  kTraining,
  kKeyPadding,
  kNeedWeights,
  kMask,
  kSeparate,
  kQWeight,
  kKWeight,
  kVWeight,
  kStaticK,
  kStaticV,
  kAverage,
  kCausal,
};
Tensor optional(const c10::IValue& value) { return value.isNone() ? Tensor() : value.toTensor(); }

/// A boolean mask becomes 0 and -inf in the query's type; a float mask stays.
Tensor additive_mask(const Tensor& mask, at::ScalarType type) {
  if (!mask.defined() || mask.scalar_type() != at::kBool) return mask;
  return at::zeros_like(mask, mask.options().dtype(type)).masked_fill_(mask, -std::numeric_limits<double>::infinity());
}

struct Projected {
  Tensor q, k, v;
};

/// Splits a projection of `parts` embeddings into its parts.
Tensor unpack(const Tensor& projection, int64_t parts, int64_t embedding) {
  return projection.unflatten(-1, {parts, embedding}).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous();
}

Projected project_packed(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& weight, const Tensor& bias) {
  const int64_t embedding = q.size(-1);
  const auto piece = [&](int64_t from, int64_t count) {
    return std::pair(weight.narrow(0, from * embedding, count * embedding),
                     bias.defined() ? bias.narrow(0, from * embedding, count * embedding) : Tensor());
  };
  if (k.is_same(v) && q.is_same(k)) {
    const Tensor all = unpack(at::linear(q, weight, bias), 3, embedding);
    return {all[0], all[1], all[2]};
  }
  const auto [q_weight, q_bias] = piece(0, 1);
  if (k.is_same(v)) {
    const auto [kv_weight, kv_bias] = piece(1, 2);
    const Tensor both = unpack(at::linear(k, kv_weight, kv_bias), 2, embedding);
    return {at::linear(q, q_weight, q_bias), both[0], both[1]};
  }
  const auto [k_weight, k_bias] = piece(1, 1);
  const auto [v_weight, v_bias] = piece(2, 1);
  return {at::linear(q, q_weight, q_bias), at::linear(k, k_weight, k_bias), at::linear(v, v_weight, v_bias)};
}

Projected project(const std::vector<c10::IValue>& in, const Tensor& q, const Tensor& k, const Tensor& v) {
  const Tensor bias = optional(in[kInBias]);
  if (!in[kSeparate].toBool()) return project_packed(q, k, v, optional(in[kInWeight]), bias);
  const std::vector<Tensor> biases = bias.defined() ? bias.chunk(3) : std::vector<Tensor>(3);
  return {at::linear(q, in[kQWeight].toTensor(), biases[0]), at::linear(k, in[kKWeight].toTensor(), biases[1]),
          at::linear(v, in[kVWeight].toTensor(), biases[2])};
}

/// [L, N, E] -> [N * H, L, E / H]
Tensor to_heads(const Tensor& x, int64_t batch_heads, int64_t head) {
  return x.view({x.size(0), batch_heads, head}).transpose(0, 1);
}

Tensor pad_mask(const Tensor& mask) { return mask.defined() ? at::pad(mask, {0, 1}) : mask; }

/// What attends to what: q [N * H, L, E / H], k and v [N * H, S, E / H], an additive mask or none.
struct Heads {
  Tensor q, k, v, mask;
  int64_t length, batch, heads, head;
};

double dropout_of(const std::vector<c10::IValue>& in) {
  return in[kTraining].toBool() ? in[kDropout].toScalar().toDouble() : 0.0;
}

/// [L * N, E] -> [L, N, E'] through the output projection.
Tensor project_out(const std::vector<c10::IValue>& in, const Tensor& rows, const Heads& all) {
  const Tensor output = at::linear(rows, in[kOutWeight].toTensor(), optional(in[kOutBias]));
  return output.view({all.length, all.batch, output.size(1)});
}

std::pair<Tensor, Tensor> attend_with_weights(const std::vector<c10::IValue>& in, const Heads& all) {
  const Tensor scaled = all.q * std::sqrt(1.0 / static_cast<double>(all.q.size(2)));
  const Tensor keys = all.k.transpose(-2, -1);
  Tensor weights = all.mask.defined() ? at::baddbmm(all.mask, scaled, keys) : at::bmm(scaled, keys);
  weights = at::softmax(weights, -1);
  if (const double dropout = dropout_of(in); dropout > 0) weights = at::dropout(weights, dropout, true);
  const Tensor rows =
      at::bmm(weights, all.v).transpose(0, 1).contiguous().view({all.length * all.batch, all.heads * all.head});
  weights = weights.view({all.batch, all.heads, all.length, all.k.size(1)});
  if (in[kAverage].toBool()) weights = weights.mean(1);
  return {project_out(in, rows, all), weights};
}

std::pair<Tensor, Tensor> attend(const std::vector<c10::IValue>& in, const Heads& all, bool causal) {
  const int64_t source = all.k.size(1);
  std::optional<Tensor> mask;
  if (all.mask.defined()) {
    const bool shared = all.mask.size(0) == 1 && all.mask.dim() == 3;
    mask = shared ? all.mask.unsqueeze(0) : all.mask.view({all.batch, all.heads, -1, source});
  }
  const Tensor out = at::scaled_dot_product_attention(
      all.q.view({all.batch, all.heads, all.length, all.head}), all.k.view({all.batch, all.heads, source, all.head}),
      all.v.view({all.batch, all.heads, source, all.head}), mask, dropout_of(in), causal);
  const Tensor rows = out.permute({2, 0, 1, 3}).contiguous().view({all.batch * all.length, all.heads * all.head});
  return {project_out(in, rows, all), Tensor()};
}

c10::IValue attention(std::vector<c10::IValue>& in) {
  Tensor query = in[kQuery].toTensor(), key = in[kKey].toTensor(), value = in[kValue].toTensor();
  const bool batched = query.dim() == 3;
  Tensor padding = optional(in[kKeyPadding]);
  if (!batched) {
    const bool self = key.is_same(value), same = query.is_same(key);
    query = query.unsqueeze(1);
    key = same ? query : key.unsqueeze(1);
    value = self ? key : value.unsqueeze(1);
    if (padding.defined()) padding = padding.unsqueeze(0);
  }
  const int64_t length = query.size(0), batch = query.size(1), embedding = query.size(2), heads = in[kHeads].toInt();
  const int64_t head = embedding / heads;
  const bool need_weights = in[kNeedWeights].toBool();
  bool causal = in[kCausal].toBool();
  Tensor mask = optional(in[kMask]);
  padding = additive_mask(padding, query.scalar_type());
  TORCH_CHECK(!causal || mask.defined(), "need attn_mask if specifying the is_causal hint");
  if (causal && !padding.defined() && !need_weights) {
    mask = Tensor();
  } else {
    mask = additive_mask(mask, query.scalar_type());
    if (padding.defined()) causal = false;
  }
  if (mask.defined() && mask.dim() == 2) mask = mask.unsqueeze(0);

  auto [q, k, v] = project(in, query, key, value);
  if (!in[kBiasK].isNone()) {
    k = at::cat({k, in[kBiasK].toTensor().repeat({1, batch, 1})});
    v = at::cat({v, in[kBiasV].toTensor().repeat({1, batch, 1})});
    mask = pad_mask(mask);
    padding = pad_mask(padding);
  }
  q = to_heads(q, batch * heads, head);
  k = in[kStaticK].isNone() ? to_heads(k, batch * heads, head) : in[kStaticK].toTensor();
  v = in[kStaticV].isNone() ? to_heads(v, batch * heads, head) : in[kStaticV].toTensor();
  if (in[kAddZero].toBool()) {
    k = at::cat({k, at::zeros({batch * heads, 1, head}, k.options())}, 1);
    v = at::cat({v, at::zeros({batch * heads, 1, head}, v.options())}, 1);
    mask = pad_mask(mask);
    padding = pad_mask(padding);
  }
  const int64_t source = k.size(1);
  if (padding.defined()) {
    padding = padding.view({batch, 1, 1, source}).expand({-1, heads, -1, -1}).reshape({batch * heads, 1, source});
    mask = mask.defined() ? mask + padding : padding;
  }
  const Heads all{q, k, v, mask, length, batch, heads, head};
  auto [output, weights] = need_weights ? attend_with_weights(in, all) : attend(in, all, causal);
  if (!batched) {
    output = output.squeeze(1);
    if (weights.defined()) weights = weights.squeeze(0);
  }
  return c10::ivalue::Tuple::create(c10::IValue(output), weights.defined() ? c10::IValue(weights) : c10::IValue());
}

c10::IValue second_of(std::vector<c10::IValue>& in) { return in[0].toTupleRef().elements()[1]; }
c10::IValue first_of(std::vector<c10::IValue>& in) { return in[0].toTupleRef().elements()[0]; }

}  // namespace

Operand lower_multi_head_attention(Builder& builder, const Bound& args) {
  const Operand both = builder.host(attention, Kind::Tensor, args.values());
  ++builder.operator_calls;
  const Operand output = builder.host(first_of, Kind::Tensor, {both});
  const Operand weights = args.flag("need_weights") ? builder.host(second_of, Kind::Tensor, {both}) : Operand::none();
  return Operand::sequence(Kind::Tuple, {output, weights});
}

}  // namespace passnet::runtime
