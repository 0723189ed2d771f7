#include "pass/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text/strings.h"
#include "pass/plan/interpret/interpreter.h"
#include "pass/plan/syntax/check.h"
#include "pass/plan/tensor.h"

namespace passnet::pass {

namespace {

template <class T>
Value to_tuple(const std::vector<T>& numbers) {
  auto sequence = std::make_shared<Sequence>();
  sequence->items.assign(numbers.begin(), numbers.end());
  sequence->weight = numbers.size();
  return Value(std::move(sequence));
}

/// Site inputs as values; each tensor becomes the next buffer of the list.
struct InputReader {
  LaunchList& list;

  Value operator()(std::monostate) const { return NoneValue{}; }
  Value operator()(const ir::TensorType& type) const {
    const auto index = static_cast<uint32_t>(list.buffers.size());
    list.buffers.push_back({static_cast<int32_t>(index), type, std::nullopt});
    return View{index, 0, type};
  }
  Value operator()(const std::vector<int64_t>& numbers) const { return to_tuple(numbers); }
  Value operator()(const std::vector<double>& numbers) const { return to_tuple(numbers); }
  Value operator()(const auto& scalar) const { return scalar; }
};

/// Errors: BadInput for a tensor whose type makes no sense, or a list or string that is too long.
Result<void> check_input(const SiteInput& input, size_t index) {
  std::string problem;
  if (const auto* type = std::get_if<ir::TensorType>(&input)) {
    if (auto checked = check_type(*type); !checked) problem = checked.error().message;
  }
  const auto* integers = std::get_if<std::vector<int64_t>>(&input);
  const auto* reals = std::get_if<std::vector<double>>(&input);
  const auto* text = std::get_if<std::string>(&input);
  if ((integers && integers->size() > kMaxSequenceItems) || (reals && reals->size() > kMaxSequenceItems)) {
    problem = fmt::format("list too long, expected at most {} numbers", kMaxSequenceItems);
  }
  if (text && text->size() > kMaxStringBytes) problem = fmt::format("string of more than {} bytes", kMaxStringBytes);
  if (problem.empty()) return {};
  return bad_input(fmt::format("input {} of the site: {}", index, problem));
}

/// What the plan returned, as the outputs of the list.
Result<std::vector<View>> to_outputs(const Value& result, size_t expected) {
  const Sequence* sequence = get_sequence(result);
  const std::vector<Value> values = sequence ? sequence->items : std::vector<Value>{result};
  std::vector<View> outputs;
  for (const Value& value : values) {
    const auto* view = get_if<View>(value);
    if (!view)
      return bad_pass(fmt::format("the plan returns {}, expected a tensor or a tuple of tensors", describe(value)));
    outputs.push_back(*view);
  }
  if (outputs.size() != expected) {
    return bad_pass(fmt::format("the plan returns {} tensor{}, the pattern returns {}", outputs.size(),
                                outputs.size() == 1 ? "" : "s", expected));
  }
  return outputs;
}

/// The name that a file looks like without its directory and imports, and the nearest file.
std::string last_part(std::string_view module) { return std::string(module.substr(module.rfind('.') + 1)); }

/// "torch.relu" of a library, or of a function, type or part of one; else empty.
std::string library_name_of(const Value& value) {
  std::string_view name;
  if (const auto* module = get_if<ModuleValue>(value); module != nullptr && module->frame == nullptr)
    name = module->name;
  if (const auto* builtin = get_if<BuiltinValue>(value)) name = builtin->builtin->name;
  if (const auto* type = get_if<TypeValue>(value)) name = type->name;
  constexpr std::array<std::string_view, 3> kOfGraphs{"torch", "math", "operator"};
  const bool is_of_graphs = std::ranges::find(kOfGraphs, name.substr(0, name.find('.'))) != kOfGraphs.end();
  return is_of_graphs ? std::string(name) : std::string();
}

std::optional<fx::FreeValue> to_free_value(const Value& value) {
  if (const Sequence* sequence = get_sequence(value)) {
    fx::FreeValue made;
    made.kind = sequence->is_list ? fx::FreeValue::Kind::List : fx::FreeValue::Kind::Tuple;
    if (sequence->depth > 2 || sequence->items.size() > kMaxArguments) return std::nullopt;
    for (const Value& item : sequence->items) {
      auto element = to_free_value(item);
      if (!element || element->kind == fx::FreeValue::Kind::Library) return std::nullopt;
      made.elements.push_back(*std::move(element));
    }
    return made;
  }
  if (const auto* flag = get_if<bool>(value)) return fx::FreeValue{*flag};
  if (const auto* number = get_if<int64_t>(value)) return fx::FreeValue{*number};
  if (const auto* real = get_if<double>(value)) return fx::FreeValue{*real};
  if (const auto* text = get_if<std::string>(value)) return fx::FreeValue{*text};
  if (const auto* dtype = get_if<ir::DType>(value)) return fx::FreeValue{*dtype};
  if (get_if<NoneValue>(value)) return fx::FreeValue{};
  if (const std::string name = library_name_of(value); !name.empty())
    return fx::FreeValue{name, {}, fx::FreeValue::Kind::Library};
  return std::nullopt;
}

/// Gathers values of a file as patterns may use them; those that graphs have no words for are left out.
class Constants {
 public:
  explicit Constants(const PlanProgram& of) : of_(of) {}

