#include "selftest/mutate.h"

#include <regex>
#include <string_view>

#include "base/text/strings.h"

namespace passnet::selftest {

namespace {

/// What is replaced, and by what ($1: the first group). Operators stand between blanks, as clang-format writes them, so
/// that no template's brackets and no pointer's star is taken for one.
struct Rule {
  const char *name, *from, *to;
};
constexpr Rule kRules[] = {
    {"off by one", " < ", " <= "},
    {"off by one", " <= ", " < "},
    {"off by one", " > ", " >= "},
    {"other comparison", " < ", " > "},
    {"other comparison", " > ", " < "},
    {"other comparison", " == ", " != "},
    {"other operator", R"( \+ )", " - "},
    {"other operator", " - ", " + "},
    {"other operator", R"( \* )", " / "},
    {"other operator", " / ", " * "},
    {"other operator", R"( % )", " / "},
    {"no accumulation", R"( [+*]= )", " = "},
    {"other accumulation", R"( \+= )", " -= "},
    {"missing guard", R"(\bif \()", "if (true || ("},
    {"dead guard", R"(\bif \()", "if (false && ("},
    {"missing mask", R"(, lanes\))", ")"},
    {"other constant", R"(([^\w.'])(\d+)(?![\w.']))", "$1($2 + 1)"},
    {"other constant", R"(([^\w.'])(\d+)(?![\w.']))", "$1($2 - 1)"},
    {"other constant", R"((\d+\.\d*f?|\d+e-?\d+f?)(?![\w.]))", "($1 * 1.25f)"},
    {"other index", R"(\[(\w+)\])", "[$1 + 1]"},
    {"stale read", R"(\[(\w+)\])", "[0]"},
    {"swapped axis", R"(task_index\(0\))", "task_index(1)"},
    {"swapped axis", R"(task_index\(1\))", "task_index(0)"},
    {"dropped epilogue", R"(\b(relu|exp|rsqrt|sqrt|log|silu|gelu|gelu_tanh|tanh|sigmoid|hardswish|to_float)\()", "("},
    {"other function", R"(\bmax\()", "min("},
    {"other function", R"(\bmin\()", "max("},
    {"lower precision", R"(\bto_float\()", "passnet::rounded<passnet::bfloat16>("},
    {"other type", R"(\bfloat (\w+ =))", "int $1"},
    {"dropped sign", R"(([=(,] )-)", "$1"},
    {"dropped statement", R"(^(\s*)(store\(.*|\w+\[.*\] [+*]?= .*);$)", "$1;"},
};

/// Where code ends and a comment begins.
size_t code_end(std::string_view line) { return std::min(line.find("//"), line.size()); }

bool is_code(std::string_view line) {
  const std::string_view text = trim(line);
  return !text.empty() && !text.starts_with("#") && !text.starts_with("//");
}

}  // namespace

std::vector<Mutant> mutants_of(const std::string& source) {
  std::vector<Mutant> mutants;
  std::vector<std::regex> patterns;
  for (const Rule& rule : kRules) patterns.emplace_back(rule.from);
  uint32_t number = 0;
  size_t begin = 0;
  for (const std::string_view whole : split(source, '\n')) {
    ++number;
    const size_t start = std::exchange(begin, begin + whole.size() + 1);
    if (!is_code(whole)) continue;
    const std::string line(whole.substr(0, code_end(whole)));
    for (size_t rule = 0; rule < std::size(kRules); ++rule) {
      for (std::sregex_iterator match(line.begin(), line.end(), patterns[rule]), end; match != end; ++match) {
        std::string replaced = match->format(kRules[rule].to);
        std::string rest = match->suffix();
        // A guard's condition gets a bracket of its own, which ends where the guard's does.
        if (replaced.ends_with("((") || replaced.ends_with("|| (") || replaced.ends_with("&& (")) {
          int depth = 1;
          size_t at = 0;
          while (at < rest.size() && (depth += rest[at] == '(' ? 1 : rest[at] == ')' ? -1 : 0) > 0) ++at;
          if (at == rest.size()) continue;
          rest.insert(at, ")");
        }
        std::string after = line.substr(0, static_cast<size_t>(match->position())) + replaced + rest;
        Mutant mutant{kRules[rule].name, source, number, line, after};
        mutant.text.replace(start, line.size(), after);
        mutants.push_back(std::move(mutant));
      }
    }
  }
  return mutants;
}

}  // namespace passnet::selftest
