// Kernel launches of a plan: `kernel[grid](arguments, CONSTANT=value)`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <type_traits>

#include "base/json/python_number.h"
#include "base/text/strings.h"
#include "pass/plan/interpret/interpreter.h"
#include "pass/plan/launch_values.h"
#include "pass/plan/library/allocate.h"

namespace passnet::pass {

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

Value to_value(const Constant& constant) {
  return std::visit(
      [](const auto& value) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
          return Value(NoneValue{});
        } else {
          return Value(value);
        }
      },
      constant);
}

std::vector<std::pair<Value, Value>> to_dict(const std::vector<NamedConstant>& constants) {
  std::vector<std::pair<Value, Value>> items;
  for (const NamedConstant& constant : constants) items.emplace_back(constant.name, to_value(constant.value));
  return items;
}

namespace {

/// Splits `[grid]` and `[grid, block]`: with a block the grid is a tuple or a lambda, so that `[n, m]` is a
/// grid.
std::pair<Value, std::optional<Value>> split_block(const Value& index) {
  const Sequence* items = get_sequence(index);
  const bool has_block = items && !items->is_list && items->items.size() == 2 &&
                         (get_sequence(items->items[0]) || get_if<FunctionValue>(items->items[0]));
  if (has_block) return {items->items[0], items->items[1]};
  return {index, std::nullopt};
}

/// Whether the blocks of the grid come to whole clusters.
Result<void> check_clusters(const Launch& launch) {
  PASSNET_TRY(const int64_t cluster, blocks_of_cluster(launch.constants));
  if (launch.grid[0] % cluster == 0) return {};
  return bad_pass(fmt::format("grid ({}) with CLUSTER={}: the first size must be a multiple of it",
                              fmt::join(launch.grid, ", "), cluster));
}

}  // namespace

