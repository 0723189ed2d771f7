// Operator calls without boxing: the argument holders and the step template behind direct_call_table.cpp.
// A holder keeps a literal in the C++ type the operator takes, or the slot to read. Internal to runtime/.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/util/OptionalArrayRef.h>

#include <tuple>
#include <unordered_map>

#include "runtime/plan/step.h"

namespace passnet::runtime::direct {

/// Holder of an argument of C++ type T: Holder<T>(source) once, get(slots) per call.
template <class T>
struct Holder;

template <class T>
struct Spelling;  // the schema's word for a C++ type, as Overload::signature spells it

#define PASSNET_SPELLING(TYPE, TEXT)          \
  template <>                                 \
  struct Spelling<TYPE> {                     \
    static constexpr const char* text = TEXT; \
  }
PASSNET_SPELLING(const at::Tensor&, "Tensor");
PASSNET_SPELLING(at::Tensor, "Tensor");
PASSNET_SPELLING(at::Tensor&, "Tensor!");
PASSNET_SPELLING(const std::optional<at::Tensor>&, "Tensor?");
PASSNET_SPELLING(at::TensorList, "Tensor[]");
PASSNET_SPELLING(const at::ITensorListRef&, "Tensor[]");
PASSNET_SPELLING(std::vector<at::Tensor>, "Tensor[]");
PASSNET_SPELLING(const at::Scalar&, "Scalar");
PASSNET_SPELLING(const std::optional<at::Scalar>&, "Scalar?");
PASSNET_SPELLING(int64_t, "int");
PASSNET_SPELLING(c10::SymInt, "SymInt");
PASSNET_SPELLING(at::IntArrayRef, "int[]");
PASSNET_SPELLING(at::OptionalIntArrayRef, "int[]?");
PASSNET_SPELLING(c10::SymIntArrayRef, "SymInt[]");
PASSNET_SPELLING(at::OptionalSymIntArrayRef, "SymInt[]?");
PASSNET_SPELLING(std::optional<int64_t>, "int?");
PASSNET_SPELLING(std::optional<c10::SymInt>, "SymInt?");
PASSNET_SPELLING(double, "float");
PASSNET_SPELLING(std::optional<double>, "float?");
PASSNET_SPELLING(std::optional<at::ArrayRef<double>>, "float[]?");
PASSNET_SPELLING(bool, "bool");
PASSNET_SPELLING(std::optional<bool>, "bool?");
PASSNET_SPELLING(c10::string_view, "str");
PASSNET_SPELLING(at::ScalarType, "ScalarType");
PASSNET_SPELLING(std::optional<at::ScalarType>, "ScalarType?");
PASSNET_SPELLING(std::optional<at::Layout>, "Layout?");
PASSNET_SPELLING(std::optional<at::Device>, "Device?");
PASSNET_SPELLING(at::MemoryFormat, "MemoryFormat");
PASSNET_SPELLING(std::optional<at::MemoryFormat>, "MemoryFormat?");
#undef PASSNET_SPELLING

template <>
struct Holder<const at::Tensor&> {
  int32_t slot;
  explicit Holder(const ArgSource& source) : slot(source.slot) {}
  const at::Tensor& get(c10::IValue* slots) const { return slots[slot].toTensor(); }
};
template <>
struct Holder<at::Tensor&> {
  int32_t slot;
  explicit Holder(const ArgSource& source) : slot(source.slot) {}
  at::Tensor& get(c10::IValue* slots) const { return slots[slot].toTensor(); }
};
template <>
struct Holder<const std::optional<at::Tensor>&> {
  int32_t slot;
  explicit Holder(const ArgSource& source) : slot(source.slot) {}
  std::optional<at::Tensor> get(c10::IValue* slots) const {
    return slot < 0 ? std::nullopt : std::optional<at::Tensor>(slots[slot].toTensor());
  }
};

using SmallTensorList = c10::SmallVector<at::Tensor, 4>;

/// A list of tensors: made of slots, or a list in a slot.
inline SmallTensorList gather_tensors(const ArgSource& source, const c10::IValue* slots) {
  SmallTensorList tensors;
  if (source.form == ArgSource::Form::Slot) {
    for (const at::Tensor& tensor : slots[source.slot].toTensorVector()) tensors.push_back(tensor);
  } else {
    for (const ArgSource::Element& element : source.elements) tensors.push_back(slots[element.slot].toTensor());
  }
  return tensors;
}
template <>
struct Holder<at::TensorList> {
  ArgSource source;
  explicit Holder(const ArgSource& from) : source(from) {}
  SmallTensorList get(c10::IValue* slots) const { return gather_tensors(source, slots); }
};
template <>
struct Holder<const at::ITensorListRef&> {
  struct Value {
    SmallTensorList tensors;
  };
  ArgSource source;
  explicit Holder(const ArgSource& from) : source(from) {}
  Value get(c10::IValue* slots) const { return {gather_tensors(source, slots)}; }
};

/// What a holder gave, as the operator takes it. ITensorListRef swallows any type, so it is made by name.
template <class Value>
Value&& pass(Value&& value) {
  return std::forward<Value>(value);
}
inline at::ITensorListRef pass(Holder<const at::ITensorListRef&>::Value&& value) {
  return at::ITensorListRef(at::TensorList(value.tensors));
}

inline int64_t to_int(const c10::IValue& value) { return value.isBool() ? value.toBool() : value.toInt(); }
inline double to_double(const c10::IValue& value) {
  return value.isDouble() ? value.toDouble() : static_cast<double>(to_int(value));
}

/// A single value: a literal converted once, or a slot converted at each call.
template <class T, T (*Convert)(const c10::IValue&)>
struct ValueHolder {
  int32_t slot;
  T literal{};
  explicit ValueHolder(const ArgSource& source) : slot(source.slot) {
    if (slot < 0) literal = Convert(source.value);
  }
  T get(c10::IValue* slots) const { return slot < 0 ? literal : Convert(slots[slot]); }
};
/// The same for T?.
template <class T, T (*Convert)(const c10::IValue&)>
struct OptionalHolder {
  int32_t slot;
  std::optional<T> literal;
  explicit OptionalHolder(const ArgSource& source) : slot(source.slot) {
    if (slot < 0 && !source.value.isNone()) literal = Convert(source.value);
  }
  std::optional<T> get(c10::IValue* slots) const {
    return slot < 0 ? literal : slots[slot].isNone() ? std::nullopt : std::optional<T>(Convert(slots[slot]));
  }
};

#define PASSNET_HOLDER(TYPE, BASE, VALUE, CONVERT)         \
  inline VALUE CONVERT##_##BASE(const c10::IValue& value); \
  template <>                                              \
  struct Holder<TYPE> : BASE<VALUE, CONVERT##_##BASE> {    \
    using Base = BASE<VALUE, CONVERT##_##BASE>;            \
    using Base::Base;                                      \
  };                                                       \
  inline VALUE CONVERT##_##BASE(const c10::IValue& value)

