#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "base/strings.h"
#include "runtime/lower/lower.h"

namespace passnet::runtime {

namespace {

struct SignatureParameter {
  std::string_view name;
  std::string_view default_text;
  bool has_default = false;
  bool rest = false;
};

std::vector<SignatureParameter> read_signature(std::string_view signature) {
  std::vector<SignatureParameter> parameters;
  if (signature.empty()) return parameters;
  for (std::string_view part : split(signature, ',')) {
    part = trim(part);
    SignatureParameter parameter;
    if (part.starts_with('*')) {
      parameter.rest = true;
      part.remove_prefix(1);
    }
    const size_t equals = part.find('=');
    parameter.name = part.substr(0, equals);
    if (equals != std::string_view::npos) {
      parameter.has_default = true;
      parameter.default_text = part.substr(equals + 1);
    }
    parameters.push_back(parameter);
  }
  return parameters;
}

Operand default_operand(std::string_view text) {
  if (text == "None") return Operand::none();
  if (text == "True" || text == "False") return Operand::of_bool(text == "True");
  if (text.starts_with('\'')) return Operand::of_string(std::string(text.substr(1, text.size() - 2)));
  if (text == "()") return Operand::sequence(Kind::Tuple, {});
  int64_t integer = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), integer);
  if (status == std::errc{} && end == text.data() + text.size()) return Operand::of_int(integer);
  return Operand::of_float(std::strtod(std::string(text).c_str(), nullptr));
}

}  // namespace

Bound::Bound(std::string_view function, std::string_view signature, const std::vector<Operand>& args,
             const std::vector<NamedOperand>& keywords)
    : function_(function) {
  const std::vector<SignatureParameter> parameters = read_signature(signature);
  size_t next = 0;
  for (const SignatureParameter& parameter : parameters) {
    if (parameter.rest) {
      values_[std::string(parameter.name)] =
          Operand::sequence(Kind::Tuple, {args.begin() + static_cast<ptrdiff_t>(next), args.end()});
      next = args.size();
    } else if (next < args.size()) {
      values_[std::string(parameter.name)] = args[next++];
    }
  }
  if (next < args.size())
    refuse(
        fmt::format("{}() takes at most {} positional arguments, found {}", function_, parameters.size(), args.size()));
  for (const NamedOperand& keyword : keywords) {
    bool known = false;
    for (const SignatureParameter& parameter : parameters) known |= parameter.name == keyword.name && !parameter.rest;
    if (!known)
      refuse(fmt::format("{}() has no parameter '{}'", function_, keyword.name),
             fmt::format("it takes: {}", signature));
    if (!values_.emplace(std::string(keyword.name), keyword.value).second)
      refuse(fmt::format("{}() got parameter '{}' twice", function_, keyword.name));
  }
  for (const SignatureParameter& parameter : parameters) {
    if (values_.contains(parameter.name)) continue;
    if (!parameter.has_default) refuse(fmt::format("{}() misses parameter '{}'", function_, parameter.name));
    values_[std::string(parameter.name)] = default_operand(parameter.default_text);
  }
}

const Operand& Bound::operator[](std::string_view name) const { return values_.find(name)->second; }

bool Bound::flag(std::string_view name) const {
  const Operand& operand = (*this)[name];
  if (operand.slot >= 0 || !operand.is_number())
    refuse(fmt::format("{}(): parameter '{}' is {}, expected True or False", function_, name, to_string(operand.kind)));
  return operand.kind == Kind::Bool ? operand.value.toBool() : operand.value.toScalar().toLong() != 0;
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
