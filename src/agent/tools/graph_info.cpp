// graph_info: what the graphs of the task compute, and on what.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agent/feedback/feedback.h"
#include "agent/tools/arguments.h"
#include "agent/tools/tool.h"
#include "base/text/strings.h"
#include "fx/print.h"
#include "graphdir/sample.h"
#include "ir/dtype.h"

namespace passnet::agent {

namespace {

std::string types_of(const std::vector<graphdir::TensorMeta>& records) {
  std::string text;
  for (const graphdir::TensorMeta& one : records)
    text += fmt::format("  {}: {} [{}]\n", one.name, ir::name(one.dtype), fmt::join(one.shape, ", "));
  return text;
}

std::string describe(const std::string& name, const graphdir::GraphDir& graph, bool with_text) {
  std::string text = fmt::format("graph {}\n{}{}", name, types_of(graph.inputs), types_of(graph.weights));
  if (with_text) text += fx::print_model(graph.graph);
  return text;
}

// Graphs of a sample are mostly one in several dtypes and shapes: its text is shown once.
Result<ToolResult> info(const Json& arguments, ToolContext& context) {
  PASSNET_TRY(const std::optional<std::string> wanted, text_argument(arguments, "graph"));
  std::string text;
  std::vector<std::string> shown;
  bool found = false;
  for (size_t i = 0; i < context.task.graph_paths.size(); ++i) {
    const std::string& name = context.task.graph_names[i];
    if (wanted && !wanted->empty() && name != *wanted) continue;
    found = true;
    PASSNET_TRY(const graphdir::GraphDir graph, graphdir::load_graph_dir(context.task.graph_paths[i]));
    const std::string model = fx::print_model(graph.graph);
    const bool is_new = std::ranges::find(shown, model) == shown.end();
    if (is_new) shown.push_back(model);
    text += describe(name, graph, is_new) + (is_new ? "\n" : "  (computes the same as one above)\n\n");
  }
  if (!found)
    return bad_input(fmt::format("argument 'graph': expected one of {}, found {}", join(context.task.graph_names, ", "),
                                 quoted(*wanted)));
  return ToolResult{shorten_text(text, 2 * context.feedback_tokens)};
}

}  // namespace

Tool graph_info() {
  return {
      {"graph_info", "Shows what the graphs of the task compute (as Python) and the shapes and dtypes of what goes in.",
       R"({"type": "object", "properties": {"graph": {"type": "string", "description": "the name of one graph; default: all"}}})"},
      info};
}

}  // namespace passnet::agent