PASSNET_HOLDER(int64_t, ValueHolder, int64_t, int) { return to_int(value); }
PASSNET_HOLDER(c10::SymInt, ValueHolder, int64_t, symint) { return to_int(value); }
PASSNET_HOLDER(double, ValueHolder, double, real) { return to_double(value); }
PASSNET_HOLDER(bool, ValueHolder, bool, boolean) { return value.toBool(); }
PASSNET_HOLDER(const at::Scalar&, ValueHolder, at::Scalar, scalar) { return value.toScalar(); }
PASSNET_HOLDER(at::ScalarType, ValueHolder, at::ScalarType, dtype) { return value.toScalarType(); }
PASSNET_HOLDER(at::MemoryFormat, ValueHolder, at::MemoryFormat, format) { return value.toMemoryFormat(); }
PASSNET_HOLDER(std::optional<int64_t>, OptionalHolder, int64_t, int) { return to_int(value); }
PASSNET_HOLDER(std::optional<c10::SymInt>, OptionalHolder, c10::SymInt, symint) { return to_int(value); }
PASSNET_HOLDER(std::optional<double>, OptionalHolder, double, real) { return to_double(value); }
PASSNET_HOLDER(std::optional<bool>, OptionalHolder, bool, boolean) { return value.toBool(); }
PASSNET_HOLDER(const std::optional<at::Scalar>&, OptionalHolder, at::Scalar, scalar) { return value.toScalar(); }
PASSNET_HOLDER(std::optional<at::ScalarType>, OptionalHolder, at::ScalarType, dtype) { return value.toScalarType(); }
PASSNET_HOLDER(std::optional<at::MemoryFormat>, OptionalHolder, at::MemoryFormat, format) {
  return value.toMemoryFormat();
}
PASSNET_HOLDER(std::optional<at::Layout>, OptionalHolder, at::Layout, layout) { return value.toLayout(); }
PASSNET_HOLDER(std::optional<at::Device>, OptionalHolder, at::Device, device) { return value.toDevice(); }
#undef PASSNET_HOLDER

