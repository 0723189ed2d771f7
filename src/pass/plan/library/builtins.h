// The functions, tensor methods, attributes and dotted constants a plan may use, as tables.
// functions.cpp: Python, math and triton; libraries.cpp: what else files import; types.cpp: types and exceptions;
// allocate.cpp: torch; methods.cpp: methods and attributes of tensors; container_methods.cpp: those of strings, lists and
// dicts.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "base/result.h"
#include "ir/ops/signature.h"
#include "pass/plan/launch_list.h"
#include "pass/plan/library_call.h"
#include "pass/plan/syntax.h"
#include "pass/plan/value.h"

namespace passnet::pass {

/// One evaluation of a plan. Of 1,365 passes that models submitted to the public benchmark none takes more than 10,117.
inline constexpr Work kOnePlan{"the plan takes", 1'000'000,
                               "a plan chooses sizes and launches kernels; loops over elements belong in a kernel"};
/// What a plan may allocate in all: so many tensors, of so many bytes and so many times what its inputs have.
inline constexpr int64_t kMostAllocations = 4096, kFreeBytes = int64_t{1} << 32, kMostTimesInputs = 64;
inline constexpr size_t kMostLaunches = 4096;

/// What one evaluation builds and may still spend.
struct PlanState {
  Budget& steps;  // is charged for all that the evaluation does
  LaunchList list = {};
  int64_t allocations = 0, allocated_bytes = 0;
  bool on_gpu = false;              // what x.is_cuda says
  bool limited = true;              // kMostAllocations and what follows it hold
  bool allow_library = false;       // LoadOptions::allow_library
  LibraryTypes library_types = {};  // as PlanOptions::library_types
  std::vector<LibraryCall> calls = {};
  size_t library_tensors = 0;          // that they are given in all
  std::deque<std::string> texts = {};  // names that came out of values

  /// The text for as long as the evaluation lasts.
  std::string_view intern(std::string text) { return texts.emplace_back(std::move(text)); }
};

/// Arguments by parameter; absent ones were not given. A variadic parameter holds a tuple.
using Bound = std::vector<std::optional<Value>>;

struct Builtin {
  std::string_view name;        // "len", "torch.empty"; methods: "view"
  std::string_view parameters;  // a signature (ir/ops/signature.h): "dim0, dim1", "*size", "dtype?" (may be left out)
  Result<Value> (*call)(
      PlanState& state,
      const Bound& args);  // methods: args[0] is the object, listed as "self"; null: Interpreter::call_special
};

struct CallArguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string_view, Value>> keywords;
};

std::span<const Builtin> python_functions();
std::span<const Builtin> torch_functions();
std::span<const Builtin> tensor_methods();
std::span<const Builtin> string_methods();
std::span<const Builtin> list_methods();
std::span<const Builtin> dict_methods();
std::span<const Builtin> library_functions();
std::span<const Builtin> type_functions();

/// By plain or dotted name; null when there is none.
const Builtin* find_function(std::string_view name);
/// Of this value, or of any.
const Builtin* find_method(const Value& object, std::string_view name);
const Builtin* find_method(std::string_view name);
/// Names of all functions or methods, for suggestions.
std::vector<std::string_view> function_names();
std::vector<std::string_view> method_names();

const std::vector<ir::Slot>& signature_of(const Builtin& builtin);
std::vector<ir::Slot> signature_of(const std::vector<Parameter>& parameters);
/// callee: what messages call it. Errors: BadPass: too many, unknown, doubled or missing arguments.
Result<Bound> bind_arguments(std::string_view callee, std::span<const ir::Slot> signature, CallArguments arguments);

std::span<const Builtin> number_methods();

/// x.new_empty, x.new_zeros. fill: nothing leaves the memory as it is.
Result<Value> allocate_new(PlanState& state, const View& like, const std::optional<Value>& size,
                           const std::optional<Value>& dtype, std::optional<double> fill);

/// torch.float32, math.inf, torch.Tensor, ValueError, …
std::optional<Value> find_constant(std::string_view dotted_name);
/// "torch", "math", "triton": names that stand for a module without an import.
bool is_module(std::string_view name);
/// A function or method that plans do not have; called as `dotted` when it is one of a library, else a method's name. The
/// failure is "library-call" where PyTorch would compute with it, which is the kernel's work.
Error outside_language(std::string message, std::string_view dotted, bool is_method);
/// What a plan knows a library by: "tl" for triton.language, "F" is none.
std::string canonical_name(std::string_view dotted_name);
/// Whether an import of that library, or of a part of it, does not fail. Most of it plans do not have: to use it is the
/// error.
bool is_library(std::string_view dotted_name);

/// torch.Tensor, ValueError, …
std::optional<TypeValue> find_type(std::string_view dotted_name);
/// torch.device("cuda"), ValueError("…"): a call of a type.
Result<Value> make_of_type(PlanState& state, const TypeValue& type, const CallArguments& arguments);
/// Python's type(). Errors: BadPass for what has none here.
Result<Value> type_of(const Value& value);
/// Python's isinstance(). type: a type or a tuple of types.
Result<bool> is_instance(PlanState& state, const Value& value, const Value& type);

/// x.shape, x.dtype, torch.finfo(…).max, …
bool is_attribute(std::string_view name);
Result<Value> get_attribute(const Value& object, std::string_view name);

/// Argument readers. Errors: BadPass "argument 'dim': found float 1.5, expected an integer".
Result<int64_t> int_argument(const std::optional<Value>& value, std::string_view name);
Result<ir::DType> dtype_argument(const std::optional<Value>& value, ir::DType otherwise);
/// A tuple of integers given as such or spread over a variadic parameter: view(2, 3) = view((2, 3)).
Result<std::vector<int64_t>> sizes_argument(const std::optional<Value>& value, std::string_view name);

}  // namespace passnet::pass
