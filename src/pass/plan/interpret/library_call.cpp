#include "pass/plan/library_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text/strings.h"
#include "ir/ops/table.h"
#include "pass/plan/interpret/interpreter.h"
#include "pass/plan/library/allocate.h"

namespace passnet::pass {

namespace {

constexpr size_t kLibraryCallSteps = 200;  // a worker is asked

constexpr std::array<std::string_view, 3> kUnwritten{"empty", "empty_like", "new_empty"};

/// How a message calls it: a method and an operator stand for themselves.
std::string call_name(ir::NodeKind kind, std::string_view target) {
  return kind == ir::NodeKind::CallMethod ? fmt::format("Tensor.{}", target) : std::string(target);
}

/// Adds the tensors in a value, each once. depth: of the containers that hold it.
Result<void> collect_views(const Value& value, size_t depth, std::vector<View>& views, Budget& steps) {
  PASSNET_TRY_VOID(steps.charge(1));
  if (const auto* view = get_if<View>(value)) {
    PASSNET_TRY_VOID(steps.charge(views.size() / 4));
    if (std::ranges::find(views, *view) == views.end()) views.push_back(*view);
  } else if (const Sequence* sequence = get_sequence(value)) {
    if (depth == kMaxSequenceDepth)
      return bad_pass(fmt::format("sequences nested too deep: expected at most {} levels", kMaxSequenceDepth));
    for (const Value& item : sequence->items) PASSNET_TRY_VOID(collect_views(item, depth + 1, views, steps));
  }
  return {};
}

/// Values of a plan as arguments of a node.
struct ArgumentReader {
  LibraryCall& call;
  PlanState& state;

  Result<ir::Arg> read(const Value& value) const {
    ir::Graph& graph = call.graph;
    PASSNET_TRY_VOID(state.steps.charge(2 + extra_steps(value)));
    if (const auto* view = get_if<View>(value)) {
      PASSNET_TRY_VOID(state.steps.charge(call.inputs.size() / 4));
      const auto at = std::ranges::find(call.inputs, *view) - call.inputs.begin();
      return ir::Arg::of_node(static_cast<ir::NodeId>(at));
    }
    if (get_if<NoneValue>(value)) return ir::Arg::none();
    if (get_if<EllipsisValue>(value)) return ir::Arg::ellipsis();
    if (const auto* flag = get_if<bool>(value)) return ir::Arg::of_bool(*flag);
    if (const auto* number = get_if<int64_t>(value)) return ir::Arg::of_int(*number);
    if (const auto* number = get_if<double>(value)) return ir::Arg::of_float(*number);
    if (const auto* dtype = get_if<ir::DType>(value)) return ir::Arg::of_dtype(*dtype);
    if (get_if<DeviceValue>(value)) return ir::Arg::of_text(ir::ArgKind::Device, state.on_gpu ? "cuda:0" : "cpu");
    if (const auto* text = get_if<std::string>(value)) {
      // "torch.channels_last" and the like are constants of PyTorch, which plans hold as their names.
      const bool is_constant = text->starts_with("torch.");
      return ir::Arg::of_text(is_constant ? ir::ArgKind::Constant : ir::ArgKind::String, graph.intern(*text));
    }
    if (const auto* slice = get_if<SliceValue>(value)) {
      const auto bound = [](const std::optional<int64_t>& at) { return at ? ir::Arg::of_int(*at) : ir::Arg::none(); };
      const ir::Arg bounds[] = {bound(slice->start), bound(slice->stop), bound(slice->step)};
      return graph.make_container(ir::ArgKind::Slice, bounds);
    }
    if (const Sequence* sequence = get_sequence(value)) {
      std::vector<ir::Arg> items;
      for (const Value& item : sequence->items) {
        PASSNET_TRY(const ir::Arg arg, read(item));
        items.push_back(arg);
      }
      return graph.make_container(sequence->is_list ? ir::ArgKind::List : ir::ArgKind::Tuple, items);
    }
    return bad_pass(
        fmt::format("argument of {}: found {}, expected a tensor, number, bool, string, dtype, None, or a "
                    "tuple or list of them",
                    passnet::quoted(call.name), describe(value)));
  }
};

/// Errors: what plans do not call, allowed or not.
Result<void> check_call(const LibraryCall& call) {
  const ir::Graph& graph = call.graph;
  const ir::NodeId id = call.node();
  if (ir::overwrites_input(graph, id))
    return bad_pass(fmt::format("outside the plan language: {} overwrites a tensor", passnet::quoted(call.name)))
        .with_hint("call what gives a new tensor: torch.relu(x), not torch.relu_(x) or inplace=True");
  const ir::OpSignature* signature = ir::find_signature(graph.node(id));
  if (signature != nullptr && signature->barrier)
    return bad_pass(
               fmt::format("outside the plan language: {} changes how other calls run", passnet::quoted(call.name)))
        .with_hint("cast with '.to(dtype)' where another type is wanted");
  // What torch.empty holds is seen to for a plan's own memory alone: kernels must have written all that is looked at.
  const std::string_view name = ir::canonical_name(graph.node(id));
  if (std::ranges::find(kUnwritten, name) != kUnwritten.end())
    return bad_pass(
               fmt::format("outside the plan language: {} gives memory that nobody wrote", passnet::quoted(call.name)))
        .with_hint("allocate with torch.empty or torch.empty_like");
  ir::Graph copy = graph;
  if (const auto bound = ir::canonicalize(copy, id); !bound)
    return bad_pass(fmt::format("{}: {}", call.name, bound.error().message));
  return {};
}

Result<LibraryCall> make_call(PlanState& state, ir::NodeKind kind, std::string_view target,
                              const CallArguments& arguments) {
  LibraryCall call;
  call.name = call_name(kind, target);
  for (const Value& value : arguments.positional) PASSNET_TRY_VOID(collect_views(value, 0, call.inputs, state.steps));
  for (const auto& [name, value] : arguments.keywords)
    PASSNET_TRY_VOID(collect_views(value, 0, call.inputs, state.steps));
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const std::string_view name = call.graph.intern(fmt::format("t{}", i));
    call.graph.add_placeholder(name, name);
  }
  const ArgumentReader reader{call, state};
  std::vector<ir::Arg> args;
  std::vector<ir::Keyword> keywords;
  for (const Value& value : arguments.positional) {
    PASSNET_TRY(const ir::Arg arg, reader.read(value));
    args.push_back(arg);
  }
  for (const auto& [name, value] : arguments.keywords) {
    PASSNET_TRY(const ir::Arg arg, reader.read(value));
    keywords.push_back({call.graph.intern(name), arg});
  }
  call.graph.add_node(kind, call.graph.intern(target), "called", args, keywords);
  PASSNET_TRY_VOID(check_call(call));
  return call;
}

/// The tensors of a result; each becomes a buffer of the list.
Result<Value> take_results(PlanState& state, LibraryCall& call, const ir::Value& result) {
  if (const auto* unknown = result.unknown())
    return bad_pass(fmt::format("cannot tell what {} gives: {}", passnet::quoted(call.name), unknown->why))
        .with_hint("a plan knows shapes and dtypes, and no data");
  const auto take = [&](const ir::TensorType& type) -> Result<Value> {
    PASSNET_TRY(const View view, allocate(state, type, std::nullopt));
    call.results.push_back(view.buffer);
    return Value(view);
  };
  if (const ir::TensorType* type = result.tensor()) return take(*type);
  const auto* several = std::get_if<ir::Value::List>(&result.is);
  const auto is_tensor = [](const ir::Value& item) { return item.tensor() != nullptr; };
  if (several == nullptr || !std::ranges::all_of(*several, is_tensor))
    return bad_pass(fmt::format("{} gives {}, expected a tensor or a tuple of tensors", passnet::quoted(call.name),
                                ir::type_text(result)));
  call.gives_several = true;
  std::vector<Value> items;
  for (const ir::Value& item : *several) {
    PASSNET_TRY(Value view, take(*item.tensor()));
    items.push_back(std::move(view));
  }
  return make_sequence(false, std::move(items));
}

}  // namespace

