// Signatures of operators, as data: which spellings mean the same operator (`torch.relu`, `F.relu`, `.relu()`), its
// parameter names in order and their defaults. Used to bring calls into one canonical form for matching, and to
// suggest the nearest known name for an unknown one. It says nothing of how an operator runs; that is runtime/.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace passnet::ir {

struct Parameter {
  std::string_view name;
  bool required = true;
  std::string_view default_text;  // Python literal: "False", "1e-05", "-1", "None"; empty when required
  bool variadic = false;          // *sizes: positional ints or one tuple: view(1, -1) = view((1, -1))
};

struct OpSignature {
  std::string_view name;               // canonical name: "relu", "layer_norm", "add", "getitem", "view"
  std::span<const Parameter> parameters;
  bool commutative = false;            // the first two parameters may be swapped (add, mul of two tensors, …)
  std::string_view in_place_parameter; // parameter that is overwritten ("input" for add_, iadd); empty when none
  std::string_view in_place_flag;      // the call overwrites its input when this parameter is True ("inplace")
};

/// The signature of what a node calls, or null when the table has no row for it.
const OpSignature* find_signature(const Node& node);

/// All spellings of functions and methods the table knows: "torch.nn.functional.relu", "Tensor.view".
std::span<const std::string_view> known_targets();
/// The known function or method nearest to `target` ("torch.nn.functional.gelo" -> "torch.nn.functional.gelu").
std::string_view nearest_target(NodeKind kind, std::string_view target);

/// A call in canonical form: the operator's name and one argument per parameter, defaults filled in. Variadic
/// parameters hold a Tuple. Without a row the name is kind-prefixed ("function:torch.foo", "method:bar") and
/// positional arguments come first, then keywords sorted by name.
struct CanonicalCall {
  std::string_view name;                 // static, or in the graph's arena
  const OpSignature* signature = nullptr;
  std::vector<Arg> args;                 // containers live in `graph`'s pool
  std::vector<std::string_view> names;   // of each argument
};
/// May add container elements and text to the pool of `graph` (no nodes).
/// Errors: BadInput when an argument fits no parameter, twice the same, or a required one is missing.
Result<CanonicalCall> canonicalize(Graph& graph, NodeId id);

}  // namespace passnet::ir
