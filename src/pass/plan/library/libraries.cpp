// What files of a plan import besides PyTorch and Triton: paths, operators, modules beside them. What such calls would
// change in Python's own state changes nothing here.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "pass/plan/launch_values.h"
#include "pass/plan/library/builtins.h"
#include "pass/plan/library_call.h"

namespace passnet::pass {

namespace {

Result<Value> call_nothing(PlanState&, const Bound&) { return Value(NoneValue{}); }
Result<Value> call_first(PlanState&, const Bound& args) { return *args[0]; }

Result<std::string> path_argument(const std::optional<Value>& value) {
  if (const auto* text = value ? get_if<std::string>(*value) : nullptr) return *text;
  return bad_pass(fmt::format("argument 'path': found {}, expected a string", value ? describe(*value) : "nothing"));
}

Result<Value> call_dirname(PlanState&, const Bound& args) {
  PASSNET_TRY(const std::string path, path_argument(args[0]));
  const size_t slash = path.rfind('/');
  return Value(slash == std::string::npos ? std::string() : path.substr(0, slash));
}

Result<Value> call_basename(PlanState&, const Bound& args) {
  PASSNET_TRY(const std::string path, path_argument(args[0]));
  return Value(path.substr(path.rfind('/') + 1));
}

Result<Value> call_join_path(PlanState& state, const Bound& args) {
  std::string path;
  for (const Value& part : get_sequence(*args[0])->items) {
    PASSNET_TRY_VOID(state.steps.charge(1 + extra_steps(part)));
    PASSNET_TRY(const std::string text, path_argument(part));
    if (text.starts_with('/')) path.clear();
    path += (path.empty() || path.ends_with('/') ? "" : "/") + text;
    PASSNET_TRY_VOID(check_string(path.size()));
  }
  return Value(std::move(path));
}

Result<Value> call_config(PlanState& state, const Bound& args) {
  auto made = std::make_shared<Configuration>();
  const Dict* constants = get_dict(*args[0]);
  if (constants == nullptr)
    return bad_pass(fmt::format("triton.Config: found {}, expected a dict of constants", describe(*args[0])));
  for (const auto& [key, value] : constants->items) {
    PASSNET_TRY_VOID(state.steps.charge(2 + extra_steps(key) + extra_steps(value)));
    const auto* name = get_if<std::string>(key);
    if (name == nullptr)
      return bad_pass(fmt::format("triton.Config: found {}, expected the name of a constant", describe(key)));
    PASSNET_TRY(Constant constant, to_constant(value, *name));
    (is_triton_option(*name) ? made->options : made->constants).push_back({*name, std::move(constant)});
  }
  constexpr std::array<std::string_view, 4> kOptions{"num_warps", "num_stages", "num_ctas", "maxnreg"};
  for (size_t i = 0; i < kOptions.size(); ++i) {
    if (!args[i + 1] || get_if<NoneValue>(*args[i + 1])) continue;
    PASSNET_TRY(const int64_t number, int_argument(args[i + 1], kOptions[i]));
    made->options.push_back({std::string(kOptions[i]), number});
  }
  if (args[5] && !get_if<NoneValue>(*args[5]))
    return bad_pass("outside the plan language: found 'pre_hook' of triton.Config")
        .with_hint("fill the memory that a kernel adds to with torch.zeros");
  return Value(std::shared_ptr<const Configuration>(std::move(made)));
}

Result<Value> call_cast(PlanState&, const Bound& args) { return *args[1]; }

template <Operator op>
Result<Value> call_operator(PlanState& state, const Bound& args) {
  return apply_binary(op, *args[0], *args[1], state.steps);
}

constexpr Builtin kLibraryFunctions[] = {
    {"print", "*values, sep?, end?, file?, flush?", call_nothing},
    {"torch.fx.wrap", "function", call_first},
    {"tl.constexpr", "value", call_first},
    {"torch.cuda.current_device", "", [](PlanState&, const Bound&) { return Result<Value>(Value(int64_t{0})); }},
    {"torch.numel", "input",
     [](PlanState&, const Bound& args) -> Result<Value> {
       if (const auto* view = get_if<View>(*args[0])) return Value(view->type.numel());
       return bad_pass(fmt::format("argument 'input': found {}, expected a tensor", describe(*args[0])));
     }},
    {"torch._dynamo.allow_in_graph", "function", call_first},
    {"torch._dynamo.disable", "function", call_first},
    {"torch.cuda.is_available", "", [](PlanState&, const Bound&) { return Result<Value>(Value(true)); }},
    {"torch.cuda.synchronize", "device?", call_nothing},
    {"torch.cuda.device", "device", call_nothing},
    {"torch.no_grad", "", call_nothing},
    {"torch.inference_mode", "mode?", call_nothing},
    {"warnings.filterwarnings", "action, message?, category?, module?, lineno?, append?", call_nothing},
    {"warnings.warn", "message, category?, stacklevel?", call_nothing},
    {"os.path.dirname", "path", call_dirname},
    {"os.path.basename", "path", call_basename},
    {"os.path.abspath", "path", call_first},
    {"os.path.realpath", "path", call_first},
    {"os.path.join", "*parts", call_join_path},
    {"operator.mul", "a, b", call_operator<Operator::Multiply>},
    {"operator.add", "a, b", call_operator<Operator::Add>},
    {"typing.cast", "type, value", call_cast},
    {"triton.Config", "kwargs, num_warps?, num_stages?, num_ctas?, maxnreg?, pre_hook?", call_config},
    {"getattr", "object, name, default?", nullptr},
    {"hasattr", "object, name", nullptr},
    {"setattr", "object, name, value", nullptr},
    {"map", "function, items", nullptr},
    {"filter", "function, items", nullptr},
    {"sorted", "items, key?, reverse?", nullptr},
    {"functools.reduce", "function, items, initial?", nullptr},
    {"functools.partial", "function", nullptr},  // takes any others, see Interpreter::call
    {"importlib.import_module", "name, package?", nullptr},
    {"importlib.util.spec_from_file_location", "name, location", nullptr},
    {"importlib.util.module_from_spec", "spec", call_first},
    {"importlib.exec_module", "module", call_nothing},
    {"types.ModuleType", "name, doc?", nullptr},
};

constexpr std::array<std::string_view, 34> kLibraries{
    "torch",     "triton",      "math",        "os",       "sys",        "functools", "operator", "importlib", "typing",
    "itertools", "collections", "dataclasses", "warnings", "types",      "inspect",   "enum",     "time",      "numpy",
    "pathlib",   "__future__",  "abc",         "copy",     "contextlib", "threading", "logging",  "struct",    "random",
    "string",    "re",          "json",        "numbers",  "builtins",   "traceback", "weakref"};

}  // namespace

std::span<const Builtin> library_functions() { return kLibraryFunctions; }

bool is_library(std::string_view dotted_name) {
  return std::ranges::find(kLibraries, dotted_name.substr(0, dotted_name.find('.'))) != kLibraries.end();
}

Error outside_language(std::string message, std::string_view dotted, bool is_method) {
  Error error = bad_pass(std::move(message));
  const ir::NodeKind kind = is_method ? ir::NodeKind::CallMethod : ir::NodeKind::CallFunction;
  if (!is_library_call(kind, dotted)) return error;
  return std::move(error).with_failure("library-call").with_hint(std::string(kLibraryHint));
}

std::string canonical_name(std::string_view dotted_name) {
  for (const std::string_view language : {"triton.language", "tl"}) {
    if (dotted_name == language) return "tl";
    if (dotted_name.starts_with(language) && dotted_name[language.size()] == '.')
      return "tl" + std::string(dotted_name.substr(language.size()));
  }
  // Their functions are Python's own here.
  for (const std::string_view module : {"builtins.", "typing.Any"}) {
    if (dotted_name.starts_with(module)) return std::string(dotted_name.substr(module.size()));
  }
  return std::string(dotted_name);
}

}  // namespace passnet::pass
