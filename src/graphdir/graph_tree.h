// One pass over all graphs below a directory, by several threads.
#pragma once

#include <atomic>
#include <filesystem>
#include <utility>

#include "base/file/paths.h"
#include "base/in_order.h"
#include "base/result.h"
#include "graphdir/graph_walk.h"

namespace passnet::graphdir {

/// How a tree is read.
struct TreeOptions {
  int jobs = 1;  // graphs at a time
  const std::atomic<bool>* interrupted = nullptr;
  bool is_interrupted() const { return interrupted != nullptr && *interrupted; }
};

/// Calls sink(work(item)) for each item that `next` gives, in order, until sink fails or the user interrupts.
/// next, work, sink: as in map_in_order, but sink returns Result<void>.
/// Errors:   the first of sink; Resource when interrupted.
template <class Next, class Work, class Sink>
Result<void> map_until_error(Next&& next, Work&& work, Sink&& sink, const TreeOptions& options) {
  using Item = decltype(next());
  Result<void> done;
  std::atomic<bool> failed = false;
  map_in_order([&] { return failed || options.is_interrupted() ? Item() : next(); }, std::forward<Work>(work),
               [&](auto result) {
                 if (failed) return;
                 done = sink(std::move(result));
                 failed = !done;
               },
               static_cast<size_t>(options.jobs));
  if (done && options.is_interrupted()) return resource_error("interrupted");
  return done;
}

/// map_until_error over each graph at or below `root`, in the order of their paths.
/// work:     takes a GraphWalk::Found; a directory that cannot be read comes as one with an error.
/// Errors:   as map_until_error.
template <class Work, class Sink>
Result<void> for_each_graph(const std::filesystem::path& root, const TreeOptions& options, Work&& work, Sink&& sink) {
  GraphWalk walk({root.string()});
  return map_until_error([&] { return walk.next(); }, std::forward<Work>(work), std::forward<Sink>(sink), options);
}

/// Returns: the path of `graph` relative to `root`, below which it was found; its own name when it is the root itself.
inline std::string path_below(const std::filesystem::path& root, const std::filesystem::path& graph) {
  const std::filesystem::path relative = graph.lexically_relative(root);
  if (relative != ".") return relative.string();
  const std::filesystem::path full = absolute_path(graph);
  return (full.has_filename() ? full.filename() : full.parent_path().filename()).string();
}

}  // namespace passnet::graphdir
