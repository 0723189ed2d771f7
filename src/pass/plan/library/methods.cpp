// Methods and attributes of tensors in a plan: metadata and views.
#include <fmt/format.h>

#include <algorithm>

#include "pass/plan/library/builtins.h"
#include "pass/plan/library/copy.h"
#include "pass/plan/tensor.h"

namespace passnet::pass {

namespace {

const View& self(const Bound& args) { return std::get<View>(*args[0]); }

Result<Value> to_value(Result<View> view) {
  if (!view) return std::move(view).error();
  return Value(std::move(*view));
}

/// The metadata of another tensor: view_as, expand_as.
Result<std::vector<int64_t>> shape_of_other(const Bound& args) {
  if (const auto* other = get_if<View>(*args[1])) return other->type.shape;
  return bad_pass(fmt::format("argument 'other': found {}, expected a tensor", describe(*args[1])));
}

template <std::vector<int64_t> ir::TensorType::*numbers>
Result<Value> call_sizes(PlanState&, const Bound& args) {
  const std::vector<int64_t>& values = self(args).type.*numbers;
  if (!args[1] || get_if<NoneValue>(*args[1])) return make_shape(values);
  PASSNET_TRY(const int64_t dim, int_argument(args[1], "dim"));
  PASSNET_TRY(const int64_t at, wrap_dim(dim, values.size()));
  if (values.empty()) return bad_pass("a tensor without dimensions has no size or stride of one");
  return Value(values[at]);
}

Result<Value> call_numel(PlanState&, const Bound& args) { return Value(self(args).type.numel()); }
Result<Value> call_dim(PlanState&, const Bound& args) {
  return Value(static_cast<int64_t>(self(args).type.shape.size()));
}
Result<Value> call_is_contiguous(PlanState&, const Bound& args) { return Value(self(args).type.is_contiguous()); }
Result<Value> call_element_size(PlanState&, const Bound& args) { return Value(ir::size_bytes(self(args).type.dtype)); }
Result<Value> call_is_floating_point(PlanState&, const Bound& args) {
  return Value(ir::is_floating(self(args).type.dtype));
}
Result<Value> call_storage_offset(PlanState&, const Bound& args) { return Value(self(args).offset); }

Result<Value> call_view(PlanState&, const Bound& args) {
  PASSNET_TRY(std::vector<int64_t> shape, sizes_argument(args[1], "shape"));
  return to_value(reshape(self(args), std::move(shape), "view"));
}

/// The view that `make` gives, of a copy where there is none of the tensor itself.
template <class Make>
Result<Value> viewed_or_copied(PlanState& state, const View& view, Make&& make) {
  if (Result<View> viewed = make(view)) return Value(std::move(*viewed));
  PASSNET_TRY(const Value dense, make_contiguous(state, view));
  return to_value(make(std::get<View>(dense)));
}

Result<Value> call_reshape(PlanState& state, const Bound& args) {
  PASSNET_TRY(const std::vector<int64_t> shape, sizes_argument(args[1], "shape"));
  return viewed_or_copied(state, self(args), [&](const View& view) { return reshape(view, shape, "reshape"); });
}

Result<Value> call_reshape_as(PlanState& state, const Bound& args) {
  PASSNET_TRY(const std::vector<int64_t> shape, shape_of_other(args));
  return viewed_or_copied(state, self(args), [&](const View& view) { return reshape(view, shape, "reshape_as"); });
}

Result<Value> call_view_as(PlanState&, const Bound& args) {
  PASSNET_TRY(std::vector<int64_t> shape, shape_of_other(args));
  return to_value(reshape(self(args), std::move(shape), "view_as"));
}

Result<Value> call_expand(PlanState&, const Bound& args) {
  PASSNET_TRY(const std::vector<int64_t> shape, sizes_argument(args[1], "sizes"));
  return to_value(expand(self(args), shape));
}

Result<Value> call_expand_as(PlanState&, const Bound& args) {
  PASSNET_TRY(const std::vector<int64_t> shape, shape_of_other(args));
  return to_value(expand(self(args), shape));
}

Result<Value> call_permute(PlanState&, const Bound& args) {
  PASSNET_TRY(const std::vector<int64_t> dims, sizes_argument(args[1], "dims"));
  return to_value(permute(self(args), dims));
}

Result<Value> call_transpose(PlanState&, const Bound& args) {
  PASSNET_TRY(const int64_t first, int_argument(args[1], "dim0"));
  PASSNET_TRY(const int64_t second, int_argument(args[2], "dim1"));
  return to_value(transpose(self(args), first, second));
}

Result<Value> call_t(PlanState&, const Bound& args) {
  const size_t rank = self(args).type.shape.size();
  if (rank > 2) return bad_pass(fmt::format("t of a tensor of {} dimensions, expected at most 2", rank));
  return rank < 2 ? Result<Value>(Value(self(args))) : to_value(transpose(self(args), 0, 1));
}

Result<Value> call_unsqueeze(PlanState&, const Bound& args) {
  PASSNET_TRY(const int64_t dim, int_argument(args[1], "dim"));
  return to_value(unsqueeze(self(args), dim));
}

Result<Value> call_squeeze(PlanState&, const Bound& args) {
  if (!args[1]) return to_value(squeeze(self(args), std::nullopt));
  PASSNET_TRY(std::vector<int64_t> dims, sizes_argument(args[1], "dim"));
  return to_value(squeeze(self(args), std::move(dims)));
}

Result<Value> call_flatten(PlanState& state, const Bound& args) {
  int64_t start = 0, end = -1;
  if (args[1]) {
    PASSNET_TRY(start, int_argument(args[1], "start_dim"));
  }
  if (args[2]) {
    PASSNET_TRY(end, int_argument(args[2], "end_dim"));
  }
  return viewed_or_copied(state, self(args), [&](const View& view) { return flatten(view, start, end); });
}

Result<Value> call_narrow(PlanState&, const Bound& args) {
  PASSNET_TRY(const int64_t dim, int_argument(args[1], "dim"));
  PASSNET_TRY(const int64_t start, int_argument(args[2], "start"));
  PASSNET_TRY(const int64_t length, int_argument(args[3], "length"));
  return to_value(narrow(self(args), dim, start, length));
}

Result<Value> call_select(PlanState&, const Bound& args) {
  PASSNET_TRY(const int64_t dim, int_argument(args[1], "dim"));
  PASSNET_TRY(const int64_t index, int_argument(args[2], "index"));
  return to_value(select(self(args), dim, index));
}

/// Errors: BadPass for a layout that copies do not have.
Result<void> check_format(const std::optional<Value>& format) {
  const auto* text = format ? get_if<std::string>(*format) : nullptr;
  if (text == nullptr || *text == "torch.contiguous_format" || *text == "torch.preserve_format") return {};
  return bad_pass(
             fmt::format("argument 'memory_format': found {}, expected torch.contiguous_format", describe(*format)))
      .with_hint("allocate with torch.empty_strided, and copy_ there");
}

Result<Value> call_contiguous(PlanState& state, const Bound& args) {
  PASSNET_TRY_VOID(check_format(args[1]));
  return make_contiguous(state, self(args));
}

Result<Value> call_clone(PlanState& state, const Bound& args) {
  PASSNET_TRY_VOID(check_format(args[1]));
  return convert(state, self(args), self(args).type.dtype, true);
}

// self, *target, dtype?, device?, non_blocking?, copy?, memory_format?: devices are all one
Result<Value> call_to(PlanState& state, const Bound& args) {
  PASSNET_TRY_VOID(check_format(args[6]));
  PASSNET_TRY(ir::DType dtype, dtype_argument(args[2], self(args).type.dtype));
  if (args[1]) {
    for (const Value& target : get_sequence(*args[1])->items) {
      if (const auto* element = get_if<ir::DType>(target)) dtype = *element;
      if (const auto* like = get_if<View>(target)) dtype = like->type.dtype;
    }
  }
  bool copies = false;
  if (args[5]) {
    PASSNET_TRY(copies, truth(*args[5]));
  }
  return convert(state, self(args), dtype, copies);
}

template <ir::DType dtype>
Result<Value> call_cast_to(PlanState& state, const Bound& args) {
  return convert(state, self(args), dtype, false);
}

// self, dtype?
Result<Value> call_type(PlanState& state, const Bound& args) {
  if (!args[1])
    return bad_pass("type() without a dtype gives a name that plans do not have").with_hint("write x.dtype");
  PASSNET_TRY(const ir::DType dtype, dtype_argument(args[1], self(args).type.dtype));
  return convert(state, self(args), dtype, false);
}

Result<Value> call_type_as(PlanState& state, const Bound& args) {
  if (const auto* other = get_if<View>(*args[1])) return convert(state, self(args), other->type.dtype, false);
  return bad_pass(fmt::format("argument 'other': found {}, expected a tensor", describe(*args[1])));
}

Result<Value> call_copy_(PlanState& state, const Bound& args) {
  if (const auto* from = get_if<View>(*args[1])) return copy_into(state, self(args), *from);
  return bad_pass(fmt::format("argument 'src': found {}, expected a tensor", describe(*args[1])));
}

Result<Value> call_data_ptr(PlanState&, const Bound& args) {
  return Value(AddressValue{self(args).buffer, self(args).offset});
}

Result<Value> call_as_strided(PlanState& state, const Bound& args) {
  View view = self(args);
  PASSNET_TRY(view.type.shape, sizes_argument(args[1], "size"));
  PASSNET_TRY(view.type.strides, sizes_argument(args[2], "stride"));
  if (args[3] && !get_if<NoneValue>(*args[3])) {
    PASSNET_TRY(view.offset, int_argument(args[3], "storage_offset"));
  }
  PASSNET_TRY_VOID(check_type(view.type));
  if (view.offset < 0 || view.offset + extent(view.type) > extent(state.list.buffers[view.buffer].type))
    return bad_pass("as_strided reaches outside the tensor's memory");
  return Value(std::move(view));
}

Result<Value> call_detach(PlanState&, const Bound& args) { return *args[0]; }

template <int fill>
Result<Value> call_new(PlanState& state, const Bound& args) {
  return allocate_new(state, self(args), args[1], args[2], fill < 0 ? std::nullopt : std::optional<double>(fill));
}

constexpr Builtin kMethods[] = {
    {"size", "self, dim?", call_sizes<&ir::TensorType::shape>},
    {"stride", "self, dim?", call_sizes<&ir::TensorType::strides>},
    {"numel", "self", call_numel},
    {"nelement", "self", call_numel},
    {"dim", "self", call_dim},
    {"ndimension", "self", call_dim},
    {"is_contiguous", "self", call_is_contiguous},
    {"element_size", "self", call_element_size},
    {"is_floating_point", "self", call_is_floating_point},
    {"storage_offset", "self", call_storage_offset},
    {"view", "self, *shape", call_view},
    {"reshape", "self, *shape", call_reshape},
    {"view_as", "self, other", call_view_as},
    {"reshape_as", "self, other", call_reshape_as},
    {"expand", "self, *sizes", call_expand},
    {"expand_as", "self, other", call_expand_as},
    {"permute", "self, *dims", call_permute},
    {"transpose", "self, dim0, dim1", call_transpose},
    {"t", "self", call_t},
    {"unsqueeze", "self, dim", call_unsqueeze},
    {"squeeze", "self, dim?", call_squeeze},
    {"flatten", "self, start_dim?, end_dim?", call_flatten},
    {"narrow", "self, dim, start, length", call_narrow},
    {"select", "self, dim, index", call_select},
    {"contiguous", "self, memory_format?", call_contiguous},
    {"clone", "self, memory_format?", call_clone},
    {"to", "self, *target, dtype?, device?, non_blocking?, copy?, memory_format?", call_to},
    {"cuda", "self, device?, non_blocking?", call_detach},
    {"type", "self, dtype?, non_blocking?", call_type},
    {"type_as", "self, other", call_type_as},
    {"float", "self", call_cast_to<ir::DType::Float32>},
    {"double", "self", call_cast_to<ir::DType::Float64>},
    {"half", "self", call_cast_to<ir::DType::Float16>},
    {"bfloat16", "self", call_cast_to<ir::DType::BFloat16>},
    {"int", "self", call_cast_to<ir::DType::Int32>},
    {"long", "self", call_cast_to<ir::DType::Int64>},
    {"bool", "self", call_cast_to<ir::DType::Bool>},
    {"copy_", "self, src, non_blocking?", call_copy_},
    {"data_ptr", "self", call_data_ptr},
    {"as_strided", "self, size, stride, storage_offset?", call_as_strided},
    {"detach", "self", call_detach},
    {"requires_grad_", "self, requires_grad?", call_detach},
    {"new_empty", "self, *size, dtype?, device?", call_new<-1>},
    {"new_zeros", "self, *size, dtype?, device?", call_new<0>},
};

std::optional<Value> tensor_attribute(const View& view, std::string_view name) {
  if (name == "shape") return make_shape(view.type.shape);
  if (name == "dtype") return Value(view.type.dtype);
  if (name == "device") return Value(DeviceValue{});
  if (name == "ndim") return Value(static_cast<int64_t>(view.type.shape.size()));
  if (name == "requires_grad") return Value(false);
  if (name == "_version") return Value(int64_t{0});  // the plan sees each call as the first
  if (name == "data") return Value(view);
  if (name == "T" && view.type.shape.size() == 2) return Value(*transpose(view, 0, 1));
  if (name == "mT" && view.type.shape.size() >= 2) return Value(*transpose(view, -2, -1));
  return std::nullopt;
}

std::optional<Value> dtype_attribute(ir::DType dtype, std::string_view name) {
  if (name == "itemsize") return Value(ir::size_bytes(dtype));
  if (name == "is_floating_point") return Value(ir::is_floating(dtype));
  return std::nullopt;
}

/// Source: IEEE 754 and the bfloat16 layout (8 exponent bits, 7 of fraction).
std::optional<Value> float_info(ir::DType dtype, std::string_view name) {
  struct Row {
    ir::DType dtype;
    double max, epsilon, tiny;
  };
  constexpr Row kRows[] = {{ir::DType::Float16, 65504.0, 0x1p-10, 0x1p-14},
                           {ir::DType::BFloat16, 0x1.FEp127, 0x1p-7, 0x1p-126},
                           {ir::DType::Float32, 0x1.FFFFFEp127, 0x1p-23, 0x1p-126},
                           {ir::DType::Float64, 0x1.FFFFFFFFFFFFFp1023, 0x1p-52, 0x1p-1022}};
  for (const Row& row : kRows) {
    if (row.dtype != dtype) continue;
    if (name == "max") return Value(row.max);
    if (name == "min") return Value(-row.max);
    if (name == "eps") return Value(row.epsilon);
    if (name == "tiny") return Value(row.tiny);
  }
  return std::nullopt;
}

}  // namespace

std::span<const Builtin> tensor_methods() { return kMethods; }

bool is_attribute(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "shape", "dtype", "device",   "is_cuda", "ndim",  "itemsize",  "is_floating_point",
      "max",   "min",   "eps",      "tiny",    "type",  "index",     "requires_grad",
      "T",     "mT",    "_version", "data",    "value", "__class__", "__name__"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

Result<Value> get_attribute(const Value& object, std::string_view name) {
  std::optional<Value> found;
  if (const auto* view = get_if<View>(object)) found = tensor_attribute(*view, name);
  if (const auto* dtype = get_if<ir::DType>(object)) found = dtype_attribute(*dtype, name);
  if (const auto* info = get_if<FloatInfoValue>(object)) found = float_info(info->dtype, name);
  if (found) return *std::move(found);
  return bad_pass(fmt::format("{} has no attribute '{}'", describe(object), name));
}

}  // namespace passnet::pass
