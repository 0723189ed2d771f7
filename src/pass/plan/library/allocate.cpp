// torch functions of a plan: allocations, torch.Size, torch.finfo.
#include "pass/plan/library/allocate.h"

#include <fmt/format.h>

#include <cmath>

#include "pass/plan/library/copy.h"
#include "pass/plan/tensor.h"

namespace passnet::pass {

namespace {

/// Counts an allocation against what a plan may have in all.
Result<void> charge_allocation(PlanState& state, const ir::TensorType& type) {
  if (!state.limited) return {};
  if (++state.allocations > kMostAllocations) {
    return bad_pass(fmt::format("a plan may allocate {} tensors, this is one more", kMostAllocations))
        .with_hint("allocate one before the loop, and use views of it");
  }
  PASSNET_TRY_VOID(state.steps.charge(1 + state.list.buffers.size() / 64));
  int64_t inputs = 0;
  for (const Buffer& buffer : state.list.buffers) inputs += buffer.input >= 0 ? buffer.type.size_bytes() : 0;
  const int64_t most = kFreeBytes + kMostTimesInputs * inputs;
  state.allocated_bytes += type.size_bytes();
  if (state.allocated_bytes <= most) return {};
  return bad_pass(
      fmt::format("{} brings what the plan allocates to {} bytes, expected at most {} (2^32, and {} times what "
                  "its inputs have)",
                  ir::to_string(type), state.allocated_bytes, most, kMostTimesInputs));
}

}  // namespace

Result<View> allocate(PlanState& state, ir::TensorType type, std::optional<double> fill) {
  PASSNET_TRY_VOID(check_allocation(type));
  PASSNET_TRY_VOID(charge_allocation(state, type));
  View view;
  view.buffer = static_cast<uint32_t>(state.list.buffers.size());
  view.type = type;
  state.list.buffers.push_back({-1, std::move(type), fill});
  return view;
}

namespace {

/// A launch is compiled for, sent and run: more than what a plan does with it.
constexpr size_t kLaunchSteps = 100;

size_t launch_steps(const Launch& launch) {
  size_t steps = kLaunchSteps + launch.constants.size() + launch.choices.size();
  for (const LaunchArg& arg : launch.args) {
    const auto* view = std::get_if<View>(&arg);
    steps += 1 + (view != nullptr ? view->type.shape.size() / 4 : 0);
  }
  return steps;
}

}  // namespace

Result<void> add_launch(PlanState& state, Launch launch) {
  PASSNET_TRY_VOID(state.steps.charge(launch_steps(launch)));
  if (state.limited && state.list.launches.size() == kMostLaunches)
    return bad_pass(fmt::format("a plan may launch {} kernels, this is one more", kMostLaunches));
  state.list.launches.push_back(std::move(launch));
  return {};
}

namespace {

Result<Value> allocated(PlanState& state, ir::TensorType type, std::optional<double> fill) {
  PASSNET_TRY(View view, allocate(state, std::move(type), fill));
  return Value(std::move(view));
}

Result<Value> allocate_sizes(PlanState& state, const std::optional<Value>& size, ir::DType dtype,
                             std::optional<double> fill) {
  PASSNET_TRY(std::vector<int64_t> shape, sizes_argument(size, "size"));
  ir::TensorType type{dtype, std::move(shape), {}};
  type.strides.resize(type.shape.size());
  PASSNET_TRY_VOID(check_type(type));  // before strides are computed from the sizes
  type.strides = ir::contiguous_strides(type.shape);
  return allocated(state, std::move(type), fill);
}

/// The fill of torch.full as a double. Errors: an integer a double cannot hold, not a number.
Result<double> fill_argument(const Value& value) {
  const auto number = as_float(value);
  if (!number) return bad_pass(fmt::format("argument 'fill_value': found {}, expected a number", describe(value)));
  if (const auto integer = as_int(value); integer && std::abs(*number) > 0x1p53) {
    return bad_pass(fmt::format("argument 'fill_value': {} is not exact as a float, expected at most 2^53", *integer));
  }
  return *number;
}

/// torch.full's dtype when none is given.
ir::DType default_dtype(const Value& fill) {
  if (get_if<bool>(fill)) return ir::DType::Bool;
  return get_if<int64_t>(fill) ? ir::DType::Int64 : ir::DType::Float32;
}

Result<const View*> tensor_argument(const std::optional<Value>& value, std::string_view name) {
  const auto* view = value ? get_if<View>(*value) : nullptr;
  if (view) return view;
  return bad_pass(fmt::format("argument '{}': found {}, expected a tensor", name,
                              value ? describe(*value) : std::string("nothing")));
}

Result<Value> allocate_like(PlanState& state, const View& like, const std::optional<Value>& dtype,
                            const std::optional<Value>& memory_format, std::optional<double> fill) {
  ir::TensorType type = like.type;
  PASSNET_TRY(type.dtype, dtype_argument(dtype, like.type.dtype));
  const auto* format = memory_format ? get_if<std::string>(*memory_format) : nullptr;
  const bool contiguous = format && *format == "torch.contiguous_format";
  type.strides = contiguous ? ir::contiguous_strides(type.shape) : strides_like(like.type);
  return allocated(state, std::move(type), fill);
}

// *size, dtype?, device?, layout?, requires_grad?
template <int fill>  // -1: torch.empty
Result<Value> call_allocate(PlanState& state, const Bound& args) {
  PASSNET_TRY(const ir::DType dtype, dtype_argument(args[1], ir::DType::Float32));
  return allocate_sizes(state, args[0], dtype, fill < 0 ? std::nullopt : std::optional<double>(fill));
}

// size, fill_value, dtype?, …
Result<Value> call_full(PlanState& state, const Bound& args) {
  PASSNET_TRY(const double fill, fill_argument(*args[1]));
  PASSNET_TRY(const ir::DType dtype, dtype_argument(args[2], default_dtype(*args[1])));
  return allocate_sizes(state, args[0], dtype, fill);
}

// input, dtype?, device?, layout?, requires_grad?, memory_format?
template <int fill>
Result<Value> call_allocate_like(PlanState& state, const Bound& args) {
  PASSNET_TRY(const View* input, tensor_argument(args[0], "input"));
  return allocate_like(state, *input, args[1], args[5], fill < 0 ? std::nullopt : std::optional<double>(fill));
}

// input, fill_value, dtype?, device?, layout?, requires_grad?, memory_format?
Result<Value> call_full_like(PlanState& state, const Bound& args) {
  PASSNET_TRY(const View* input, tensor_argument(args[0], "input"));
  PASSNET_TRY(const double fill, fill_argument(*args[1]));
  return allocate_like(state, *input, args[2], args[6], fill);
}

// size, stride, dtype?, device?
Result<Value> call_empty_strided(PlanState& state, const Bound& args) {
  ir::TensorType type;
  PASSNET_TRY(type.shape, sizes_argument(args[0], "size"));
  PASSNET_TRY(type.strides, sizes_argument(args[1], "stride"));
  PASSNET_TRY(type.dtype, dtype_argument(args[2], ir::DType::Float32));
  return allocated(state, std::move(type), std::nullopt);
}

Result<Value> call_size(PlanState& state, const Bound& args) {
  PASSNET_TRY(const std::vector<int64_t> sizes, sizes_argument(args[0], "size"));
  PASSNET_TRY_VOID(state.steps.charge(sizes.size()));
  return make_shape(sizes);
}

Result<Value> call_finfo(PlanState&, const Bound& args) {
  PASSNET_TRY(const ir::DType dtype, dtype_argument(args[0], ir::DType::Float32));
  if (ir::is_floating(dtype)) return Value(FloatInfoValue{dtype});
  return bad_pass(fmt::format("torch.finfo of torch.{}, expected a floating dtype", ir::name(dtype)));
}

// data, dtype?, device?: of a tensor a conversion, of a number a tensor without dimensions
Result<Value> call_as_tensor(PlanState& state, const Bound& args) {
  if (const auto* view = get_if<View>(*args[0])) {
    PASSNET_TRY(const ir::DType dtype, dtype_argument(args[1], view->type.dtype));
    return convert(state, *view, dtype, false);
  }
  if (get_sequence(*args[0]))
    return bad_pass("outside the plan language: found a tensor made of a list")
        .with_hint("compute its values in a kernel");
  PASSNET_TRY(const double fill, fill_argument(*args[0]));
  PASSNET_TRY(const ir::DType dtype, dtype_argument(args[1], default_dtype(*args[0])));
  return allocated(state, ir::contiguous(dtype, {}), fill);
}

constexpr Builtin kFunctions[] = {
    {"torch.as_tensor", "data, dtype?, device?", call_as_tensor},
    {"torch.tensor", "data, dtype?, device?, requires_grad?", call_as_tensor},
    {"torch.empty", "*size, dtype?, device?, layout?, requires_grad?", call_allocate<-1>},
    {"torch.zeros", "*size, dtype?, device?, layout?, requires_grad?", call_allocate<0>},
    {"torch.ones", "*size, dtype?, device?, layout?, requires_grad?", call_allocate<1>},
    {"torch.full", "size, fill_value, dtype?, device?, layout?, requires_grad?", call_full},
    {"torch.empty_like", "input, dtype?, device?, layout?, requires_grad?, memory_format?", call_allocate_like<-1>},
    {"torch.zeros_like", "input, dtype?, device?, layout?, requires_grad?, memory_format?", call_allocate_like<0>},
    {"torch.ones_like", "input, dtype?, device?, layout?, requires_grad?, memory_format?", call_allocate_like<1>},
    {"torch.full_like", "input, fill_value, dtype?, device?, layout?, requires_grad?, memory_format?", call_full_like},
    {"torch.empty_strided", "size, stride, dtype?, device?, layout?, requires_grad?", call_empty_strided},
    {"torch.Size", "size?", call_size},
    {"torch.finfo", "dtype?", call_finfo},
};

}  // namespace

std::span<const Builtin> torch_functions() { return kFunctions; }

Result<Value> allocate_new(PlanState& state, const View& like, const std::optional<Value>& size,
                           const std::optional<Value>& dtype, std::optional<double> fill) {
  PASSNET_TRY(const ir::DType element, dtype_argument(dtype, like.type.dtype));
  return allocate_sizes(state, size, element, fill);
}

}  // namespace passnet::pass
