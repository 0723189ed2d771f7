#include "run/measure/least_bytes.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "ir/dtype.h"
#include "ir/ops/table.h"

namespace passnet::run {

namespace {

/// Operators whose result needs each element of all tensors that they take.
constexpr std::array<std::string_view, 14> kReadAll = {"add",     "sub",   "mul",   "div",    "maximum",
                                                       "minimum", "atan2", "hypot", "linear", "matmul",
                                                       "mm",      "bmm",   "addmm", "baddbmm"};
/// Of the first that they take; what else they take may be read in part, or is small.
constexpr auto kReadFirst = std::to_array<std::string_view>(
    {"neg",     "abs",        "reciprocal", "square",     "sqrt",      "rsqrt",      "exp",       "exp2",
     "expm1",   "log",        "log1p",      "log2",       "sin",       "cos",        "tan",       "erf",
     "relu",    "relu6",      "silu",       "gelu",       "sigmoid",   "tanh",       "hardswish", "hardsigmoid",
     "mish",    "elu",        "selu",       "leaky_relu", "softplus",  "logsigmoid", "softmax",   "log_softmax",
     "sum",     "mean",       "var",        "std",        "logsumexp", "layer_norm", "rms_norm",  "group_norm",
     "to",      "contiguous", "clone",      "type_as",    "view",      "reshape",    "flatten",   "transpose",
     "permute", "t",          "squeeze",    "unsqueeze",  "cumsum",    "batch_norm"});

bool holds(auto& names, std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); }

/// Marks what is needed in full, from what is marked already.
void mark_needed(const ir::Graph& graph, std::vector<bool>& needed) {
  for (ir::NodeId id = static_cast<ir::NodeId>(graph.size()); id-- > 0;) {
    if (!needed[id]) continue;
    const std::string_view name = ir::canonical_name(graph.node(id));
    const bool all = holds(kReadAll, name);
    if (!all && !holds(kReadFirst, name)) continue;
    for (const ir::Arg& arg : graph.args(id)) {
      if (arg.kind == ir::ArgKind::Node) needed[arg.node] = true;
      if (!all) break;
    }
  }
}

/// What an operator overwrites was computed for nothing, perhaps.
bool overwrites(const ir::Graph& graph) {
  for (ir::NodeId id = graph.placeholder_count(); id < graph.size(); ++id) {
    if (ir::overwrites_input(graph, id)) return true;
  }
  return false;
}

}  // namespace

int64_t distinct_bytes(const ir::TensorType& type) {
  int64_t elements = 1, extent = 1;
  for (size_t i = 0; i < type.shape.size(); ++i) {
    if (type.shape[i] == 0) return 0;
    if (type.strides[i] != 0) elements *= type.shape[i];
    extent += (type.shape[i] - 1) * type.strides[i];
  }
  return std::min(elements, extent) * ir::size_bytes(type.dtype);
}

int64_t least_bytes(const ir::Graph& graph, const ir::Values& types, const std::vector<bool>& owned) {
  const ir::NodeId output = graph.output();
  if (output == ir::kNoNode) return 0;
  std::vector<ir::NodeId> outputs;
  ir::for_each_input(graph, graph.node(output), [&](ir::NodeId id) { outputs.push_back(id); });
  if (outputs.size() != owned.size()) return 0;
  int64_t bytes = 0;
  std::vector<bool> needed(graph.size(), false);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ir::TensorType* type = ir::tensor_type(types, outputs[i]);
    if (!owned[i] || type == nullptr) continue;
    const int64_t written = distinct_bytes(*type);
    bytes += written;
    needed[outputs[i]] = needed[outputs[i]] || written > 0;
  }
  if (overwrites(graph)) return bytes;
  mark_needed(graph, needed);
  for (ir::NodeId id = 0; id < graph.placeholder_count(); ++id) {
    const ir::TensorType* type = ir::tensor_type(types, id);
    if (needed[id] && type != nullptr) bytes += distinct_bytes(*type);
  }
  return bytes;
}

}  // namespace passnet::run
