// Any text as a model.py, and as a pass file: reading ends soon, with an error that has a place, or with a
// graph whose printed text reads back equal, and hashes and draws the same.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "fx/dot.h"
#include "fx/print.h"
#include "fx/syntax/parser.h"
#include "graphdir/graph_hash.h"

namespace {

using namespace passnet;

void check_error(const Error& error) {
  if (!error.at || error.message.empty()) std::abort();
}

void check_print(const ir::Graph& graph) {
  const auto printed = std::make_shared<const std::string>(fx::print_model(graph));
  const auto again = fx::parse_model("printed.py", printed);
  if (!again || !first_difference(graph, *again).empty()) std::abort();
  for (auto rule : {graphdir::HashRule::Graph, graphdir::HashRule::RetracedByUse, graphdir::HashRule::OwnNames}) {
    if (graphdir::hashed_text(graph, rule) != graphdir::hashed_text(*again, rule)) std::abort();
  }
  if (fx::print_dot(graph, {}) != fx::print_dot(*again, {})) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto text = std::make_shared<const std::string>(reinterpret_cast<const char*>(data), size);
  if (const auto graph = fx::parse_model("model.py", text))
    check_print(*graph);
  else
    check_error(graph.error());
  const size_t offset = text->find("def ");
  if (offset == std::string::npos) return 0;
  size_t end = 0;
  const auto function = fx::parse_function("pass.py", text, offset, &end);
  if (!function) {
    check_error(function.error());
    return 0;
  }
  if (end > size) std::abort();
  // A pattern may have a parameter `self`; a graph's own `self` hides it.
  const bool hidden = std::ranges::any_of(function->nodes(), [](const ir::Node& node) {
    return node.kind == ir::NodeKind::Placeholder && node.target == "self";
  });
  if (!hidden) check_print(*function);
  return 0;
}