/// meta: what a function as grid gets, by name.
Result<std::vector<int64_t>> Interpreter::grid_sizes(const Value& grid,
                                                     const std::vector<std::pair<Value, Value>>& meta) {
  if (const auto* function = get_if<FunctionValue>(grid)) {
    PASSNET_TRY(Value given, make_dict(meta, state_.steps));
    PASSNET_TRY(const Value sizes, call(*function, {{std::move(given)}, {}}));
    if (get_if<FunctionValue>(sizes)) return bad_pass("the grid is a function that returns a function");
    return grid_sizes(sizes, meta);
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
Result<void> Interpreter::take_as_written(const Expr& call, const CallArguments& arguments, Launch& launch) {
  for (size_t i = 0; i < arguments.positional.size(); ++i) {
    auto argument = to_argument(arguments.positional[i], launch.kernel);
    if (!argument) return at(*call.children[i + 1], std::move(argument).error());
    launch.args.push_back(std::move(*argument));
  }
  for (size_t i = 0; i < arguments.keywords.size(); ++i) {
    const auto& [name, value] = arguments.keywords[i];
    if (name == "num_warps" || name == "num_stages") continue;
    PASSNET_TRY_VOID(state_.steps.charge(1 + launch.constants.size()));
    const auto same = [wanted = name](const NamedConstant& other) { return other.name == wanted; };
    if (std::ranges::any_of(launch.constants, same)) {
      return at(*call.keywords[i].value, bad_pass(fmt::format("constant {} is given twice", quoted(name))));
    }
    auto constant = to_constant(value, name);
    if (constant && (get_if<std::string>(value) || get_if<NoneValue>(value))) {
      constant = bad_pass(
          fmt::format("constant {}: found {}, expected an int, float, bool or dtype", quoted(name), describe(value)));
    }
    if (!constant) {
      Error error = at(*call.keywords[i].value, std::move(constant).error());
      if (get_if<View>(value)) error.hint = "keywords are compile-time constants; pass tensors by position";
      return error;
    }
    launch.constants.push_back({std::string(name), *constant});
  }
  return {};
}

/// The index of a kernel, copied: a launcher holds nothing that changes, and no other launchers.
Result<Value> Interpreter::keep_grid(const Value& grid, int depth) {
  const Sequence* sequence = get_sequence(grid);
  const bool is_axis = get_if<int64_t>(grid) || get_if<FunctionValue>(grid) || get_if<double>(grid);
  if (sequence == nullptr && is_axis) return grid;
  if (sequence == nullptr || depth == 2)
    return bad_pass(fmt::format("size of a grid axis: found {}, expected an int >= 0", describe(grid)));
  PASSNET_TRY_VOID(state_.steps.charge(sequence->items.size()));
  std::vector<Value> items;
  for (const Value& item : sequence->items) {
    PASSNET_TRY(Value kept, keep_grid(item, depth + 1));
    items.push_back(std::move(kept));
  }
  return make_sequence(sequence->is_list, std::move(items));
}

/// Starts a launch. where: of the kernel's name, or of the call of what launches it.
Result<Launch> Interpreter::begin_launch(std::string_view kernel, uint32_t where,
                                         const CallArguments& arguments) const {
  if (arguments.positional.size() + arguments.keywords.size() > kMaxArguments) {
    return bad_pass(
        fmt::format("too many arguments for kernel {}: expected at most {}", passnet::quoted(kernel), kMaxArguments));
  }
  Launch launch;
  launch.kernel = kernel;
  launch.at = locate(where);
  return launch;
}

/// `kernel[grid](…)` of a source beside the pass.
Result<Value> Interpreter::launch_beside(const Expr& call) {
  const Expr& subscript = *call.children[0];
  PASSNET_TRY(const Value index, eval(*subscript.children[1]));
  PASSNET_TRY(const CallArguments arguments, eval_arguments(call));
  PASSNET_TRY(Launch launch, begin_launch(subscript.children[0]->name, subscript.children[0]->offset, arguments));
  const auto [grid, block] = split_block(index);
  PASSNET_TRY_VOID(take_as_written(call, arguments, launch));
  PASSNET_TRY(launch.grid, grid_sizes(grid, to_dict(launch.constants)));
  if (state_.on_gpu) PASSNET_TRY_VOID(check_clusters(launch));
  if (block) {
    const auto* size = get_if<int64_t>(*block);
    if (!size || *size < 1 || *size > kMaxBlock) {
      return bad_pass(
          fmt::format("threads of a block: found {}, expected an int from 1 to {}", describe(*block), kMaxBlock));
    }
    launch.block = *size;
  }
  PASSNET_TRY_VOID(add_launch(state_, std::move(launch)));
  return Value(NoneValue{});
}

/// `kernel.run(…, grid=…)`, which is `kernel[grid](…)`.
Result<Value> Interpreter::run_kernel(std::shared_ptr<const KernelObject> kernel, const Expr& expr) {
  PASSNET_TRY(CallArguments arguments, eval_arguments(expr));
  calling_ = &expr;
  std::optional<Value> grid, warmup;
  std::erase_if(arguments.keywords, [&](const auto& keyword) {
    if (keyword.first == "grid") grid = keyword.second;
    if (keyword.first == "warmup") warmup = keyword.second;
    return keyword.first == "grid" || keyword.first == "warmup";
  });
  if (!grid) return bad_pass("run lacks its argument 'grid'");
  if (warmup) {
    PASSNET_TRY(const bool compiles_alone, truth(*warmup));
    if (compiles_alone) return bad_pass("argument 'warmup': expected False, as nothing is launched otherwise");
  }
  PASSNET_TRY(Value kept, keep_grid(*grid, 0));
  return launch({std::move(kernel), std::move(kept)}, std::move(arguments));
}

/// `functools.partial(kernel[grid], …)`. The arguments are those of a kernel, and so hold no other launchers.
Result<Value> Interpreter::bind_launcher(CallArguments arguments) {
  const auto* launcher =
      arguments.positional.empty() ? nullptr : get_if<std::shared_ptr<const Launcher>>(arguments.positional[0]);
  if (launcher == nullptr)
    return bad_pass(fmt::format("functools.partial: found {}, expected kernel[grid] of a Triton kernel",
                                arguments.positional.empty() ? "nothing" : describe(arguments.positional[0])));
  auto bound = std::make_shared<Launcher>(**launcher);
  const auto is_plain = [](const Value& value) {
    return get_if<View>(value) || get_if<NoneValue>(value) || get_if<ir::DType>(value) || get_if<std::string>(value) ||
           as_float(value);
  };
  for (size_t i = 1; i < arguments.positional.size(); ++i) {
    if (!is_plain(arguments.positional[i]))
      return bad_pass(fmt::format("functools.partial: found {}, expected a tensor, number, bool, string, dtype or None",
                                  describe(arguments.positional[i])));
    bound->positional.push_back(std::move(arguments.positional[i]));
  }
  for (auto& [name, value] : arguments.keywords) {
    if (!is_plain(value))
      return bad_pass(fmt::format("functools.partial: found {}, expected a tensor, number, bool, string, dtype or None",
                                  describe(value)));
    std::erase_if(bound->keywords, [known = name](const auto& keyword) { return keyword.first == known; });
    bound->keywords.emplace_back(name, std::move(value));
  }
  const size_t count = bound->positional.size() + bound->keywords.size();
  PASSNET_TRY_VOID(state_.steps.charge(count));
  if (count > kMaxArguments)
    return bad_pass(fmt::format("too many arguments for kernel {}: expected at most {}",
                                passnet::quoted(bound->kernel->kernel->name), kMaxArguments));
  return Value(std::shared_ptr<const Launcher>(std::move(bound)));
}

/// A launch of a Triton kernel by the call that is evaluated.
Result<Value> Interpreter::launch(const Launcher& launcher, CallArguments arguments) {
  PASSNET_TRY_VOID(state_.steps.charge(launcher.positional.size() + launcher.keywords.size()));
  arguments.positional.insert(arguments.positional.begin(), launcher.positional.begin(), launcher.positional.end());
  for (const auto& [name, value] : launcher.keywords) {
    const auto same = [known = name](const auto& keyword) { return keyword.first == known; };
    if (std::ranges::none_of(arguments.keywords, same)) arguments.keywords.emplace_back(name, value);
  }
  const Expr& call = *calling_;
  const bool names_it = call.kind == ExprKind::Call && call.children[0]->kind == ExprKind::Subscript;
  const uint32_t where = names_it ? call.children[0]->children[0]->offset : call.offset;
  PASSNET_TRY(Launch launch, begin_launch(launcher.kernel->kernel->name, where, arguments));
  const auto [grid, block] = split_block(launcher.grid);
  if (block) return bad_pass("a kernel of Triton has no block size: write 'kernel[grid](…, num_warps=4)'");
  PASSNET_TRY_VOID(launch_triton(call, *launcher.kernel, grid, std::move(arguments), launch));
  PASSNET_TRY_VOID(add_launch(state_, std::move(launch)));
  return Value(NoneValue{});
}

}  // namespace passnet::pass
