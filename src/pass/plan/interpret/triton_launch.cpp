// Launches of `@triton.jit` functions: arguments bound to the signature, and the configurations of @triton.autotune.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/text/strings.h"
#include "pass/plan/interpret/interpreter.h"
#include "pass/plan/launch_values.h"

namespace passnet::pass {

Result<Constant> to_constant(const Value& value, std::string_view name) {
  if (const auto* number = get_if<int64_t>(value)) return Constant(*number);
  if (const auto* number = get_if<double>(value)) return Constant(*number);
  if (const auto* flag = get_if<bool>(value)) return Constant(*flag);
  if (const auto* dtype = get_if<ir::DType>(value)) return Constant(*dtype);
  if (const auto* text = get_if<std::string>(value)) return Constant(*text);
  if (get_if<NoneValue>(value)) {
    // Assigned, since g++ 12 takes a temporary of the last alternative for one that may be uninitialized.
    Constant none;
    none = std::monostate{};
    return none;
  }
  return bad_pass(fmt::format("constant {}: found {}, expected an int, float, bool, dtype, string or None",
                              passnet::quoted(name), describe(value)));
}

bool is_triton_option(std::string_view name) {
  constexpr std::array<std::string_view, 4> kOptions{"num_warps", "num_stages", "num_ctas", "maxnreg"};
  return std::ranges::find(kOptions, name) != kOptions.end();
}

namespace {

bool has_parameter(const JitKernel& kernel, std::string_view name) {
  return std::ranges::count(kernel.parameters, name, &Parameter::name) > 0;
}

/// Steps of copying these arguments and of finding their parameters.
size_t steps_of(const std::vector<std::optional<Value>>& arguments) {
  size_t steps = arguments.size();
  for (const auto& argument : arguments) steps += argument ? extra_steps(*argument) : 0;
  return steps;
}

void set_option(std::vector<NamedConstant>& options, NamedConstant option) {
  const auto same = std::ranges::find(options, option.name, &NamedConstant::name);
  if (same == options.end())
    options.push_back(std::move(option));
  else
    same->value = option.value;
}

}  // namespace

/// What a launch says, sorted by what it is for.
struct Interpreter::TritonArguments {
  std::vector<std::optional<Value>> by_parameter;
  std::vector<NamedConstant> options;
};

/// The keywords that are options of the launch leave the arguments; the rest is bound as Python does it.
Result<Interpreter::TritonArguments> Interpreter::bind_to_signature(const KernelObject& kernel,
                                                                    CallArguments arguments) {
  TritonArguments given;
  const JitKernel& jit = *kernel.kernel;
  std::erase_if(arguments.keywords, [](const auto& keyword) { return keyword.first == "warmup"; });
  for (auto keyword = arguments.keywords.begin(); keyword != arguments.keywords.end();) {
    if (!is_triton_option(keyword->first) || has_parameter(jit, keyword->first)) {
      ++keyword;
      continue;
    }
    const auto number = as_int(keyword->second);
    if (!number)
      return bad_pass(fmt::format("option {}: found {}, expected an int", passnet::quoted(keyword->first),
                                  describe(keyword->second)));
    given.options.push_back({std::string(keyword->first), *number});
    keyword = arguments.keywords.erase(keyword);
  }
  std::vector<ir::Slot> signature = signature_of(jit.parameters);
  for (ir::Slot& slot : signature) slot.required = slot.required && !kernel.chosen.contains(slot.name);
  PASSNET_TRY(given.by_parameter,
              bind_arguments(fmt::format("kernel {}", passnet::quoted(jit.name)), signature, std::move(arguments)));
  for (size_t i = 0; i < jit.parameters.size(); ++i) {
    std::optional<Value>& value = given.by_parameter[i];
    if (!value && jit.parameters[i].default_value) {
      Frame* const file = kernel.file;
      frames_.push_back(file);  // where its names mean something
      Result<Value> otherwise = eval(*jit.parameters[i].default_value);
      frames_.pop_back();
      if (!otherwise) return std::move(otherwise).error();
      value = std::move(*otherwise);
    }
  }
  return given;
}

Result<void> Interpreter::launch_triton(const Expr& call, const KernelObject& kernel, const Value& grid,
                                        CallArguments arguments, Launch& launch) {
  launch.origin = KernelOrigin::Triton;
  launch.file = kernel.file->program->name;
  const JitKernel& jit = *kernel.kernel;
  // Where each argument stands, for messages.
  const auto where = [&](size_t parameter) -> const Expr& {
    const bool is_plain =
        std::ranges::none_of(call.children, [](const Expr* one) { return one->kind == ExprKind::Star; });
    if (is_plain && parameter + 1 < call.children.size()) return *call.children[parameter + 1];
    const auto keyword = std::ranges::find(call.keywords, jit.parameters[parameter].name, &KeywordExpr::name);
    return keyword == call.keywords.end() ? call : *keyword->value;
  };
  PASSNET_TRY(TritonArguments given, bind_to_signature(kernel, std::move(arguments)));
  for (size_t i = 0; i < jit.parameters.size(); ++i) {
    const Parameter& parameter = jit.parameters[i];
    const std::optional<Value>& value = given.by_parameter[i];
    if (!value || parameter.is_constexpr()) continue;
    launch.parameters.emplace_back(parameter.name);
    if (get_if<NoneValue>(*value)) {
      launch.args.emplace_back(std::monostate{});
      continue;
    }
    auto argument = to_argument(*value, launch.kernel);
    if (!argument) {
      Error error = at(where(i), std::move(argument).error());
      if (get_if<ir::DType>(*value)) error.hint = "a kernel takes a dtype as tl.constexpr";
      return error;
    }
    launch.args.push_back(std::move(*argument));
  }
  const size_t ways = std::max<size_t>(1, kernel.configurations.size());
  for (size_t way = 0; way < ways; ++way) {
    const Configuration* configuration = kernel.configurations.empty() ? nullptr : kernel.configurations[way].get();
    PASSNET_TRY(LaunchChoice choice, choose(kernel, given, configuration, grid, where));
    if (way == 0) {
      launch.constants = choice.constants;
      launch.grid = choice.grid;
    }
    if (ways > 1) launch.choices.push_back(std::move(choice));
  }
  return {};
}

/// The constants and the grid of one configuration; null: there is none.
Result<LaunchChoice> Interpreter::choose(const KernelObject& kernel, const TritonArguments& given,
                                         const Configuration* configuration, const Value& grid,
                                         const std::function<const Expr&(size_t)>& where) {
  LaunchChoice choice;
  std::vector<NamedConstant> options = given.options;
  PASSNET_TRY_VOID(state_.steps.charge(steps_of(given.by_parameter)));
  std::vector<std::optional<Value>> values = given.by_parameter;
  const JitKernel& jit = *kernel.kernel;
  if (configuration != nullptr) {
    PASSNET_TRY_VOID(state_.steps.charge(configuration->constants.size() * (2 + jit.parameters.size() / 8)));
    for (const NamedConstant& option : configuration->options) set_option(options, option);
    for (const NamedConstant& constant : configuration->constants) {
      const auto parameter = std::ranges::find(jit.parameters, constant.name, &Parameter::name);
      if (parameter == jit.parameters.end() || !parameter->is_constexpr())
        return bad_pass(fmt::format("a configuration sets {}, which is no tl.constexpr of kernel {}",
                                    passnet::quoted(constant.name), passnet::quoted(jit.name)));
      std::optional<Value>& value = values[static_cast<size_t>(parameter - jit.parameters.begin())];
      if (value && parameter->default_value == nullptr)
        return bad_pass(
                   fmt::format("the launch gives {}, which @triton.autotune chooses", passnet::quoted(constant.name)))
            .with_hint("leave it out of the launch, or out of the configurations");
      value = to_value(constant.value);
    }
  }
  const auto collect = [&]() -> Result<std::vector<std::pair<Value, Value>>> {
    PASSNET_TRY_VOID(state_.steps.charge(steps_of(values) + options.size()));
    std::vector<std::pair<Value, Value>> known;
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i]) known.emplace_back(std::string(jit.parameters[i].name), *values[i]);
    }
    for (const NamedConstant& option : options) known.emplace_back(option.name, to_value(option.value));
    return known;
  };
  for (const auto& [name, function] : kernel.heuristics) {
    PASSNET_TRY_VOID(state_.steps.charge(1 + jit.parameters.size() / 8));
    const auto parameter = std::ranges::find(jit.parameters, name, &Parameter::name);
    if (parameter == jit.parameters.end()) continue;
    PASSNET_TRY(const auto known_values, collect());
    PASSNET_TRY(Value known, make_dict(known_values, state_.steps));
    PASSNET_TRY(values[static_cast<size_t>(parameter - jit.parameters.begin())], this->call(function, {{known}, {}}));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const Parameter& parameter = jit.parameters[i];
    if (!parameter.is_constexpr()) continue;
    if (!values[i])
      return bad_pass(
          fmt::format("kernel {} lacks its argument {}", passnet::quoted(jit.name), passnet::quoted(parameter.name)));
    auto constant = to_constant(*values[i], parameter.name);
    if (!constant)
      return at(where(i), std::move(constant).error()).with_hint("the kernel has it as tl.constexpr, a constant");
    PASSNET_TRY_VOID(state_.steps.charge(2 + extra_steps(*values[i])));
    choice.constants.push_back({std::string(parameter.name), *constant});
  }
  PASSNET_TRY(const auto meta, collect());
  PASSNET_TRY(choice.grid, grid_sizes(grid, meta));
  std::ranges::move(options, std::back_inserter(choice.constants));
  return choice;
}

