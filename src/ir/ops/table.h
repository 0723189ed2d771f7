// Signatures of operators, as data: which spellings mean the same operator (`torch.relu`, `F.relu`, `.relu()`), its
// parameter names in order and their defaults. Used to bring calls into one canonical form for matching, and to
// suggest the nearest known name for an unknown one. It says nothing of how an operator runs; that is runtime/.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "ir/ops/signature.h"

namespace passnet::ir {

/// Target of the node that stands for a replaced match; args: the launch-list index (Int), then the tensor inputs. It
/// returns a tuple; its outputs are taken out with getitem nodes.
inline constexpr std::string_view kFusedTarget = "passnet.fused";

struct Parameter {
  std::string_view name;
  bool required = true;
  std::string_view default_text;  // Python literal: "False", "1e-05", "-1", "None"; empty when required
  bool variadic = false;          // *sizes: positional ints or one tuple: view(1, -1) = view((1, -1))
  ParameterKind kind = ParameterKind::Any;
  Role role = Role::None;  // of an in-place form none: it makes no value that sizes could be of
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

/// How the floating-point operations of an operator of the class Library follow from shapes.
enum class FlopRule : uint8_t {
  Elements,     // one for each element of the result
  Product,      // two for each element of the result and of the first operand's last axis
  Convolution,  // two for each element of the result and of one output channel's weights
  Transposed,   // two for each element of the input and of one input channel's weights
  Addend,       // a product of the second and third operand, added to the first
  Attention,    // two products: of queries and keys, and of what follows and values
  Einsum,       // two for each choice of all indices of the equation
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
  bool uniform = false;                 // all tensors that it takes have one element type
  bool positions = false;               // a range of positions stays one
  KernelClass kernel = KernelClass::Pointwise;  // of an in-place form too: x += y writes as many elements as x + y
  FlopRule flops = FlopRule::Elements;

  /// The parameter of that canonical name, or null.
  const Parameter* find(std::string_view parameter) const;
};

/// One line of the table (table_rows.h).
struct OpRow {
  const char* name;
  const char* spellings;
  const char* parameters;
  const char* flags;
  const char* lowering = "";
};

struct Binding;

/// Operators by their spellings and by their names.
class OpTable {
 public:
  /// REQUIRES: the rows are well-formed, since they are part of the program; their texts outlive the table.
  explicit OpTable(std::span<const OpRow> rows);
  ~OpTable();
  OpTable(const OpTable&) = delete;
  OpTable& operator=(const OpTable&) = delete;

  /// The ways a node's spelling can be called, in the order to try; empty when unknown.
  const std::vector<Binding>& bindings(NodeKind kind, std::string_view target) const;
  /// All spellings of functions and methods: "torch.nn.functional.relu", "Tensor.view"; sorted.
  std::span<const std::string_view> targets() const;
  /// All operators, in-place forms included, in the order of the rows.
  std::vector<const OpSignature*> operators() const;

  struct Data;

 private:
  std::unique_ptr<Data> data_;
};

/// The table of table_rows.h.
const OpTable& op_table();

/// The signature of what a node calls, or null when the table has no row for it. All spellings of an operator give the
/// same address; in-place forms (`add_`, `+=`) are operators of their own, except where the operator has an in-place
/// flag: `relu_(x)` is relu(x, inplace=True). `torch.ops.aten.add.Tensor` counts as a spelling of `torch.add`.
const OpSignature* find_signature(const Node& node, const OpTable& table = op_table());

/// The known function or method nearest to `target` ("torch.nn.functional.gelo" -> "torch.nn.functional.gelu"; for a
/// CallMethod "vew" -> "view"), or empty when none is near enough. The same last part in another module comes first.
std::string_view nearest_target(NodeKind kind, std::string_view target);

/// A call in canonical form: the operator's name and one argument per parameter, defaults filled in. Lists are tuples
/// (but not in an index), variadic parameters hold a Tuple, a constant first operand of a commutative operator is moved
/// behind a node. So two calls mean the same when name and arguments are equal. Without a row the name is kind-prefixed
/// ("function:torch.foo", "method:bar") and positional arguments come first, then keywords sorted by name.
struct CanonicalCall {
  std::string_view name;  // static, or in the graph's arena
  const OpSignature* signature = nullptr;
  std::vector<Arg> args;                // containers live in `graph`'s pool
  std::vector<std::string_view> names;  // of each argument
};
/// May add container elements and text to the pool of `graph` (no nodes).
/// Errors: BadInput when an argument fits no parameter, twice the same, or a required one is missing.
Result<CanonicalCall> canonicalize(Graph& graph, NodeId id, const OpTable& table = op_table());

/// The canonical parameter that each argument of a call is given to: positional arguments in order (all of a variadic
/// parameter's have its name), then keywords. Empty for operators without a row and for calls that fit none.
std::vector<std::string_view> argument_parameters(const Graph& graph, NodeId id);
/// The argument that is given to a canonical parameter; null: none is.
const Arg* find_argument(const Graph& graph, NodeId id, std::string_view parameter);

/// The canonical name alone, without looking at arguments. Empty for operators without a row.
std::string_view canonical_name(const Node& node);

/// Whether ATen's operator of this name ("add", "mul_") gives with a number wrapped into a tensor what it gives with
/// the number: the flag `wrap` of its row.
bool wraps_number(std::string_view aten_name);

/// True when the node overwrites its first argument: an in-place operator, setitem, `inplace=True`, and any unknown
/// function or method whose name ends in one `_`.
bool overwrites_input(const Graph& graph, NodeId id);

}  // namespace passnet::ir