  void add(const std::string& name, const Value& value, size_t depth = 0) {
    if (depth > kDeepest || ++looked_at_ > kMostValues) return;
    if (auto constant = to_free_value(value)) {
      found.emplace(name, *std::move(constant));
      return;
    }
    if (const auto* function = get_if<FunctionValue>(value)) return add_lambda(name, *function);
    const Sequence* const sequence = get_sequence(value);
    const Dict* const dict = get_dict(value);
    if (sequence == nullptr && dict == nullptr) return;
    if (sequence != nullptr) add_items(name, *sequence, depth);
    if (dict != nullptr) add_items(name, *dict, depth);
    found.emplace(name, fx::FreeValue{{}, {}, fx::FreeValue::Kind::Items});
  }

  fx::FreeValues found;

 private:
  /// A lambda of the file itself, whose names are those of the file.
  void add_lambda(const std::string& name, const FunctionValue& value) {
    const Function& function = *value.function;
    if (function.end == 0 || function.outer != nullptr || value.frame->program != &of_) return;
    found.emplace(
        name, fx::FreeValue{
                  of_.text->substr(function.offset, function.end - function.offset), {}, fx::FreeValue::Kind::Lambda});
  }

  static constexpr size_t kDeepest = 3, kMostValues = 1024;  // items included

  void add_items(const std::string& name, const Sequence& sequence, size_t depth) {
    const int64_t count = std::ssize(sequence.items);
    for (int64_t i = 0; i < count && looked_at_ < kMostValues; ++i) {
      for (const int64_t key : {i, i - count})
        add(fx::item_name(name, key), sequence.items[static_cast<size_t>(i)], depth + 1);
    }
  }

  void add_items(const std::string& name, const Dict& dict, size_t depth) {
    for (const auto& [key, item] : dict.items) {
      if (const auto* text = get_if<std::string>(key)) add(fx::item_name(name, *text), item, depth + 1);
      if (const auto* number = get_if<int64_t>(key)) add(fx::item_name(name, *number), item, depth + 1);
    }
  }

