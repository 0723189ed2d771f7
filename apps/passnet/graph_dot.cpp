// passnet graph dot: one graph as a picture for Graphviz.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "command.h"
#include "fx/dot.h"
#include "fx/parser.h"
#include "graph.h"
#include "graph_types.h"

namespace passnet::cli {

namespace {

struct DotFlags {
  std::string path;
  bool no_shapes = false;
  fx::DotOptions options;
};

Result<void> draw_graph(const DotFlags& flags) {
  if (flags.no_shapes) {
    PASSNET_TRY(const ir::Graph graph, fx::load_model(flags.path));
    fmt::print("{}", print_dot(graph, {}, flags.options));
    return {};
  }
  PASSNET_TRY(const fx::GraphDir graph, fx::load_graph_dir(flags.path));
  PASSNET_TRY(const run::InferredTypes types, TypeInference().types_of(graph));
  fmt::print("{}", print_dot(graph.graph, types.texts, flags.options));
  return {};
}

}  // namespace

void add_graph_dot(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<DotFlags>();
  CLI::App* command = group.add_subcommand("dot", "draw a graph: text for Graphviz, shapes on the edges");
  command->add_option("GRAPH_DIR", flags->path, "graph directory or model.py")->required();
  command->add_flag("--weights", flags->options.weights,
                    "draw weights too; else they are named in the nodes that use them");
  command->add_flag("--no-shapes", flags->no_shapes, "no shapes on the edges: needs model.py alone, and no PyTorch");
  command->footer(
      "Example:  passnet graph dot samples/phi3_swiglu/graphs/b1_s1_float32 | dot -Tsvg -o graph.svg");
  command->callback([flags, &exit_code] { exit_code = finish(draw_graph(*flags)); });
}

}  // namespace passnet::cli
