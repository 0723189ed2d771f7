// Writes the plan and the kernels of a pass, operator by operator in the order of the graph. Views become views of the
// plan; element-wise operators gather in groups, one kernel each; every other operator becomes a kernel of its own, in
// which one task or thread computes one item of the result after the other. Results are contiguous and rounded to their
// dtype after every operator, as PyTorch does. Internal to author/.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "author/subject/subject.h"
#include "base/result.h"
#include "ir/ops/table.h"

namespace passnet::author {

/// The element type of a value: one for all examples, or that of an input, which then is a constant of the kernels.
struct ElementType {
  std::vector<ir::DType> by_example;
  std::string plan;          // "torch.float32", "in_0.dtype"
  std::string cpp;           // "float", "T"
  std::string_view compute;  // what a kernel computes in: "float", "double", "int64_t", "bool"
  bool varies = false;
};

/// A tensor of the plan, or of the kernel of a group alone.
struct Value {
  std::string name;
  size_t type = 0;                           // index of its ElementType
  std::vector<std::vector<int64_t>> shapes;  // by example; all of one rank
  bool flat = true;                          // known to be contiguous
  int64_t step = -1;                         // the step that makes it; -1: there before the first
  bool in_group = false;                     // made by the group of that step, not a view of its result

  int64_t rank() const { return static_cast<int64_t>(shapes[0].size()); }
};

/// What an element-wise operator takes: a tensor, or the text of a number.
struct Operand {
  std::optional<Value> value;
  std::string text;
  std::string declared;  // the type of the kernel parameter `text`, when it is an input of the pattern
};

/// Elements in a kernel: the pointer parameter, where it is loaded from, the register.
struct Load {
  Value value;
  std::string argument;  // of the launch
  bool direct = true;    // element i of the group, else by strides
};
struct Statement {
  std::string name;
  size_t type = 0;
  std::string expression;  // `@name(` is a function of the C library
  std::string_view compute;
};

/// One kernel and its launch.
struct Kernel {
  std::string name, comment;
  std::vector<std::string> parameters;  // "const T* x"
  std::vector<std::string> arguments;   // of the launch, one per parameter
  std::string items;                    // how many items the result has: text of the plan
  std::string work = "1";               // elements read for an item: text of the plan
  std::string body;                     // computes item `i` of `n`; `@name(` as above
  std::string_view compute = "float";
};

/// Element-wise operators that share a shape, in one kernel.
struct Group {
  std::string shape;  // name of a variable of the plan
  std::vector<std::vector<int64_t>> shapes;
  std::vector<Load> loads;
  std::vector<std::pair<std::string, std::string>> scalars;  // "float", name: constants that are inputs of the pattern
  std::vector<Statement> statements;
};

struct Step {
  std::vector<std::string> lines;  // of the plan, before the launch
  std::optional<Group> group;
  std::optional<Kernel> kernel;
};

/// The product of the sizes `first` … `last` - 1 of a tensor of the plan: text.
std::string size_product(const std::string& name, int64_t first, int64_t last);

/// The operator was one of these, and went as `result` says.
inline Result<bool> done(Result<void> result) {
  if (!result) return std::move(result).error();
  return true;
}

class Writer {
 public:
  /// subject: its graph's pool may grow. name: of the pass; kernels are NAME_VALUE.
  Writer(Subject& subject, std::string name);

  /// Makes a value that the plan is given. Errors: Unsupported: it is no tensor, or of a dtype that no kernel takes.
  Result<void> input(ir::NodeId id);
  /// Writes what the node computes. Its inputs have been written. Errors: Unsupported, with why.
  Result<void> node(ir::NodeId id);

  bool has(ir::NodeId id) const { return values_[id].has_value(); }
  /// Marks a value as stored and names it for the plan. REQUIRES: has(id).
  const Value& store(ir::NodeId id) { return stored(*values_[id]); }
  bool has_kernels() const;
  const std::vector<ElementType>& types() const { return types_; }

  /// The lines of the plan from the first operator to before `return`.
  std::vector<std::string> plan();
  /// All kernels, for the CPU or for CUDA.
  std::string kernels(bool cuda);
  /// Whether the plan uses the function `broadcast` beside it.
  bool needs_broadcast() const { return needs_broadcast_; }
  bool needs_grid() const { return has_kernels(); }

 private:
  using Call = ir::CanonicalCall;

  // writer.cpp: values and types
  Result<size_t> type_of(const std::vector<ir::DType>& by_example);
  Result<size_t> constant_type(ir::DType dtype);
  Result<Value> new_value(ir::NodeId id, bool flat = true);
  Result<Value> new_value(const std::string& name, const std::vector<ValueType>& types, bool flat = true);
  Value temporary(const Value& like, std::string_view suffix);
  const Value& stored(const Value& value);
  Value flat(const Value& value);
  std::string fresh(const std::string& stem);
  Result<Value> tensor(const ir::Arg& arg) const;
  std::optional<Value> optional_tensor(const ir::Arg& arg) const;
  size_t add_step(Step step);
  /// The plan declines unless `condition` holds, which uses what was made before.
  void require(std::string condition);
  void add_line(int64_t step_of_source, std::string text, Value& made);
  void add_kernel(Kernel kernel, std::vector<Value*> outputs, std::span<const std::string> shapes);

