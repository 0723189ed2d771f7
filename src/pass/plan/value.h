// Values of the plan language and what operators do with them. Python's rules, except that integers are 64
// bits wide (overflow is an error) and every size is bounded. Errors carry no position; the interpreter adds it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/budget.h"
#include "base/result.h"
#include "pass/plan/launch_list.h"

namespace passnet::pass {

inline constexpr size_t kMaxSequenceItems = 65536;  // items of a sequence, those of nested ones included
inline constexpr size_t kMaxSequenceDepth = 16;     // sequences and dicts inside each other
inline constexpr size_t kMaxDictItems = 1024;
inline constexpr size_t kMaxStringBytes = 1024;
inline constexpr size_t kMaxRank = 64;  // PyTorch's own limit

struct Builtin;
struct Frame;
struct Function;
struct KernelObject;
struct Launcher;
struct Sequence;
struct Dict;

struct NoneValue {};
struct NotImplementedValue {};
struct EllipsisValue {};
struct DeviceValue {};  // every device is the one the pass runs on
struct SliceValue {
  std::optional<int64_t> start, stop, step;
};
/// A function of a plan, or a lambda. frame: where it was made; its variables can be read from inside.
struct FunctionValue {
  const Function* function = nullptr;
  Frame* frame = nullptr;
};
/// `int`, `torch.empty`, …
struct BuiltinValue {
  const Builtin* builtin = nullptr;
};
/// A library, or a part of one that plans do not have: "torch", "numpy.random". frame: of a file beside the pass.
struct ModuleValue {
  std::string name;
  Frame* frame = nullptr;
};
/// A type that values are only asked for: "torch.Tensor".
struct TypeValue {
  std::string_view name;
};
/// x.data_ptr(), id(x): tells tensors and objects apart and is no number.
struct AddressValue {
  int64_t of = 0;
  int64_t offset = 0;
};
/// triton.Config(constants, num_warps=4, …): one way to compile and launch a kernel.
struct Configuration {
  std::vector<NamedConstant> constants;
  std::vector<NamedConstant> options;
};
/// The exception of a `raise`: its type, without what it belongs to, and its text.
struct ExceptionValue {
  std::string type, text;
};
/// torch.finfo(dtype).
struct FloatInfoValue {
  ir::DType dtype = ir::DType::Float32;
};

/// Lists and dicts are changed in place, by all who have them.
using Value = std::variant<NoneValue, NotImplementedValue, EllipsisValue, bool, int64_t, double, std::string, ir::DType,
                           DeviceValue, View, std::shared_ptr<Sequence>, std::shared_ptr<Dict>, SliceValue,
                           FunctionValue, BuiltinValue, std::shared_ptr<const KernelObject>,
                           std::shared_ptr<const Launcher>, std::shared_ptr<const Configuration>, ModuleValue,
                           TypeValue, AddressValue, ExceptionValue, FloatInfoValue>;

/// `kernel[grid]` of a Triton kernel, which launches it when it is called.
struct Launcher {
  std::shared_ptr<const KernelObject> kernel;
  Value grid;
  /// Of functools.partial(kernel[grid], …): before those of the call, and where that gives none.
  std::vector<Value> positional = {};
  std::vector<std::pair<std::string_view, Value>> keywords = {};
};

/// A tuple or a list. torch.Size is a tuple. A tuple that holds a list is as heavy and deep as it was when it was made.
struct Sequence {
  bool is_list = false;
  std::vector<Value> items;
  size_t weight = 0;  // items, those of nested sequences included
  size_t depth = 1;
  ~Sequence();
};

/// In the order in which the keys came.
struct Dict {
  std::vector<std::pair<Value, Value>> items;  // key, value
  size_t weight = 0;                           // as of a sequence of its values
  size_t depth = 1;
  ~Dict();
};

enum class Operator : uint8_t {
  Add,
  Subtract,
  Multiply,
  Divide,
  FloorDivide,
  Modulo,
  Power,
  MatrixMultiply,
  ShiftLeft,
  ShiftRight,
  BitAnd,
  BitXor,
  BitOr,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Is,
  IsNot,
  In,
  NotIn,
  Negative,
  Positive,
  Not,
  Invert,
};
/// "+", "//", "is not", …
const char* spelling(Operator op);
/// The operator of two operands that is written so, or none.
std::optional<Operator> find_operator(std::string_view spelling);

template <class T>
const T* get_if(const Value& value) {
  return std::get_if<T>(&value);
}
/// The sequence in `value`, or null.
Sequence* get_sequence(const Value& value);
/// The dict in `value`, or null.
Dict* get_dict(const Value& value);

/// "int", "tensor", "None", …
std::string type_name(const Value& value);
/// For messages: "int 3", "string 'a'", "tensor float32[2, 3]", "list of 2 items".
std::string describe(const Value& value);

/// Steps of a text of so many bytes beside those of its value: made, copied, compared or searched.
constexpr size_t text_steps(size_t bytes) { return bytes / 64; }
/// Steps of a copy beside the first: of a text or a shape. What containers hold is shared.
size_t extra_steps(const Value& value);
/// A copy of each. Errors: those of `steps`.
Result<std::vector<Value>> copy_values(std::span<const Value> values, Budget& steps);
Result<std::vector<Value>> keys_of(const Dict& dict, Budget& steps);

// The functions below charge `steps` for the values that they visit, copy and move. Errors of `steps` are among theirs.

/// Python's str(): "3", "1e-05", "torch.float32", "(1, 'a')". Errors: BadPass where Python's text is not known here.
Result<std::string> to_text(const Value& value, Budget& steps);

/// Errors: BadPass when a string would have more than kMaxStringBytes.
Result<void> check_string(size_t bytes);
/// The items were charged for when they were made. Errors: BadPass when the sequence would hold too many items or be nested
/// too deep.
Result<Value> make_sequence(bool is_list, std::vector<Value> items);
Value make_shape(const std::vector<int64_t>& sizes);
/// A key that comes again replaces what it had. Errors: BadPass: too many items, nested too deep, a key that cannot be
/// compared.
Result<Value> make_dict(const std::vector<std::pair<Value, Value>>& items, Budget& steps);
/// What `key` has, or null. Errors: BadPass for a key that cannot be compared.
Result<const Value*> find_key(const Dict& dict, const Value& key, Budget& steps);
/// dict[key] = value. Errors: as make_dict; BadPass when the dict would hold itself.
Result<void> set_key(Dict& dict, const Value& key, Value value, Budget& steps);
/// Takes an item out of a dict. item: find_key() found it there.
Result<Value> take_key(Dict& dict, const Value* item, Budget& steps);
/// list.insert(at, value); at: up to the number of items. Errors: as make_sequence; BadPass when the list would hold
/// itself.
Result<void> insert_item(Sequence& list, size_t at, Value value, Budget& steps);
/// list[at] = value. Errors: as insert_item.
Result<void> set_item(Sequence& list, size_t at, Value value, Budget& steps);
/// list.pop(at).
Result<Value> take_item(Sequence& list, size_t at, Budget& steps);

/// Python's truth. Errors: BadPass for a tensor (its data is not known to a plan).
Result<bool> truth(const Value& value);
/// Python's ==; sequences item by item. Errors: BadPass when a tensor is compared.
Result<bool> equals(const Value& a, const Value& b, Budget& steps);
Result<Value> apply_unary(Operator op, const Value& operand);
/// Arithmetic and comparisons. Errors: BadPass: types the operator does not take, overflow, division by zero.
Result<Value> apply_binary(Operator op, const Value& a, const Value& b, Budget& steps);

/// A bool counts as an integer, an integer as a float, as in Python.
std::optional<int64_t> as_int(const Value& value);
std::optional<double> as_float(const Value& value);

}  // namespace passnet::pass
