// Directories on disk: a graph directory (model.py, weight_meta.py, …) and a sample directory
// (graph_list.txt, graphs/, pass_dir/), as upstream lays them out.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/file/source_files.h"
#include "base/result.h"
#include "fx/syntax/parser.h"
#include "graphdir/inputs/meta.h"
#include "ir/graph.h"

namespace passnet::graphdir {

/// A graph directory, read.
struct GraphDir {
  std::filesystem::path path;
  std::string name;  // path relative to the sample's root, or the directory name: used in records
  ir::Graph graph;
  std::vector<TensorMeta> weights;  // in the order of the placeholders
  std::vector<TensorMeta> inputs;   // input_meta.py; usually empty

  /// The record of that name in either list; null: there is none.
  TensorMeta* find_record(std::string_view record);
  const TensorMeta* find_record(std::string_view record) const;
};

/// path:     a graph's directory, or its model.py.
/// Returns:  the directory; nullopt for any other file.
std::optional<std::filesystem::path> graph_directory(const std::filesystem::path& path);

/// Reads model.py, weight_meta.py and, when it is there, input_meta.py, and checks that every placeholder has its
/// record.
/// path:     the graph's directory, or its model.py.
/// Errors:   Io; BadInput: another file, a placeholder without record (with the nearest recorded name), a record that
///           belongs to no placeholder; Unsupported as fx::parse_model.
Result<GraphDir> load_graph_dir(const std::filesystem::path& path, fx::Operators operators = fx::Operators::Listed);
/// The same, of what `files` reads. directory: the graph's.
Result<GraphDir> load_graph_dir(const SourceFiles& files, const std::filesystem::path& directory,
                                fx::Operators operators = fx::Operators::Listed);

/// Checks that every placeholder of `dir.graph` has exactly one record, in either list, and that every record has its
/// placeholder; then sorts each list in the order of the placeholders.
/// Errors: BadInput at the record or the argument.
Result<void> match_records(GraphDir& dir);

/// A sample directory, listed; graphs are loaded one by one so that a bad one spoils only itself.
struct Sample {
  std::filesystem::path path;
  std::string name;                                // directory name
  std::vector<std::string> graph_names;            // as written in graph_list.txt (or found when there is no list)
  std::vector<std::filesystem::path> graph_paths;  // resolved: graphs/NAME or NAME
  std::filesystem::path pass_dir;                  // empty when the sample has none
  std::vector<std::filesystem::path> roots = {};   // directories below which no link is followed: SourceFiles
};
/// The sample with those of its graphs that are among `names`, in its own order.
Sample with_graphs(Sample sample, const std::vector<std::string>& names);

/// Reads graph_list.txt (without blank lines and # comments) or, where there is none, finds every directory below that
/// holds a model.py.
/// Errors: Io; BadInput: an empty list, or a graph that does not exist or lies elsewhere, with its line; a link.
Result<Sample> load_sample(const std::filesystem::path& path);

/// The same of each; what is kept of them goes by their names.
/// Errors: as load_sample; BadInput: two of one name.
Result<std::vector<Sample>> load_samples(const std::vector<std::filesystem::path>& paths);

/// paths:    arguments of a command: each a sample directory, a graph directory, a directory of samples (each with its
///           graph_list.txt), a graph_list.txt, which stands for its directory, or a list of such directories: a text
///           file with one per line, or a table (.csv) with a column `sample_path` or `path`.
/// root:     what the lines of lists are relative to; empty: to the list's directory or the nearest one above it where
///           they exist, as in a checkout whose lists lie in a directory of their own, or else to the working directory.
/// Returns:  sample directories and graph directories, in the order of the paths.
/// Errors:   Io; BadInput: a path that does not exist (with the nearest name beside it), an empty list.
Result<std::vector<std::filesystem::path>> expand_paths(const std::vector<std::string>& paths,
                                                        const std::filesystem::path& root = {});

/// Returns: every graph directory (is_graph_dir) at or below `root`, in the order of GraphWalk; none when `root` is not
///          a directory. Directories that cannot be read are left out, with a warning for each.
std::vector<std::filesystem::path> find_graph_dirs(const std::filesystem::path& root);

}  // namespace passnet::graphdir
