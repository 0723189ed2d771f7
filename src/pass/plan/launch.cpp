// Kernel launches of a plan: `kernel[grid](arguments, CONSTANT=value)`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <type_traits>

#include "base/python_number.h"
#include "base/strings.h"
#include "pass/plan/interpreter.h"

namespace passnet::pass {

namespace {

Result<LaunchArg> to_argument(const Value& value, std::string_view kernel) {
  if (const auto* view = get_if<View>(value)) return LaunchArg(*view);
  if (const auto* number = get_if<int64_t>(value)) return LaunchArg(*number);
  if (const auto* number = get_if<double>(value)) return LaunchArg(*number);
  if (const auto* flag = get_if<bool>(value)) return LaunchArg(*flag);
  Error error = bad_pass(fmt::format("argument of kernel {}: found {}, expected a tensor, int, float or bool",
                                     quoted(kernel), describe(value)));
  if (get_if<ir::DType>(value))
    error.hint = "pass a dtype as a keyword, as in T=x.dtype; it names a type in the kernel";
  if (get_if<std::string>(value)) error.hint = "choose between kernels or constants in the plan with 'if route == …'";
  if (get_if<NoneValue>(value)) error.hint = "launch another kernel, or set a flag by keyword, when an input is None";
  if (get_sequence(value)) error.hint = "pass the items one by one";
  return error;
}

Result<Constant> to_constant(const Value& value, std::string_view name) {
  if (const auto* number = get_if<int64_t>(value)) return Constant(*number);
  if (const auto* number = get_if<double>(value)) return Constant(*number);
  if (const auto* flag = get_if<bool>(value)) return Constant(*flag);
  if (const auto* dtype = get_if<ir::DType>(value)) return Constant(*dtype);
  Error error = bad_pass(
      fmt::format("constant {}: found {}, expected an int, float, bool or dtype", quoted(name), describe(value)));
  return error;
}

/// What a launch of Triton takes beside the parameters of the kernel.
bool is_option(std::string_view name) {
  constexpr std::array<std::string_view, 4> kOptions{"num_warps", "num_stages", "num_ctas", "maxnreg"};
  return std::ranges::find(kOptions, name) != kOptions.end();
}

/// Numbers that a launch gives to a kernel of Triton, by parameter.
std::vector<NamedConstant> named_scalars(const JitKernel& kernel, const Launch& launch) {
  std::vector<NamedConstant> scalars;
  auto argument = launch.args.begin();
  for (const Parameter& parameter : kernel.parameters) {
    if (parameter.is_constexpr) continue;
    const auto add = [&](const auto& value) {
      if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, View>)
        scalars.push_back({std::string(parameter.name), value});
    };
    std::visit(add, *argument++);
  }
  return scalars;
}

/// Splits `[grid]` and `[grid, block]`: with a block the grid is a tuple or a lambda, so that `[n, m]` is a
/// grid.
std::pair<Value, std::optional<Value>> split_block(const Value& index) {
  const Sequence* items = get_sequence(index);
  const bool has_block = items && !items->is_list && items->items.size() == 2 &&
                         (get_sequence(items->items[0]) || get_if<LambdaValue>(items->items[0]));
  if (has_block) return {items->items[0], items->items[1]};
  return {index, std::nullopt};
}

}  // namespace

Result<Value> Interpreter::call_lambda(const LambdaValue& lambda, const std::vector<NamedConstant>& constants) {
  if (lambda.frame != frames_.back().serial) {
    return bad_pass("a lambda is used outside the function that made it");
  }
  const std::string_view parameter = lambda.expr->name;
  const Value* outer = find_variable(parameter);
  const std::optional<Value> hidden = outer ? std::optional<Value>(*outer) : std::nullopt;
  frames_.back().variables.insert_or_assign(parameter,
                                            MetaValue{std::make_shared<const std::vector<NamedConstant>>(constants)});
  Result<Value> result = eval(*lambda.expr->children[0]);
  frames_.back().variables.erase(parameter);
  if (hidden) frames_.back().variables.insert_or_assign(parameter, *hidden);
  return result;
}

Result<std::vector<int64_t>> Interpreter::grid_sizes(const Value& grid, const std::vector<NamedConstant>& constants) {
  if (const auto* lambda = get_if<LambdaValue>(grid)) {
    PASSNET_TRY(const Value sizes, call_lambda(*lambda, constants));
    if (get_if<LambdaValue>(sizes)) return bad_pass("the grid is a lambda that returns a lambda");
    return grid_sizes(sizes, constants);
  }
  const Sequence* sequence = get_sequence(grid);
  const std::vector<Value> axes = sequence ? sequence->items : std::vector<Value>{grid};
  if (axes.empty() || axes.size() > 3) {
    return bad_pass(fmt::format("grid of {} axes, expected 1 to 3", axes.size()));
  }
  std::vector<int64_t> sizes;
  std::optional<int64_t> tasks = 1;
  for (const Value& axis : axes) {
    const auto* size = get_if<int64_t>(axis);
    if (!size || *size < 0) {
      Error error = bad_pass(fmt::format("size of a grid axis: found {}, expected an int >= 0", describe(axis)));
      if (get_if<double>(axis)) error.hint = "divide with '//' or triton.cdiv, '/' gives a float";
      return error;
    }
    sizes.push_back(*size);
    tasks = tasks ? python::multiply(*tasks, *size) : std::nullopt;
  }
  if (!tasks) return bad_pass(fmt::format("grid ({}) has more than 2^63 tasks", fmt::join(sizes, ", ")));
  return sizes;
}

