#include "dataset/identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/hash.h"
#include "fx/print.h"
#include "ir/op_table.h"
#include "ir/tensor_type.h"

namespace passnet::dataset {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;

namespace {

constexpr std::string_view kVersion = "1";
/// How often what is known of a node is told to its neighbours; each time it reaches all nodes before and
/// after it.
constexpr int kRounds = 2;

/// Operators whose integers are sizes, which change with the shapes that a model is captured at.
// clang-format off
constexpr std::string_view kSizedOperators[] = {"arange", "broadcast_to", "empty",    "expand",    "full",     "getitem",
                                                "interpolate", "new_empty", "new_full", "new_ones", "new_zeros", "ones",
                                                "repeat",      "reshape",   "setitem",  "split",    "tile",      "view",
                                                "zeros"};
// clang-format on
static_assert(std::ranges::is_sorted(kSizedOperators));

uint64_t hash_of(std::string_view text, uint64_t seed = 0) {
  return fast_hash(text.data(), text.size(), seed);
}
uint64_t combine(uint64_t a, uint64_t b) {
  const uint64_t both[] = {a, b};
  return fast_hash(both, sizeof both);
}

/// A use of a value: where in the call it stands.
struct Use {
  NodeId value;
  uint64_t place;
};

class Coloring {
 public:
  /// types: by placeholder; empty when they do not count.
  Coloring(ir::Graph graph, bool with_sizes, std::vector<std::string> types = {})
      : graph_(std::move(graph)),
        with_sizes_(with_sizes),
        types_(std::move(types)),
        colors_(graph_.size()),
        uses_(graph_.size()) {
    for (NodeId id = 0; id < graph_.size(); ++id) describe(id);
    add_order();
  }

  std::string hash() {
    for (int round = 0; round < kRounds; ++round) spread();
    std::vector<uint64_t> all = colors_;
    std::sort(all.begin(), all.end());
    std::string text(kVersion);
    for (const uint64_t color : all) text += fmt::format(" {:x}", color);
    return sha256_hex(text);
  }

 private:
  void describe(NodeId id) {
    const ir::NodeKind kind = graph_.node(id).kind;
    if (kind == ir::NodeKind::Placeholder) {
      colors_[id] = types_.empty() ? hash_of("placeholder") : hash_of(types_[id], hash_of("placeholder"));
    } else if (kind == ir::NodeKind::Output) {
      colors_[id] = hash_of("output");
      for_each_input(graph_, graph_.node(id), [&](NodeId value) { uses_[id].push_back({value, 0}); });
    } else {
      describe_call(id);
    }
  }

  void describe_call(NodeId id) {
    const Result<ir::CanonicalCall> call = ir::canonicalize(graph_, id);
    if (!call) {
      colors_[id] = hash_of(fx::print_node(graph_, graph_.node(id)));
      return;
    }
    sized_ = !with_sizes_ &&
             std::binary_search(std::begin(kSizedOperators), std::end(kSizedOperators), call->name);
    uint64_t color = hash_of(call->name);
    const bool swappable =
        call->signature != nullptr && call->signature->commutative && call->args.size() > 1;
    for (size_t i = 0; i < call->args.size(); ++i) {
      // Operands that may be swapped stand in one place.
      const uint64_t place = swappable && i < 2 ? hash_of("operand") : hash_of(call->names[i], i);
      const uint64_t content = describe_arg(id, call->args[i], place);
      color = swappable && i == 1 ? color + content : combine(color, content);
    }
    colors_[id] = color;
  }

  uint64_t describe_arg(NodeId id, const Arg& arg, uint64_t place) {
    switch (arg.kind) {
      case ArgKind::Node:
        uses_[id].push_back({arg.node, place});
        return combine(place, hash_of("node"));
      case ArgKind::Tuple:
      case ArgKind::List:
      case ArgKind::Slice: {
        uint64_t color = combine(place, hash_of("elements", arg.count));
        // By index: describing an element may move the graph's pool.
        for (uint32_t i = 0; i < arg.count; ++i) {
          const Arg element = graph_.elements(arg)[i];
          color = combine(color, describe_arg(id, element, combine(place, i)));
        }
        return color;
      }
      case ArgKind::Int:
        if (sized_) return combine(place, hash_of("size"));
        break;
      case ArgKind::Device:
        return combine(place, hash_of("device"));
      default:
        break;
    }
    return combine(place, hash_of(fx::print_arg(graph_, arg), static_cast<uint64_t>(arg.kind)));
  }

  // A value that is read after it was overwritten is another value: what reads it then uses the overwriting
  // node too.
  void add_order() {
    std::vector<NodeId> root(graph_.size()), overwriter(graph_.size(), ir::kNoNode);
    for (NodeId id = 0; id < graph_.size(); ++id) {
      root[id] = id;
      const ir::Node& node = graph_.node(id);
      if (node.kind == ir::NodeKind::Placeholder) continue;
      std::vector<NodeId> overwriters;
      for_each_input(graph_, node, [&](NodeId value) {
        const NodeId last = overwriter[root[value]];
        if (last != ir::kNoNode && last != value) overwriters.push_back(last);
      });
      for (const NodeId last : overwriters) uses_[id].push_back({last, hash_of("after")});
      if (node.kind == ir::NodeKind::Output || node.arg_count == 0 ||
          graph_.args(node)[0].kind != ArgKind::Node)
        continue;
      const NodeId first = graph_.args(node)[0].node;
      const ir::OpSignature* signature = ir::find_signature(node);
      const bool overwrites = ir::overwrites_input(graph_, id);
      if (overwrites || (signature != nullptr && signature->view)) root[id] = root[first];
      if (overwrites) overwriter[root[first]] = id;
    }
  }

  // Each node learns of all that it is made of, and of all that is made of it.
  void spread() {
    std::vector<uint64_t> up = colors_, down = colors_, from_users(graph_.size(), 0);
    for (NodeId id = 0; id < graph_.size(); ++id) {
      uint64_t sum = 0;
      for (const Use& use : uses_[id]) sum += combine(use.place, up[use.value]);
      up[id] = combine(up[id], sum);
    }
    for (NodeId id = graph_.size(); id-- > 0;) {
      down[id] = combine(down[id], from_users[id]);
      for (const Use& use : uses_[id]) from_users[use.value] += combine(use.place, down[id]);
    }
    for (NodeId id = 0; id < graph_.size(); ++id) colors_[id] = combine(up[id], down[id]);
  }

  ir::Graph graph_;
  const bool with_sizes_;
  const std::vector<std::string> types_;
  bool sized_ = false;  // the call that is described
  std::vector<uint64_t> colors_;
  std::vector<std::vector<Use>> uses_;
};

}  // namespace

std::string identity_hash(const ir::Graph& graph) { return Coloring(graph, true).hash(); }
std::string structure_hash(const ir::Graph& graph) { return Coloring(graph, false).hash(); }

std::string typed_identity_hash(const fx::GraphDir& graph) {
  std::map<std::string_view, std::string> types;
  for (const auto* records : {&graph.weights, &graph.inputs}) {
    for (const fx::TensorMeta& meta : *records)
      types[meta.name] = ir::to_string(ir::contiguous(meta.dtype, meta.shape));
  }
  std::vector<std::string> by_placeholder;
  for (NodeId id = 0; id < graph.graph.placeholder_count(); ++id)
    by_placeholder.push_back(types[graph.graph.node(id).target]);
  return Coloring(graph.graph, true, std::move(by_placeholder)).hash();
}

}  // namespace passnet::dataset