template <>
struct Holder<c10::string_view> {
  std::string literal;
  explicit Holder(const ArgSource& source) : literal(source.value.toStringRef()) {}
  c10::string_view get(c10::IValue*) const { return literal; }
};
template <>
struct Holder<std::optional<at::ArrayRef<double>>> {
  struct Value {
    std::optional<std::vector<double>> reals;
    operator std::optional<at::ArrayRef<double>>() const {
      return reals ? std::optional<at::ArrayRef<double>>(*reals) : std::nullopt;
    }
  };
  ArgSource source;
  explicit Holder(const ArgSource& from) : source(from) {}
  Value get(c10::IValue* slots) const {
    const c10::IValue list = source.box(slots);
    return {list.isNone() ? std::nullopt : std::optional(list.toDoubleVector())};
  }
};

/// A list of ints: literal, made of literals and slots, or a list in a slot. Int is int64_t or c10::SymInt.
template <class Int>
struct IntListHolder {
  std::vector<Int> literal;
  bool none = false;
  bool fixed = false;
  ArgSource source;
  explicit IntListHolder(const ArgSource& from) {
    fixed = from.form == ArgSource::Form::Literal;
    none = fixed && from.value.isNone();
    if (fixed && !none) {
      for (int64_t value : from.value.toIntVector()) literal.emplace_back(value);
    } else {
      source = from;
    }
  }
  struct Value {
    const std::vector<Int>* literal = nullptr;
    c10::SmallVector<Int, 6> made;
    operator at::ArrayRef<Int>() const { return literal ? at::ArrayRef<Int>(*literal) : at::ArrayRef<Int>(made); }
    operator c10::OptionalArrayRef<Int>() const { return at::ArrayRef<Int>(*this); }
  };
  Value get(c10::IValue* slots) const {
    Value value;
    if (fixed) {
      value.literal = &literal;
    } else if (source.form == ArgSource::Form::Slot) {
      for (int64_t element : slots[source.slot].toIntVector()) value.made.emplace_back(element);
    } else {
      for (const ArgSource::Element& element : source.elements)
        value.made.emplace_back(element.slot < 0 ? element.value : to_int(slots[element.slot]));
    }
    return value;
  }
};
template <class Int>
struct OptionalIntListHolder : IntListHolder<Int> {
  using IntListHolder<Int>::IntListHolder;
  struct Value {
    typename IntListHolder<Int>::Value value;
    bool none;
    operator c10::OptionalArrayRef<Int>() const {
      return none ? c10::OptionalArrayRef<Int>() : c10::OptionalArrayRef<Int>(at::ArrayRef<Int>(value));
    }
  };
  Value get(c10::IValue* slots) const { return {IntListHolder<Int>::get(slots), this->none}; }
};
template <>
struct Holder<at::IntArrayRef> : IntListHolder<int64_t> {
  using IntListHolder::IntListHolder;
};
template <>
struct Holder<c10::SymIntArrayRef> : IntListHolder<c10::SymInt> {
  using IntListHolder::IntListHolder;
};
template <>
struct Holder<at::OptionalIntArrayRef> : OptionalIntListHolder<int64_t> {
  using OptionalIntListHolder::OptionalIntListHolder;
};
template <>
struct Holder<at::OptionalSymIntArrayRef> : OptionalIntListHolder<c10::SymInt> {
  using OptionalIntListHolder::OptionalIntListHolder;
};

