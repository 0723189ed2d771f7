#include "author/write.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "author/fuse/partition.h"
#include "author/subject/memory.h"
#include "author/take/region.h"
#include "author/text/kernel_text.h"
#include "author/text/python_text.h"
#include "base/strings.h"
#include "fx/print.h"
#include "ir/ops/table.h"

namespace passnet::author {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;
using ir::NodeKind;

namespace {

constexpr size_t kMostNamed = 4;  // operators in the name of a pass

/// The values that an in-place operator and those before it on the same value give or take: names of one memory.
std::set<NodeId> names_of_memory(const ir::Graph& graph, NodeId id) {
  std::set<NodeId> names;
  while (ir::overwrites_input(graph, id)) {
    const auto args = graph.args(id);
    if (args.empty() || args[0].kind != ArgKind::Node) break;
    names.insert(id = args[0].node);
  }
  return names;
}

/// `x[index] += y` is a view, an operator in place on it, and the result stored where it is already. The last of these three,
/// of the second one; none: it is something else.
std::optional<NodeId> stored_back(const ir::Graph& graph, NodeId id, const std::vector<std::vector<NodeId>>& users) {
  const auto args = graph.args(id);
  if (args.empty() || args[0].kind != ArgKind::Node || users[id].empty()) return std::nullopt;
  const NodeId view = args[0].node, last = *std::ranges::min_element(users[id]);
  if (graph.node(view).target != "getitem" || graph.node(last).target != "setitem") return std::nullopt;
  const auto from = graph.args(view), into = graph.args(last);
  const bool same = ir::equal_args(graph, from[0], graph, into[0]) && ir::equal_args(graph, from[1], graph, into[1]) &&
                    into[2].kind == ArgKind::Node && into[2].node == id;
  return same ? std::optional(last) : std::nullopt;
}

/// Whether what `id` overwrites is looked at later through another view of it.
bool old_view_is_needed(const ir::Graph& graph, NodeId id, const std::vector<std::vector<NodeId>>& users) {
  const std::set<NodeId> names = names_of_memory(graph, id);
  if (names.empty()) return true;
  const NodeId base = base_of(graph, *names.rbegin());
  const std::optional<NodeId> back = stored_back(graph, id, users);
  const std::set<NodeId> whole = back ? names_of_memory(graph, *back) : std::set<NodeId>();
  for (NodeId other = 0; other < id; ++other) {
    if (names.contains(other) || base_of(graph, other) != base) continue;
    // What it is a part of has the new elements once they are stored back.
    const NodeId known = whole.contains(other) ? *back : graph.size();
    if (std::ranges::any_of(users[other], [&](NodeId user) { return user > id && user < known; })) return true;
  }
  return false;
}

/// Of what can be defined: a product or a convolution.
bool is_product(const ir::Graph& graph, NodeId id) {
  const ir::OpSignature* signature = ir::find_signature(graph.node(id));
  return signature != nullptr && signature->kernel == ir::KernelClass::Library;
}

/// What passes can take of a graph.
struct Taken {
  std::vector<std::string> refused;     // by node id: why it is not written; empty where it is
  std::map<NodeId, std::string> calls;  // of what is written: what PyTorch is called for, and why no kernel computes it
  bool all_are_calls = false;           // no kernel computes a product
  bool measures = false;                // cuDNN's algorithms

