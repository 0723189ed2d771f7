#include "author/text/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "author/loops/choice.h"
#include "fx/print.h"

namespace passnet::author {

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

std::string with_parts(std::string_view text, const std::vector<std::string>& parts) {
  std::string made;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '$')
      made += parts[static_cast<size_t>(text[++i] - '0')];
    else
      made += text[i];
  }
  return made;
}

std::string choices(std::string_view text, bool vectors) {
  const std::optional<Choice> choice = find_choice(text);
  if (!choice) return std::string(text);
  const std::string condition = choices(choice->condition, vectors), then = choices(choice->then, vectors),
                    otherwise = choices(choice->otherwise, vectors);
  const std::string made = vectors ? fmt::format("select({}, {}, {})", condition, then, otherwise)
                                   : fmt::format("({} ? {} : {})", condition, then, otherwise);
  return std::string(text.substr(0, choice->begin)) + made + choices(text.substr(choice->end), vectors);
}

std::string with_functions(const std::string& text, std::string_view prefix) {
  std::string named;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '#') {
      named += text[i];
      continue;
    }
    const size_t end = text.find('(', i);
    named += fmt::format("{}{}f", prefix, text.substr(i + 1, end - i - 1));
    i = end - 1;
  }
  return named;
}

bool divides_or_calls(std::string_view text) {
  const auto is_call = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 && c != 'f'; };
  return text.find('/') != std::string_view::npos || std::ranges::any_of(text, is_call);
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
  switch (fold) {
    case Fold::Sum: return with_parts(compute == Compute::Int ? wrapping("$0 + $1") : "$0 + $1", {a, b});
    case Fold::Product: return fmt::format("{} * {}", a, b);
    case Fold::Largest: return choices(fmt::format("?(({0} > {1}) | ({0} != {0}), {0}, {1})", b, a), vectors);
    case Fold::Smallest: return choices(fmt::format("?(({0} < {1}) | ({0} != {0}), {0}, {1})", b, a), vectors);
    case Fold::Any: return fmt::format("{} || {}", a, b);
    case Fold::All: return fmt::format("{} && {}", a, b);
  }
  return {};
}

}  // namespace passnet::author
