#include "graphdir/inputs/constraints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "fx/graph_text.h"

namespace passnet::graphdir {
namespace {

constexpr const char* kHead = "from sympy import Symbol, Expr, Rel, Eq\n\nS0 = Symbol(\"S0\")\nS1 = Symbol(\"S1\")\n";

std::string file(const std::string& shapes, const std::string& relations = "",
                 const std::string& examples = "S0: 4, S1: 6") {
  return std::string(kHead) + "dynamic_dim_constraint_symbols = [S0, S1]\n" +
         "dynamic_dim_constraint_symbol2example_value = {" + examples + "}\n" + "dynamic_dim_constraint_relations = [" +
         relations + "]\n" + "dynamic_dim_constraint_input_shapes = [" + shapes + "]\n";
}

Constraints constraints_of(const std::string& text) {
  auto constraints = parse_constraints("constraints.py", text);
  if (!constraints) {
    ADD_FAILURE() << to_string(constraints.error());
    return {};
  }
  return *constraints;
}

std::string error_of(const std::string& text) {
  const auto constraints = parse_constraints("c.py", text);
  return constraints ? "no error" : to_string(constraints.error());
}

/// The only size of the only shape, printed, and its value with S0 = 4, S1 = 6.
std::string size(const std::string& text) {
  const Constraints constraints = constraints_of(file("([" + text + "], \"a\")"));
  if (constraints.inputs.empty()) return "nothing";
  const ShapeExpression& found = constraints.inputs[0].shape[0];
  const auto value = evaluate(found, constraints.examples);
  return print_shape(found, constraints.symbols) + " = " + (value ? std::to_string(*value) : "?");
}

TEST(Constraints, ReadsTheFormOfTheDataset) {
  const Constraints constraints = constraints_of(
      "from sympy import Symbol\n\nS0 = Symbol(\"S0\")\n\ndynamic_dim_constraint_symbols = [S0]\n\n"
      "dynamic_dim_constraint_symbol2example_value = {S0: 336}\n\ndynamic_dim_constraint_relations = []\n\n"
      "dynamic_dim_constraint_input_shapes = [\n    (\n        [2048, 2048],\n        \"L_w_\",\n    ),\n"
      "    ([1, 3, S0, S0], \"L_x_\"),\n]\n");
  EXPECT_THAT(constraints.symbols, ::testing::ElementsAre("S0"));
  EXPECT_THAT(constraints.examples, ::testing::ElementsAre(336));
  ASSERT_EQ(constraints.inputs.size(), 2u);
  EXPECT_EQ(constraints.inputs[1].name, "L_x_");
  EXPECT_EQ(constraints.inputs[1].at, (SourceLoc{"constraints.py", 16, 5}));
  EXPECT_EQ(signature(constraints), "[(1,3,S0,S0)]");
}

TEST(Constraints, EmptyTextIsNone) {
  for (const char* text : {"", "\n\n", "# nothing\n", "from sympy import Symbol\n"}) {
    const Constraints constraints = constraints_of(text);
    EXPECT_TRUE(constraints.symbols.empty() && constraints.inputs.empty());
    EXPECT_EQ(print_constraints(constraints), "");
    EXPECT_EQ(signature(constraints), "[]");
  }
}

TEST(Constraints, SizesAreIntegerExpressions) {
  EXPECT_EQ(size("7"), "7 = 7");
  EXPECT_EQ(size("S0"), "S0 = 4");
  EXPECT_EQ(size("S0*2+1"), "S0*2 + 1 = 9");
  EXPECT_EQ(size("2 * (S0 + S1)"), "2*(S0 + S1) = 20");
  EXPECT_EQ(size("S1 - (S0 - 1)"), "S1 - (S0 - 1) = 3");
  EXPECT_EQ(size("S1 - S0 - 1"), "S1 - S0 - 1 = 1");
  EXPECT_EQ(size("-S0**2 + 20"), "-S0**2 + 20 = 4");
  EXPECT_EQ(size("(-2)**S0"), "(-2)**S0 = 16");
  EXPECT_EQ(size("-2**S0 + 20"), "-2**S0 + 20 = 4");
  EXPECT_EQ(size("2**S0**2"), "2**S0**2 = 65536");
  EXPECT_EQ(size("S1 // S0 + S1 % S0"), "S1 // S0 + S1 % S0 = 3");
  EXPECT_EQ(size("Max(S0, S1) - Min(S0, S1)"), "Max(S0, S1) - Min(S0, S1) = 2");
  EXPECT_EQ(size("Mod(S1, S0)"), "S1 % S0 = 2");
  EXPECT_EQ(size("(0 - S1) // S0"), "(0 - S1) // S0 = -2");
  EXPECT_EQ(size("S0 // (S0 - 4)"), "S0 // (S0 - 4) = ?");
  EXPECT_EQ(size("9223372036854775807 + S0"), "9223372036854775807 + S0 = ?");
  EXPECT_EQ(size("10**100"), "10**100 = ?");
  EXPECT_EQ(size("-(2)"), "-(2) = -2");
}

TEST(Constraints, PrintedTextReadsBackEqual) {
  const Constraints constraints =
      constraints_of(file("([S0*2 + 1, 3], \"b\"), ([], \"a\")", "Eq(S0, S1 - 2), S0 > 1, S1 <= 2*S0, Ne(S0, 0)"));
  const std::string printed = print_constraints(constraints);
  EXPECT_TRUE(equal(constraints_of(printed), constraints)) << printed;
  EXPECT_EQ(print_constraints(constraints_of(printed)), printed);
  EXPECT_THAT(printed, ::testing::HasSubstr("= [Eq(S0, S1 - 2), S0 > 1, S1 <= 2*S0, Ne(S0, 0)]"));
}

ShapeExpression random_expression(uint64_t& seed, int depth) {
  const auto draw = [&](uint64_t limit) {
    return (seed = seed * 6364136223846793005u + 1442695040888963407u) >> 33 & (limit - 1);
  };
  using Kind = ShapeExpression::Kind;
  if (depth == 0 || draw(4) == 0)
    return draw(2) == 0 ? ShapeExpression{Kind::Symbol, static_cast<int64_t>(draw(2)), {}}
                        : ShapeExpression{Kind::Integer, static_cast<int64_t>(draw(16)) - 8, {}};
  constexpr Kind kKinds[] = {Kind::Negative,    Kind::Add,    Kind::Subtract, Kind::Multiply,
                             Kind::FloorDivide, Kind::Modulo, Kind::Power,    Kind::Max};
  ShapeExpression expression{kKinds[draw(8)], 0, {}};
  for (int i = expression.kind == Kind::Negative ? 1 : 2; i > 0; --i)
    expression.operands.push_back(random_expression(seed, depth - 1));
  return expression;
}

RC_GTEST_PROP(Constraints, EveryExpressionReadsBackEqual, (uint64_t seed)) {
  const std::vector<std::string> symbols{"S0", "S1"};
  const ShapeExpression expression = random_expression(seed, 5);
  const std::string text = print_shape(expression, symbols);
  const std::string name = "c.py";
  fx::Lexer lexer(name, text);
  const ShapeExpression again = read_shape_expression(lexer, symbols);
  if (lexer.failed()) RC_FAIL(to_string(lexer.take_error()) + "\n" + text);
  RC_ASSERT(lexer.at_end());
  if (!(again == expression)) RC_FAIL(text + "\n" + print_shape(again, symbols));
}

TEST(Constraints, SignatureIsSortedByPythonsTextAndHasNoBlanks) {
  // The example of the dataset's description: three inputs, one of them without a symbol more.
  EXPECT_EQ(signature(constraints_of(file("([S0, S1], \"a\"), ([S0, 1], \"b\"), ([768], \"w\"), ([S0, S1], \"c\")"))),
            "[(S0,1),(S0,S1),(S0,S1)]");
  EXPECT_EQ(signature(constraints_of(file("([S0], \"a\")"))), "[(S0,)]");
  // A blank sorts before ")": sorted with blanks, which then go.
  EXPECT_EQ(signature(constraints_of(file("([S0], \"a\"), ([S0, 80, S1], \"b\")"))), "[(S0,80,S1),(S0,)]");
  EXPECT_EQ(signature(constraints_of(file("([4, 6], \"a\")"))), "[]");
}

TEST(Constraints, RefusesWhatIsNoConstraint) {
  EXPECT_EQ(error_of(file("([S0/2], \"a\")")),
            "c.py:8:44: error: found '/', expected '//': sizes are ints, and so are their quotients");
  EXPECT_EQ(error_of(file("([S0], \"a\")", "S0 == S1")),
            "c.py:7:40: error: expected a relation: <, <=, >, >=, or Eq(a, b), found '=='\n"
            "hint: equality is written Eq(a, b) or Ne(a, b)");
}

ir::Graph graph() { return *fx::parse_text(fx::model_text("a, b", "r = a + b\nreturn (r,)")); }

std::string verify(const std::string& shapes, const std::string& relations = "") {
  TensorMeta a, b;
  a.name = "a", a.shape = {4, 6};
  b.name = "b", b.shape = {6};
  const TensorMeta* records[] = {&a, &b};
  const auto verified = verify_constraints(constraints_of(file(shapes, relations)), graph(), records);
  return verified ? "fits" : to_string(verified.error());
}

TEST(Constraints, AreComparedWithTheRecords) {
  EXPECT_EQ(verify("([S0, S1], \"a\"), ([S0 + 2], \"b\")", "S0 < S1, Eq(S1, 6)"), "fits");
  EXPECT_EQ(verify(""), "fits");
  EXPECT_EQ(verify("([S1, S1], \"a\"), ([6], \"b\")"),
            "constraints.py:8:40: error: argument 'a' has the shape [S1, S1] with S0 = 4, S1 = 6, expected "
            "[4, 6] as "
            "recorded");
  EXPECT_EQ(verify("([4, 6, 1], \"a\"), ([6], \"b\")"),
            "constraints.py:8:40: error: argument 'a' has the shape [4, 6, 1], expected [4, 6] as recorded");
  EXPECT_EQ(verify("([4, 6], \"a\"), ([6], \"bb\")"),
            "constraints.py:8:55: error: 'bb' is no argument of forward\nhint: did you mean 'b'?");
  EXPECT_EQ(verify("([4, 6], \"a\"), ([4, 6], \"a\")"), "constraints.py:8:55: error: argument 'a' has two shapes");
  EXPECT_EQ(verify("([4, 6], \"a\")"),
            "constraints.py: error: argument 'b' of forward has no shape\n"
            "hint: add it to 'dynamic_dim_constraint_input_shapes'");
  EXPECT_EQ(verify("([4, 6], \"a\"), ([6], \"b\")", "S0 > S1"),
            "constraints.py:7:37: error: the relation 'S0 > S1' does not hold with the example values 'S0 = "
            "4, S1 = 6'");
  EXPECT_EQ(verify("([4, 6], \"a\"), ([6], \"b\")", "S0 > S1 // 0"),
            "constraints.py:7:37: error: the relation 'S0 > S1 // 0' cannot be computed with the example "
            "values 'S0 = 4, "
            "S1 = 6'");
}

}  // namespace
}  // namespace passnet::graphdir
