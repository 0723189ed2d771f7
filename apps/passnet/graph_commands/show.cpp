// passnet graph show: one graph as the text that PassNet writes, with the types of its values when asked.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "analysis/op_name.h"
#include "base/json/json.h"
#include "command.h"
#include "fx/print.h"
#include "fx/syntax/parser.h"
#include "graph_commands/graph.h"
#include "options.h"
#include "type_inference.h"

namespace passnet::cli {

namespace {

struct ShowFlags {
  std::string path;
  bool shapes = false, numbers = false, json = false;
};

/// Puts the place of each node before its note, and its operator: "3 Tensor.view", as 'passnet graph cut' takes both.
std::vector<std::string> numbered(const ir::Graph& graph, std::vector<std::string> notes) {
  notes.resize(graph.size());
  for (size_t place = 0; place < analysis::body_size(graph); ++place) {
    const ir::NodeId id = analysis::body_node(graph, place);
    const std::string number = fmt::format("{} {}", place, analysis::op_name(graph.node(id)));
    notes[id] = notes[id].empty() ? number : number + ", " + notes[id];
  }
  return notes;
}

Result<void> show_graph(const ShowFlags& flags) {
  if (!flags.shapes) {
    PASSNET_TRY(const ir::Graph graph, fx::load_model(flags.path));
    const std::string text = flags.numbers ? fx::print_model(graph, numbered(graph, {})) : fx::print_model(graph);
    print_result(flags.json ? dump(Json{{"graph", flags.path}, {"model", text}}) + "\n" : text);
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
    print_result(fx::print_model(graph.graph, flags.numbers ? numbered(graph.graph, types.texts) : types.texts));
  }
  return {};
}

}  // namespace

void add_graph_show(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<ShowFlags>();
  CLI::App* command = group.add_subcommand("show", "print a graph as the model.py that PassNet writes");
  command->add_option("GRAPH_DIR", flags->path, "graph directory or model.py")->required();
  command->add_flag("--shapes", flags->shapes, "print each value's dtype and shape as a comment");
  CLI::Option* numbers = command->add_flag("--numbers", flags->numbers,
                                           "print each node's number and operator as a comment, for 'graph cut'");
  add_json_flag(*command, flags->json)->excludes(numbers);
  command->footer("Example:  passnet graph show --shapes --numbers samples/vit_add_layer_norm/graphs/b1_float32");
  command->callback([flags, &exit_code] { exit_code = finish(show_graph(*flags)); });
}

}  // namespace passnet::cli
