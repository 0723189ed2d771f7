// The subcommands of `passnet graph` that go over many graphs or draw one. Each adds itself to `group`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fx/graph_walk.h"
#include "report/progress.h"

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
  std::optional<fx::GraphWalk::Found> operator()();

 private:
  fx::GraphWalk walk_;
};

void add_graph_check(CLI::App& group, int& exit_code);
void add_graph_stats(CLI::App& group, int& exit_code);
void add_graph_hash(CLI::App& group, int& exit_code);
void add_graph_show(CLI::App& group, int& exit_code);
void add_graph_dot(CLI::App& group, int& exit_code);

}  // namespace passnet::cli