  const PlanProgram& of_;
  size_t looked_at_ = 0;
};

/// An error without a place is one of the call itself.
Result<Value> call_at(Interpreter& interpreter, const Value& function, std::vector<Value> arguments) {
  Result<Value> result = interpreter.call(function, {std::move(arguments), {}});
  const auto* known = get_if<FunctionValue>(function);
  if (!result && !result.error().at && known != nullptr)
    result.error().at = known->frame->program->locate(known->function->offset);
  return result;
}

/// Calls a function of the pass's own file.
Result<Value> call_own(Interpreter& interpreter, const PlanFiles& files, const char* name,
                       std::vector<Value> arguments) {
  const Value* function = interpreter.find_global(name, *files.own);
  if (function == nullptr) return bad_pass(fmt::format("function '{}' is missing", name), SourceLoc{files.own->file});
  Result<Value> result = call_at(interpreter, *function, std::move(arguments));
  if (!result && !result.error().at) {
    // The name is no function: a class, a module. Names are parts of the text.
    const auto defined = files.own->names.find(name);
    const auto offset = defined == files.own->names.end() ? 0 : defined->data() - files.own->text->data();
    result.error().at = files.own->locate(static_cast<uint32_t>(offset));
  }
  return result;
}

/// The function that launches the kernels.
Result<Value> entry_of(Interpreter& interpreter, const PlanFiles& files) {
  PASSNET_TRY(Value entry, call_own(interpreter, files, "replacement_func", {}));
  if (get_if<FunctionValue>(entry)) return entry;
  return bad_pass(fmt::format("replacement_func returns {}, expected a function", describe(entry)),
                  interpreter.returned_at())
      .with_hint("write 'def replacement_func():' and 'return NAME', the function that launches the kernels");
}

/// A function that a call made belongs to the pass that made it, with what it found there.
std::string identify(const FunctionValue& value, const PlanFiles& files) {
  const Function& function = *value.function;
  std::string id = fmt::format("{}:{}", value.frame->program->file, function.offset);
  return function.outer == nullptr ? id : fmt::format("{} of {}", id, files.own->file);
}

}  // namespace

const PlanProgram* PlanFiles::find(std::string_view module) const {
  const std::string stem = last_part(module);
  const bool has_package = stem.size() < module.size();
  if (has_package && !is_package(module.substr(0, module.size() - stem.size() - 1))) return nullptr;
  if (own->name == stem) return own.get();
  const auto found = std::ranges::find_if(beside, [&](const auto& file) { return file->name == stem; });
  return found == beside.end() ? nullptr : found->get();
}

bool PlanFiles::is_package(std::string_view module) const {
  return module.empty() || module == "pass_dir" || module == directory;
}

std::string PlanFiles::suggestion(std::string_view module) const {
  std::vector<std::string_view> names;
  for (const auto& file : beside) names.push_back(file->name);
  const std::string stem = last_part(module);
  const std::string_view nearest = nearest_name(stem, names);
  return nearest.empty() ? "" : fmt::format("did you mean {}?", quoted(nearest));
}

Result<fx::FreeValues> global_constants(const PlanFiles& files, const PlanProgram& of, Budget& steps) {
  Constants constants(of);
  Budget own(kOnePlan, steps);
  Interpreter interpreter(files, own);
  if (auto ran = interpreter.run_file(); !ran) {
    if (!own.check()) return std::move(ran).error();
    return std::move(constants.found);
  }
  for (const std::string_view name : of.names) {
    const Value* value = interpreter.find_global(name, of);
    if (value == nullptr) continue;
    constants.add(std::string(name), *value);
  }
  return std::move(constants.found);
}

Result<Plan> make_plan(PlanFiles files, const LoadOptions& options, Budget& steps) {
  if (auto checked = check_names(files, options, steps); !checked) {
    Error error = std::move(checked).error();
    if (!error.at) error.at = SourceLoc{files.own->file};
    return error;
  }
  Plan plan{std::make_shared<const PlanFiles>(std::move(files))};
  plan.may_call_library = options.allow_library;
  Budget own(kOnePlan, steps);
  Interpreter interpreter(*plan.files, own);
  interpreter.state().allow_library = options.allow_library;
  PASSNET_TRY_VOID(interpreter.run_file());
  PASSNET_TRY(const Value entry, entry_of(interpreter, *plan.files));
  const FunctionValue& function = std::get<FunctionValue>(entry);
  plan.entry = function.function->name;
  plan.entry_id = identify(function, *plan.files);
  return plan;
}

Result<std::variant<PlanResult, Declined>> evaluate_plan(const Plan& plan, const std::string& pass_name,
                                                         const std::vector<SiteInput>& inputs, size_t output_count,
                                                         const PlanOptions& options) {
  Budget alone(kPlansOfGraph);
  Budget steps(kOnePlan, options.steps != nullptr ? *options.steps : alone);
  Interpreter interpreter(*plan.files, steps);
  interpreter.state().list.pass = pass_name;
  interpreter.state().on_gpu = options.on_gpu;
  interpreter.state().limited = options.limited;
  interpreter.state().allow_library = plan.may_call_library;

  PlanResult result;
  std::vector<Value> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    PASSNET_TRY_VOID(check_input(inputs[i], i));
    if (std::holds_alternative<ir::TensorType>(inputs[i])) result.tensor_inputs.push_back(static_cast<uint32_t>(i));
    values.push_back(std::visit(InputReader{interpreter.state().list}, inputs[i]));
  }
  PASSNET_TRY_VOID(interpreter.run_file());
  interpreter.state().library_types = options.library_types;
  PASSNET_TRY(const Value entry, entry_of(interpreter, *plan.files));
  PASSNET_TRY(const Value arguments, call_own(interpreter, *plan.files, "replacement_args", std::move(values)));
  if (get_if<NotImplementedValue>(arguments)) return Declined{interpreter.returned_at()};
  const Sequence* sequence = get_sequence(arguments);
  if (!sequence) {
    return bad_pass(fmt::format("replacement_args returns {}, expected a tuple", describe(arguments)),
                    interpreter.returned_at())
        .with_hint("write 'return (x, y)'; one value is '(x,)'");
  }
  PASSNET_TRY(const Value returned, call_at(interpreter, entry, sequence->items));
  if (get_if<NotImplementedValue>(returned)) return Declined{interpreter.returned_at()};
  auto outputs = to_outputs(returned, output_count);
  if (!outputs) {
    Error error = std::move(outputs).error();
    error.at = interpreter.returned_at();
    return error;
  }
  result.list = std::move(interpreter.state().list);
  result.list.outputs = std::move(*outputs);
  result.calls = std::move(interpreter.state().calls);
  return result;
}

}  // namespace passnet::pass