  // writer.cpp: arguments
  const ir::Arg& argument(const Call& call, std::string_view name) const;
  bool given(const Call& call, std::string_view name) const;
  bool is_default(const Call& call, std::string_view name, std::string_view text) const;
  Result<int64_t> integer(const Call& call, std::string_view name) const;
  Result<int64_t> dimension(const Call& call, std::string_view name, int64_t rank) const;
  Result<std::vector<int64_t>> integers(const Call& call, std::string_view name) const;
  Result<std::vector<int64_t>> dimensions(const Call& call, std::string_view name, int64_t rank) const;
  Result<bool> flag(const Call& call, std::string_view name) const;
  Result<std::string> plan_text(const ir::Arg& arg) const;
  Result<std::string> plan_text(const Call& call, std::string_view name) const {
    return plan_text(argument(call, name));
  }

  // pointwise.cpp
  Result<bool> pointwise_node(ir::NodeId id, const Call& call, std::string_view name);
  Result<Operand> operand(const ir::Arg& arg, std::string_view compute, std::string_view rounded_to) const;
  Result<Value> pointwise(Value result, const std::vector<Operand>& operands, const std::string& expression,
                          std::string_view compute);
  size_t group_for(const Value& result, const std::vector<Operand>& operands);
  size_t new_group(const Value& result, const std::vector<Operand>& operands);
  void load_into(size_t step, const Value& value);
  void declare(Group& group, const Operand& operand) const;
  Result<Value> copy(const Value& value, std::string_view suffix);
  Result<void> batch_norm(ir::NodeId id, const Call& call);
  Result<void> glu(ir::NodeId id, const Call& call);

  // views.cpp
  Result<bool> view_node(ir::NodeId id, const Call& call, std::string_view name);
  Result<void> view(ir::NodeId id, const Value& of, const std::string& text, bool flat);
  Result<Value> view(const std::string& name, const std::vector<std::vector<int64_t>>& shapes, const Value& of,
                     const std::string& text, bool flat);
  Result<void> reshape(ir::NodeId id, const Value& of, const std::string& text);
  Result<void> index(ir::NodeId id, const Call& call);
  Result<void> part(ir::NodeId id, ir::NodeId whole, const Call& call);
  Result<Value> permuted(const Value& value, const std::vector<int64_t>& order);

  // rows.cpp
  struct Rows {
    Value x;
    int64_t first = 0, last = 0;  // dimensions first … last - 1 are one row
    std::string items() const;
    std::string length() const;
    std::string inner() const;
    std::string full_shape() const;
  };
  Result<bool> row_node(ir::NodeId id, const Call& call, std::string_view name);
  Result<Rows> rows(const Value& value, std::vector<int64_t> dims);
  Kernel row_kernel(const Rows& rows, const std::string& name, std::string_view comment) const;
  Result<void> reduction(ir::NodeId id, const Call& call, std::string_view name);
  Result<void> extreme(ir::NodeId id, const Call& call, std::string_view name);
  Result<void> norm_of(ir::NodeId id, const Call& call);
  Result<void> finish_reduction(ir::NodeId id, const Rows& rows, Kernel kernel, bool keep);
  Result<void> softmax(ir::NodeId id, const Call& call, std::string_view name);
  Result<void> normalize(ir::NodeId id, const Call& call);
  Result<void> cumulative(ir::NodeId id, const Call& call);
  Result<void> layer_norm(ir::NodeId id, const Call& call, bool rms);
  Result<void> group_norm(ir::NodeId id, const Call& call);

  // tables.cpp
  Result<bool> table_node(ir::NodeId id, const Call& call, std::string_view name);
  Result<void> look_up(ir::NodeId id, const Value& table, const Value& index, int64_t dim, bool wraps);
  Result<void> concatenate(ir::NodeId id, const Call& call, bool stack);
  Result<void> move_elements(ir::NodeId id, const Call& call, bool roll);
  Result<void> pad(ir::NodeId id, const Call& call);

  // products.cpp
  Result<bool> product_node(ir::NodeId id, const Call& call, std::string_view name);
  Result<void> matrix_product(ir::NodeId id, Value a, Value b, bool transposed, const std::optional<Value>& bias);
  Result<void> convolution(ir::NodeId id, const Call& call);
  Result<void> pool(ir::NodeId id, const Call& call, std::string_view name);
  Result<void> adaptive_pool(ir::NodeId id, const Call& call);

  // render.cpp
  Kernel group_kernel(size_t step) const;
  std::string render(const Kernel& kernel, bool cuda) const;
  std::string load(const Value& value, std::string_view element) const;
  std::string convert(size_t type, std::string_view text, std::string_view compute) const;
  std::string parameter(const Value& value, bool output) const;
  std::vector<std::string> launch(const Kernel& kernel) const;

  Subject& subject_;
  ir::Graph& graph_;
  const std::string name_;
  std::vector<std::optional<Value>> values_;  // by node id
  std::vector<ElementType> types_;
  std::vector<std::pair<std::vector<ir::DType>, std::string>> inputs_;  // where a varying dtype comes from: plan text
  std::map<ir::NodeId, std::vector<Value>> parts_;  // of nodes that give several tensors, as max(dim)
  std::vector<std::string> prologue_;               // views of inputs
  std::vector<Step> steps_;
  std::set<std::string> stored_;  // values of groups that are needed outside the group
  std::set<std::string> names_;   // made here; those of the graph are in subject_
  std::string device_of_;         // an input, to ask for is_cuda
  bool needs_broadcast_ = false;
};

}  // namespace passnet::author
