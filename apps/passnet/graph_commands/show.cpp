// passnet graph show: one graph as the text that PassNet writes, with the types of its values when asked.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "command.h"
#include "fx/parser.h"
#include "fx/print.h"
#include "graph_commands/graph.h"
#include "options.h"
#include "type_inference.h"

namespace passnet::cli {

namespace {

struct ShowFlags {
  std::string path;
  bool shapes = false, json = false;
};

Result<void> show_graph(const ShowFlags& flags) {
  if (!flags.shapes) {
    PASSNET_TRY(const ir::Graph graph, fx::load_model(flags.path));
    print_result(flags.json ? dump(Json{{"graph", flags.path}, {"model", fx::print_model(graph)}}) + "\n"
                            : fx::print_model(graph));
    return {};
  }
  PASSNET_TRY(const graphdir::GraphDir graph, graphdir::load_graph_dir(flags.path));
  PASSNET_TRY(const InferredTypes types, TypeInference().types_of(graph));
  if (flags.json) {
    Json values = Json::object();
    for (ir::NodeId id = 0; id < graph.graph.size(); ++id) {
      const ir::Node& node = graph.graph.node(id);
      if (node.kind != ir::NodeKind::Output) values[std::string(node.name)] = ir::to_json(types.values[id]);
    }
    print_result(dump(Json{{"graph", flags.path},
                           {"model", fx::print_model(graph.graph)},
                           {"unknown", types.unknown},
                           {"values", std::move(values)}}) +
                 "\n");
  } else {
    print_result(fx::print_model(graph.graph, types.texts));
  }
  return {};
}

}  // namespace

void add_graph_show(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<ShowFlags>();
  CLI::App* command = group.add_subcommand("show", "print a graph as the model.py that PassNet writes");
  command->add_option("GRAPH_DIR", flags->path, "graph directory or model.py")->required();
  command->add_flag("--shapes", flags->shapes,
                    "dtype and shape of every value as comments; computed without data, from weight_meta.py");
  add_json_flag(*command, flags->json);
  command->footer("Example:  passnet graph show --shapes samples/vit_add_layer_norm/graphs/b1_float32");
  command->callback([flags, &exit_code] { exit_code = finish(show_graph(*flags)); });
}

}  // namespace passnet::cli
