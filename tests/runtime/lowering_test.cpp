// From a call as Python has it to a step that runs: operands, the choice of the overload, what the builder makes.
#include <ATen/ops/full.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "base/text/strings.h"
#include "ir/ops/aten.h"
#include "ir/ops/python_rows.h"
#include "ir/ops/signature.h"
#include "runtime/lower/lower.h"
#include "runtime/plan/builder.h"
#include "runtime/plan/schema.h"

namespace passnet::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Operand kTensor = Operand::in_slot(Kind::Tensor, 0);

/// The message of the LoweringError that `lower` throws.
template <class Lower>
std::string refusal_of(Lower&& lower) {
  try {
    lower();
  } catch (const LoweringError& refused) {
    return to_string(refused.error);
  }
  return "nothing was thrown";
}

TEST(DescribeCall, ShowsKindsAsPythonHasThem) {
  EXPECT_EQ(describe_call({kTensor, Operand::of_int(1)}, {{"dim", Operand::none()}}), "(tensor, int, dim=None)");
  EXPECT_EQ(describe_call({Operand::sequence(Kind::List, {kTensor, Operand::of_float(0.5)})}, {}), "([tensor, float])");
  Operand sizes = Operand::in_slot(Kind::List, 3);
  sizes.element = Kind::Int;
  EXPECT_EQ(describe_call({sizes, Operand::sequence(Kind::Tuple, {})}, {}), "(list of int, ())");
}

TEST(Overloads, AreThoseThatPythonCanCall) {
  EXPECT_FALSE(overloads("add").empty());
  EXPECT_TRUE(overloads("no_such_operator").empty());
  for (const Overload& overload : overloads("add")) EXPECT_NE(overload.handle.operator_name().overload_name, "out");
  const auto names = operator_names();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_TRUE(std::binary_search(names.begin(), names.end(), "relu"));
}

TEST(Rules, AreForCallsThatTheReaderLetsThrough) {
  for (const auto list : {functional_rules(), loss_rules(), pool_rules(), torch_rules(), method_rules(),
                          factory_rules(), tensor_rules(), symbolic_rules(), autocast_rules(), vmap_rules()}) {
    for (const Rule& rule : list) {
      for (const std::string_view target : split(rule.targets, ' ')) {
        const bool method = target.starts_with("Tensor.");
        const std::string spelling = target.starts_with("F.") ? "torch.nn.functional." + std::string(target.substr(2))
                                                              : std::string(method ? target.substr(7) : target);
        EXPECT_TRUE(ir::check_operator(method ? ir::NodeKind::CallMethod : ir::NodeKind::CallFunction, spelling))
            << target;
      }
    }
  }
}

TEST(Rules, AreThereForEachPythonSignature) {
  for (const ir::PythonRow& row : ir::kPythonRows) {
    for (const std::string_view target : split(row.spellings, ' ')) {
      const bool method = target.starts_with("Tensor.");
      const std::string spelling = target.starts_with("F.") ? "torch.nn.functional." + std::string(target.substr(2))
                                                            : std::string(method ? target.substr(7) : target);
      const Meaning meaning = resolve(method ? ir::NodeKind::CallMethod : ir::NodeKind::CallFunction, spelling);
      EXPECT_TRUE(meaning.name.empty()) << target;
    }
  }
}

TEST(ChooseOverload, TakesWhatFits) {
  const auto chosen = [](const char* name, const std::vector<Operand>& args) {
    return choose_overload(name, args, {}, {}).overload->handle.operator_name().overload_name;
  };
  EXPECT_EQ(chosen("add", {kTensor, kTensor}), "Tensor");
  EXPECT_EQ(chosen("sum", {kTensor}), "");
  EXPECT_EQ(chosen("sum", {kTensor, Operand::sequence(Kind::List, {Operand::of_int(1)})}), "dim_IntList");
  EXPECT_TRUE(fits("add", {kTensor, kTensor}, {}, false));
  EXPECT_FALSE(fits("add", {kTensor, Operand::of_string("x")}, {}, false));
}

TEST(ChooseOverload, MakesAListOfTheArgumentsOfAMethod) {
  const Binding binding =
      choose_overload("view", {kTensor, Operand::of_int(2), Operand::of_int(-1)}, {}, {.method = true});
  ASSERT_EQ(binding.varargs.size(), 1u);
  EXPECT_EQ(binding.varargs[0].elements.size(), 2u);
}

TEST(ChooseOverload, NamesTheCallThatFitsNowhere) {
  const std::string said = refusal_of([] { choose_overload("add", {kTensor, Operand::of_string("x")}, {}, {}); });
  EXPECT_THAT(said, HasSubstr("add"));
  EXPECT_THAT(said, HasSubstr("(tensor, str)"));
}

TEST(Bound, MatchesArgumentsToASignature) {
  const std::vector<ir::Slot> signature = ir::parse_signature("input, p=0.5, training=True");
  const Bound bound("f", signature, {kTensor, Operand::of_float(0.25)}, {{"training", Operand::of_bool(false)}});
  EXPECT_EQ(bound["input"].kind, Kind::Tensor);
  EXPECT_EQ(bound.real("p"), 0.25);
  EXPECT_FALSE(bound.flag("training"));
  EXPECT_TRUE(bound.has("p") && !bound.has("other"));
  const Bound defaults("f", signature, {kTensor}, {});
  EXPECT_EQ(defaults.real("p"), 0.5);
  EXPECT_TRUE(defaults.flag("training"));
}

