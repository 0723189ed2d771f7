// The graph directories at or below some paths, one after the other: a walk over any number of graphs in
// bounded memory.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace passnet::graphdir {

/// Whether the directory has an entry model.py, be it a file or not: one that cannot be read is then an error of
/// whoever reads the graph, and not passed over in silence.
bool is_graph_dir(const std::filesystem::path& path);

/// Checks that a graph that a list names lies below `root`, and is reached from there through no link. name: as it stands in
/// the list, at `at`. Errors: BadInput.
Result<void> require_below(const std::filesystem::path& root, const std::filesystem::path& graph,
                           const std::string& name, const SourceLoc& at);

class GraphWalk {
 public:
  /// paths: graph directories, directories with graphs below, or files that hold a model.
  explicit GraphWalk(std::vector<std::string> paths) : paths_(std::move(paths)) {}

  struct Found {
    std::filesystem::path path;  // a graph directory, or a file as given
    std::optional<Error> error;  // what is there instead: no such path, no graph below it, an unreadable directory
  };
  /// Returns: the next graph, or what stood in the place of one, with an error; nullopt at the end. Paths come in the
  ///          order given, the graphs below one in the order of their paths. A link to a directory is followed only
  ///          when it is one of the paths given.
  std::optional<Found> next();

 private:
  std::optional<Found> start(const std::string& given);
  std::optional<Found> enter(const std::filesystem::path& directory);

  // Directories to go into, the next one last.
  struct Level {
    std::filesystem::path directory;
    std::vector<std::string> names;  // descending
  };
  std::vector<std::string> paths_;
  size_t next_path_ = 0;
  std::vector<Level> levels_;
  bool found_any_ = true;  // below the path given last
};

}  // namespace passnet::graphdir