bool is_library_call(ir::NodeKind kind, std::string_view target) {
  return !ir::op_table().bindings(kind, target).empty();
}

bool Interpreter::may_call_library(ir::NodeKind kind, std::string_view target) const {
  return state_.allow_library && is_library_call(kind, target);
}

Result<Value> Interpreter::unary(Operator op, const Value& operand) {
  if (!get_if<View>(operand) || !state_.allow_library || op == Operator::Not) return apply_unary(op, operand);
  const char* target = op == Operator::Negative ? "neg" : op == Operator::Invert ? "invert" : "pos";
  return call_library(ir::NodeKind::Operator, target, {{operand}, {}});
}

/// As apply_binary, and what PyTorch's operators do with tensors.
Result<Value> Interpreter::binary(Operator op, const Value& left, const Value& right) {
  const bool of_tensors = get_if<View>(left) || get_if<View>(right);
  const bool of_numbers = (get_if<View>(left) || as_float(left)) && (get_if<View>(right) || as_float(right));
  if (!of_tensors || !of_numbers || !may_call_library(ir::NodeKind::Operator, spelling(op)))
    return apply_binary(op, left, right, state_.steps);
  return call_library(ir::NodeKind::Operator, spelling(op), {{left, right}, {}});
}

Result<Value> Interpreter::call_library(ir::NodeKind kind, std::string_view target, const CallArguments& arguments) {
  PASSNET_TRY(LibraryCall call, make_call(state_, kind, target, arguments));
  if (calling_ != nullptr) call.at = locate(calling_->offset);
  if (!state_.library_types)
    return bad_pass(
               fmt::format("outside the plan language: found {} where no site is known", passnet::quoted(call.name)))
        .with_hint("call PyTorch in the functions of a plan, not at the top of a file");
  if (state_.calls.size() == kMostLibraryCalls)
    return bad_pass(fmt::format("a plan may call PyTorch {} times, this is one more", kMostLibraryCalls));
  state_.library_tensors += call.inputs.size();
  if (state_.library_tensors > kMostLibraryTensors)
    return bad_pass(fmt::format("a plan may give PyTorch {} tensors in all, this call brings them to {}",
                                kMostLibraryTensors, state_.library_tensors));
  PASSNET_TRY_VOID(state_.steps.charge(kLibraryCallSteps));
  PASSNET_TRY(const ir::Value result, state_.library_types(call));
  PASSNET_TRY(Value value, take_results(state_, call, result));
  call.launches = state_.list.launches.size();
  state_.calls.push_back(std::move(call));
  return value;
}

}  // namespace passnet::pass
