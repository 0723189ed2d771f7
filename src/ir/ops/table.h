// Signatures of operators, as data: which spellings mean the same operator (`torch.relu`, `F.relu`, `.relu()`), its
// parameter names in order and their defaults. Used to bring calls into one canonical form for matching, and to
// suggest the nearest known name for an unknown one. It says nothing of how an operator runs; that is runtime/.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace passnet::ir {

/// What an argument is made of, where that decides which spellings are the same.
enum class ParameterKind : uint8_t {
  Any,    // as written; [1, 2] and (1, 2) are the same
  Float,  // PyTorch takes a float: 1 and 1.0 are the same
  Ints,   // a list of ints: 3 and (3,) are the same; with a fixed length n, 3 and (3, …, 3), and () is None
  Index,  // as written; a list and a tuple are different (x[[0, 1]] and x[0, 1])
};

struct Parameter {
  std::string_view name;
  bool required = true;
  std::string_view default_text;  // Python literal: "False", "1e-05", "-1", "None"; empty when required
  bool variadic = false;          // *sizes: positional ints or one tuple: view(1, -1) = view((1, -1))
  ParameterKind kind = ParameterKind::Any;
};

/// What a call costs a compiler that fuses.
enum class KernelClass : uint8_t {
  Free,       // no kernel: views, tuples taken apart, sizes, dropout that drops nothing
  Pointwise,  // one value per element of its result, from the elements at that place
  Stencil,    // one value per element of its result, from many of its input: pooling. What it reads lies in
              // memory before
  Reduction,  // sums, norms, softmax: reads each element of its input, alone or for a row
  Library,    // a kernel of its own that nothing fuses with: matrix products, convolutions, attention, sorting
};

struct OpSignature {
  std::string_view name;  // canonical name: "relu", "layer_norm", "add", "getitem", "view"
  std::span<const Parameter> parameters;
  bool commutative = false;             // the first two parameters may be swapped (add, mul of two tensors, …)
  std::string_view in_place_parameter;  // parameter that is overwritten ("input" for add_, iadd); empty when none
  std::string_view in_place_flag;       // the call overwrites its input when this parameter is True ("inplace")
  bool view = false;                    // the result may share memory with the first argument, or be it
  bool keep = false;                    // has an effect beyond its result (random numbers, assertions): never dead
  bool barrier = false;                 // changes how other operators run (autocast): nothing may move across it
  KernelClass kernel = KernelClass::Pointwise;  // of an in-place form too: x += y writes as many elements as x + y
};

/// The signature of what a node calls, or null when the table has no row for it. All spellings of an operator give the
/// same address; in-place forms (`add_`, `+=`) are operators of their own, except where the operator has an in-place
/// flag: `relu_(x)` is relu(x, inplace=True). `torch.ops.aten.add.Tensor` counts as a spelling of `torch.add`.
const OpSignature* find_signature(const Node& node);

/// All spellings of functions and methods the table knows: "torch.nn.functional.relu", "Tensor.view".
std::span<const std::string_view> known_targets();
/// The known function or method nearest to `target` ("torch.nn.functional.gelo" -> "torch.nn.functional.gelu"; for a
/// CallMethod "vew" -> "view"), or empty when none is near enough. The same last part in another module comes first.
std::string_view nearest_target(NodeKind kind, std::string_view target);

/// A call in canonical form: the operator's name and one argument per parameter, defaults filled in. Lists are tuples
/// (but not in an index), variadic parameters hold a Tuple, a constant first operand of a commutative operator is moved
/// behind a node. So two calls mean the same when name and arguments are equal. Without a row the name is kind-prefixed ("function:torch.foo", "method:bar") and
/// positional arguments come first, then keywords sorted by name.
struct CanonicalCall {
  std::string_view name;  // static, or in the graph's arena
  const OpSignature* signature = nullptr;
  std::vector<Arg> args;                // containers live in `graph`'s pool
  std::vector<std::string_view> names;  // of each argument
};
/// May add container elements and text to the pool of `graph` (no nodes).
/// Errors: BadInput when an argument fits no parameter, twice the same, or a required one is missing.
Result<CanonicalCall> canonicalize(Graph& graph, NodeId id);

/// The canonical parameter that each argument of a call is given to: positional arguments in order (all of a variadic
/// parameter's have its name), then keywords. Empty for operators without a row and for calls that fit none.
std::vector<std::string_view> argument_parameters(const Graph& graph, NodeId id);

/// The canonical name alone, without looking at arguments. Empty for operators without a row.
std::string_view canonical_name(const Node& node);

/// True when the node overwrites its first argument: an in-place operator, setitem, `inplace=True`, and any unknown
/// function or method whose name ends in one `_`.
bool overwrites_input(const Graph& graph, NodeId id);

}  // namespace passnet::ir
