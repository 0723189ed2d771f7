// The names of a function while it is read: what each refers to now, and which node carries it. Internal to
// fx/.
#pragma once

#include <deque>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace passnet::fx {

/// What a name means at this point of the text.
struct Binding {
  enum class Kind : uint8_t {
    Unbound,
    Value,   // value: a node, or a constant the name stands for
    Dead,    // after `name = None`
    Module,  // value: Constant, the dotted path an import (or `self`) stands for
    Items,   // its items are bound by their item_name (free_values.h)
    Lambda,  // value: its place in Lambdas::texts (expression.h)
  };
  std::string_view name;
  ir::Arg value;
  ir::NodeId owner = ir::kNoNode;  // the node whose name this is
  uint32_t next_suffix = 1;        // for names made from this one
  Kind kind = Kind::Unbound;
  bool parameter = false;  // stands in the signature
  bool reserved = false;   // printed text needs it for itself: a keyword, torch, device, …, an imported module
};

/// One flat hash table (open addressing, XXH3 with a per-process seed, so that no input can aim for
/// collisions).
class Scope {
 public:
  explicit Scope(size_t expected_names);
  /// The binding of `name`, or null.
  Binding* find(std::string_view name);
  const Binding* find(std::string_view name) const;
  /// The same, made when missing. References stay valid.
  Binding& operator[](std::string_view name);
  void bind_module(std::string_view name, std::string_view path);
  /// A node may be called so: no node is yet, and printed text does not need the name for itself.
  static bool is_free(const Binding& binding) { return binding.owner == ir::kNoNode && !binding.reserved; }
  /// A name no node carries yet: `base`, `base_1`, `base_2`, …; the node becomes its owner.
  std::string_view claim_fresh(ir::Graph& graph, std::string_view base, ir::NodeId owner);
  const std::deque<Binding>& bindings() const { return bindings_; }

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t index = 0;  // 1 + index of the binding; 0: free
  };
  size_t probe(std::string_view name, uint32_t hash) const;
  void grow();

  std::vector<Slot> slots_;  // a power of two, at most half full
  std::deque<Binding> bindings_;
};

}  // namespace passnet::fx
