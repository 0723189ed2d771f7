#include "dataset/official/typed_piece.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "fx/trace_names.h"
#include "ir/copy.h"
#include "ir/ops/table.h"

namespace passnet::dataset::official {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;
using ir::NodeKind;

namespace {

// Upstream's list of what runs at half precision.
bool runs_at_half(const ir::Node& node) {
  static constexpr std::string_view kFunctions[] = {
      "matmul", "mm", "bmm", "linear", "conv1d", "conv2d", "conv3d", "addmm", "einsum", "scaled_dot_product_attention"};
  const std::string_view name = ir::canonical_name(node);
  if (node.kind == NodeKind::CallMethod) return node.target == "matmul" || node.target == "mm" || node.target == "bmm";
  if (node.kind == NodeKind::Operator) return node.target == "@";
  return node.kind == NodeKind::CallFunction && std::ranges::find(kFunctions, name) != std::end(kFunctions);
}

bool is_of_type(const ir::Values& types, NodeId id, ir::DType dtype) {
  const ir::TensorType* type = ir::tensor_type(types, id);
  return type != nullptr && type->dtype == dtype;
}

// A cast that with_amp_casts makes: "to", "to_1", …; those of the piece are called tmp_N.
bool is_amp_cast(const ir::Graph& graph, NodeId id, ir::DType dtype) {
  const ir::Node& node = graph.node(id);
  return node.kind == NodeKind::CallMethod && node.target == "to" && node.arg_count == 2 &&
         graph.args(id)[1].kind == ArgKind::DType && graph.args(id)[1].dtype == dtype && node.name.starts_with("to");
}

// The names that a trace gives to the nodes; arguments are called as in the signature.
std::vector<std::string> names_of_trace(const ir::Graph& piece, const ir::Values& types) {
  ir::Graph plain;
  ir::GraphCopy copying(piece, plain);
  for (NodeId id = 0; id < piece.size(); ++id)
    copying.copy(id, id < piece.placeholder_count() ? piece.node(id).target : piece.node(id).name);
  fx::TraceNames tracing(plain, fx::Numbering::FromOne);
  std::vector<std::string> names;
  for (NodeId id = 0; id < piece.size(); ++id) {
    const ir::Node& node = piece.node(id);
    // Variables name tensors alone.
    const bool is_other = types[id].tensor() == nullptr && types[id].unknown() == nullptr;
    names.push_back(id < piece.placeholder_count()  ? std::string(node.target)
                    : node.kind == NodeKind::Output ? std::string(node.name)
                                                    : tracing.next(id, is_other));
  }
  return names;
}

// Arguments of the signature in the order in which a trace of the piece meets them.
std::vector<NodeId> met_arguments(const ir::Graph& piece) {
  std::vector<NodeId> met;
  const auto meet = [&](NodeId id) {
    if (id < piece.placeholder_count() && std::ranges::find(met, id) == met.end()) met.push_back(id);
  };
  for (NodeId id = 0; id < piece.placeholder_count(); ++id) {
    if (piece.node(id).name != piece.node(id).target) meet(id);
  }
  for (NodeId id = piece.placeholder_count(); id < piece.size(); ++id) {
    std::vector<NodeId> inputs;
    for_each_input(piece, piece.node(id), [&](NodeId input) { inputs.push_back(input); });
    if (piece.node(id).kind == NodeKind::CallFunction) std::ranges::reverse(inputs);
    std::ranges::for_each(inputs, meet);
  }
  return met;
}

}  // namespace

ir::Graph with_amp_casts(const ir::Graph& piece, ir::DType dtype, const ir::Values& types) {
  const std::vector<std::string> traced = names_of_trace(piece, types);
  ir::Graph made;
  made.file = piece.file;
  ir::GraphCopy copying(piece, made);
  fx::Namespace names(fx::Numbering::FromOne);
  for (NodeId id = 0; id < piece.size(); ++id) {
    const ir::Node& node = piece.node(id);
    if (!runs_at_half(node)) {
      copying.copy(id, names.create(traced[id]));
      continue;
    }
    std::vector<Arg> args;
    for (const Arg& arg : piece.args(id)) {
      args.push_back(copying.argument(arg));
      if (arg.kind != ArgKind::Node || arg.node < piece.placeholder_count()) continue;
      if (!is_of_type(types, arg.node, ir::DType::Float32)) continue;
      args.back() = copying.add(NodeKind::CallMethod, "to", names.create("to"),
                                std::vector<Arg>{args.back(), Arg::of_dtype(dtype)});
    }
    copying.copy_with(id, names.create(fx::name_of_target(node)), args);
  }
  return made;
}

ir::Graph without_idle_casts(const ir::Graph& cast, ir::DType dtype, const ir::Values& types) {
  ir::Graph made;
  made.file = cast.file;
  ir::GraphCopy copying(cast, made);
  for (NodeId id = 0; id < cast.size(); ++id) {
    const bool idle = is_amp_cast(cast, id, dtype) && is_of_type(types, cast.args(id)[0].node, dtype);
    if (idle)
      copying.stand_for(id, copying.here(cast.args(id)[0].node));
    else
      copying.copy(id);
  }
  return made;
}

ir::Graph with_annotations(const ir::Graph& typed, const ir::Graph& piece) {
  const size_t annotated = std::ranges::is_sorted(met_arguments(piece)) ? typed.placeholder_count() : 1;
  ir::Graph made;
  made.file = typed.file;
  ir::GraphCopy copying(typed, made);
  for (NodeId id = 0; id < typed.size(); ++id) {
    if (id >= typed.placeholder_count()) {
      copying.copy(id);
      continue;
    }
    const std::string_view name = made.intern(typed.node(id).target);
    copying.stand_for(id, Arg::of_node(made.add_placeholder(name, name, id < annotated ? "torch.Tensor" : "")));
  }
  return made;
}

}  // namespace passnet::dataset::official
