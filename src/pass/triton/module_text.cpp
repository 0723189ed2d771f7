#include "pass/triton/module_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string_view>
#include <utility>

#include "base/text/strings.h"

namespace passnet::pass {

namespace {

using Range = std::pair<size_t, size_t>;

/// Decides, statement by statement, what of a file stays.
class Keeper {
 public:
  bool keeps(const Statement& statement) {
    const bool kept = statement.kind == StatementKind::Import || statement.kernel != nullptr || is_constant(statement);
    Names names;
    collect_assigned({statement}, names);
    for (const std::string_view name : names) kept ? void(left_out_.erase(name)) : void(left_out_.insert(name));
    return kept;
  }

 private:
  using Names = std::set<std::string_view>;

  bool is_constant(const Statement& statement) const {
    const auto is_name = [](const Expr* target) { return target->kind == ExprKind::Name; };
    return statement.kind == StatementKind::Assign && std::ranges::all_of(statement.targets, is_name) &&
           is_constant(*statement.value);
  }

  /// Triton can work the value out from what stays.
  bool is_constant(const Expr& expr) const {
    constexpr std::array<std::string_view, 8> kFunctions{"constexpr", "float", "int",  "bool",
                                                         "tuple",     "len",   "sqrt", "log2"};
    if (expr.kind == ExprKind::Lambda) return false;
    if (expr.kind == ExprKind::Name && left_out_.contains(expr.name)) return false;
    if (expr.kind == ExprKind::Call) {
      const std::string_view callee = expr.children[0]->name;
      if (std::ranges::find(kFunctions, callee) == kFunctions.end()) return false;
    }
    const auto holds = [this](const Expr* child) { return child == nullptr || is_constant(*child); };
    return std::ranges::all_of(expr.children, holds) &&
           std::ranges::all_of(expr.keywords, [&](const KeywordExpr& keyword) { return is_constant(*keyword.value); });
  }

  Names left_out_;  // what the file defines and Triton does not see
};

/// The bytes of the text that stay.
std::vector<Range> kept_ranges(const PlanProgram& file) {
  std::vector<Range> ranges;
  Keeper keeper;
  for (size_t i = 0; i < file.body.size(); ++i) {
    const Statement& statement = file.body[i];
    if (!keeper.keeps(statement)) continue;
    const size_t end = i + 1 < file.body.size() ? file.body[i + 1].offset : file.text->size();
    ranges.push_back(statement.kernel != nullptr ? Range(statement.kernel->begin, statement.kernel->end)
                                                 : Range(statement.offset, end));
  }
  return ranges;
}

}  // namespace

std::string triton_text(const PlanProgram& file) {
  std::string text = *file.text;
  const auto blank = [&](size_t from, size_t to) {
    for (size_t at = from; at < to; ++at) {
      if (text[at] != '\n') text[at] = ' ';
    }
  };
  size_t at = 0;
  for (const auto& [begin, end] : kept_ranges(file)) {
    blank(at, begin);
    at = end;
  }
  blank(at, text.size());
  return text;
}

namespace {

/// The name of a file as one of a module, which Python imports: "1x1-conv" is "_1x1_conv".
std::string module_name(const PlanFiles& files, const PlanProgram& file) {
  std::string name = file.name;
  if (is_identifier(name)) return name;
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 && (c & 0x80) == 0; };
  std::ranges::replace_if(
      name, [&](char c) { return !is_letter(c); }, '_');
  name.insert(0, "_");
  const auto is_taken = [&](const auto& other) { return other->name == name; };
  while (std::ranges::any_of(files.beside, is_taken)) name += "_";
  return name;
}

}  // namespace

std::vector<std::shared_ptr<const TritonModule>> triton_modules(const PlanFiles& files, const PlanProgram& first) {
  std::vector<std::shared_ptr<const TritonModule>> modules;
  const auto add = [&](const PlanProgram& file) {
    const auto text = std::make_shared<const std::string>(triton_text(file));
    const std::string name = module_name(files, file);
    modules.push_back(std::make_shared<const TritonModule>(TritonModule{"pass_dir." + name, file.file, text}));
    modules.push_back(std::make_shared<const TritonModule>(TritonModule{name, file.file, text}));
  };
  add(first);
  if (files.own.get() != &first) add(*files.own);
  for (const auto& beside : files.beside) {
    if (beside.get() != &first) add(*beside);
  }
  return modules;
}

}  // namespace passnet::pass
