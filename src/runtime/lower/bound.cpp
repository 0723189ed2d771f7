#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "ir/ops/calls.h"
#include "runtime/lower/lower.h"

namespace passnet::runtime {

namespace {

/// Memory formats, which have no operand, are those that ATen has as defaults, too.
Operand constant_of(const ir::Arg& literal) {
  return literal.kind == ir::ArgKind::Tuple ? Operand::sequence(Kind::Tuple, {}) : literal_operand(literal);
}

}  // namespace

Operand operand_of(const ir::Literal& literal) {
  Operand made = constant_of(literal.value);
  for (const ir::Arg& element : literal.elements) made.elements.push_back(constant_of(element));
  return made;
}

Bound::Bound(std::string_view function, std::span<const ir::Slot> signature, const std::vector<Operand>& args,
             const std::vector<NamedOperand>& keywords)
    : function_(function), signature_(signature) {
  std::vector<std::string_view> names;
  for (const NamedOperand& keyword : keywords) names.push_back(keyword.name);
  const ir::Assignment made = ir::bind_arguments(signature, args.size(), names);
  if (made.misfit) throw LoweringError{ir::misfit_error(function, signature, *made.misfit, args.size(), names)};
  for (const ir::Slot& slot : signature)
    values_.push_back(slot.variadic ? Operand::sequence(Kind::Tuple, {}) : operand_of(slot.value));
  for (size_t i = 0; i < made.slots.size(); ++i) {
    const size_t slot = made.slots[i];
    if (i < args.size() && signature[slot].variadic) {
      values_[slot].elements.push_back(args[i]);
    } else {
      values_[slot] = i < args.size() ? args[i] : keywords[i - args.size()].value;
    }
  }
}

size_t Bound::find(std::string_view name) const {
  const auto found = std::ranges::find(signature_, name, &ir::Slot::call_name);
  return static_cast<size_t>(found - signature_.begin());
}

const Operand& Bound::operator[](std::string_view name) const {
  const size_t slot = find(name);
  PASSNET_CHECK(slot < values_.size(), fmt::format("{}() has no parameter '{}'", function_, name));
  return values_[slot];
}

const Operand& Bound::list(std::string_view name) const {
  const Operand& values = (*this)[name];
  return values.elements.size() == 1 && values.elements[0].is_sequence() ? values.elements[0] : values;
}

bool Bound::flag(std::string_view name) const {
  const Operand& operand = (*this)[name];
  if (operand.slot >= 0 || !operand.is_number())
    refuse(fmt::format("{}(): parameter '{}' is {}, expected True or False", function_, name, to_string(operand.kind)));
  if (operand.kind == Kind::Bool) return operand.value.toBool();
  return !operand.value.toScalar().equal(0);
}

int64_t Bound::integer(std::string_view name) const {
  const Operand& operand = (*this)[name];
  if (operand.slot >= 0 || operand.kind != Kind::Int)
    refuse(fmt::format("{}(): parameter '{}' is {}, expected an integer literal", function_, name,
                       to_string(operand.kind)));
  return operand.value.toInt();
}

double Bound::real(std::string_view name) const {
  const Operand& operand = (*this)[name];
  if (operand.slot >= 0 || !operand.is_number())
    refuse(
        fmt::format("{}(): parameter '{}' is {}, expected a number literal", function_, name, to_string(operand.kind)));
  return operand.value.toScalar().toDouble();
}

std::string Bound::text(std::string_view name) const {
  const Operand& operand = (*this)[name];
  if (operand.kind != Kind::String)
    refuse(fmt::format("{}(): parameter '{}' is {}, expected a string", function_, name, to_string(operand.kind)));
  return operand.value.toStringRef();
}

}  // namespace passnet::runtime