  void refuse(NodeId call) {
    refused[call] = calls.at(call);
    calls.erase(call);
  }
};

Taken try_all(Subject& subject, const WriteOptions& options) {
  ir::Graph& graph = subject.graph;
  const bool calls = options.library != Library::None;
  Taken taken{
      std::vector<std::string>(graph.size()), {}, calls && !options.products, options.library == Library::Measured};
  std::vector<std::string>& refused = taken.refused;
  const std::vector<std::vector<NodeId>> users = ir::users(graph);
  Definitions definitions(subject, {calls, taken.all_are_calls});
  const auto is_list = [&](NodeId id) { return subject.types[0][id].kind == ValueType::Kind::List; };
  for (NodeId id = 0; id < subject.body(); ++id) {
    if (Result<void> given = definitions.input(id); !given) refused[id] = given.error().message;
  }
  for (NodeId id = subject.body(); id < graph.size(); ++id) {
    if (graph.node(id).kind == NodeKind::Output) continue;
    bool known = true;
    ir::for_each_input(graph, graph.node(id), [&](NodeId input) {
      if (refused[input].empty()) return;
      // What another operator gives is an input of the part; a list cannot be one.
      if (definitions.tensor_of(input) || is_list(input) || !definitions.input(input))
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
      // What uses it is given it.
      if (Result<void> given = definitions.input(id); !given) refused[id] = given.error().message;
    }
  }
  refuse_lists(subject, refused);
  std::erase_if(taken.calls, [&](const auto& call) { return !refused[call.first].empty(); });
  return taken;
}

/// "add", "layer_norm": of what computes.
std::string operator_name(const ir::Graph& graph, NodeId id) {
  const ir::OpSignature* signature = ir::find_signature(graph.node(id));
  return signature == nullptr ? std::string() : std::string(signature->name);
}

bool computes(const Definitions& definitions, NodeId id) {
  const std::optional<TensorId> tensor = definitions.tensor_of(id);
  return tensor && !definitions.tensors()[*tensor].is_view;
}

/// The nodes that make a view of what is stored, or of an input, from the first; empty for what has memory of its own.
std::vector<NodeId> view_chain(const Subject& subject, const GraphPart& part, NodeId id) {
  std::vector<NodeId> chain;
  while (std::ranges::find(part.nodes, id) != part.nodes.end() && shares_memory(subject, id)) {
    // A part of a tuple is a view of what the tuple was made of.
    if (subject.types[0][id].kind != ValueType::Kind::List) chain.insert(chain.begin(), id);
    id = subject.graph.args(id)[0].node;
  }
  return chain;
}

Result<void> define(Definitions& definitions, const GraphPart& part) {
  for (const NodeId id : part.inputs) PASSNET_TRY_VOID(definitions.input(id));
  for (const NodeId id : part.nodes) PASSNET_TRY_VOID(definitions.node(id));
  return {};
}

// Views that leave the part, and that it does not go on with, stay PyTorch's.
Result<GraphPart> without_views(const Subject& subject, GraphPart part) {
  const std::vector<std::vector<NodeId>> users = ir::users(subject.graph);
  for (bool changed = true; changed && !part.nodes.empty();) {
    std::vector<NodeId> rest;
    for (const NodeId id : part.nodes) {
      const auto goes_on = [&](NodeId one) {
        return std::ranges::any_of(
            users[one], [&](NodeId user) { return std::ranges::find(part.nodes, user) != part.nodes.end(); });
      };
      // A tuple is taken apart in one place: all its parts stay where one of them does.
      const auto args = subject.graph.args(id);
      const bool is_part = !args.empty() && args[0].kind == ArgKind::Node &&
                           subject.types[0][args[0].node].kind == ValueType::Kind::List;
      const bool stays = goes_on(id) || (is_part && std::ranges::any_of(users[args[0].node], goes_on));
      if (stays || !shares_memory(subject, id)) rest.push_back(id);
    }
    changed = rest.size() != part.nodes.size();
    part = cut(subject.graph, std::move(rest));
  }
  if (part.nodes.empty()) return unsupported("it only moves what it is given");
  for (const NodeId id : part.outputs) {
    for (const NodeId view : view_chain(subject, part, id)) {
      if (std::ranges::find(part.views, view) == part.views.end()) part.views.push_back(view);
    }
  }
  std::ranges::sort(part.views);
  return part;
}

bool is_in(const GraphPart& part, NodeId id) { return std::ranges::find(part.nodes, id) != part.nodes.end(); }

/// What has the memory that the value lies in, as far as the part goes.
NodeId holder_of(const Subject& subject, const GraphPart& part, NodeId id) {
  while (is_in(part, id) && shares_memory(subject, id)) id = subject.graph.args(id)[0].node;
  return id;
}

/// The types of a call's argument in all graphs; none: it is given none.
std::vector<ValueType> argument_types(const Subject& subject, NodeId call, std::string_view parameter) {
  const Arg* arg = ir::find_argument(subject.graph, call, parameter);
  return arg != nullptr && arg->kind == ArgKind::Node ? subject.types_of(arg->node) : std::vector<ValueType>();
}

/// Whether each group has one channel: PyTorch has kernels of its own for these.
bool is_depthwise(const Subject& subject, NodeId call) {
  const std::vector<ValueType> types = argument_types(subject, call, "weight");
  return std::ranges::any_of(types, [](const ValueType& type) {
    return type.is_tensor() && type.tensor.shape.size() > 1 && type.tensor.shape[1] == 1;
  });
}

/// Whether it has a batch, and paddings that are numbers, as cuDNN's own operator must have.
bool is_batched(const Subject& subject, NodeId call) {
  const Arg* padding = ir::find_argument(subject.graph, call, "padding");
  const std::vector<ValueType> weight = argument_types(subject, call, "weight");
  return (padding == nullptr || padding->kind != ArgKind::String) && !weight.empty() &&
         weight[0].tensor.shape.size() == subject.types[0][call].tensor.shape.size();
}

/// How the calls of a part are made: without biases that kernels add, where nobody else looks at the results.
CallOptions call_options(const Subject& subject, const GraphPart& part, const Taken& taken) {
  const ir::Graph& graph = subject.graph;
  std::set<NodeId> in_memory;
  for (const NodeId id : part.outputs) in_memory.insert(holder_of(subject, part, id));
  for (const auto& [call, why] : taken.calls) {
    if (!is_in(part, call)) continue;
    ir::for_each_input(graph, graph.node(call),
                       [&](NodeId input) { in_memory.insert(holder_of(subject, part, input)); });
  }
  CallOptions options{!taken.calls.empty(), taken.all_are_calls};
  for (const auto& [call, why] : taken.calls) {
    const std::string name = operator_name(graph, call);
    if (!is_in(part, call) || !name.starts_with("conv") || is_depthwise(subject, call)) continue;
    const bool has_bias = !argument_types(subject, call, "bias").empty();
    if (has_bias && !in_memory.contains(call)) options.without_bias.insert(call);
    const bool can_measure = (name == "conv2d" || name == "conv3d") && is_batched(subject, call);
    if (taken.measures && can_measure && (!has_bias || options.without_bias.contains(call)))
      options.measured.insert(call);
  }
  return options;
}

/// A call that PyTorch makes as well outside of the part: at its end, or at its beginning with nothing taken over by a kernel.
std::optional<NodeId> idle_call(const Subject& subject, const GraphPart& part, const Taken& taken) {
  const ir::Graph& graph = subject.graph;
  const std::vector<std::vector<NodeId>> users = ir::users(graph);
  const CallOptions options = call_options(subject, part, taken);
  for (const auto& [call, why] : taken.calls) {
    if (!is_in(part, call)) continue;
    const bool ends = std::ranges::none_of(users[call], [&](NodeId user) { return is_in(part, user); });
    bool begins = true;
    ir::for_each_input(graph, graph.node(call),
                       [&](NodeId input) { begins = begins && !is_in(part, holder_of(subject, part, input)); });
    const bool is_as_it_was = !options.without_bias.contains(call) && !options.measured.contains(call);
    if (ends || (begins && is_as_it_was)) return call;
  }
  return std::nullopt;
}

/// Leaves calls to PyTorch that passes gain nothing by. Returns: whether there was one.
bool refuse_idle_calls(const Subject& subject, Taken& taken) {
  for (const std::vector<NodeId>& nodes : regions_of(subject, taken.refused)) {
    const Result<GraphPart> part = without_views(subject, cut(subject.graph, nodes));
    if (!part) continue;
    if (const std::optional<NodeId> call = idle_call(subject, *part, taken)) {
      taken.refuse(*call);
      return true;
    }
  }
  return false;
}

/// Operators whose results leave a part in an order that no kernel writes are left to PyTorch; the rest of the part is not.
/// Returns: whether there was one.
bool refuse_layouts(Subject& subject, Taken& taken) {
  bool found = false;
  for (const std::vector<NodeId>& nodes : regions_of(subject, taken.refused)) {
    const Result<GraphPart> part = without_views(subject, cut(subject.graph, nodes));
    if (!part) continue;
    Definitions definitions(subject, call_options(subject, *part, taken));
    if (!define(definitions, *part)) continue;
    for (const NodeId id : part->outputs) {
      const std::optional<TensorId> tensor = definitions.tensor_of(id);
      if (!tensor || !view_chain(subject, *part, id).empty()) continue;
      const Result<void> laid = definitions.lay_out(*tensor);
      if (laid) continue;
      taken.refused[id] = laid.error().message;
      taken.calls.erase(id);
      found = true;
    }
  }
  return found;
}

std::string arg_key(const ir::Graph& graph, const Arg& arg, const std::map<NodeId, std::string>& names) {
  if (arg.kind == ArgKind::Node) return names.at(arg.node);
  if (arg.kind != ArgKind::Tuple && arg.kind != ArgKind::List && arg.kind != ArgKind::Slice)
    return fx::print_arg(graph, arg);
  std::string key = "(";
  for (const Arg& element : graph.elements(arg)) key += arg_key(graph, element, names) + ",";
  return key + ")";
}

/// Equal for parts of which one pass does for all.
std::string key_of(const Subject& subject, const GraphPart& part) {
  const ir::Graph& graph = subject.graph;
  std::map<NodeId, std::string> names;
  std::string key;
  for (const NodeId id : part.inputs) {
    names[id] = fmt::format("i{}", names.size());
    for (const ValueType& type : subject.types_of(id))
      key +=
          fmt::format("{}:{}:{} ", ir::name(type.tensor.dtype), type.tensor.shape.size(), type.tensor.is_contiguous());
  }
  for (const NodeId id : part.nodes) {
    const ir::Node& node = graph.node(id);
    names[id] = fmt::format("n{}", names.size());
    key += fmt::format("{}{}(", static_cast<int>(node.kind), node.target);
    for (const Arg& arg : graph.args(node)) key += arg_key(graph, arg, names) + ",";
    for (const ir::Keyword& keyword : graph.keywords(node))
      key += fmt::format("{}={},", keyword.name, arg_key(graph, keyword.value, names));
    key += ")";
  }
  for (const NodeId id : part.outputs) key += names.at(id) + " ";
  return key;
}

/// Operators that passes may not take.
void refuse_outside(const Subject& subject, const WriteOptions& options, Taken& taken) {
  if (!options.range) return;
  for (NodeId id = subject.body(); id < subject.graph.size(); ++id) {
    const size_t number = id - subject.body();
    if (subject.graph.node(id).kind == NodeKind::Output ||
        (number >= options.range->first && number < options.range->second))
      continue;
    taken.refused[id] = "not in the range";
    taken.calls.erase(id);
  }
}

/// "add_layer_norm": by what it computes.
std::string name_of(Subject& subject, const GraphPart& part, const CallOptions& calls) {
  Definitions definitions(subject, calls);
  std::vector<std::string> operators;
  if (define(definitions, part)) {
    for (const NodeId id : part.nodes) {
      if (computes(definitions, id)) operators.push_back(operator_name(subject.graph, id));
    }
  }
  if (operators.empty()) operators.push_back("copy");
  operators.erase(std::unique(operators.begin(), operators.end()), operators.end());
  if (operators.size() > kMostNamed) {
    // Where it begins and ends says more than what lies between.
    operators.erase(operators.begin() + 2, operators.end() - 2);
  }
  const std::string name = fmt::format("{}", fmt::join(operators, "_"));
  return operators.size() == 1 ? "fused_" + name : name;
}

/// `stem`, or with a number where that is taken.
std::string unique_name(const Subject& subject, const std::string& stem, std::set<std::string>& taken) {
  std::string name = stem;
  for (int i = 2; !taken.insert(name).second || subject.names.contains(name); ++i) name = fmt::format("{}_{}", stem, i);
  return name;
}

/// Inputs of the graph that the part overwrites must hold what they do in PyTorch. Returns the values that are stored there.
Result<std::vector<TensorId>> overwrite_inputs(const Subject& subject, Definitions& definitions,
                                               const GraphPart& part) {
  const ir::Graph& graph = subject.graph;
  std::map<NodeId, NodeId> last;  // by the input of the graph
  for (const NodeId id : part.nodes) {
    if (ir::overwrites_input(graph, id) && base_of(graph, id) < subject.body()) last[base_of(graph, id)] = id;
  }
  std::vector<TensorId> stored;
  for (const auto& [input, id] : last) {
    NodeId given = id;
    while (std::ranges::find(part.nodes, given) != part.nodes.end()) {
      if (!ir::overwrites_input(graph, given)) return unsupported("it overwrites a view of an input of the graph");
      given = graph.args(given)[0].node;
    }
    const std::optional<TensorId> value = definitions.tensor_of(id), place = definitions.given(given);
    if (!value || !place) return unsupported("it overwrites what is no tensor");
    PASSNET_TRY_VOID(definitions.overwrite(*value, *place));
    stored.push_back(*value);
  }
  return stored;
}

/// What a part overwrites must not be looked at outside before: the part is computed at one time.
Result<void> check_old_values(const Subject& subject, const GraphPart& part) {
  const ir::Graph& graph = subject.graph;
  const std::vector<std::vector<NodeId>> users = ir::users(graph);
  const auto is_inside = [&](NodeId id) { return std::ranges::find(part.nodes, id) != part.nodes.end(); };
  for (const NodeId id : part.nodes) {
    for (const NodeId old : names_of_memory(graph, id)) {
      const auto is_used = [&](const auto& when) {
        return std::ranges::any_of(users[old], [&](NodeId user) { return !is_inside(user) && when(user); });
      };
      if (is_inside(old) && is_used([id](NodeId user) { return user < id; }))
        return unsupported("what it overwrites is looked at by others before");
      if (!is_inside(old) && base_of(graph, old) >= subject.body() && is_used([id](NodeId user) { return user > id; }))
        return unsupported("what it overwrites is looked at by others later");
    }
  }
  return {};
}

/// Nobody may look at an input after it was overwritten: each thread reads its own elements before it stores them.
Result<void> check_overwritten(Definitions& definitions, const std::vector<FusedKernel>& kernels) {
  for (const FusedKernel& kernel : kernels) {
    for (const Store& store : kernel.stores) {
      const std::optional<TensorId> input = definitions.tensors()[store.tensor].overwrites;
      if (!input) continue;
      for (const FusedKernel& other : kernels) {
        for (const ExprId load : loads_in(definitions.exprs(), other)) {
          const Expr& expr = definitions.exprs().at(load);
          if (expr.tensor == *input && (&other != &kernel || expr.places != store.place))
            return unsupported("what it overwrites is looked at in other places");
        }
      }
    }
  }
  return {};
}

int64_t bytes_of(const Subject& subject, NodeId id) {
  const ValueType& type = subject.types[0][id];
  return type.is_tensor() ? type.tensor.size_bytes() : 0;
}
int64_t bytes_of(Definitions& definitions, TensorId id, size_t example) {
  const Tensor& tensor = definitions.tensors()[id];
  int64_t bytes = static_cast<int64_t>(ir::size_bytes(definitions.elements()[tensor.element].by_example[example]));
  for (const SizeId size : tensor.shape) bytes *= definitions.sizes().values(size)[example];
  return bytes;
}
int64_t bytes_of(Definitions& definitions, const KernelFacts& facts, size_t example) {
  int64_t bytes = 0;
  for (const auto* tensors : {&facts.loaded, &facts.stored}) {
    for (const TensorId tensor : *tensors) bytes += bytes_of(definitions, tensor, example);
  }
  return bytes;
}

KernelShape shape_of(Definitions& definitions, const NamedKernel& kernel, size_t splits_into, size_t examples) {
  KernelShape shape{
      kernel.lanes == Lanes::Row, kernel.facts.packing.has_value(), kernel.facts.tile.has_value(), splits_into, {}};
  for (size_t i = 0; i < examples; ++i) {
    const auto of = [&](SizeId size) { return definitions.sizes().values(size)[i]; };
    shape.by_graph.push_back({of(kernel.facts.items), of(kernel.facts.steps),
                              splits_into > 0 ? of(kernel.split_length) : 1, bytes_of(definitions, kernel.facts, i)});
  }
  return shape;
}

Outside why_outside(const Subject& subject, const std::vector<std::string>& refused, NodeId id) {
  Outside one{fx::print_node(subject.graph, subject.graph.node(id)), refused[id], !refused[id].empty()};
  if (one.refused) return one;
  one.why = shares_memory(subject, id) ? "it only moves what it is given, which costs PyTorch nothing"
                                       : "between the two stands an operator that no kernel is written for";
  return one;
}

/// Adds what is launched in its place where a row is shared, if any of the graphs has such rows. Returns: how many kernels that
/// is, added or not; 0: its rows cannot be shared.
size_t split_rows(const Subject& subject, Definitions& definitions, const FusedKernel& kernel, const Schedule& schedule,
                  NamedKernel& named) {
  const std::optional<SplitRow> split = split_of(definitions, kernel);
  if (!split) return 0;
  named.split_loops = split->loops;
  named.split_length = split->length;
  for (size_t i = 0; i < split->kernels.size(); ++i) {
    const SplitKernel& part = split->kernels[i];
    NamedKernel one;
    one.name = fmt::format("{}_{}", named.name, part.reductions.empty() ? "end" : fmt::format("part_{}", i + 1));
    one.facts = facts_of(definitions, kernel, part);
    one.lanes = kernel.lanes;
    one.over_row = part.over_row;
    std::vector<std::string> made;
    for (const TensorId tensor : one.facts.shares_given)
      made.push_back(fmt::format("parts of {}", definitions.tensors()[tensor].name));
    for (const TensorId tensor : one.facts.stored) made.push_back(definitions.tensors()[tensor].name);
    const std::string comment = fmt::format("Computes {}, where several share a row.", fmt::join(made, ", "));
    one.cpp = kernel_text(definitions, kernel, *split, i, one.facts, one.name, comment, Target::Cpu);
    one.cuda = kernel_text(definitions, kernel, *split, i, one.facts, one.name, comment, Target::Cuda);
    named.split.push_back(std::move(one));
  }
  for (size_t i = 0; i < subject.examples.size(); ++i) {
    for (const bool on_gpu : {false, true}) {
      if (parts_of(schedule, definitions.sizes(), named, on_gpu, i) > 1) return split->kernels.size();
    }
  }
  named.split.clear();
  return split->kernels.size();
}

/// The part, where the plan makes the views too that calls take.
GraphPart with_views_of_calls(const Subject& subject, GraphPart part, const std::map<NodeId, std::string>& calls) {
  for (const auto& [call, why] : calls) {
    if (!is_in(part, call)) continue;
    ir::for_each_input(subject.graph, subject.graph.node(call), [&](NodeId input) {
      for (const NodeId view : view_chain(subject, part, input)) {
        if (std::ranges::find(part.views, view) == part.views.end()) part.views.push_back(view);
      }
    });
  }
  std::ranges::sort(part.views);
  return part;
}

/// "torch.conv2d", "matmul" of a method, "@".
std::string called_name(const ir::Graph& graph, NodeId id) {
  const ir::Node& node = graph.node(id);
  return node.kind == NodeKind::CallMethod ? fmt::format("Tensor.{}", node.target) : std::string(node.target);
}

Result<Written> write_part(Subject& subject, const GraphPart& part, const CallOptions& calls,
                           const std::vector<std::string>& refused, const WriteOptions& options,
                           const std::string& name) {
  if (part.outputs.empty()) return unsupported("nobody looks at what it gives");
  PASSNET_TRY_VOID(check_old_values(subject, part));
  const auto is_list = [&](NodeId id) { return subject.types[0][id].kind == ValueType::Kind::List; };
  if (std::ranges::any_of(part.outputs, is_list)) return unsupported("its parts are used elsewhere");
  Definitions definitions(subject, calls);
  PASSNET_TRY_VOID(define(definitions, part));
  for (const NodeId id : part.views) {
    const std::optional<TensorId> view = definitions.tensor_of(id);
    if (is_list(subject.graph.args(id)[0].node) && (!view || !definitions.tensors()[*view].part_of))
      return unsupported("a part of a tuple that the plan cannot make");
  }
  PASSNET_TRY(std::vector<TensorId> outputs, overwrite_inputs(subject, definitions, part));
  for (NodeId id : part.outputs) {
    const std::vector<NodeId> chain = view_chain(subject, part, id);
    if (!chain.empty()) id = subject.graph.args(chain.front())[0].node;
    if (is_list(id)) id = subject.graph.args(id)[0].node;
    if (std::ranges::find(part.nodes, id) == part.nodes.end()) continue;  // a view of an input
    const std::optional<TensorId> tensor = definitions.tensor_of(id);
    if (!tensor) return unsupported("what leaves the part is no tensor");
    if (std::ranges::find(outputs, *tensor) == outputs.end()) outputs.push_back(*tensor);
  }
  if (outputs.empty()) return unsupported("it only moves what it is given");
  PASSNET_TRY(const std::vector<FusedStep> steps, fuse(definitions, outputs));
  const auto chosen = options.schedules.find(name);
  const Schedule schedule = chosen == options.schedules.end() ? Schedule() : chosen->second;
  Written written;
  std::vector<FusedKernel> kernels;
  std::vector<PlanStep> plan;
  for (const FusedStep& step : steps) {
    plan.push_back({step.kernel ? std::optional(kernels.size()) : std::nullopt, step.call});
    if (step.kernel) {
      kernels.push_back(*step.kernel);
      continue;
    }
    const Tensor& made = definitions.tensors()[step.call];
    written.calls.push_back(called_name(subject.graph, made.call->node));
    written.bytes_after += bytes_of(definitions, step.call, 0);
    for (const TensorId operand : made.takes) written.bytes_after += bytes_of(definitions, operand, 0);
  }
  PASSNET_TRY_VOID(check_overwritten(definitions, kernels));
  const bool overwrites =
      std::ranges::any_of(definitions.tensors(), [](const Tensor& one) { return one.overwrites.has_value(); });
  if (overwrites && !written.calls.empty()) return unsupported("it overwrites an input of the graph beside a call");
  written.name = name;
  written.operators = part.nodes.size();
  written.kernels = kernels.size();
  std::vector<NamedKernel> named;
  for (size_t i = 0; i < kernels.size(); ++i) {
    NamedKernel one;
    one.name = kernels.size() == 1 ? name + "_kernel" : fmt::format("{}_kernel_{}", name, i + 1);
    one.facts = facts_of(definitions, kernels[i]);
    if (!schedule.tiles) one.facts.tile.reset();
    written.bytes_after += bytes_of(definitions, one.facts, 0);
    one.lanes = kernels[i].lanes;
    std::vector<std::string> stored;
    for (const TensorId tensor : one.facts.stored) stored.push_back(definitions.tensors()[tensor].name);
    const std::string comment = fmt::format("Computes {}.", fmt::join(stored, ", "));
    one.cpp = kernel_text(definitions, kernels[i], one.facts, one.name, comment, Target::Cpu);
    one.cuda = kernel_text(definitions, kernels[i], one.facts, one.name, comment, Target::Cuda);
    const size_t splits_into = split_rows(subject, definitions, kernels[i], schedule, one);
    written.shapes.push_back(shape_of(definitions, one, splits_into, subject.examples.size()));
    named.push_back(std::move(one));
  }
  for (const NodeId id : part.nodes) {
    if (!computes(definitions, id)) continue;
    ++written.computing;
    const bool is_called = std::ranges::any_of(
        steps, [&](const FusedStep& one) { return !one.kernel && definitions.tensors()[one.call].call->node == id; });
    written.products += is_product(subject.graph, id) && !is_called ? 1 : 0;
    written.bytes_before += bytes_of(subject, id);
    std::set<NodeId> takes;
    ir::for_each_input(subject.graph, subject.graph.node(id), [&](NodeId input) { takes.insert(input); });
    for (const NodeId input : takes) written.bytes_before += bytes_of(subject, input);
  }
  std::vector<std::string> comment = {fmt::format(
      "{} operators of {} as {}{}.", written.computing, subject.examples[0], counted(kernels.size(), "kernel"),
      written.calls.empty() ? "" : fmt::format(" and {} of PyTorch", counted(written.calls.size(), "call")))};
  PASSNET_TRY(written.python, python_text(subject, definitions, part, named, plan, schedule, name, comment));
  for (const bool cuda : {false, true}) {
    std::string& text = cuda ? written.cuda : written.cpp;
    text = fmt::format("// Kernels of {}.py.\n#include <passnet/kernel.h>\n\nusing namespace passnet;\n", name);
    for (const NamedKernel& kernel : named) {
      text += "\n" + (cuda ? kernel.cuda : kernel.cpp);
      for (const NamedKernel& part : kernel.split) text += "\n" + (cuda ? part.cuda : part.cpp);
    }
  }
  written.explained = explain(subject, definitions, part, named, schedule,
                              [&](NodeId id) { return why_outside(subject, refused, id); });
  return written;
}

/// As write_passes, without what takes calls. Returns: nullopt: a part with calls could not be written, and these are refused.
std::optional<Authored> write_parts(Subject& subject, Taken& taken, const WriteOptions& options,
                                    std::set<std::string>& names) {
  Authored authored;
  const auto leave = [&](NodeId id, const std::string& why) {
    authored.left.push_back({fx::print_node(subject.graph, subject.graph.node(id)), why, subject.examples});
  };
  for (NodeId id = subject.body(); id < subject.graph.size(); ++id) {
    if (!taken.refused[id].empty()) leave(id, taken.refused[id]);
  }
  std::set<std::string> keys;
  std::vector<std::vector<NodeId>> regions = regions_of(subject, taken.refused);
  std::ranges::sort(regions, {}, [](const std::vector<NodeId>& nodes) { return nodes.front(); });
  for (std::vector<NodeId>& nodes : regions) {
    const std::vector<NodeId> all = nodes;
    Result<GraphPart> part = without_views(subject, cut(subject.graph, std::move(nodes)));
    if (part && !keys.insert(key_of(subject, *part)).second) continue;  // another pass does it
    Result<Written> written = part ? Result<Written>(Written{}) : Result<Written>(part.error());
    if (part) {
      const CallOptions calls = call_options(subject, *part, taken);
      const GraphPart whole = with_views_of_calls(subject, std::move(*part), taken.calls);
      const std::string stem = options.name.empty() ? name_of(subject, whole, calls) : options.name;
      written = write_part(subject, whole, calls, taken.refused, options, unique_name(subject, stem, names));
    }
    if (written) {
      authored.passes.push_back(std::move(*written));
      continue;
    }
    bool has_calls = false;
    for (const NodeId id : all) {
      if (!taken.calls.contains(id)) continue;
      taken.refuse(id);
      has_calls = true;
    }
    if (has_calls) return std::nullopt;
    for (const NodeId id : all) leave(id, written.error().message);
  }
  return authored;
}

}  // namespace

size_t Written::launches(bool on_gpu) const {
  size_t count = calls.size();
  for (size_t i = 0; i < shapes.size(); ++i) {
    const int64_t parts = on_gpu ? explained.kernels[i].gpu_parts : explained.kernels[i].cpu_parts;
    count += parts > 1 ? shapes[i].splits_into : 1;
  }
  return count;
}

Authored write_passes(Subject& subject, const WriteOptions& options, std::set<std::string>& names) {
  Taken taken = try_all(subject, options);
  refuse_outside(subject, options, taken);
  while (true) {
    while (refuse_idle_calls(subject, taken) || refuse_layouts(subject, taken)) {
    }
    std::set<std::string> grown = names;
    std::optional<Authored> authored = write_parts(subject, taken, options, grown);
    if (!authored) continue;
    names = std::move(grown);
    return std::move(*authored);
  }
}

Authored write_all(std::vector<Example> examples, const WriteOptions& options) {
  Authored all;
  std::set<std::string> names;
  while (!examples.empty()) {
    Subject subject = merge(examples);
    Authored made = write_passes(subject, options, names);
    std::ranges::move(made.passes, std::back_inserter(all.passes));
    std::ranges::move(made.left, std::back_inserter(all.left));
    std::erase_if(examples, [&](const Example& one) {
      return std::ranges::find(subject.examples, one.name) != subject.examples.end();
    });
  }
  return all;
}

std::vector<pass::PassTexts> texts_of(const Authored& authored) {
  std::vector<pass::PassTexts> texts;
  for (const Written& one : authored.passes) texts.push_back({one.name, one.python.text, one.cpp, one.cuda});
  return texts;
}

}  // namespace passnet::author
