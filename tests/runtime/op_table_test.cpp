// The operator table against libtorch: what its rows say is what the schemas of ATen say.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ir/ops/binding.h"
#include "runtime/lower/lower.h"
#include "runtime/plan/schema.h"

namespace passnet::runtime {
namespace {

/// The kind and target of "Tensor.view" or "torch.relu".
std::pair<ir::NodeKind, std::string> call_of(std::string_view spelling) {
  const bool method = spelling.starts_with("Tensor.");
  return {method ? ir::NodeKind::CallMethod : ir::NodeKind::CallFunction,
          std::string(method ? spelling.substr(7) : spelling)};
}

/// What a target stands for; nullopt where it is not run.
std::optional<Meaning> meaning_of(std::string_view spelling) {
  const auto [kind, target] = call_of(spelling);
  try {
    return resolve(kind, target);
  } catch (const LoweringError&) {
    return std::nullopt;
  }
}

std::string_view name_in_rows(std::string_view parameter) { return parameter == "self" ? "input" : parameter; }

/// Whether an overload has the row's parameters that may be given by position, in their order; those with a default may
/// be of another overload. A method's tensor, and the first operand of a function, may have any name.
bool fits(const ir::Binding& row, const Overload& overload, bool method) {
  size_t next = 0;
  for (const ir::Slot& slot : row.slots) {
    if (slot.fixed || slot.keyword_only || slot.variadic || slot.canonical == ir::Slot::kIgnored) continue;
    if (&slot == &row.slots.front() && method) continue;
    size_t place = 0;
    while (place < overload.parameters.size() &&
           ((method && place == overload.self) || name_in_rows(overload.parameters[place].name) != slot.call_name))
      ++place;
    const bool found = place < overload.parameters.size();
    if (!found && &slot == &row.slots.front() && !overload.parameters.empty()) continue;
    if (found ? place < next : slot.required) return false;
    if (found) next = place;
  }
  return true;
}

/// The parameters of an operator's overloads, for messages.
std::string parameters_of(std::string_view name) {
  std::string text;
  for (const Overload& overload : overloads(name)) {
    std::vector<std::string_view> names;
    for (const Parameter& parameter : overload.parameters) names.push_back(parameter.name);
    text += fmt::format(" ({})", fmt::join(names, ", "));
  }
  return text;
}

TEST(OpTable, RowsAgreeWithTheSchemasOfLibtorch) {
  size_t compared = 0;
  for (const std::string_view spelling : ir::op_table().targets()) {
    const std::optional<Meaning> meaning = meaning_of(spelling);
    if (!meaning || meaning->name.empty()) continue;
    const auto [node_kind, target] = call_of(spelling);
    const ir::NodeKind kind = node_kind;
    const bool agrees = std::ranges::any_of(ir::op_table().bindings(kind, target), [&](const ir::Binding& row) {
      return std::ranges::any_of(overloads(meaning->name), [&](const Overload& overload) {
        return fits(row, overload, kind == ir::NodeKind::CallMethod);
      });
    });
    EXPECT_TRUE(agrees) << spelling << " fits no overload of aten::" << meaning->name << ", which take"
                        << parameters_of(meaning->name);
    ++compared;
  }
  EXPECT_GE(compared, 700u);
}

/// Everything in a lowering is a parameter, a literal or an operator that ATen has with so many arguments.
void check_call(const ir::Binding& row, std::string_view text) {
  const size_t open = text.find('(');
  if (open == std::string_view::npos) {
    const bool parameter = std::ranges::any_of(row.slots, [&](const ir::Slot& slot) { return slot.call_name == text; });
    const bool literal = text == "True" || text == "False" || text == "None" || text.find_first_of("-0123456789'") == 0;
    EXPECT_TRUE(parameter || literal) << text << " in " << row.lowering;
    return;
  }
  const std::string_view name = text.substr(0, open);
  const auto arguments = ir::split_arguments(text.substr(open + 1, text.size() - open - 2));
  for (const std::string_view argument : arguments) check_call(row, argument);
  if (name == "bool" || name == "list") return;
  const auto all = overloads(name);
  EXPECT_TRUE(std::ranges::any_of(all, [&](const Overload& each) { return each.positional >= arguments.size(); }))
      << name << " in " << row.lowering;
}

TEST(OpTable, LoweringsCallOperatorsOfAten) {
  std::set<std::string_view> seen;
  for (const std::string_view spelling : ir::op_table().targets()) {
    const auto [kind, target] = call_of(spelling);
    for (const ir::Binding& row : ir::op_table().bindings(kind, target)) {
      if (row.lowering.empty() || !seen.insert(row.lowering).second) continue;
      check_call(row, row.lowering);
      const std::optional<Meaning> meaning = meaning_of(spelling);
      ASSERT_TRUE(meaning) << spelling;
      EXPECT_EQ(meaning->lowering.call, row.lowering) << spelling;
    }
  }
  EXPECT_GE(seen.size(), 25u);
}

}  // namespace
}  // namespace passnet::runtime
