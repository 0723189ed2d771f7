// The index of a dataset: one SQLite file with a row per graph, for counting and finding. Made from the
// directories alone, ours or upstream's; nothing in it is needed to use them. docs/dataset-format.md has the tables.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "graphdir/graph_tree.h"

namespace passnet::dataset {

/// Where the index of a dataset lies unless another place is named.
inline constexpr const char* kIndexName = "index.sqlite";

struct IndexOptions {
  /// Lists of samples or graphs (read_list), or directories that hold such as .txt; when empty, those of ROOT/lists. A
  /// graph in a list whose name has the word "train" or "eval" belongs to that split.
  std::vector<std::filesystem::path> lists;
  graphdir::TreeOptions tree;
};

/// What became of one list.
struct ListReport {
  std::string name;                  // of the file, without .txt
  std::string split;                 // "train", "eval" or ""
  size_t found = 0;                  // lines that name something
  std::vector<std::string> missing;  // lines that do not
};

struct IndexReport {
  size_t graphs = 0, samples = 0;
  size_t in_both = 0;  // graphs in lists for training and for evaluation; indexed as eval
  std::vector<ListReport> lists;
  std::vector<std::string> failed;  // "PATH: why": graphs that cannot be read
};

/// Reads all graphs at or below `root` and writes the index to `file`, which is replaced as a whole.
/// counted:  called after each graph, with its path.
/// Errors:   BadInput: no graph, no such list; Io; Resource: interrupted.
Result<IndexReport> write_index(const std::filesystem::path& root, const std::filesystem::path& file,
                                const IndexOptions& options,
                                const std::function<void(const std::string& path)>& counted);

/// What graphs to look for; empty or absent: any.
struct GraphQuery {
  std::string kind, dtype, source, split;
  std::string list;                   // the name of a list
  std::vector<std::string> contains;  // op names, all of them: "softmax", "Tensor.view"
  std::optional<int64_t> min_bytes, max_bytes, min_ops, max_ops;
};

struct IndexedGraph {
  std::string path, kind, dtype, source, model, split;
  int64_t ops = 0, bytes = 0;
};

/// Returns: the graphs that fit all of the query, in the order of their paths.
/// Errors:  Io: there is no index, or the file is something else.
Result<std::vector<IndexedGraph>> query_graphs(const std::filesystem::path& index, const GraphQuery& query);

/// Returns: {"graphs", "samples", "structures", "by": {"kind"|"dtype"|"source"|"split"|"list"|"size": [[name, graphs],
///          …]}, "operators": [[name, calls, graphs], …]}; lists with the most frequent first.
/// Errors:  as query_graphs.
Result<Json> index_stats(const std::filesystem::path& index);

}  // namespace passnet::dataset
