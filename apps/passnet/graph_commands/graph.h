// The subcommands of `passnet graph` that go over many graphs or draw one. Each adds itself to `group`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/in_order.h"
#include "graphdir/graph_walk.h"
#include "report/progress.h"
#include "run/evaluate/evaluate.h"

namespace CLI {
class App;
}

namespace passnet::cli {

/// PATH… of a command that reads graphs.
struct GraphPaths {
  std::vector<std::string> paths;
  bool json = false;
};
/// Adds PATH… and --json.
std::shared_ptr<GraphPaths> add_graph_paths(CLI::App& command);

/// The graphs at or below `paths`, until Ctrl-C.
class InterruptibleWalk {
 public:
  explicit InterruptibleWalk(const GraphPaths& given) : walk_(given.paths) {}
  std::optional<graphdir::GraphWalk::Found> operator()();

 private:
  graphdir::GraphWalk walk_;
};

/// Hands what `work` makes of each graph to `consume`, in the order of the walk, using all processors.
template <class Work, class Consume>
void map_graphs(const GraphPaths& given, Work&& work, Consume&& consume) {
  map_in_order(InterruptibleWalk(given), std::forward<Work>(work), std::forward<Consume>(consume),
               static_cast<size_t>(run::available_threads()));
}

void add_graph_check(CLI::App& group, int& exit_code);
void add_graph_stats(CLI::App& group, int& exit_code);
void add_graph_hash(CLI::App& group, int& exit_code);
void add_graph_show(CLI::App& group, int& exit_code);
void add_graph_dot(CLI::App& group, int& exit_code);

}  // namespace passnet::cli
