#include "author/text/operations.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <limits>

#include "fx/print.h"

namespace passnet::author {

bool has_word(const std::string& text, const std::string& word) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    if ((at == 0 || !is_part(text[at - 1])) && (at + word.size() >= text.size() || !is_part(text[at + word.size()])))
      return true;
  }
  return false;
}

std::string sum_text(const std::vector<std::string>& parts) {
  std::string text = parts[0];
  for (size_t i = 1; i < parts.size(); ++i)
    text += parts[i].starts_with('-') ? " - " + parts[i].substr(1) : " + " + parts[i];
  return text;
}

std::string bare(const std::string& text) {
  if (!text.starts_with('(') || !text.ends_with(')')) return text;
  int depth = 0;
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return text;
  }
  return text.substr(1, text.size() - 2);
}

const char* type_name(Compute compute) {
  switch (compute) {
    case Compute::Float: return "float";
    case Compute::Double: return "double";
    case Compute::Int: return "int64_t";
    case Compute::Bool: return "bool";
  }
  return "";
}

std::string real_text(double value, Compute compute) {
  const char* suffix = compute == Compute::Float ? "f" : "";
  // Arithmetic that both compilers do at compile time: their names for these differ.
  if (std::isnan(value)) return fmt::format("(0.0{0} / 0.0{0})", suffix);
  const double largest =
      compute == Compute::Float ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  if (std::abs(value) > largest) return fmt::format("({}1.0{} / 0.0{})", value < 0 ? "-" : "", suffix, suffix);
  std::string text = fx::print_float(value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return value < 0 ? fmt::format("({}{})", text, suffix) : text + suffix;
}

std::string number_text(const Expr& number) {
  if (number.is_real()) return real_text(number.real(), number.compute);
  if (number.compute == Compute::Bool) return number.integer != 0 ? "true" : "false";
  return number.integer < 0 ? fmt::format("({})", number.integer) : fmt::format("{}", number.integer);
}

std::string neutral(Fold fold, Compute compute) {
  if (compute == Compute::Int && fold == Fold::Largest) return "(-9223372036854775807 - 1)";
  if (compute == Compute::Int && fold == Fold::Smallest) return "9223372036854775807";
  switch (fold) {
    case Fold::Sum: return compute == Compute::Float ? "0.0f" : "0";
    case Fold::Product: return "1";
    case Fold::Largest: return real_text(-std::numeric_limits<double>::infinity(), compute);
    case Fold::Smallest: return real_text(std::numeric_limits<double>::infinity(), compute);
    case Fold::Any: return "false";
    case Fold::All: return "true";
  }
  return {};
}

std::string combined(Fold fold, Compute compute, const std::string& a, const std::string& b, bool vectors) {
  using namespace formula;  // NOLINT: A + B
  const auto text = [&](const Formula& step) { return step.text({a, b}, {}, Target::Cpu, vectors); };
  const bool has_nan = compute == Compute::Float || compute == Compute::Double;
  switch (fold) {
    case Fold::Sum: return text(compute == Compute::Int ? (A + B).wrapping() : A + B);
    case Fold::Product: return text(A * B);
    case Fold::Largest: return text(has_nan ? choose((B > A) | (B != B), B, A) : choose(B > A, B, A));
    case Fold::Smallest: return text(has_nan ? choose((B < A) | (B != B), B, A) : choose(B < A, B, A));
    case Fold::Any: return fmt::format("{} || {}", a, b);
    case Fold::All: return fmt::format("{} && {}", a, b);
  }
  return {};
}

}  // namespace passnet::author
