// passnet graph dot: one graph as a picture for Graphviz.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "command.h"
#include "fx/dot.h"
#include "fx/parser.h"
#include "graph.h"

namespace passnet::cli {

namespace {

struct DotFlags {
  std::string path;
  fx::DotOptions options;
};

Result<void> print_graph(const DotFlags& flags) {
  PASSNET_TRY(const ir::Graph graph, fx::load_model(flags.path));
  const std::vector<std::string> shapes;  // by node id; none: they come from a worker
  fmt::print("{}", print_dot(graph, shapes, flags.options));
  return {};
}

}  // namespace

void add_graph_dot(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<DotFlags>();
  CLI::App* command = group.add_subcommand("dot", "draw a graph: text for Graphviz");
  command->add_option("GRAPH_DIR", flags->path, "graph directory or model.py")->required();
  command->add_flag("--weights", flags->options.weights,
                    "draw weights too; else they are named in the nodes that use them");
  command->footer(
      "Example:  passnet graph dot samples/phi3_swiglu/graphs/b1_s1_float32 | dot -Tsvg -o graph.svg");
  command->callback([flags, &exit_code] {
    if (const Result<void> done = print_graph(*flags); !done) exit_code = report_error(done.error());
  });
}

}  // namespace passnet::cli
