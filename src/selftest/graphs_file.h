// The graphs of a corpus in one text file, graphs.txt. block_text.h says how fields and texts are written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "selftest/family_file.h"

namespace passnet::selftest {

/// A graph directory as text.
struct GraphText {
  std::string name;
  std::vector<FileText> files;  // model.py, weight_meta.py, input_meta.py, graph_net.json
};

/// Reads graphs.txt. A block begins with "graph NAME" and has
///   input x float32 [32, 64] mean=0.0 std=1.0   for each argument of forward, in their order
///   forward                                     the body of forward as text, not indented
///   model NAME                                  model_name of graph_net.json, where it is not the graph's name
/// file:   as errors name it.
/// Errors: BadInput at the field: as parse_family; two graphs of one name.
Result<std::vector<GraphText>> parse_graphs(std::string_view text, const std::string& file);

}  // namespace passnet::selftest
