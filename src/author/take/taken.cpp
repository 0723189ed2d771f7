#include "author/take/taken.h"

#include "author/define/definitions.h"
#include "author/take/operators.h"
#include "author/take/overwrites.h"
#include "author/take/region.h"

namespace passnet::author {

using ir::NodeId;
using ir::NodeKind;

namespace {

Taken take_all(Subject& subject, const TakeOptions& options) {
  ir::Graph& graph = subject.graph;
  const bool calls = options.library != Library::None;
  Taken taken{std::vector<std::string>(graph.size()), {}, options.tiles, calls && !options.products, options.library};
  std::vector<std::string>& refused = taken.refused;
  const std::vector<std::vector<NodeId>> users = ir::users(graph);
  Definitions definitions(subject, {options.tiles, calls, taken.all_are_calls});
  for (NodeId id = 0; id < subject.body(); ++id) {
    if (Result<void> given = definitions.input(id); !given) refused[id] = given.error().message;
  }
  for (NodeId id = subject.body(); id < graph.size(); ++id) {
    if (graph.node(id).kind == NodeKind::Output) continue;
    bool known = true;
    ir::for_each_input(graph, graph.node(id), [&](NodeId input) {
      if (refused[input].empty()) return;
      // A result of another operator is an input of the part; a list cannot be one.
      if (definitions.tensor_of(input) || subject.is_list(input) || !definitions.input(input))
        known = known && definitions.tensor_of(input).has_value();
    });
    const bool overwrites = ir::overwrites_input(graph, id);
    if (overwrites && old_view_is_needed(graph, id, users)) {
      refused[id] = "what it overwrites is looked at later";
    } else if (!known) {
      refused[id] = "what it takes is no tensor of known type";
    } else if (Result<void> defined = definitions.node(id); !defined) {
      refused[id] = defined.error().message;
    } else if (const auto made = definitions.tensor_of(id); made && definitions.tensors()[*made].call) {
      const Call& call = *definitions.tensors()[*made].call;
      if (call.node == id) taken.calls.emplace(id, call.why);
    } else if (!options.products && is_product(graph, id)) {
      refused[id] = "a product, which this form leaves to PyTorch";
      // Its users are given it.
      if (Result<void> given = definitions.input(id); !given) refused[id] = given.error().message;
    }
  }
  refuse_lists(subject, refused);
  std::erase_if(taken.calls, [&](const auto& call) { return !refused[call.first].empty(); });
  return taken;
}

/// Operators that passes may not take.
void refuse_outside(const Subject& subject, const TakeOptions& options, Taken& taken) {
  if (!options.range) return;
  for (NodeId id = subject.body(); id < subject.graph.size(); ++id) {
    const size_t number = id - subject.body();
    if (subject.graph.node(id).kind == NodeKind::Output ||
        (number >= options.range->first && number < options.range->second))
      continue;
    taken.refuse(id, "not in the range");
  }
}

}  // namespace

Taken take(Subject& subject, const TakeOptions& options) {
  Taken taken = take_all(subject, options);
  refuse_outside(subject, options, taken);
  return taken;
}

}  // namespace passnet::author
