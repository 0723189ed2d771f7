#include "dataset/catalog/family.h"

#include "analysis/dtype_variant.h"
#include "analysis/kernel_count.h"
#include "analysis/op_name.h"
#include "base/hash.h"

namespace passnet::dataset {

std::vector<std::string> op_sequence(const ir::Graph& graph) {
  const std::vector<bool> casts = analysis::variant_casts(graph);
  std::vector<std::string> names;
  for (size_t i = 0; i < analysis::body_size(graph); ++i) {
    if (const ir::NodeId id = analysis::body_node(graph, i); !casts[id])
      names.push_back(analysis::op_name(graph.node(id)));
  }
  return names;
}

std::string family_of(const ir::Graph& graph) {
  const std::vector<bool> casts = analysis::variant_casts(graph);
  std::string text;
  for (size_t i = 0; i < analysis::body_size(graph); ++i) {
    const ir::NodeId id = analysis::body_node(graph, i);
    if (!casts[id] && analysis::kernel_class(graph, id) != ir::KernelClass::Free)
      text += analysis::canonical_op_name(graph.node(id)) + " ";
  }
  return sha256_hex(text);
}

bool is_for_evaluation(std::string_view family, double share, uint64_t seed) {
  const uint64_t number = fast_hash(family.data(), family.size(), seed);
  return static_cast<double>(number % 1'000'000) < share * 1e6;
}

}  // namespace passnet::dataset