inline void store(c10::IValue* slots, const std::vector<int32_t>& outs, at::Tensor&& result) {
  if (outs[0] >= 0) slots[outs[0]] = std::move(result);
}
inline void store(c10::IValue* slots, const std::vector<int32_t>& outs, at::Tensor& result) {
  if (outs[0] >= 0) slots[outs[0]] = result;
}
inline void store(c10::IValue* slots, const std::vector<int32_t>& outs, std::vector<at::Tensor>&& result) {
  if (outs[0] >= 0) slots[outs[0]] = std::move(result);
}
template <class... T>
void store(c10::IValue* slots, const std::vector<int32_t>& outs, std::tuple<T...>&& results) {
  size_t i = 0;
  std::apply([&](auto&&... result) { ((outs[i] >= 0 ? void(slots[outs[i]] = std::move(result)) : void(), ++i), ...); },
             std::move(results));
}

template <class Signature>
class DirectCall;

template <class R, class... A>
class DirectCall<R(A...)> final : public Step {
 public:
  DirectCall(const Overload& overload, const std::vector<ArgSource>& sources, std::vector<int32_t> outs)
      : DirectCall(overload, sources, std::move(outs), std::index_sequence_for<A...>{}) {}

  void run(c10::IValue* slots) override { run_with(slots, std::index_sequence_for<A...>{}); }

  /// Overload::signature of an operator with this C++ signature.
  static std::string signature() {
    std::string text;
    ((text += text.empty() ? Spelling<A>::text : std::string(",") + Spelling<A>::text), ...);
    return text + "->" + results(static_cast<std::remove_reference_t<R>*>(nullptr));
  }

 private:
  template <size_t... I>
  DirectCall(const Overload& overload, const std::vector<ArgSource>& sources, std::vector<int32_t> outs,
             std::index_sequence<I...>)
      : handle_(overload.handle.typed<R(A...)>()), holders_(Holder<A>(sources[I])...), outs_(std::move(outs)) {}

  template <size_t... I>
  void run_with(c10::IValue* slots, std::index_sequence<I...>) {
    store(slots, outs_, handle_.call(pass(std::get<I>(holders_).get(slots))...));
  }

  static std::string results(void*) { return Spelling<R>::text; }
  template <class... T>
  static std::string results(std::tuple<T...>*) {
    std::string text;
    ((text += text.empty() ? Spelling<T>::text : std::string(",") + Spelling<T>::text), ...);
    return text;
  }

  c10::TypedOperatorHandle<R(A...)> handle_;
  std::tuple<Holder<A>...> holders_;
  std::vector<int32_t> outs_;
};

/// Makes the step of a call: operator, arguments, slots of the results.
using Factory = std::unique_ptr<Step> (*)(const Overload&, const std::vector<ArgSource>&, const std::vector<int32_t>&);

template <class Signature>
std::unique_ptr<Step> make(const Overload& overload, const std::vector<ArgSource>& sources,
                           const std::vector<int32_t>& outs) {
  return std::make_unique<DirectCall<Signature>>(overload, sources, outs);
}

/// By Overload::signature.
using Table = std::unordered_map<std::string, Factory>;

template <class... Signature>
Table table_of() {
  Table table;
  (table.emplace(DirectCall<Signature>::signature(), &make<Signature>), ...);
  return table;
}

/// The signatures that most operators share, in files of their own because each costs 0.2 s of compile time.
Table element_and_view_calls();
Table reduction_and_layer_calls();

}  // namespace passnet::runtime::direct
