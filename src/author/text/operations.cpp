#include "author/text/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "fx/print.h"

namespace passnet::author {

namespace {

/// The end of what stands between brackets that open at `at`; commas that are its own.
struct Brackets {
  size_t end = 0;
  std::vector<size_t> commas;
};
Brackets brackets_at(std::string_view text, size_t at) {
  Brackets found;
  int depth = 0;
  for (size_t i = at; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ',' && depth == 1) found.commas.push_back(i);
    if (text[i] == ')' && --depth == 0) {
      found.end = i;
      break;
    }
  }
  return found;
}

}  // namespace

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

std::string choices(const std::string& text, bool vectors) {
  const size_t at = text.find("?(");
  if (at == std::string::npos) return text;
  const Brackets brackets = brackets_at(text, at + 1);
  const auto part = [&](size_t from, size_t to) { return choices(text.substr(from, to - from), vectors); };
  const std::string condition = part(at + 2, brackets.commas[0]);
  const std::string then = part(brackets.commas[0] + 2, brackets.commas[1]);
  const std::string otherwise = part(brackets.commas[1] + 2, brackets.end);
  const std::string made = vectors ? fmt::format("select({}, {}, {})", condition, then, otherwise)
                                   : fmt::format("({} ? {} : {})", condition, then, otherwise);
  return text.substr(0, at) + made + choices(text.substr(brackets.end + 1), vectors);
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

std::string combined(Fold fold, const std::string& a, const std::string& b, bool vectors) {
  switch (fold) {
    case Fold::Sum: return fmt::format("{} + {}", a, b);
    case Fold::Product: return fmt::format("{} * {}", a, b);
    case Fold::Largest: return choices(fmt::format("?(({0} > {1}) | ({0} != {0}), {0}, {1})", b, a), vectors);
    case Fold::Smallest: return choices(fmt::format("?(({0} < {1}) | ({0} != {0}), {0}, {1})", b, a), vectors);
    case Fold::Any: return fmt::format("{} || {}", a, b);
    case Fold::All: return fmt::format("{} && {}", a, b);
  }
  return {};
}

}  // namespace passnet::author
