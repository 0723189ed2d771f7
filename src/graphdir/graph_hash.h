// graph_hash.txt: upstream's SHA-256 of the text that torch.fx generates for a graph, computed here from the graph
// alone.
// Source: docs/graphs.md, "graph_hash.txt": the rules, and which hashes they do not reproduce.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ir/graph.h"

namespace passnet::graphdir {

/// The text that a hash may have been taken of.
enum class HashRule : uint8_t {
  Graph,          // the graph as it stands; arguments numbered as in the signature
  Retraced,       // the graph traced once more; arguments numbered as in the signature
  RetracedByUse,  // the same; arguments numbered in the order of their first use
  OwnNames,       // the graph as it stands; arguments under their own names
  ModelText,      // the bytes of model.py
};
/// "graph", "retraced", "retraced-by-use", "own-names", "model-text".
std::string_view name(HashRule rule);

/// Returns: the text that the rule hashes.
/// REQUIRES: graph.source is set, for ModelText.
std::string hashed_text(const ir::Graph& graph, HashRule rule);
/// Returns: SHA-256 of that text, as 64 hex digits.
std::string graph_hash(const ir::Graph& graph, HashRule rule = HashRule::Graph);

/// stored:   the content of graph_hash.txt, without its newline.
/// Returns:  the first rule, in the order of HashRule, under which the graph has this hash; nullopt when none gives it.
std::optional<HashRule> find_hash_rule(const ir::Graph& graph, std::string_view stored);

}  // namespace passnet::graphdir
