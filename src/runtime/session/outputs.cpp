#include "runtime/session/outputs.h"

#include <ATen/ops/view_as_real.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "runtime/tensor/compare.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/share.h"
#include "runtime/tensor/value.h"

namespace passnet::runtime {

namespace {

/// "int", "list": what stands for the element type of an output that is not a tensor.
std::string type_name(const CallOutput& output) {
  if (output.tensor.defined()) return std::string(ir::name(dtype_of(output.tensor.scalar_type())));
  return output.scalar->is_object() && !output.scalar->empty() ? output.scalar->begin().key() : "";
}

}  // namespace

std::string output_name(size_t index) { return fmt::format("out_{}", index); }

namespace {
constexpr std::string_view kChanged = "in_";
}

std::string changed_input_name(const std::string& input) { return std::string(kChanged) + input; }

std::optional<std::string> changed_input(std::string_view name) {
  if (!name.starts_with(kChanged)) return std::nullopt;
  return std::string(name.substr(kChanged.size()));
}

std::vector<CallOutput> call_outputs(const std::vector<c10::IValue>& values) {
  std::vector<CallOutput> outputs;
  for (const c10::IValue& value : values) {
    if (value.isTensor() && value.toTensor().defined())
      outputs.push_back({value.toTensor(), {}});
    else
      outputs.push_back({{}, ir::to_json(value_of(value))});
  }
  return outputs;
}

std::vector<record::Layout> layouts_of(const std::vector<c10::IValue>& values,
                                       const std::vector<std::string>& input_names,
                                       const std::vector<at::Tensor>& inputs) {
  std::vector<record::Layout> layouts(values.size());
  const auto tensor_at = [&](size_t i) { return values[i].isTensor() ? values[i].toTensor() : at::Tensor(); };
  for (size_t i = 0; i < values.size(); ++i) {
    const at::Tensor tensor = tensor_at(i);
    if (!tensor.defined() || !tensor.has_storage()) continue;
    record::Layout& layout = layouts[i];
    if (tensor.numel() > 0) {
      for (int64_t d = 0; d < tensor.dim(); ++d) layout.strides.push_back(tensor.size(d) > 1 ? tensor.stride(d) : 0);
      layout.offset = tensor.storage_offset();
    }
    for (size_t k = i; k-- > 0;) {
      if (tensor_at(k).defined() && tensor.is_alias_of(tensor_at(k))) layout.shares = fmt::format("output {}", k);
    }
    for (size_t k = inputs.size(); k-- > 0;) {
      if (tensor.is_alias_of(inputs[k])) layout.shares = "input " + input_names[k];
    }
  }
  return layouts;
}

void SharedResults::add(std::string name, const at::Tensor& tensor, uint64_t seed) {
  const Rows rows(tensor.sizes(), seed, most_);
  names_.push_back(std::move(name));
  tensors_.push_back(rows.of(tensor));
  rows_of_.push_back(rows.is_all() ? std::vector<int64_t>() : tensor.sizes().vec());
}

void SharedResults::add(const CallResult& result, const std::string& prefix, uint64_t seed) {
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    const CallOutput& output = result.outputs[i];
    if (output.tensor.defined())
      add(prefix + output_name(i), output.tensor, seed);
    else
      (*scalars_)[prefix + output_name(i)] = *output.scalar;
  }
  for (const auto& [name, input] : result.inputs) add(prefix + changed_input_name(name), input.tensor, seed);
}

CallOutputs SharedResults::finish(SharedTensors shared) {
  for (size_t i = 0; i < shared.entries.size(); ++i) shared.entries[i].rows_of = std::move(rows_of_[i]);
  CallOutputs outputs;
  outputs.tensors = std::move(shared);
  outputs.scalars = std::move(scalars_);
  return outputs;
}

std::vector<CallOutput> shared_outputs(const std::vector<wire::Entry>& entries, const std::vector<at::Tensor>& tensors,
                                       const Json& scalars) {
  const auto of_inputs =
      std::ranges::count_if(entries, [](const auto& entry) { return changed_input(entry.name).has_value(); });
  std::vector<CallOutput> outputs(entries.size() - static_cast<size_t>(of_inputs) + scalars.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string name = output_name(i);
    for (size_t k = 0; k < entries.size(); ++k) {
      if (entries[k].name == name) outputs[i] = {tensors[k], {}, entries[k].rows_of};
    }
    if (const auto scalar = scalars.find(name); scalar != scalars.end()) outputs[i].scalar = *scalar;
  }
  return outputs;
}

SameRows same_rows(const CallOutput& expected, const CallOutput& found, uint64_t seed, int64_t most) {
  SameRows same{expected, found, {}};
  if (!expected.tensor.defined()) return same;
  same.rows = Rows(expected.sizes(), seed, most);
  const auto of_both = [&](CallOutput& output) {
    if (!output.tensor.defined() || output.sizes() != expected.sizes()) return;
    std::vector<int64_t> whole = output.sizes().vec();
    if (output.rows_of.empty()) output.tensor = same.rows.of(output.tensor).cpu();
    if (!same.rows.is_all()) output.rows_of = std::move(whole);
  };
  of_both(same.expected);
  of_both(same.found);
  return same;
}

at::Tensor as_real(const at::Tensor& tensor) {
  return tensor.is_complex() ? at::view_as_real(tensor.resolve_conj().resolve_neg()) : tensor;
}

SameRows real_parts(SameRows same) {
  for (CallOutput* output : {&same.expected, &same.found}) {
    if (!output->tensor.defined() || !output->tensor.is_complex()) continue;
    output->tensor = as_real(output->tensor);
    if (!output->rows_of.empty()) output->rows_of.push_back(2);
  }
  return same;
}

record::OutputCheck check_output(const CallOutput& expected, const CallOutput& found) {
  if (expected.tensor.defined() && found.tensor.defined()) {
    record::OutputCheck check = compare_tensors(expected.tensor, found.tensor);
    check.expected_shape = expected.sizes().vec();
    check.found_shape = found.sizes().vec();
    return check;
  }
  record::OutputCheck check;
  check.expected_dtype = type_name(expected);
  check.found_dtype = type_name(found);
  if (expected.tensor.defined()) check.expected_shape = expected.tensor.sizes().vec();
  if (found.tensor.defined()) check.found_shape = found.tensor.sizes().vec();
  check.equal = !check.expected_dtype.empty() && !expected.tensor.defined() && !found.tensor.defined() &&
                *expected.scalar == *found.scalar;
  if (check.equal) {
    check.passes_from = -10;
  } else {
    check.max_abs_diff = check.mean_abs_diff = check.max_rel_diff = std::numeric_limits<double>::quiet_NaN();
  }
  return check;
}

std::vector<record::OutputCheck> check_outputs(const std::vector<CallOutput>& expected,
                                               const std::vector<CallOutput>& found) {
  std::vector<record::OutputCheck> checks;
  for (size_t i = 0; i < std::max(expected.size(), found.size()); ++i)
    checks.push_back(
        check_output(i < expected.size() ? expected[i] : CallOutput{}, i < found.size() ? found[i] : CallOutput{}));
  return checks;
}

}  // namespace passnet::runtime