TEST(Bound, SaysWhatDoesNotFit) {
  const std::vector<ir::Slot> signature = ir::parse_signature("input, p=0.5");
  const auto said = [&](const std::vector<Operand>& args, const std::vector<NamedOperand>& keywords) {
    return refusal_of([&] { Bound("f", signature, args, keywords); });
  };
  EXPECT_EQ(said({}, {}), "error: f() misses parameter 'input'");
  EXPECT_EQ(said({kTensor, kTensor, kTensor}, {}), "error: f() takes at most 2 positional arguments, found 3");
  EXPECT_EQ(said({kTensor}, {{"q", kTensor}}), "error: f() has no parameter 'q'\nhint: it takes: input, p=0.5");
  EXPECT_EQ(said({kTensor}, {{"input", kTensor}}), "error: f() got parameter 'input' twice");
}

/// A builder with x, a tensor of three -2, in slot 0; `run` runs its steps and gives an operand's value.
class Built : public testing::Test {
 protected:
  Built() : x_(Operand::in_slot(Kind::Tensor, builder_.new_slot(true))) {}
  c10::IValue run(const Operand& result) {
    std::vector<c10::IValue> slots = builder_.initial;
    slots[static_cast<size_t>(x_.slot)] = at::full({3}, -2.0);
    for (const auto& step : builder_.steps) step->run(slots.data());
    return result.slot < 0 ? result.value : slots[static_cast<size_t>(result.slot)];
  }
  double first(const Operand& result) { return run(result).toTensor()[0].item<double>(); }
  Operand lower(ir::NodeKind kind, const char* target, const std::vector<Operand>& args) {
    return lower_call(builder_, kind, target, args, {});
  }

  Builder builder_;
  const Operand x_;
};

TEST_F(Built, CallsRunInOrder) {
  const Operand positive = builder_.call("relu", {builder_.call("neg", {x_})});
  EXPECT_EQ(first(positive), 2.0);
  EXPECT_EQ(builder_.steps.size(), 2u);
  EXPECT_EQ(builder_.operator_calls, 2u);
  EXPECT_THAT(builder_.steps[0]->reads, ElementsAre(x_.slot));
  EXPECT_EQ(builder_.steps[1]->reads, builder_.steps[0]->writes);
}

TEST_F(Built, ConstantsAreThereBeforeTheFirstCall) {
  const Operand constant = builder_.constant_tensor(at::full({3}, 5.0));
  EXPECT_TRUE(builder_.persistent[static_cast<size_t>(constant.slot)]);
  EXPECT_EQ(first(builder_.call("add", {x_, constant})), 3.0);
}

TEST_F(Built, FunctionsOfLiteralsAreFolded) {
  const auto add = [](std::vector<c10::IValue>& in) { return c10::IValue(in[0].toInt() + in[1].toInt()); };
  const Operand sum = builder_.host(add, Kind::Int, {Operand::of_int(2), Operand::of_int(3)});
  EXPECT_TRUE(sum.is_constant());
  EXPECT_EQ(sum.value.toInt(), 5);
  EXPECT_TRUE(builder_.steps.empty());
}

TEST_F(Built, TargetsAreFoundByTheirKind) {
  EXPECT_EQ(first(lower(ir::NodeKind::CallFunction, "torch.nn.functional.relu", {x_})), 0.0);
  EXPECT_EQ(first(lower(ir::NodeKind::CallMethod, "abs", {x_})), 2.0);
  EXPECT_EQ(first(lower(ir::NodeKind::Operator, "*", {x_, x_})), 4.0);
  EXPECT_EQ(run(lower(ir::NodeKind::CallMethod, "size", {x_, Operand::of_int(0)})).toInt(), 3);
  EXPECT_EQ(lower(ir::NodeKind::Operator, "+", {Operand::of_int(2), Operand::of_int(3)}).value.toInt(), 5);
}

TEST_F(Built, NumbersOfAGraphDoNotDecideHowMuchMemoryLoweringTakes) {
  const auto said = [&](ir::NodeKind kind, const char* target, const std::vector<Operand>& args) -> std::string {
    try {
      lower(kind, target, args);
    } catch (const LoweringError& refused) {
      return refused.error.message;
    }
    return "";
  };
  const Operand pair = Operand::sequence(Kind::Tuple, {Operand::of_int(1), Operand::of_int(2)});
  EXPECT_EQ(said(ir::NodeKind::CallFunction, "torch.tensordot", {x_, x_, Operand::of_int(int64_t{1} << 60)}),
            "tensordot(): dims is 1152921504606846976, expected 0 to 64");
  EXPECT_EQ(said(ir::NodeKind::Operator, "*", {pair, Operand::of_int(1000000)}),
            "operator '*' makes a sequence of 2000000 elements, expected at most 65536");
  Operand sum = pair;
  for (int i = 0; i < 15; ++i) sum = lower(ir::NodeKind::Operator, "+", {sum, sum});
  EXPECT_EQ(said(ir::NodeKind::Operator, "+", {sum, sum}),
            "operator '+' makes a sequence of 131072 elements, expected at most 65536");
}

}  // namespace
}  // namespace passnet::runtime