/// A kernel of a source beside the pass gets its arguments by position, its constants by keyword.
Result<void> Interpreter::take_as_written(const Expr& call, const CallArguments& arguments, Launch& launch) const {
  for (size_t i = 0; i < arguments.positional.size(); ++i) {
    auto argument = to_argument(arguments.positional[i], launch.kernel);
    if (!argument) return at(*call.children[i + 1], std::move(argument).error());
    launch.args.push_back(std::move(*argument));
  }
  for (size_t i = 0; i < arguments.keywords.size(); ++i) {
    const auto& [name, value] = arguments.keywords[i];
    if (name == "num_warps" || name == "num_stages") continue;
    const auto same = [wanted = name](const NamedConstant& other) { return other.name == wanted; };
    if (std::ranges::any_of(launch.constants, same)) {
      return at(*call.keywords[i].value, bad_pass(fmt::format("constant {} is given twice", quoted(name))));
    }
    auto constant = to_constant(value, name);
    if (!constant) {
      Error error = at(*call.keywords[i].value, std::move(constant).error());
      if (get_if<View>(value)) error.hint = "keywords are compile-time constants; pass tensors by position";
      return error;
    }
    launch.constants.push_back({std::string(name), *constant});
  }
  return {};
}

/// A kernel of Triton gets them as Python gives them to its parameters; what is `tl.constexpr` is a constant, and so are
/// the options of the launch. Both stand in the order of the signature.
Result<void> Interpreter::bind_to_signature(const Expr& call, const JitKernel& kernel, CallArguments arguments,
                                            Launch& launch) {
  std::vector<NamedConstant> options;
  for (size_t i = 0, next = 0; i < call.keywords.size(); ++i) {
    const KeywordExpr& keyword = call.keywords[i];
    if (!is_option(keyword.name) || std::ranges::count(kernel.parameters, keyword.name, &Parameter::name) > 0) {
      ++next;
      continue;
    }
    auto constant = to_constant(arguments.keywords[next].second, keyword.name);
    if (!constant) return at(*keyword.value, std::move(constant).error());
    options.push_back({std::string(keyword.name), *constant});
    arguments.keywords.erase(arguments.keywords.begin() + static_cast<std::ptrdiff_t>(next));
  }
  std::vector<ir::Slot> signature = signature_of(kernel.parameters);
  for (size_t i = 0; i < signature.size(); ++i) {
    if (kernel.is_tuned && kernel.parameters[i].is_constexpr) signature[i].required = false;
  }
  const auto where = [&](size_t parameter) -> const Expr& {
    if (parameter + 1 < call.children.size()) return *call.children[parameter + 1];
    const auto keyword = std::ranges::find(call.keywords, kernel.parameters[parameter].name, &KeywordExpr::name);
    return keyword == call.keywords.end() ? call : *keyword->value;
  };
  PASSNET_TRY(Bound bound, bind_arguments(fmt::format("kernel {}", passnet::quoted(launch.kernel)), signature,
                                          std::move(arguments)));
  for (size_t i = 0; i < bound.size(); ++i) {
    const Parameter& parameter = kernel.parameters[i];
    if (!bound[i] && parameter.default_value) {
      PASSNET_TRY(bound[i], eval(*parameter.default_value));
    }
    if (!bound[i]) continue;  // tuning chooses it
    if (parameter.is_constexpr) {
      auto constant = to_constant(*bound[i], parameter.name);
      if (!constant)
        return at(where(i), std::move(constant).error()).with_hint("the kernel has it as tl.constexpr, a constant");
      launch.constants.push_back({std::string(parameter.name), *constant});
    } else {
      auto argument = to_argument(*bound[i], launch.kernel);
      if (!argument) {
        Error error = at(where(i), std::move(argument).error());
        if (get_if<ir::DType>(*bound[i])) error.hint = "a kernel takes a dtype as tl.constexpr";
        return error;
      }
      launch.args.push_back(std::move(*argument));
    }
  }
  std::ranges::move(options, std::back_inserter(launch.constants));
  return {};
}

Result<Value> Interpreter::launch(const Expr& call, const Expr& kernel) {
  Launch launch;
  launch.kernel = kernel.name;
  launch.at = program_.locate(kernel.offset);
  PASSNET_TRY(const Value index, eval(*call.children[0]->children[1]));
  PASSNET_TRY(CallArguments arguments, eval_arguments(call));
  if (arguments.positional.size() + arguments.keywords.size() > kMaxArguments) {
    return bad_pass(fmt::format("too many arguments for kernel {}: expected at most {}", passnet::quoted(launch.kernel),
                                kMaxArguments));
  }
  std::vector<NamedConstant> meta;  // what a lambda as grid can ask for
  if (const auto jit = program_.jit_kernels.find(kernel.name); jit != program_.jit_kernels.end()) {
    PASSNET_TRY_VOID(bind_to_signature(call, jit->second, std::move(arguments), launch));
    meta = named_scalars(jit->second, launch);
  } else {
    PASSNET_TRY_VOID(take_as_written(call, arguments, launch));
  }
  std::ranges::copy(launch.constants, std::back_inserter(meta));
  const auto [grid, block] = split_block(index);
  PASSNET_TRY(launch.grid, grid_sizes(grid, meta));
  if (block) {
    const auto* size = get_if<int64_t>(*block);
    if (!size || *size < 1 || *size > kMaxBlock) {
      return bad_pass(
          fmt::format("threads of a block: found {}, expected an int from 1 to {}", describe(*block), kMaxBlock));
    }
    launch.block = *size;
  }
  if (state_.limited && state_.list.launches.size() == kMostLaunches)
    return bad_pass(fmt::format("a plan may launch {} kernels, this is one more", kMostLaunches));
  state_.list.launches.push_back(std::move(launch));
  return Value(NoneValue{});
}

}  // namespace passnet::pass
