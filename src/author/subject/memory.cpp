#include "author/subject/memory.h"

#include <algorithm>
#include <string_view>

#include "author/subject/order.h"
#include "ir/ops/memory.h"
#include "ir/ops/table.h"

namespace passnet::author {

using ir::NodeId;

namespace {

/// The value that a node views where both have one type and it does not copy; kNoNode: none.
NodeId viewed_in_own_type(const Subject& subject, NodeId id) {
  const ir::Graph& graph = subject.graph;
  const NodeId viewed = ir::viewed_input(graph, id);
  if (viewed == ir::kNoNode || ir::overwrites_input(graph, id)) return ir::kNoNode;
  if (subject.types[0][viewed].is_tensor()) return viewed;
  // Parts of a tensor, unlike the best elements and their places.
  const ir::OpSignature* whole = ir::find_signature(graph.node(viewed));
  return whole != nullptr && whole->view ? viewed : ir::kNoNode;
}

/// By graph: whether it copies, which some views do: what they give is contiguous then, or lies in the memory format that is asked
/// for, and what they take is not. Where all that it gives is contiguous one kernel writes it for all graphs, and so it copies in
/// all of them.
std::vector<bool> where_copies(const Subject& subject, NodeId id, NodeId viewed) {
  std::vector<bool> copies(subject.examples.size(), false);
  const std::string_view name = ir::find_signature(subject.graph.node(id))->name;
  if (name != "reshape" && name != "contiguous" && name != "flatten") return copies;
  const auto is_contiguous = [](const ValueType& type) { return type.tensor.is_contiguous(); };
  const std::vector<ValueType> from = subject.types_of(viewed), to = subject.types_of(id);
  if (!std::ranges::all_of(to, &ValueType::is_tensor)) return copies;
  const bool gives_contiguous = std::ranges::all_of(to, is_contiguous);
  const bool takes_contiguous = std::ranges::all_of(from, is_contiguous);
  for (size_t i = 0; i < copies.size(); ++i) {
    if (gives_contiguous)
      copies[i] = !takes_contiguous;
    else if (is_contiguous(to[i]))
      copies[i] = !is_contiguous(from[i]);
    else
      copies[i] = name == "contiguous" && common_order({from[i]}) != common_order({to[i]});
  }
  return copies;
}

}  // namespace

std::vector<bool> where_shares_memory(const Subject& subject, NodeId id) {
  std::vector<bool> shares(subject.examples.size(), false);
  const NodeId viewed = viewed_in_own_type(subject, id);
  if (viewed == ir::kNoNode) return shares;
  const std::vector<bool> copies = where_copies(subject, id, viewed);
  for (size_t i = 0; i < shares.size(); ++i) {
    const ValueType &from = subject.types[i][viewed], &to = subject.types[i][id];
    shares[i] = !copies[i] && (!from.is_tensor() || !to.is_tensor() || from.tensor.dtype == to.tensor.dtype);
  }
  return shares;
}

std::vector<std::string> sharing_otherwise(const Subject& subject, NodeId id) {
  const std::vector<bool> shares = where_shares_memory(subject, id);
  std::vector<std::string> others;
  for (size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] != shares[0]) others.push_back(subject.examples[i]);
  }
  return others;
}

std::vector<std::string> lying_otherwise(const Subject& subject, NodeId id) {
  std::vector<std::string> others = sharing_otherwise(subject, id);
  const std::vector<ValueType> types = subject.types_of(id);
  std::vector<ValueType> alike = {types[0]};
  if (!common_order(alike)) return others;
  for (size_t i = 1; i < types.size(); ++i) {
    alike.push_back(types[i]);
    if (common_order(alike)) continue;
    alike.pop_back();
    others.push_back(subject.examples[i]);
  }
  return others;
}

bool shares_memory(const Subject& subject, NodeId id) {
  const std::vector<bool> shares = where_shares_memory(subject, id);
  return std::ranges::find(shares, false) == shares.end();
}

}  // namespace passnet::author
