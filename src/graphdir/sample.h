// Directories on disk: a graph directory (model.py, weight_meta.py, …) and a sample directory
// (graph_list.txt, graphs/, pass_dir/), as upstream lays them out.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graphdir/meta.h"
#include "ir/graph.h"

namespace passnet::graphdir {

/// A graph directory, read.
struct GraphDir {
  std::filesystem::path path;
  std::string name;  // path relative to the sample's root, or the directory name: used in records
  ir::Graph graph;
  std::vector<TensorMeta> weights;  // in the order of the placeholders
  std::vector<TensorMeta> inputs;   // input_meta.py; usually empty
};

/// The directory that `path`, a graph's directory or its model.py, stands for; none for another file.
std::optional<std::filesystem::path> graph_directory(const std::filesystem::path& path);

/// path: the directory, or its model.py. Reads model.py, weight_meta.py and input_meta.py (may be absent) and checks that every placeholder has its
/// record. Errors: Io, BadInput (another file; a placeholder without record, with the nearest recorded name; a record of no
/// placeholder).
Result<GraphDir> load_graph_dir(const std::filesystem::path& path);

/// Checks that every placeholder of `dir.graph` has one record, in either list, and every record its
/// placeholder; orders the records by placeholder. Errors: BadInput.
Result<void> match_records(GraphDir& dir);

/// A sample directory, listed; graphs are loaded one by one so that a bad one spoils only itself.
struct Sample {
  std::filesystem::path path;
  std::string name;                                // directory name
  std::vector<std::string> graph_names;            // as written in graph_list.txt (or found when there is no list)
  std::vector<std::filesystem::path> graph_paths;  // resolved: graphs/NAME, NAME or absolute
  std::filesystem::path pass_dir;                  // empty when the sample has none
};
/// Reads graph_list.txt (blank lines and # comments skipped) or, when absent, every directory below that
/// holds a model.py. Errors: Io, BadInput (empty list, a named graph that does not exist, with line number).
Result<Sample> load_sample(const std::filesystem::path& path);

/// PATH of a command: a sample directory, a graph directory, a directory of samples (each with its
/// graph_list.txt), or a text file listing such directories one per line (relative to the file). Returns
/// sample directories. Errors: Io, BadInput (a path that does not exist, with the nearest name beside it; an
/// empty list).
Result<std::vector<std::filesystem::path>> expand_paths(const std::vector<std::string>& paths);

/// Every graph directory (is_graph_dir) at or below `root`, in the order of GraphWalk; empty when `root` is no directory.
/// Directories that cannot be read are left out, with a warning for each.
std::vector<std::filesystem::path> find_graph_dirs(const std::filesystem::path& root);

}  // namespace passnet::graphdir
