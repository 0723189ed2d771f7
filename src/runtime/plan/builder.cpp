#include "runtime/plan/builder.h"

#include <ATen/ScalarOps.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/text/strings.h"
#include "ir/ops/table.h"
#include "runtime/tensor/placement.h"

namespace passnet::runtime {

namespace {

Kind kind_of(const c10::TypePtr& type) {
  switch (type->kind()) {
    case c10::TypeKind::TensorType: return Kind::Tensor;
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType: return Kind::Int;
    case c10::TypeKind::FloatType: return Kind::Float;
    case c10::TypeKind::BoolType: return Kind::Bool;
    case c10::TypeKind::NumberType: return Kind::Number;
    case c10::TypeKind::ListType: return Kind::List;
    default: return Kind::Opaque;
  }
}

c10::IValue item(std::vector<c10::IValue>& inputs) {
  const at::Scalar scalar = inputs[0].toTensor().item();
  return scalar;
}
c10::IValue wrap_number(std::vector<c10::IValue>& inputs) {
  return at::native::wrapped_scalar_tensor(inputs[0].toScalar());
}

}  // namespace

int32_t Builder::new_slot(bool keep) {
  initial.emplace_back();
  persistent.push_back(keep);
  return static_cast<int32_t>(initial.size()) - 1;
}

Operand Builder::new_results(size_t count, std::vector<int32_t>& slots) {
  std::vector<Operand> results;
  for (size_t i = 0; i < count; ++i) results.push_back(Operand::in_slot(Kind::Tensor, slots.emplace_back(new_slot())));
  return Operand::sequence(Kind::Tuple, std::move(results));
}

std::vector<int32_t> tensor_inputs(std::string_view target, const std::vector<Operand>& args) {
  std::vector<int32_t> slots;
  for (size_t i = 1; i < args.size(); ++i) {
    if (args[i].kind != Kind::Tensor)
      refuse(fmt::format("{}: input {} is {}, expected a tensor", target, i - 1, to_string(args[i].kind)));
    slots.push_back(args[i].slot);
  }
  return slots;
}

Operand Builder::constant_tensor(at::Tensor tensor) {
  const int32_t slot = new_slot(true);
  initial[slot] = std::move(tensor);
  return Operand::in_slot(Kind::Tensor, slot);
}

void Builder::add(std::unique_ptr<Step> step, std::vector<int32_t> reads, std::vector<int32_t> writes) {
  step->node = node;
  step->reads = std::move(reads);
  step->writes = std::move(writes);
  steps.push_back(std::move(step));
}

Operand Builder::host(HostFunction fn, Kind result, const std::vector<Operand>& args) {
  std::vector<ArgSource> sources;
  std::vector<int32_t> reads;
  for (const Operand& arg : args) {
    sources.push_back(source(arg));
    sources.back().for_each_slot([&](int32_t slot) { reads.push_back(slot); });
  }
  // Folding is for values; a tensor is made afresh, and what has an effect returns an Opaque.
  if (reads.empty() && result != Kind::Tensor && result != Kind::Opaque) {
    std::vector<c10::IValue> values;
    for (const ArgSource& from : sources) values.push_back(from.value);
    Operand operand;
    operand.kind = result;
    operand.value = fn(values);
    if (result == Kind::List || result == Kind::Tuple) {
      for (int64_t element : operand.value.toIntVector()) operand.elements.push_back(Operand::of_int(element));
    }
    return operand;
  }
  const int32_t out = new_slot();
  Operand operand = Operand::in_slot(result, out);
  std::unique_ptr<Step> step = make_host_call(fn, std::move(sources), out);
  step->gives_number = operand.is_number();
  add(std::move(step), std::move(reads), {out});
  operand.element = Kind::Int;
  return operand;
}

int32_t Builder::tensor_slot(const Operand& operand) {
  if (operand.kind == Kind::Tensor) return operand.slot;
  if (!operand.is_number()) refuse(fmt::format("found {}, expected a tensor or a number", to_string(operand.kind)));
  if (operand.slot < 0) return constant_tensor(at::native::wrapped_scalar_tensor(operand.value.toScalar())).slot;
  return host(wrap_number, Kind::Tensor, {operand}).slot;
}

c10::IValue literal_list(const std::vector<Operand>& elements, Type type) {
  switch (type) {
    case Type::Float: {
      c10::List<double> list;
      for (const Operand& element : elements) list.push_back(element.value.toScalar().toDouble());
      return list;
    }
    case Type::Bool: {
      c10::List<bool> list;
      for (const Operand& element : elements) list.push_back(element.value.toBool());
      return list;
    }
    case Type::Scalar: {
      c10::impl::GenericList list(c10::NumberType::get());
      for (const Operand& element : elements) list.push_back(element.value);
      return list;
    }
    default: {
      c10::List<int64_t> list;
      for (const Operand& element : elements) list.push_back(element.value.toScalar().toLong());
      return list;
    }
  }
}

ArgSource Builder::list_source(const Operand& operand, const Parameter& parameter) {
  ArgSource result;
  if (operand.slot >= 0 && operand.is_sequence()) {
    result.form = ArgSource::Form::Slot;
    result.slot = operand.slot;
    return result;
  }
  std::vector<Operand> elements = operand.elements;
  if (!operand.is_sequence()) elements.assign(static_cast<size_t>(parameter.size), operand);
  // Every operator refuses it; PyTorch 2.11's reflection_pad3d reads the list before.
  if (elements.empty() && parameter.size > 1 && parameter.name == "padding")
    refuse(fmt::format("parameter 'padding': an empty list, expected {} numbers", parameter.size));
  if (parameter.type == Type::Tensor) {
    result.form = parameter.optional_elements ? ArgSource::Form::OptionalTensors : ArgSource::Form::Tensors;
    for (const Operand& element : elements) {
      if (element.kind == Kind::None && !parameter.optional_elements) refuse("a list of tensors with None in it");
      result.elements.push_back({element.kind == Kind::None ? -1 : tensor_slot(element)});
    }
    return result;
  }
  const bool literal = std::all_of(elements.begin(), elements.end(), [](const Operand& e) { return e.slot < 0; });
  if (literal) {
    result.value = literal_list(elements, parameter.type);
    return result;
  }
  if (parameter.type != Type::Int && parameter.type != Type::Float)
    throw LoweringError{
        unsupported(fmt::format("parameter '{}': a list that is known only at run time", parameter.name))};
  result.form = parameter.type == Type::Int ? ArgSource::Form::Ints : ArgSource::Form::Reals;
  for (const Operand& element : elements) {
    ArgSource::Element made;
    if (element.slot >= 0) {
      made.slot = element.kind == Kind::Tensor ? host(item, Kind::Number, {element}).slot : element.slot;
    } else if (parameter.type == Type::Int) {
      made.value = element.value.toInt();
    } else {
      made.real = element.value.toScalar().toDouble();
    }
    result.elements.push_back(made);
  }
  return result;
}

ArgSource Builder::source(const Operand& operand, const Parameter& parameter) {
  ArgSource result;
  if (parameter.type == Type::Device) {
    // Literals follow the device that the graph runs on; without one tensors are made there too.
    if (!graph_device().is_cpu()) result.value = graph_device();
    return result;
  }
  if (operand.kind == Kind::None) {
    if (operand.kind == Kind::None && !parameter.optional && parameter.default_value)
      result.value = *parameter.default_value;
    return result;
  }
  if (parameter.list) return list_source(operand, parameter);
  if (parameter.type == Type::Tensor) {
    result.form = ArgSource::Form::Slot;
    result.slot = tensor_slot(operand);
    return result;
  }
  if (operand.slot >= 0) {
    result.form = ArgSource::Form::Slot;
    result.slot = operand.kind == Kind::Tensor ? host(item, Kind::Number, {operand}).slot : operand.slot;
    return result;
  }
  result.value = operand.value;
  if (parameter.type == Type::Float) result.value = operand.value.toScalar().toDouble();
  return result;
}

ArgSource Builder::source(const Operand& operand) {
  ArgSource result;
  if (operand.slot >= 0) {
    result.form = ArgSource::Form::Slot;
    result.slot = operand.slot;
  } else if (operand.is_sequence()) {
    const bool tensors = !operand.elements.empty() && operand.elements[0].kind == Kind::Tensor;
    Parameter parameter;
    parameter.type = tensors ? Type::Tensor : Type::Int;
    parameter.list = true;
    return list_source(operand, parameter);
  } else {
    result.value = operand.value;
  }
  return result;
}

Operand Builder::call(std::string_view name, const std::vector<Operand>& args,
                      const std::vector<NamedOperand>& keywords, const CallForm& form) {
  if (!form.overload && args.size() > 1 && args[0].kind == Kind::Tensor && args[1].is_number() && args[1].slot < 0 &&
      ir::wraps_number(name)) {
    // The tensor is made once, not at each call.
    std::vector<Operand> wrapped = args;
    wrapped[1] = constant_tensor(at::native::wrapped_scalar_tensor(args[1].value.toScalar()));
    return emit(choose_overload(name, wrapped, keywords, form));
  }
  return emit(choose_overload(name, args, keywords, form));
}

Operand Builder::emit(const Binding& binding) {
  const Overload& overload = *binding.overload;
  std::vector<ArgSource> sources;
  std::vector<int32_t> reads;
  std::vector<int32_t> mutates, size_reads;
  const Operand* written = nullptr;
  for (size_t i = 0; i < overload.parameters.size(); ++i) {
    const Parameter& parameter = overload.parameters[i];
    const Operand* operand = binding.operands[i];
    if (operand != nullptr) {
      sources.push_back(source(*operand, parameter));
    } else if (parameter.type == Type::Device) {
      sources.push_back(source(Operand::none(), parameter));
    } else {
      sources.emplace_back();
      if (parameter.default_value) sources.back().value = *parameter.default_value;
    }
    sources.back().for_each_slot([&](int32_t slot) { reads.push_back(slot); });
    if (parameter.writes && written == nullptr) written = operand;
    if (parameter.writes) sources.back().for_each_slot([&](int32_t slot) { mutates.push_back(slot); });
    if (parameter.type != Type::Tensor && parameter.type != Type::Scalar)
      sources.back().for_each_slot([&](int32_t slot) { size_reads.push_back(slot); });
  }
  const auto& returns = overload.handle.schema().returns();
  std::vector<int32_t> outs;
  std::vector<Operand> results;
  const bool in_place = written != nullptr && returns.size() == 1 && returns[0].alias_info() != nullptr &&
                        returns[0].alias_info()->isWrite();
  for (const c10::Argument& result : returns) {
    outs.push_back(in_place ? -1 : new_slot());
    results.push_back(in_place ? *written : Operand::in_slot(kind_of(result.real_type()), outs.back()));
    if (results.back().kind == Kind::List && result.real_type()->castRaw<c10::ListType>() != nullptr)
      results.back().element = kind_of(result.real_type()->castRaw<c10::ListType>()->getElementType());
  }
  Moving moving = moving_of(binding, sources);
  std::unique_ptr<Step> step = make_direct_call(overload, sources, outs);
  if (!step) step = make_boxed_call(overload, std::move(sources), outs);
  std::erase(outs, -1);
  step->mutates = std::move(mutates);
  step->size_reads = std::move(size_reads);
  step->gives_number = results.size() == 1 && results[0].is_number();
  step->moving = std::move(moving);
  add(std::move(step), std::move(reads), std::move(outs));
  ++operator_calls;
  if (results.empty()) return Operand::none();
  if (results.size() == 1) return results[0];
  Operand tuple = Operand::sequence(Kind::Tuple, std::move(results));
  tuple.fields = &returns;
  return tuple;
}

}  // namespace passnet::runtime
