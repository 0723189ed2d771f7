// graph_hash.txt: upstream's SHA-256 over the text that torch.fx generates of a graph, rebuilt from the graph
// alone. The rules and what they cannot reproduce: docs/graphs.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ir/graph.h"

namespace passnet::graphdir {

/// What a hash may have been taken of.
enum class HashRule : uint8_t {
  Graph,          // the graph as it stands; arguments numbered as in the signature
  Retraced,       // the graph traced once more; arguments numbered as in the signature
  RetracedByUse,  // the same; arguments numbered in the order of their first use
  OwnNames,       // the graph as it stands; arguments under their own names
  ModelText,      // the bytes of model.py
};
/// "graph", "retraced", "retraced-by-use", "own-names", "model-text".
std::string_view name(HashRule rule);

/// The text of a rule; for ModelText the graph's source. REQUIRES: graph.source for ModelText.
std::string hashed_text(const ir::Graph& graph, HashRule rule);
/// 64 hex digits: SHA-256 of that text.
std::string graph_hash(const ir::Graph& graph, HashRule rule = HashRule::Graph);

/// The first rule that gives `stored`, or nullopt.
std::optional<HashRule> find_hash_rule(const ir::Graph& graph, std::string_view stored);

}  // namespace passnet::graphdir
