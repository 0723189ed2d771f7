#include "pass/plan/plan.h"

#include <fmt/format.h>

#include "base/check.h"
#include "pass/plan/interpreter.h"
#include "pass/plan/tensor.h"

namespace passnet::pass {

namespace {

template <class T>
Value to_tuple(const std::vector<T>& numbers) {
  auto sequence = std::make_shared<Sequence>();
  sequence->items.assign(numbers.begin(), numbers.end());
  sequence->weight = numbers.size();
  return Value(std::shared_ptr<const Sequence>(std::move(sequence)));
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

const Function& function_of(const PlanProgram& program, std::string_view name) {
  const auto function = program.functions.find(name);
  PASSNET_CHECK(function != program.functions.end(), std::string(name));
  return function->second;
}

}  // namespace

Result<std::variant<PlanResult, Declined>> evaluate_plan(const Plan& plan, const std::string& pass_name,
                                                         const std::vector<SiteInput>& inputs, size_t output_count,
                                                         const PlanOptions& options) {
  const PlanProgram& program = *plan.program;
  Interpreter interpreter(program);
  interpreter.state().list.pass = pass_name;
  interpreter.state().on_gpu = options.on_gpu;
  interpreter.state().limited = options.limited;
  const auto returned_at = [&] { return program.locate(interpreter.return_offset()); };
  const auto call = [&](std::string_view name, std::vector<Value> arguments) {
    const Function& function = function_of(program, name);
    Result<Value> result = interpreter.call(function, {std::move(arguments), {}});
    if (!result && !result.error().at) result.error().at = program.locate(function.offset);
    return result;
  };

  PlanResult result;
  std::vector<Value> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    PASSNET_TRY_VOID(check_input(inputs[i], i));
    if (std::holds_alternative<ir::TensorType>(inputs[i])) result.tensor_inputs.push_back(static_cast<uint32_t>(i));
    values.push_back(std::visit(InputReader{interpreter.state().list}, inputs[i]));
  }
  PASSNET_TRY_VOID(interpreter.evaluate_constants());
  PASSNET_TRY(const Value arguments, call("replacement_args", std::move(values)));
  if (get_if<NotImplementedValue>(arguments)) return Declined{returned_at()};
  const Sequence* sequence = get_sequence(arguments);
  if (!sequence) {
    return bad_pass(fmt::format("replacement_args returns {}, expected a tuple", describe(arguments)), returned_at())
        .with_hint("write 'return (x, y)'; one value is '(x,)'");
  }
  PASSNET_TRY(const Value returned, call(plan.entry, sequence->items));
  if (get_if<NotImplementedValue>(returned)) return Declined{returned_at()};
  auto outputs = to_outputs(returned, output_count);
  if (!outputs) {
    Error error = std::move(outputs).error();
    error.at = returned_at();
    return error;
  }
  result.list = std::move(interpreter.state().list);
  result.list.outputs = std::move(*outputs);
  return result;
}

}  // namespace passnet::pass
