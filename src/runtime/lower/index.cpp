// x[…] and x[…] = v: ints, slices, None and Ellipsis make a view in one step; tensors and lists among them go
// through PyTorch's own index code (ATen/TensorIndexing.h), so the rules are its rules.
#include <ATen/TensorIndexing.h>
#include <ATen/ops/as_strided.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include "base/json/python_number.h"
#include "runtime/lower/lower.h"

namespace passnet::runtime {

namespace {

using at::indexing::TensorIndex;

/// An int of an index: absent, a literal, or a slot.
struct IndexBound {
  bool given = false;
  int64_t value = 0;
  int32_t slot = -1;
  int64_t get(const c10::IValue* slots, int64_t otherwise) const {
    if (!given) return otherwise;
    if (slot < 0) return value;
    return slots[slot].isTensor() ? slots[slot].toTensor().item<int64_t>() : slots[slot].toScalar().toLong();
  }
};

struct Item {
  enum class Form : uint8_t { Int, Slice, None, Ellipsis, Bool, Tensor } form;
  IndexBound at, stop, step;  // Int: at; Slice: start in `at`
  bool truth = false;
  int32_t tensor = -1;
};

IndexBound read_bound(const Operand& operand, std::vector<int32_t>& reads) {
  IndexBound bound;
  if (operand.kind == Kind::None) return bound;
  bound.given = true;
  if (operand.slot >= 0) {
    bound.slot = operand.slot;
    reads.push_back(operand.slot);
  } else if (operand.kind == Kind::Int || operand.kind == Kind::Bool) {
    bound.value = operand.value.toScalar().toLong();
  } else {
    refuse(fmt::format("an index or slice bound is {}, expected an integer", to_string(operand.kind)));
  }
  return bound;
}

/// A list of ints or bools as an index: a tensor.
int32_t list_index(Builder& builder, const Operand& list) {
  return lower_call(builder, ir::NodeKind::CallFunction, "torch.tensor", {list}, {}).slot;
}

Item read_item(Builder& builder, const Operand& operand, std::vector<int32_t>& reads) {
  switch (operand.kind) {
    case Kind::None: return {Item::Form::None, {}, {}, {}};
    case Kind::Ellipsis: return {Item::Form::Ellipsis, {}, {}, {}};
    case Kind::Bool:
      if (operand.slot < 0) return {Item::Form::Bool, {}, {}, {}, operand.value.toBool()};
      [[fallthrough]];
    case Kind::Int:
    case Kind::Number: return {Item::Form::Int, read_bound(operand, reads), {}, {}};
    case Kind::Slice:
      return {Item::Form::Slice, read_bound(operand.elements[0], reads), read_bound(operand.elements[1], reads),
              read_bound(operand.elements[2], reads)};
    case Kind::Tensor:
    case Kind::Tuple:
    case Kind::List: {
      const int32_t slot = operand.kind == Kind::Tensor ? operand.slot : list_index(builder, operand);
      reads.push_back(slot);
      return {Item::Form::Tensor, {}, {}, {}, false, slot};
    }
    default: refuse(fmt::format("cannot index with {}", to_string(operand.kind)));
  }
}

std::vector<Item> read_items(Builder& builder, const Operand& index, std::vector<int32_t>& reads) {
  std::vector<Item> items;
  // A list that holds slices or tensors is a tuple of indices (NumPy's old rule, kept by PyTorch).
  bool spread = index.kind == Kind::Tuple && index.slot < 0;
  if (index.kind == Kind::List && index.slot < 0) {
    for (const Operand& element : index.elements)
      spread |= element.kind == Kind::Slice || element.kind == Kind::Ellipsis || element.kind == Kind::None ||
                element.kind == Kind::Tensor;
  }
  if (!spread) return {read_item(builder, index, reads)};
  for (const Operand& element : index.elements) items.push_back(read_item(builder, element, reads));
  return items;
}

bool only_views(const std::vector<Item>& items) {
  for (const Item& item : items) {
    if (item.form == Item::Form::Tensor || item.form == Item::Form::Bool) return false;
  }
  return true;
}

int64_t clamp_bound(int64_t bound, int64_t size) {
  if (bound < 0) bound += size;
  return std::clamp<int64_t>(bound, 0, size);
}

/// The view x[items]: sizes, strides and offset worked out at once.
at::Tensor view_of(const at::Tensor& x, const std::vector<Item>& items, const c10::IValue* slots) {
  const int64_t rank = x.dim();
  int64_t consumed = 0;
  for (const Item& item : items) consumed += item.form == Item::Form::Int || item.form == Item::Form::Slice;
  TORCH_CHECK_INDEX(consumed <= rank, "too many indices for tensor of dimension ", rank);
  c10::SmallVector<int64_t, 8> sizes, strides;
  int64_t offset = x.storage_offset();
  int64_t dim = 0;
  const auto keep = [&](int64_t count) {
    for (; count > 0; --count, ++dim) {
      sizes.push_back(x.size(dim));
      strides.push_back(x.stride(dim));
    }
  };
  for (const Item& item : items) {
    switch (item.form) {
      case Item::Form::None:
        sizes.push_back(1);
        strides.push_back(dim < rank ? x.size(dim) * x.stride(dim) : 1);
        break;
      case Item::Form::Ellipsis: keep(rank - consumed); break;
      case Item::Form::Int: {
        const int64_t size = x.size(dim), given = item.at.get(slots, 0);
        TORCH_CHECK_INDEX(given >= -size && given < size, "index ", given, " is out of bounds for dimension ", dim,
                          " with size ", size);
        offset += (given < 0 ? given + size : given) * x.stride(dim++);
        break;
      }
      default: {
        const int64_t size = x.size(dim), step = item.step.get(slots, 1);
        TORCH_CHECK_VALUE(step > 0, "step must be greater than zero");
        const int64_t start = clamp_bound(item.at.get(slots, 0), size);
        const int64_t stop = std::max(start, clamp_bound(item.stop.get(slots, size), size));
        sizes.push_back((stop - start + step - 1) / step);
        strides.push_back(x.stride(dim) * step);
        offset += start * x.stride(dim++);
      }
    }
  }
  keep(rank - dim);
  return at::as_strided(x, sizes, strides, offset);
}

c10::SmallVector<TensorIndex, 6> tensor_indices(const std::vector<Item>& items, c10::IValue* slots) {
  c10::SmallVector<TensorIndex, 6> indices;
  const auto optional = [&](const IndexBound& bound) {
    return bound.given ? std::optional<c10::SymInt>(bound.get(slots, 0)) : std::nullopt;
  };
  for (const Item& item : items) {
    switch (item.form) {
      case Item::Form::None: indices.emplace_back(at::indexing::None); break;
      case Item::Form::Ellipsis: indices.emplace_back(at::indexing::Ellipsis); break;
      case Item::Form::Int: indices.emplace_back(item.at.get(slots, 0)); break;
      case Item::Form::Bool: indices.emplace_back(item.truth); break;
      case Item::Form::Tensor: indices.emplace_back(slots[item.tensor].toTensor()); break;
      case Item::Form::Slice:
        indices.emplace_back(at::indexing::Slice(optional(item.at), optional(item.stop), optional(item.step)));
    }
  }
  return indices;
}

class GetItem final : public Step {
 public:
  GetItem(int32_t object, std::vector<Item> items, int32_t out)
      : object_(object), items_(std::move(items)), out_(out), view_(only_views(items_)) {
    if (view_) moving.when = Moving::When::Always;
  }
  void run(c10::IValue* slots) override {
    const at::Tensor& x = slots[object_].toTensor();
    slots[out_] = view_ ? view_of(x, items_, slots) : at::indexing::get_item(x, tensor_indices(items_, slots));
  }

