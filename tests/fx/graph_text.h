// Graphs as short texts, so that a test reads as a pair of texts.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/result.h"
#include "fx/print.h"
#include "fx/syntax/parser.h"
#include "ir/graph.h"

namespace passnet::fx {

inline Result<ir::Graph> parse_text(const std::string& text) {
  return parse_model("model.py", std::make_shared<const std::string>(text));
}

/// A model.py with the given parameters and body lines (indented here).
inline std::string model_text(const std::string& parameters, const std::string& body,
                              const std::string& imports = "import torch\nfrom torch import device, inf, nan\n") {
  std::string text = imports + "\nclass GraphModule(torch.nn.Module):\n    def forward(self" +
                     (parameters.empty() ? "" : ", " + parameters) + "):\n";
  for (size_t at = 0; at < body.size();) {
    const size_t end = std::min(body.find('\n', at), body.size());
    text += "        " + body.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return text;
}

/// The graph of model_text(parameters, body); a failure of the running test when it cannot be read.
inline ir::Graph parse(const std::string& parameters, const std::string& body) {
  const auto graph = parse_text(model_text(parameters, body));
  if (!graph) {
    ADD_FAILURE() << to_string(graph.error());
    return {};
  }
  return *graph;
}

/// One line per node but the placeholders, as print_node gives them; or the error.
inline std::string dump(const Result<ir::Graph>& graph) {
  if (!graph) return to_string(graph.error());
  std::string text;
  for (ir::NodeId id = graph->placeholder_count(); id < graph->size(); ++id) {
    text += print_node(*graph, graph->node(id)) + "\n";
  }
  return text;
}

/// dump() of a model of a, b, c with this body.
inline std::string dump_body(const std::string& body) { return dump(parse_text(model_text("a, b, c", body))); }

/// dump() of the one statement `r = EXPRESSION`.
inline std::string dump_expression(const std::string& expression) {
  const std::string text = dump_body("r = " + expression + "\nreturn (r,)");
  const std::string tail = "return (r,)\n";
  return text.ends_with(tail) ? text.substr(0, text.size() - tail.size()) : text;
}

/// dump() of the first function of a pass file.
inline std::string dump_function(const std::string& text) {
  return dump(parse_function("pass.py", std::make_shared<const std::string>(text), text.find("def "), nullptr));
}

}  // namespace passnet::fx
