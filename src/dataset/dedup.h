// Graph directories of several trees -> one tree in which no two graphs are equal. Source: docs/dataset.md, "Dedup".
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graphdir/graph_tree.h"

namespace passnet::dataset {

/// When two graphs are equal.
enum class EqualBy : uint8_t {
  Identity,  // typed_identity_hash
  Hash,      // the text of graph_hash.txt: upstream's rule
};
/// "identity", "hash".
std::string_view name(EqualBy rule);
std::optional<EqualBy> parse_equal_by(std::string_view text);

struct DedupOptions {
  EqualBy by = EqualBy::Identity;
  graphdir::TreeOptions tree;
};

struct DedupReport {
  size_t graphs = 0;                // read below the trees: added, duplicates and there already
  size_t added = 0;                 // written by this run
  size_t renamed = 0;               // of these, to another path, since theirs was taken by an unequal graph
  size_t duplicates = 0;            // of graphs in OUT
  size_t there = 0;                 // in OUT since an earlier run
  std::vector<std::string> failed;  // "PATH: why": graphs that cannot be compared; they are not in OUT
};

/// Copies the graph directories below `trees` to OUT, each to the path that it has below its tree; of equal ones only
/// the first, in the order of the trees, then of paths. Files are copied byte for byte, except subgraph_sources.json,
/// which names the ranges of all equal graphs (of one without such a file: the range that its path names, else the
/// whole graph). OUT/dedup.jsonl gets a line per duplicate and per renamed graph, OUT/dedup.json the rule and the
/// trees. An OUT that exists is added to. The trees are only read.
/// counted:  called after each graph that was read, with its path.
/// Errors:   BadInput: no such tree, a tree within another or within OUT, an OUT that holds something else or was made
///           by another rule; Io; Resource: interrupted, another run writes to OUT.
Result<DedupReport> deduplicate(const std::vector<std::string>& trees, const std::filesystem::path& out,
                                const DedupOptions& options,
                                const std::function<void(const std::string& path)>& counted);

}  // namespace passnet::dataset
