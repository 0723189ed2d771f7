#include "pass/triton/specialize.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "base/text/strings.h"

namespace passnet::pass {
namespace {

struct Spelling {
  std::string_view written, type;
};
/// Names of scalar types in annotations.
constexpr Spelling kSpellings[] = {
    {"bool", "u1"},       {"int1", "u1"},      {"uint1", "u1"},   {"i1", "u1"},        {"u1", "u1"},
    {"int8", "i8"},       {"i8", "i8"},        {"int16", "i16"},  {"i16", "i16"},      {"int", "i32"},
    {"int32", "i32"},     {"i32", "i32"},      {"int64", "i64"},  {"i64", "i64"},      {"uint8", "u8"},
    {"u8", "u8"},         {"uint16", "u16"},   {"u16", "u16"},    {"uint32", "u32"},   {"u32", "u32"},
    {"uint64", "u64"},    {"u64", "u64"},      {"half", "fp16"},  {"float16", "fp16"}, {"fp16", "fp16"},
    {"bfloat16", "bf16"}, {"bf16", "bf16"},    {"float", "fp32"}, {"float32", "fp32"}, {"fp32", "fp32"},
    {"double", "fp64"},   {"float64", "fp64"}, {"fp64", "fp64"},
};

/// What an annotation asks for.
struct Annotation {
  std::string type;  // "i32", "*fp32", "*kfp32"; empty: no type
  bool constexpr_ = false, const_ = false;
};

std::string_view without_prefix(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

std::string scalar_type(std::string_view written) {
  written = without_prefix(without_prefix(trim(written), "triton.language."), "tl.");
  for (const Spelling& spelling : kSpellings) {
    if (written == spelling.written) return std::string(spelling.type);
  }
  return "";
}

Annotation read_annotation(std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0])
    text = trim(text.substr(1, text.size() - 2));
  Annotation found;
  found.constexpr_ = text.find("constexpr") != std::string_view::npos;
  if (found.constexpr_) return found;
  found.const_ = text.find("const") != std::string_view::npos || text.starts_with("*k");
  text = trim(without_prefix(text, "const "));
  constexpr std::string_view kPointerType = "pointer_type(";
  const std::string_view name = without_prefix(without_prefix(text, "triton.language."), "tl.");
  if (name.starts_with(kPointerType) && name.ends_with(')'))
    found.type = scalar_type(name.substr(kPointerType.size(), name.size() - kPointerType.size() - 1));
  else if (text.starts_with('*'))
    found.type = scalar_type(without_prefix(text.substr(1), "k"));
  else
    found.type = scalar_type(text);
  if (!found.type.empty() && (text.starts_with('*') || name.starts_with(kPointerType)))
    found.type = (found.const_ ? "*k" : "*") + found.type;
  return found;
}

Error refuse(const TritonDeclaration& parameter, const std::string& what) {
  return bad_pass(fmt::format("parameter {} {}", quoted(parameter.name), what));
}

template <class T>
TritonParameter folded(const TritonDeclaration& parameter, const T& value) {
  TritonParameter out;
  out.name = parameter.name;
  out.constant.emplace(value);
  return out;
}

/// An argument of a parameter that is not tl.constexpr.
struct Specialize {
  const TritonDeclaration& parameter;
  const Annotation& annotation;

  bool pointer() const { return annotation.type.starts_with('*'); }
  bool real() const { return annotation.type.starts_with("fp") || annotation.type.starts_with("bf"); }
  /// With the type of the annotation, where there is one.
  Result<TritonParameter> typed(std::string type, bool divisible) const {
    return TritonParameter{parameter.name, annotation.type.empty() ? std::move(type) : annotation.type, divisible};
  }
  Result<TritonParameter> operator()(std::monostate) const {
    if (!annotation.type.empty() && !pointer())
      return refuse(parameter, fmt::format("is None, expected '{}'", annotation.type));
    return folded(parameter, std::monostate{});
  }
  Result<TritonParameter> operator()(bool value) const {
    if (pointer()) return refuse(parameter, fmt::format("is {}, expected a tensor", value ? "True" : "False"));
    return typed("u1", false);
  }
  Result<TritonParameter> operator()(int64_t value) const {
    if (pointer()) return refuse(parameter, fmt::format("is {}, expected a tensor", value));
    if (value == 1 && parameter.specialize && annotation.type.empty()) return folded(parameter, value);
    const bool narrow = value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max();
    const bool divisible =
        parameter.specialize && parameter.specialize_alignment && value % 16 == 0 && !real() && annotation.type != "u1";
    return typed(narrow ? "i32" : "i64", divisible);
  }
  Result<TritonParameter> operator()(double value) const {
    if (!annotation.type.empty() && !real())
      return refuse(parameter, fmt::format("is the float {}, expected '{}'", value, annotation.type));
    return typed("fp32", false);
  }
  Result<TritonParameter> operator()(const std::string& value) const {
    return refuse(parameter, fmt::format("is the string {}: write '{}: tl.constexpr'", quoted(value), parameter.name));
  }
  Result<TritonParameter> operator()(ir::DType value) const {
    return refuse(parameter, fmt::format("is the dtype {}: write '{}: tl.constexpr'", ir::name(value), parameter.name));
  }
  Result<TritonParameter> operator()(const TritonPointer& value) const {
    if (!annotation.type.empty() && !pointer())
      return refuse(parameter, fmt::format("is a tensor, expected '{}'", annotation.type));
    PASSNET_TRY(const std::string type, triton_type(value.dtype));
    return typed((annotation.const_ ? "*k" : "*") + type,
                 parameter.specialize && parameter.specialize_alignment && value.divisible_by_16);
  }
};

/// An argument of a parameter that is.
struct Fold {
  const TritonDeclaration& parameter;
  Result<TritonParameter> operator()(const TritonPointer&) const {
    return refuse(parameter, "is tl.constexpr, but gets a tensor");
  }
  template <class T>
  Result<TritonParameter> operator()(const T& value) const {
    return folded(parameter, value);
  }
};

}  // namespace

Result<std::string> triton_type(ir::DType dtype) {
  std::string type = scalar_type(ir::name(dtype));
  if (type.empty()) return bad_pass(fmt::format("the dtype {} is one that Triton does not have", ir::name(dtype)));
  return type;
}

Result<TritonParameter> specialize(const TritonDeclaration& parameter, const TritonArgument& argument) {
  const Annotation annotation = read_annotation(parameter.annotation);
  if (annotation.constexpr_) return std::visit(Fold{parameter}, argument);
  return std::visit(Specialize{parameter, annotation}, argument);
}

}  // namespace passnet::pass
