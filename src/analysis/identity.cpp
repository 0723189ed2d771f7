#include "analysis/identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analysis/size_slots.h"
#include "base/hash.h"
#include "fx/print.h"
#include "ir/ops/memory.h"
#include "ir/ops/table.h"
#include "ir/tensor_type.h"

namespace passnet::analysis {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;

namespace {

constexpr std::string_view kIdentityVersion = "1";
/// How often hashes are passed along the graph; one round carries each node's hash to all nodes before and after it.
constexpr int kRounds = 2;

uint64_t hash_of(std::string_view text, uint64_t seed = 0) { return fast_hash(text.data(), text.size(), seed); }
uint64_t combine(uint64_t a, uint64_t b) {
  const uint64_t both[] = {a, b};
  return fast_hash(both, sizeof both);
}

/// A use of a value: where in the call it stands.
struct Use {
  NodeId value;
  uint64_t place;
};

/// Which integers of an argument are forgotten: none, the bounds of slices, all.
enum class Sizes : uint8_t { None, Bounds, All };

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
    std::string text(kIdentityVersion);
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
    uint64_t color = hash_of(call->name);
    const bool swappable = call->signature != nullptr && call->signature->commutative && call->args.size() > 1;
    for (size_t i = 0; i < call->args.size(); ++i) {
      // Operands that may be swapped stand in one place.
      const uint64_t place = swappable && i < 2 ? hash_of("operand") : hash_of(call->names[i], i);
      sizes_ = with_sizes_ || call->signature == nullptr ? Sizes::None : sizes_of(call->signature->parameters[i].role);
      const uint64_t content = describe_arg(id, call->args[i], place);
      color = swappable && i == 1 ? color + content : combine(color, content);
    }
    colors_[id] = color;
  }

  // Numbers that integers are computed with may be sizes, but only types tell.
  static Sizes sizes_of(ir::Role role) {
    const std::optional<SizeRule> rule = size_rule(role);
    if (!rule || rule == SizeRule::Number) return Sizes::None;
    return rule == SizeRule::Slice ? Sizes::Bounds : Sizes::All;
  }

  uint64_t describe_arg(NodeId id, const Arg& arg, uint64_t place, bool is_bound = false) {
    switch (arg.kind) {
      case ArgKind::Node: uses_[id].push_back({arg.node, place}); return combine(place, hash_of("node"));
      case ArgKind::Tuple:
      case ArgKind::List:
      case ArgKind::Slice: {
        uint64_t color = combine(place, hash_of("elements", arg.count));
        // By index: describing an element may move the graph's pool.
        for (uint32_t i = 0; i < arg.count; ++i) {
          const Arg element = graph_.elements(arg)[i];
          color = combine(color, describe_arg(id, element, combine(place, i), arg.kind == ArgKind::Slice && i < 2));
        }
        return color;
      }
      case ArgKind::Int:
        if (sizes_ == Sizes::All || (sizes_ == Sizes::Bounds && is_bound)) return combine(place, hash_of("size"));
        break;
      case ArgKind::Device: return combine(place, hash_of("device"));
      default: break;
    }
    return combine(place, hash_of(fx::print_arg(graph_, arg), static_cast<uint64_t>(arg.kind)));
  }

  // A read after an in-place write depends on the node that wrote.
  void add_order() {
    const std::vector<NodeId> memory = ir::memory_of_values(graph_);
    std::vector<NodeId> overwriter(graph_.size(), ir::kNoNode);
    for (NodeId id = 0; id < graph_.size(); ++id) {
      for_each_input(graph_, graph_.node(id), [&](NodeId value) {
        const NodeId last = overwriter[memory[value]];
        if (last != ir::kNoNode && last != value) uses_[id].push_back({last, hash_of("after")});
      });
      const NodeId target = ir::overwritten_input(graph_, id);
      if (target != ir::kNoNode) overwriter[memory[target]] = id;
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
  Sizes sizes_ = Sizes::None;  // of the argument that is described
  std::vector<uint64_t> colors_;
  std::vector<std::vector<Use>> uses_;
};

}  // namespace

std::string identity_hash(const ir::Graph& graph) { return Coloring(graph, true).hash(); }
std::string structure_hash(const ir::Graph& graph) { return Coloring(graph, false).hash(); }

std::string typed_identity_hash(const graphdir::GraphDir& graph) {
  std::map<std::string_view, std::string> types;
  for (const auto* records : {&graph.weights, &graph.inputs}) {
    for (const graphdir::TensorMeta& meta : *records)
      types[meta.name] = ir::to_string(ir::contiguous(meta.dtype, meta.shape));
  }
  std::vector<std::string> by_placeholder;
  for (NodeId id = 0; id < graph.graph.placeholder_count(); ++id)
    by_placeholder.push_back(types[graph.graph.node(id).target]);
  return Coloring(graph.graph, true, std::move(by_placeholder)).hash();
}

}  // namespace passnet::analysis
