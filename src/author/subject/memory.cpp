#include "author/subject/memory.h"

#include <algorithm>

#include "ir/ops/table.h"

namespace passnet::author {

using ir::ArgKind;
using ir::NodeId;

namespace {

/// Whether it does where its type is that of its first argument.
bool views_own_type(const Subject& subject, NodeId id) {
  const ir::Graph& graph = subject.graph;
  const ir::Node& node = graph.node(id);
  const ir::OpSignature* signature = ir::find_signature(node);
  const auto args = graph.args(node);
  if (signature == nullptr || !signature->view || args.empty() || args[0].kind != ArgKind::Node) return false;
  if (ir::overwrites_input(graph, id)) return false;
  const std::vector<ValueType> from = subject.types_of(args[0].node), to = subject.types_of(id);
  if (!from[0].is_tensor()) {
    // Parts of a tensor, unlike the best elements and their places.
    const ir::OpSignature* whole = ir::find_signature(graph.node(args[0].node));
    return whole != nullptr && whole->view;
  }
  if (!to[0].is_tensor()) return true;
  const auto is_contiguous = [](const ValueType& type) { return type.tensor.is_contiguous(); };
  // Where these copy, what they give is contiguous, and what they take is not.
  if (signature->name == "reshape" || signature->name == "contiguous" || signature->name == "flatten")
    return std::ranges::all_of(from, is_contiguous) || !std::ranges::all_of(to, is_contiguous);
  return true;
}

}  // namespace

std::vector<bool> where_shares_memory(const Subject& subject, NodeId id) {
  std::vector<bool> shares(subject.examples.size(), false);
  if (!views_own_type(subject, id)) return shares;
  for (size_t i = 0; i < shares.size(); ++i) {
    const ValueType &from = subject.types[i][subject.graph.args(id)[0].node], &to = subject.types[i][id];
    shares[i] = !from.is_tensor() || !to.is_tensor() || from.tensor.dtype == to.tensor.dtype;
  }
  return shares;
}

bool shares_memory(const Subject& subject, NodeId id) {
  const std::vector<bool> shares = where_shares_memory(subject, id);
  return std::ranges::find(shares, false) == shares.end();
}

}  // namespace passnet::author
