#include "runtime/plan/moving.h"

#include <ATen/InferSize.h>
#include <ATen/TensorUtils.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "runtime/plan/schema.h"

namespace passnet::runtime {

namespace {

using namespace std::string_view_literals;

// Source: the aliasing of results in PyTorch's native_functions.yaml, "Tensor(a)".
constexpr std::array kAlways = {
    "alias"sv,     "as_strided"sv, "chunk"sv,   "detach"sv,    "diagonal"sv, "expand"sv,   "expand_as"sv,
    "mH"sv,        "mT"sv,         "movedim"sv, "moveaxis"sv,  "narrow"sv,   "numpy_T"sv,  "permute"sv,
    "select"sv,    "slice"sv,      "split"sv,   "squeeze"sv,   "swapaxes"sv, "swapdims"sv, "t"sv,
    "transpose"sv, "unbind"sv,     "unfold"sv,  "unsqueeze"sv, "view"sv,     "view_as"sv,  "split_with_sizes"sv,
    "unflatten"sv,
};
// The same, and a copy where a view cannot be had.
constexpr std::array kWhenContiguous = {"contiguous"sv, "flatten"sv, "ravel"sv, "reshape_as"sv};
// The argument itself where it has the type that is asked for.
constexpr std::array kWhenOfType = {"to"sv, "type_as"sv};

/// Whether a tensor of these strides has a view of the shape, in which one size may be -1.
bool has_view(const at::Tensor& tensor, const std::vector<int64_t>& shape) {
  const at::DimVector sizes = at::infer_size_dv(shape, tensor.numel());
  return at::detail::computeStride(tensor.sizes(), tensor.strides(), sizes).has_value();
}

bool is_set(const Operand* operand) { return operand != nullptr && operand->kind != Kind::None; }

/// Never: it may copy for another reason than a type, or the type is not known beforehand.
Moving moving_by_type(const Binding& binding) {
  Moving moving;
  const std::vector<Parameter>& parameters = binding.overload->parameters;
  for (size_t i = 1; i < parameters.size(); ++i) {
    const Operand* operand = binding.operands[i];
    if (!is_set(operand)) continue;
    const Parameter& parameter = parameters[i];
    if (parameter.type == Type::Tensor) {
      moving = {.when = Moving::When::OfType, .like = operand->slot};
    } else if (parameter.type == Type::DType && operand->slot < 0) {
      moving = {.when = Moving::When::OfType, .type = static_cast<c10::ScalarType>(operand->value.toInt())};
    } else if (parameter.name != "non_blocking" &&
               !(parameter.name == "copy" && operand->value.isBool() && !operand->value.toBool())) {
      return {};
    }
  }
  return moving;
}

}  // namespace

bool Moving::copies(const at::Tensor& first, const c10::IValue* slots) const {
  switch (when) {
    case When::Never: return true;
    case When::Always: return false;
    case When::Contiguous: return !first.is_contiguous();
    case When::Reshaped: return !first.is_contiguous() && !has_view(first, shape->box(slots).toIntVector());
    case When::OfType: return first.scalar_type() != (like >= 0 ? slots[like].toTensor().scalar_type() : type);
  }
  return true;
}

Moving moving_of(const Binding& binding, const std::vector<ArgSource>& sources) {
  constexpr std::string_view kSpace = "aten::";
  std::string_view name = binding.overload->handle.operator_name().name;
  const std::vector<Parameter>& parameters = binding.overload->parameters;
  if (!name.starts_with(kSpace) || parameters.empty() || binding.operands[0] == nullptr ||
      binding.operands[0]->slot < 0)
    return {};
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].type == Type::MemoryFormat && is_set(binding.operands[i])) return {};
  }
  name.remove_prefix(kSpace.size());
  if (std::ranges::find(kAlways, name) != kAlways.end()) return {.when = Moving::When::Always};
  if (std::ranges::find(kWhenContiguous, name) != kWhenContiguous.end()) return {.when = Moving::When::Contiguous};
  if (name == "reshape") return {.when = Moving::When::Reshaped, .shape = sources[1]};
  return std::ranges::find(kWhenOfType, name) != kWhenOfType.end() ? moving_by_type(binding) : Moving{};
}

}  // namespace passnet::runtime
