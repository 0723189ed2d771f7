// passnet graph dot: one graph as a picture for Graphviz.
#include "fx/dot.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/file/paths.h"
#include "base/json/json.h"
#include "command.h"
#include "fx/syntax/parser.h"
#include "graph_commands/graph.h"
#include "graphdir/sample.h"
#include "options.h"
#include "type_inference.h"

namespace passnet::cli {

namespace {

struct DotFlags {
  std::string path;
  bool json = false;
};

void print_dot_text(const DotFlags& flags, const std::string& dot) {
  print_result(flags.json ? dump(Json{{"graph", flags.path}, {"dot", dot}}) + "\n" : dot);
}

Result<void> draw_graph(const DotFlags& flags) {
  const auto directory = graphdir::graph_directory(flags.path);
  if (!directory || !path_exists(*directory / "weight_meta.py")) {
    PASSNET_TRY(const ir::Graph graph, fx::load_model(flags.path));
    print_dot_text(flags, fx::print_dot(graph, {}));
    return {};
  }
  PASSNET_TRY(const graphdir::GraphDir graph, graphdir::load_graph_dir(flags.path));
  PASSNET_TRY(const InferredTypes types, TypeInference().types_of(graph));
  print_dot_text(flags, fx::print_dot(graph.graph, types.texts));
  return {};
}

}  // namespace

void add_graph_dot(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<DotFlags>();
  CLI::App* command =
      group.add_subcommand("dot", "draw a graph as text for Graphviz, with shapes if it has weight_meta.py");
  command->add_option("GRAPH_DIR", flags->path, "graph directory or model.py")->required();
  add_json_flag(*command, flags->json);
  command->footer("Example:  passnet graph dot samples/phi3_swiglu/graphs/b1_s1_float32 | dot -Tsvg -o graph.svg");
  command->callback([flags, &exit_code] { exit_code = finish(draw_graph(*flags)); });
}

}  // namespace passnet::cli