/// The configurations in `@triton.autotune(configs=[…], key=[…])`. What is measured decides, so that the options of the
/// measurement are not asked for.
Result<std::vector<std::shared_ptr<const Configuration>>> Interpreter::tuning_of(const Expr& autotune) {
  PASSNET_TRY(const CallArguments arguments, eval_arguments(autotune));
  const auto keyword = std::ranges::find(arguments.keywords, "configs", [](const auto& one) { return one.first; });
  const Value* configs = keyword != arguments.keywords.end() ? &keyword->second
                         : !arguments.positional.empty()     ? &arguments.positional[0]
                                                             : nullptr;
  const Sequence* several = configs != nullptr ? get_sequence(*configs) : nullptr;
  if (several == nullptr || several->items.empty())
    return at(autotune, bad_pass("triton.autotune: expected configs=[triton.Config(…), …]"));
  if (several->items.size() > kMostConfigurations)
    return at(autotune, bad_pass(fmt::format("triton.autotune: {} configurations, expected at most {}",
                                             several->items.size(), kMostConfigurations)));
  for (const std::string_view name : {"prune_configs_by", "pre_hook", "post_hook"}) {
    const auto hook = std::ranges::find(arguments.keywords, name, [](const auto& one) { return one.first; });
    if (hook != arguments.keywords.end() && !get_if<NoneValue>(hook->second))
      return at(autotune,
                bad_pass(fmt::format("outside the plan language: found {} of triton.autotune", passnet::quoted(name)))
                    .with_hint("list the configurations that are worth a try"));
  }
  std::vector<std::shared_ptr<const Configuration>> found;
  for (const Value& item : several->items) {
    const auto* configuration = get_if<std::shared_ptr<const Configuration>>(item);
    if (configuration == nullptr)
      return at(autotune, bad_pass(fmt::format("triton.autotune: found {}, expected triton.Config", describe(item))));
    found.push_back(*configuration);
  }
  return found;
}

}  // namespace passnet::pass