 private:
  int32_t object_;
  std::vector<Item> items_;
  int32_t out_;
  bool view_;
};

class SetItem final : public Step {
 public:
  SetItem(int32_t object, std::vector<Item> items, ArgSource value)
      : object_(object), items_(std::move(items)), value_(std::move(value)) {}
  void run(c10::IValue* slots) override {
    const at::Tensor& x = slots[object_].toTensor();
    const c10::IValue value = value_.box(slots);
    const at::Tensor tensor =
        value.isTensor() ? value.toTensor() : at::indexing::scalarToTensor(value.toScalar(), x.options(), x.device());
    at::indexing::set_item(x, tensor_indices(items_, slots), tensor);
  }

 private:
  int32_t object_;
  std::vector<Item> items_;
  ArgSource value_;
};

int64_t element_index(const std::vector<c10::IValue>& inputs, int64_t size) {
  const int64_t index = inputs[1].toScalar().toLong();
  TORCH_CHECK_INDEX(index >= -size && index < size, "index ", index, " is out of range for a sequence of ", size);
  return index < 0 ? index + size : index;
}
c10::IValue tensor_element(std::vector<c10::IValue>& inputs) {
  if (inputs[0].isTuple()) {
    const auto& elements = inputs[0].toTupleRef().elements();
    return elements[element_index(inputs, static_cast<int64_t>(elements.size()))];
  }
  const auto list = inputs[0].toTensorList();
  return list.get(element_index(inputs, static_cast<int64_t>(list.size())));
}
c10::IValue int_element(std::vector<c10::IValue>& inputs) {
  const auto list = inputs[0].toIntList();
  return list.get(element_index(inputs, static_cast<int64_t>(list.size())));
}
/// The positions that a slice of Python's takes of a sequence; a step may be negative.
std::vector<int64_t> sliced_positions(const c10::IValue& first, const c10::IValue& last, const c10::IValue& by,
                                      int64_t size) {
  const auto given = [](const c10::IValue& bound) {
    return bound.isTensor() ? bound.toTensor().item<int64_t>() : bound.toScalar().toLong();
  };
  const int64_t step = by.isNone() ? 1 : given(by);
  TORCH_CHECK_VALUE(step != 0, "slice step cannot be zero");
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  const auto bound = [&](const c10::IValue& value, int64_t otherwise) {
    if (value.isNone()) return otherwise;
    const int64_t at = given(value);
    return std::clamp(at < 0 ? at + size : at, low, high);
  };
  const int64_t start = bound(first, step > 0 ? low : high), stop = bound(last, step > 0 ? high : low);
  std::vector<int64_t> positions;
  for (python::Integer i = start; i && (step > 0 ? *i < stop : *i > stop); i = python::add(*i, step))
    positions.push_back(*i);
  return positions;
}
c10::IValue int_slice(std::vector<c10::IValue>& inputs) {
  const std::vector<int64_t> list = inputs[0].toIntVector();
  std::vector<int64_t> result;
  for (const int64_t i : sliced_positions(inputs[1], inputs[2], inputs[3], static_cast<int64_t>(list.size())))
    result.push_back(list[i]);
  return result;
}
c10::IValue tensor_slice(std::vector<c10::IValue>& inputs) {
  const std::vector<at::Tensor> list = inputs[0].toTensorVector();
  std::vector<at::Tensor> result;
  for (const int64_t i : sliced_positions(inputs[1], inputs[2], inputs[3], static_cast<int64_t>(list.size())))
    result.push_back(list[i]);
  return result;
}

Operand sequence_slice(Builder& builder, const Operand& object, const std::vector<Operand>& bounds) {
  if (object.slot >= 0) {
    Operand result = builder.host(object.element == Kind::Int ? int_slice : tensor_slice, object.kind,
                                  {object, bounds[0], bounds[1], bounds[2]});
    result.element = object.element;
    return result;
  }
  for (const Operand& bound : bounds) {
    if (bound.slot >= 0)
      throw LoweringError{unsupported("a slice of a tuple with a bound that is known only at run time")};
  }
  std::vector<Operand> kept;
  for (const int64_t i : sliced_positions(bounds[0].value, bounds[1].value, bounds[2].value,
                                          static_cast<int64_t>(object.elements.size())))
    kept.push_back(object.elements[i]);
  return Operand::sequence(object.kind, std::move(kept));
}

Operand sequence_item(Builder& builder, const Operand& object, const Operand& index) {
  if (index.kind == Kind::Slice) return sequence_slice(builder, object, index.elements);
  if (object.slot >= 0) {
    if (object.element == Kind::Int) return builder.host(int_element, Kind::Int, {object, index});
    Operand element = builder.host(tensor_element, Kind::Tensor, {object, index});
    builder.steps.back()->moving.when = Moving::When::Always;
    return element;
  }
  if (index.slot >= 0 || index.kind != Kind::Int)
    refuse(fmt::format("cannot index a tuple with {}", to_string(index.kind)));
  const auto size = static_cast<int64_t>(object.elements.size());
  const int64_t at = index.value.toInt();
  if (at < -size || at >= size) refuse(fmt::format("index {} is out of range for a sequence of {}", at, size));
  return object.elements[at < 0 ? at + size : at];
}

}  // namespace

Operand lower_getitem(Builder& builder, const Operand& object, const Operand& index) {
  if (object.is_sequence()) return sequence_item(builder, object, index);
  if (object.kind != Kind::Tensor) refuse(fmt::format("{} cannot be indexed", to_string(object.kind)));
  std::vector<int32_t> reads{object.slot};
  std::vector<Item> items = read_items(builder, index, reads);
  const int32_t out = builder.new_slot();
  builder.add(std::make_unique<GetItem>(object.slot, std::move(items), out), std::move(reads), {out});
  ++builder.operator_calls;
  return Operand::in_slot(Kind::Tensor, out);
}

Operand lower_setitem(Builder& builder, const Operand& object, const Operand& index, const Operand& value) {
  if (object.kind != Kind::Tensor) refuse(fmt::format("{} cannot be assigned to by index", to_string(object.kind)));
  if (value.kind != Kind::Tensor && !value.is_number())
    refuse(
        fmt::format("cannot assign {} to elements of a tensor, expected a tensor or a number", to_string(value.kind)));
  std::vector<int32_t> reads{object.slot};
  std::vector<Item> items = read_items(builder, index, reads);
  ArgSource source = builder.source(value);
  source.for_each_slot([&](int32_t slot) { reads.push_back(slot); });
  builder.add(std::make_unique<SetItem>(object.slot, std::move(items), std::move(source)), std::move(reads), {});
  ++builder.operator_calls;
  return object;
}

}  // namespace passnet::runtime
