// The graph directories at or below some paths, one after the other: a walk over any number of graphs in
// bounded memory.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace passnet::graphdir {

/// A directory is a graph when it has an entry model.py, of whatever kind: one that cannot be read is reported by whoever
/// reads it, not passed over.
bool is_graph_dir(const std::filesystem::path& path);

class GraphWalk {
 public:
  /// paths: graph directories, directories with graphs below, or files that hold a model.
  explicit GraphWalk(std::vector<std::string> paths) : paths_(std::move(paths)) {}

  struct Found {
    std::filesystem::path path;  // a graph directory, or a file as given
    std::optional<Error> error;  // what is there instead: no such path, no graph below it, an unreadable directory
  };
  /// The next graph, or the next thing that should have been one; nullopt at the end. Order: as given; below
  /// a directory as its paths sort. Links to directories are followed only where they are given.
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
