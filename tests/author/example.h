// Graphs with the types of their values, from text.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "author/subject/subject.h"
#include "fx/syntax/parser.h"

namespace passnet::author {

using Types = std::map<std::string, std::string>;  // by node name: VALUE as JSON

/// inputs: of forward, without self. body: its statements, each with its newline.
inline Example example(const std::string& name, const std::string& inputs, const std::string& body,
                       const Types& types) {
  const std::string text =
      "import torch\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self, " + inputs + "):\n" + body;
  Example made;
  made.name = name;
  made.graph = fx::parse_model("model.py", std::make_shared<const std::string>(text)).value();
  for (const ir::Node& node : made.graph.nodes()) {
    const auto type = types.find(std::string(node.name));
    made.types.push_back(type == types.end() ? ValueType{}
                                             : value_type(ir::value_from_json(try_parse_json(type->second)).value()));
  }
  return made;
}

}  // namespace passnet::author
