// The operator table against libtorch: what its rows say is what the schemas of ATen say; and a new operator is one
// row.
#include <ATen/ops/ones.h>
#include <c10/core/InferenceMode.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "fx/print.h"
#include "fx/syntax/parser.h"
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

/// The message and hint with which a call of a function on numbers is refused.
std::string refusal(std::string_view target, size_t positional, const std::vector<std::string_view>& keywords) {
  Builder builder;
  std::vector<NamedOperand> named;
  for (const std::string_view keyword : keywords) named.push_back({keyword, Operand::of_int(1)});
  try {
    lower_call(builder, ir::NodeKind::CallFunction, target, std::vector<Operand>(positional, Operand::of_int(1)),
               named);
  } catch (const LoweringError& refused) {
    return refused.error.message + (refused.error.hint.empty() ? "" : "; " + refused.error.hint);
  }
  return "";
}

TEST(OpTable, RefusalsNameTheParameter) {
  EXPECT_EQ(refusal("torch.nn.functional.relu", 3, {}),
            "torch.nn.functional.relu() takes at most 2 positional arguments, found 3");
  EXPECT_EQ(
      refusal("torch.nn.functional.layer_norm", 2, {"epsilon"}),
      "torch.nn.functional.layer_norm() has no parameter 'epsilon'; it takes: input, normalized_shape, weight=None, "
      "bias=None, eps=1e-05");
  EXPECT_EQ(
      refusal("torch.nn.functional.normalize", 1, {"axis"}),
      "torch.nn.functional.normalize() has no parameter 'axis'; it takes: input, p=2.0, dim=1, eps=1e-12, out=None");
  EXPECT_EQ(refusal("torch.nn.functional.softmax", 1, {"input"}),
            "torch.nn.functional.softmax() got parameter 'input' twice");
  EXPECT_EQ(refusal("torch.nn.functional.layer_norm", 1, {}),
            "torch.nn.functional.layer_norm() misses parameter 'normalized_shape'");
}

// CONTRIBUTING.md, "A new operator": a row is all that it takes.
class NewOperator : public testing::Test {
 protected:
  static constexpr ir::OpRow kRows[] = {
      {"scaled_tile", "torch T ours.tiled", "input, *dims%repeat, scale=2.0", "library uniform",
       "mul(repeat(input, list(dims)), scale)"},
      {"scaled_tile", "ours.doubly_tiled", "input, *dims, !scale=2.0", "", "mul(repeat(input, list(dims)), 2.0)"},
  };
  const ir::OpTable table_{kRows};

  static ir::Graph parse(const std::string& body) {
    size_t end = 0;
    const auto text = std::make_shared<const std::string>("def f(x):\n    r = " + body + "\n    return r\n");
    auto graph = fx::parse_function("model.py", text, 0, &end);
    EXPECT_TRUE(graph) << to_string(graph.error());
    return std::move(*graph);
  }
};

TEST_F(NewOperator, HasOneCanonicalForm) {
  for (const char* spelling : {"x.scaled_tile(2, 3)", "torch.scaled_tile(x, 2, 3, scale=2)", "x.scaled_tile((2, 3))"}) {
    ir::Graph graph = parse(spelling);
    const auto call = ir::canonicalize(graph, graph.output() - 1, table_);
    ASSERT_TRUE(call) << to_string(call.error());
    EXPECT_EQ(call->name, "scaled_tile");
    std::string text;
    for (size_t i = 0; i < call->args.size(); ++i)
      text += fmt::format(" {}={}", call->names[i], fx::print_arg(graph, call->args[i]));
    EXPECT_EQ(text, " input=x dims=(2, 3) scale=2.0") << spelling;
  }
}

TEST_F(NewOperator, HasItsClassAndRoles) {
  const ir::Graph graph = parse("x.scaled_tile(2, 3)");
  const ir::OpSignature* signature = ir::find_signature(graph.node(graph.output() - 1), table_);
  ASSERT_NE(signature, nullptr);
  EXPECT_EQ(signature->kernel, ir::KernelClass::Library);
  EXPECT_TRUE(signature->uniform);
  EXPECT_EQ(signature->find("dims")->role, ir::Role::Repeat);
  EXPECT_EQ(signature->find("scale")->role, ir::Role::None);
}

TEST_F(NewOperator, RunsByItsLowering) {
  const c10::InferenceMode mode;
  Builder builder;
  const Operand x = builder.constant_tensor(at::ones({2}));
  const Operand twice = Operand::of_int(2), thrice = Operand::of_int(3);
  const auto run = [&](ir::NodeKind kind, std::string_view target, const std::vector<NamedOperand>& keywords) {
    const size_t first = builder.steps.size();
    const Operand made = apply(builder, resolve(kind, target, table_), kind, target, {x, twice, thrice}, keywords);
    for (size_t i = first; i < builder.steps.size(); ++i) builder.steps[i]->run(builder.initial.data());
    return builder.initial[static_cast<size_t>(made.slot)].toTensor();
  };
  const at::Tensor method = run(ir::NodeKind::CallMethod, "scaled_tile", {{"scale", Operand::of_float(5)}});
  EXPECT_EQ(method.sizes(), (std::vector<int64_t>{2, 6}));
  EXPECT_EQ(method.sum().item<double>(), 60);
  EXPECT_EQ(run(ir::NodeKind::CallFunction, "torch.scaled_tile", {}).sum().item<double>(), 24);
  EXPECT_EQ(run(ir::NodeKind::CallFunction, "ours.doubly_tiled", {}).sum().item<double>(), 24);
}

TEST_F(NewOperator, IsUnknownWithoutItsRow) {
  EXPECT_FALSE(meaning_of("torch.scaled_tile"));
  const ir::Graph graph = parse("x.scaled_tile(2, 3)");
  EXPECT_EQ(ir::find_signature(graph.node(graph.output() - 1)), nullptr);
}

}  // namespace
}  // namespace passnet::runtime
