// What passes are written for a graph; that they compute the right thing is constructs_test.py.
#include "author/write.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rewrite/match.h"
#include "tests/author/example.h"

namespace passnet::author {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const std::string kType = R"({"dtype": "float32", "shape": [8, 4]})";

/// relu, sort, its values times 2.
Example around_a_sort() {
  return example("one", "x",
                 "        tmp_0 = torch.relu(x)\n        tmp_1 = torch.sort(tmp_0)\n        tmp_2 = tmp_1[0]\n"
                 "        tmp_3 = tmp_2 * 2.0\n        return (tmp_3,)\n",
                 {{"x", kType},
                  {"tmp_0", kType},
                  {"tmp_1", R"({"list": [)" + kType + R"(, {"dtype": "int64", "shape": [8, 4]}]})"},
                  {"tmp_2", kType},
                  {"tmp_3", kType}});
}

TEST(WritePasses, TellWhereEqualPartsStand) {
  const std::string list = R"({"list": [)" + kType + R"(, {"dtype": "int64", "shape": [8, 4]}]})";
  const Example twice =
      example("one", "x",
              "        tmp_0 = torch.relu(x)\n        tmp_1 = torch.sort(tmp_0)\n        tmp_2 = tmp_1[0]\n"
              "        tmp_3 = torch.relu(tmp_2)\n        return (tmp_3,)\n",
              {{"x", kType}, {"tmp_0", kType}, {"tmp_1", list}, {"tmp_2", kType}, {"tmp_3", kType}});
  const Authored authored = write_all({twice});
  ASSERT_THAT(authored.passes, SizeIs(1));
  EXPECT_THAT(authored.passes[0].places, ElementsAre(ElementsAre(1), ElementsAre(4)));
}

// Weights of 1x1 convolutions lie channels-last as they are; a copy of each took resnet50 0.4 ms more on an H200.
TEST(WritePasses, CopyNothingWherePyTorchDoesNot) {
  const auto conditions_of = [](const std::string& from, const std::string& to, const std::string& options) {
    const Authored made = write_all({example(
        "one", "x", "        y = x.contiguous(" + options + ")\n        return (y,)\n", {{"x", from}, {"y", to}})});
    return made.passes.empty() ? std::string() : made.passes[0].python.text;
  };
  const std::string in_order = R"({"dtype": "float32", "shape": [8, 4, 3, 3]})";
  const std::string last = R"({"dtype": "float32", "shape": [8, 4, 3, 3], "strides": [36, 1, 12, 4]})";
  EXPECT_THAT(conditions_of(in_order, last, "memory_format = torch.channels_last"),
              HasSubstr("not x.is_contiguous()\n            or x.shape[1] == 1 or x.shape[2] * x.shape[3] == 1):\n"
                        "        return NotImplemented\n"));
  EXPECT_THAT(conditions_of(last, in_order, ""), HasSubstr(" or x.is_contiguous():\n        return NotImplemented\n"));
}

TEST(WriteOptions, NameTheirPasses) {
  const Authored named = write_all({around_a_sort()}, {.name = "mine"}), unnamed = write_all({around_a_sort()});
  ASSERT_THAT(named.passes, SizeIs(2));
  EXPECT_EQ(named.passes[0].name, "mine");
  EXPECT_EQ(named.passes[1].name, "mine_2");
  EXPECT_EQ(unnamed.passes[0].name, "fused_relu");
  EXPECT_EQ(unnamed.passes[1].name, "fused_mul");
}

TEST(WriteOptions, TakeOperatorsOfTheirRangeAlone) {
  const Authored made = write_all({around_a_sort()}, {.range = std::pair<size_t, size_t>{3, 4}});
  ASSERT_THAT(made.passes, SizeIs(1));
  EXPECT_EQ(made.passes[0].name, "fused_mul");
  ASSERT_THAT(made.left, SizeIs(3));
  EXPECT_EQ(made.left[0].why, "not in the range");
}

TEST(WithoutProducts, StillFusesWhatIsAroundThem) {
  const std::string square = R"({"dtype": "float32", "shape": [4, 4]})";
  const Example one = example("one", "x, w",
                              "        tmp_0 = torch.relu(x)\n        tmp_1 = tmp_0 * 2.0\n"
                              "        tmp_2 = tmp_1 @ w\n        tmp_3 = torch.sigmoid(tmp_2)\n"
                              "        tmp_4 = tmp_3 + 1.0\n        return (tmp_4,)\n",
                              {{"x", kType},
                               {"w", square},
                               {"tmp_0", kType},
                               {"tmp_1", kType},
                               {"tmp_2", kType},
                               {"tmp_3", kType},
                               {"tmp_4", kType}});
  const Authored plain = write_all({one}), without = write_all({one}, {.products = false});
  ASSERT_THAT(plain.passes, SizeIs(1));
  EXPECT_EQ(plain.passes[0].products, 1U);
  EXPECT_THAT(plain.left, IsEmpty());
  ASSERT_THAT(without.passes, SizeIs(2));
  for (const Written& pass : without.passes) {
    EXPECT_EQ(pass.products, 0U);
    EXPECT_THAT(pass.python.text, Not(HasSubstr("@")));
  }
  ASSERT_THAT(without.left, SizeIs(1));
  EXPECT_EQ(without.left[0].why, "a product, which this form leaves to PyTorch");
}

std::string tensor(const std::string& dtype, const std::string& shape) {
  return R"({"dtype": ")" + dtype + R"(", "shape": [)" + shape + "]}";
}

Example scaled(const std::string& name, const std::string& factor, const std::string& dtype, const std::string& shape) {
  const std::string type = tensor(dtype, shape);
  return example(name, "x",
                 "        tmp_0 = x * " + factor + "\n        tmp_1 = torch.relu(tmp_0)\n        return (tmp_1,)\n",
                 {{"x", type}, {"tmp_0", type}, {"tmp_1", type}});
}

TEST(WriteAll, MakesAConstantThatDiffersAnInputOfThePattern) {
  std::vector<Example> examples = {scaled("a", "0.5", "float32", "2, 3"), scaled("b", "0.25", "float16", "7, 1")};
  const Authored made = write_all(examples);
  ASSERT_THAT(made.passes, SizeIs(1));
  const std::string& python = made.passes[0].python.text;
  EXPECT_THAT(python, HasSubstr("def pattern(x, other):\n    tmp_0 = x * other\n"));
  const auto text = std::make_shared<const std::string>(python);
  const Result<ir::Graph> pattern = fx::parse_function("written.py", text, python.find("def pattern"), nullptr);
  ASSERT_TRUE(pattern.has_value());
  for (Example& graph : examples) EXPECT_THAT(rewrite::find_matches(*pattern, graph.graph)->matches, SizeIs(1));
}

TEST(WriteAll, GivesAGraphOfAnotherStructureItsOwnPass) {
  const std::string type = tensor("float32", "2, 3");
  const std::vector<Example> examples = {
      scaled("a", "0.5", "float32", "2, 3"),
      example("b", "x", "        tmp_0 = x + 1\n        return (tmp_0,)\n", {{"x", type}, {"tmp_0", type}})};
  const Subject subject = merge(examples);
  ASSERT_THAT(subject.others, SizeIs(1));
  EXPECT_EQ(subject.others[0], "b: 3 nodes, expected 4 as in a");
  EXPECT_THAT(write_all(examples).passes, SizeIs(2));
}

TEST(WriteAll, AsksThePassFirstThatTakesMost) {
  const Example longer =
      example("two", "x", "        tmp_0 = x * 2.0\n        tmp_1 = torch.relu(tmp_0)\n        return (tmp_1,)\n",
              {{"x", kType}, {"tmp_0", kType}, {"tmp_1", kType}});
  const Authored made = write_all({around_a_sort(), longer});
  ASSERT_THAT(made.passes, SizeIs(3));
  EXPECT_EQ(made.passes[0].name, "mul_relu");
  EXPECT_EQ(made.passes[1].name, "fused_relu");
  EXPECT_EQ(made.passes[2].name, "fused_mul");
}

TEST(WriteAll, StoresAnotherShapeInPlaceOfAValueThatNobodyElseLooksAt) {
  const std::string flat = R"({"dtype": "float32", "shape": [32]})";
  const auto written = [&](const std::string& results) {
    return write_all({example("one", "x",
                              "        tmp_0 = x * 2.0\n        tmp_1 = tmp_0.view(-1)\n"
                              "        tmp_2 = torch.softmax(tmp_1, 0)\n        return (" +
                                  results + ",)\n",
                              {{"x", kType}, {"tmp_0", kType}, {"tmp_1", flat}, {"tmp_2", flat}})});
  };
  const Authored made = written("tmp_1, tmp_2"), looked_at = written("tmp_0, tmp_1, tmp_2");
  ASSERT_THAT(made.passes, SizeIs(1));
  EXPECT_EQ(made.passes[0].kernels, 1);
  EXPECT_THAT(made.passes[0].python.text, HasSubstr("    tmp_1 = torch.empty((rows * width,), dtype=torch.float32)\n"));
  EXPECT_THAT(made.passes[0].python.text, Not(HasSubstr("torch.empty((rows, width)")));
  ASSERT_THAT(looked_at.passes, SizeIs(1));
  EXPECT_THAT(looked_at.passes[0].python.text, HasSubstr("torch.empty((rows, width)"));
}

/// Windows of side * side places put together to pictures, which is a view where the side is 1, and relu.
Example windows(const std::string& name, const std::string& side) {
  const bool is_view = side == "1";
  const auto type = [](const std::string& shape, const std::string& strides) {
    return R"({"dtype": "float32", "shape": [)" + shape + R"(], "strides": [)" + strides + "]}";
  };
  const std::string places = is_view ? "3" : "6";
  const std::string picture = type("2, 5, " + places + ", " + places, is_view ? "45, 1, 15, 5" : "180, 36, 6, 1");
  const std::string given =
      type("2, 3, 3, " + side + ", " + side + ", 5", is_view ? "45, 15, 5, 5, 5, 1" : "180, 60, 20, 10, 5, 1");
  return example(
      name, "x",
      "        tmp_0 = x * 2.0\n        tmp_1 = tmp_0.permute(0, 5, 1, 3, 2, 4)\n        tmp_2 = "
      "tmp_1.reshape(2, 5, " +
          places + ", " + places + ")\n        tmp_3 = torch.relu(tmp_2)\n        return (tmp_2, tmp_3)\n",
      {{"x", given},
       {"tmp_0", given},
       {"tmp_1", type("2, 5, 3, " + side + ", 3, " + side, is_view ? "45, 1, 15, 5, 5, 5" : "180, 1, 60, 10, 20, 5")},
       {"tmp_2", picture},
       {"tmp_3", picture}});
}

TEST(WriteAll, GivesGraphsWhoseValuesLieOtherwiseTheirOwnPass) {
  const Authored made = write_all({windows("a", "2"), windows("b", "1"), windows("c", "2")});
  ASSERT_THAT(made.passes, SizeIs(2));
  EXPECT_THAT(made.left, IsEmpty());
  const std::string &copies = made.passes[0].python.text, &views = made.passes[1].python.text;
  EXPECT_THAT(copies, HasSubstr("# mul and relu of a as 1 kernel.\n# Never stored, as one kernel alone needs it: "
                                "tmp_0.\n# Launches go from 2 to 1, "));
  EXPECT_THAT(copies, HasSubstr("    tmp_2 = torch.empty(("));
  EXPECT_THAT(copies, HasSubstr("size_2 <= 1"));
  EXPECT_THAT(views, HasSubstr(" of b as "));
  EXPECT_THAT(views, HasSubstr("    tmp_2 = tmp_1.reshape(2, 5, 3, 3)\n"));
}

TEST(WriteAll, NamesGroupsAsModelsDo) {
  const std::string x = R"({"dtype": "float32", "shape": [4, 8]})", row = R"({"dtype": "float32", "shape": [4, 1]})";
  const Authored made = write_all({example("one", "x, y, w",
                                           "        tmp_0 = x + y\n        tmp_1 = tmp_0.pow(2)\n"
                                           "        tmp_2 = tmp_1.mean(-1, keepdim = True)\n"
                                           "        tmp_3 = tmp_2 + 1e-05\n        tmp_4 = torch.rsqrt(tmp_3)\n"
                                           "        tmp_5 = tmp_0 * tmp_4\n        tmp_6 = w * tmp_5\n"
                                           "        return (tmp_6,)\n",
                                           {{"x", x},
                                            {"y", x},
                                            {"w", R"({"dtype": "float32", "shape": [8]})"},
                                            {"tmp_0", x},
                                            {"tmp_1", x},
                                            {"tmp_2", row},
                                            {"tmp_3", row},
                                            {"tmp_4", row},
                                            {"tmp_5", x},
                                            {"tmp_6", x}})});
  ASSERT_THAT(made.passes, SizeIs(1));
  EXPECT_EQ(made.passes[0].name, "add_rms_norm");
}

TEST(WriteAll, CallsValuesAsThePatternDoes) {
  const std::string half = R"({"dtype": "float16", "shape": [4, 8]})";
  const Authored made =
      write_all({example("one", "x, y",
                         "        tmp_0 = x * y\n        tmp_1 = tmp_0 - x\n"
                         "        tmp_2 = torch.nn.functional.silu(tmp_1)\n        return (tmp_2,)\n",
                         {{"x", half}, {"y", half}, {"tmp_0", half}, {"tmp_1", half}, {"tmp_2", half}})});
  ASSERT_THAT(made.passes, SizeIs(1));
  EXPECT_THAT(made.passes[0].cpp, HasSubstr("// Computes tmp_2 by way of tmp_0, tmp_1, which are never stored.\n"
                                            "// A task takes a run of elements, 16 lanes at a time.\n"));
  EXPECT_THAT(made.passes[0].cpp, HasSubstr("    const vec x_value = load(x + i, lanes);\n"
                                            "    const vec y_0_value = load(y_0 + i, lanes);\n"
                                            "    const vec tmp_0 = x_value * y_0_value;\n"
                                            "    const vec tmp_0_rounded = rounded<float16>(tmp_0);\n"
                                            "    const vec tmp_1 = tmp_0_rounded - x_value;\n"
                                            "    const vec tmp_1_rounded = rounded<float16>(tmp_1);\n"
                                            "    const vec tmp_2_value = silu(tmp_1_rounded);\n"
                                            "    store(tmp_2 + i, tmp_2_value, lanes);\n"));
  EXPECT_THAT(made.passes[0].cuda, HasSubstr("A thread takes PACK neighbours.\n"));
}

TEST(WriteAll, CallsNoValueAsKernelsCallTheirOwn) {
  const std::string type = R"({"dtype": "float32", "shape": [4, 8]})";
  const Authored made =
      write_all({example("one", "item, WIDTH",
                         "        first = item * WIDTH\n        struct_ = first + item\n"
                         "        chunk = torch.relu(struct_)\n        return (chunk,)\n",
                         {{"item", type}, {"WIDTH", type}, {"first", type}, {"struct_", type}, {"chunk", type}})});
  ASSERT_THAT(made.passes, SizeIs(1));
  EXPECT_THAT(made.passes[0].cpp, HasSubstr("(const float* item_0, const float* width_0, float* chunk_0) {\n"));
  EXPECT_THAT(made.passes[0].cpp, HasSubstr("const vec first_0 = multiply(item_0_value, width_0_value);\n"));
}

TEST(WriteAll, TakesLanesOfACpuAlongSeveralShortLoops) {
  const auto cpp_of = [](const std::string& width) {
    const std::string all = tensor("float32", "9, 4, 3, " + width);
    const Authored made =
        write_all({example("one", "x, y", "        tmp_0 = x + y\n        return (tmp_0,)\n",
                           {{"x", all}, {"y", tensor("float32", "9, 4, 1, " + width)}, {"tmp_0", all}})});
    return made.passes.at(0).cpp;
  };
  EXPECT_THAT(
      cpp_of("2"),
      HasSubstr("apart[lane] = to_float(y_0[(((i + lane) / WIDTH) / HEIGHT) * WIDTH + ((i + lane) % WIDTH)]);"));
  EXPECT_THAT(cpp_of("5"), Not(HasSubstr("lane]")));
}

TEST(WriteAll, AddsLongSumsUpInBlocks) {
  const auto sum_of_rows = [](const std::string& rows) {
    return write_all({example("a", "x", "        tmp_0 = x.sum(0)\n        return (tmp_0,)\n",
                              {{"x", tensor("float32", rows + ", 40")}, {"tmp_0", tensor("float32", "40")}})});
  };
  for (const std::string Written::*text : {&Written::cpp, &Written::cuda}) {
    EXPECT_THAT(sum_of_rows("300").passes.at(0).*text, HasSubstr("% block == block - 1 ||"));
    EXPECT_THAT(sum_of_rows("30").passes.at(0).*text, Not(HasSubstr("% block")));
  }
}

TEST(StoredOnce, ComputesWhatABatchSharesInAKernelOfItsOwn) {
  const auto gate_of = [](const std::string& batch, bool once) {
    const std::string whole = tensor("float32", batch + ", 8, 64"), one = tensor("float32", "8, 64");
    return write_all(
        {example("a", "x, y", "        tmp_0 = torch.sigmoid(y)\n        tmp_1 = x * tmp_0\n        return (tmp_1,)\n",
                 {{"x", whole}, {"y", one}, {"tmp_0", one}, {"tmp_1", whole}})},
        {.once = once});
  };
  EXPECT_EQ(gate_of("256", true).passes.at(0).kernels, 2);
  EXPECT_EQ(gate_of("256", false).passes.at(0).kernels, 1);
  EXPECT_EQ(gate_of("3", true).passes.at(0).kernels, 1) << "it is computed three times only";
  EXPECT_EQ(gate_of("3", true).passes.at(0).python.text, gate_of("3", false).passes.at(0).python.text);
  EXPECT_EQ(gate_of("16", true).passes.at(0).kernels, 1) << "of so few elements";
}

// The weights of a sum over branches: a softmax over these, which all pixels of a channel share.
TEST(StoredOnce, KeepsShortSumsThatManyElementsShareFromBeingRepeated) {
  const auto attention_over = [](const std::string& branches, bool once) {
    const std::string whole = tensor("float32", "2, " + branches + ", 16, 7, 7");
    const std::string one = tensor("float32", "2, " + branches + ", 16, 1, 1");
    return write_all({example("a", "x, y",
                              "        tmp_0 = torch.softmax(y, dim = 1)\n        tmp_1 = x * tmp_0\n"
                              "        tmp_2 = torch.sum(tmp_1, dim = 1)\n        return (tmp_2,)\n",
                              {{"x", whole},
                               {"y", one},
                               {"tmp_0", one},
                               {"tmp_1", whole},
                               {"tmp_2", tensor("float32", "2, 16, 7, 7")}})},
                     {.once = once})
        .passes.at(0)
        .kernels;
  };
  EXPECT_EQ(attention_over("2", false), 1);
  EXPECT_EQ(attention_over("2", true), 2);
  EXPECT_EQ(attention_over("5", false), 2) << "five steps take longer than to store them";
}

TEST(WriteAll, LeavesWhatOverwritesAValueThatIsLookedAtLater) {
  const std::string type = tensor("float32", "2, 3");
  const Authored made =
      write_all({example("a", "x",
                         "        tmp_0 = x * 2\n        tmp_1 = tmp_0[0]\n        tmp_0 += 1\n        "
                         "tmp_2 = tmp_0\n        tmp_3 = tmp_1 * 3\n        return (tmp_2, tmp_3)\n",
                         {{"x", type},
                          {"tmp_0", type},
                          {"tmp_1", tensor("float32", "3")},
                          {"tmp_2", type},
                          {"tmp_3", tensor("float32", "3")}})});
  EXPECT_THAT(made.left, Contains(Field(&NotWritten::why, "what it overwrites is looked at later")));
}

/// In graphs of float32 what is converted is what it was, in others it is not.
Authored converting(const std::string& statements, const std::string& results) {
  std::vector<Example> examples;
  for (const std::string dtype : {"float32", "float16"}) {
    const std::string type = tensor(dtype, "2, 3");
    examples.push_back(example(dtype, "x", statements + "        return (" + results + ")\n",
                               {{"x", type}, {"tmp_0", type}, {"tmp_1", tensor("float32", "2, 3")}, {"tmp_2", type}}));
  }
  return write_all(examples);
}

TEST(Conversions, LieWhereTheirOperandLiesWhenItHasTheType) {
  const Authored made = converting("        tmp_0 = x * 2\n        tmp_1 = tmp_0.float()\n", "tmp_1, tmp_0");
  ASSERT_THAT(made.passes, SizeIs(1));
  EXPECT_THAT(
      made.passes[0].python.text,
      HasSubstr(
          "    tmp_1 = tmp_0 if x.dtype == torch.float32 else torch.empty((rows, width), dtype=torch.float32)\n"));
  EXPECT_THAT(made.left, IsEmpty());
}

/// The texts of the passes that are for graphs of this type alone.
std::string only_of(const Authored& made, const std::string& dtype) {
  std::string texts;
  for (const Written& pass : made.passes) {
    if (pass.python.text.find(" or x.dtype != torch." + dtype + " or ") != std::string::npos) texts += pass.python.text;
  }
  return texts;
}

TEST(Conversions, AreLeftToPyTorchInGraphsWhereTheyMayBeAnInput) {
  const Authored made = converting("        tmp_0 = x * 2\n        tmp_1 = x.float()\n", "tmp_0, tmp_1");
  EXPECT_THAT(only_of(made, "float32"), AllOf(HasSubstr("x * 2"), Not(HasSubstr("float()"))));
  EXPECT_THAT(only_of(made, "float16"), HasSubstr("tmp_1 = torch.empty((rows, width), dtype=torch.float32)"));
  EXPECT_THAT(made.left, ElementsAre(AllOf(Field(&NotWritten::why, "it only moves what it is given"),
                                           Field(&NotWritten::graphs, ElementsAre("float32")))));
}

TEST(Conversions, AreLeftToPyTorchInGraphsWhereTheyMayBeAViewOfAResult) {
  const Authored made = converting(
      "        tmp_0 = x * 2\n        tmp_2 = tmp_0.reshape(2, 3)\n        tmp_1 = tmp_2.float()\n", "tmp_0, tmp_1");
  ASSERT_THAT(made.passes, SizeIs(2));
  EXPECT_THAT(only_of(made, "float16"), HasSubstr("tmp_1 = torch.empty((rows, width), dtype=torch.float32)"));
}

TEST(Conversions, AreLeftToPyTorchInGraphsWhereAnotherStandsBetween) {
  const Authored made = converting(
      "        tmp_0 = x * 2\n        tmp_1 = tmp_0.float()\n        tmp_2 = tmp_1.type_as(x)\n", "tmp_0, tmp_2");
  ASSERT_THAT(made.passes, SizeIs(2));
  EXPECT_THAT(only_of(made, "float16"), HasSubstr("tmp_2 = torch.empty((rows, width), dtype=torch.float16)"));
}

TEST(Conversions, ToATypeThatIsGivenAreThoseOfTheGraphsItIsGivenIn) {
  std::vector<Example> examples;
  for (const std::string dtype : {"float32", "float16"}) {
    const std::string to = "        tmp_0 = x.transpose(0, 1)\n        tmp_1 = tmp_0.to(torch." + dtype + ")\n";
    const auto view = [](const std::string& type) {
      return R"({"dtype": ")" + type + R"(", "shape": [3, 2], "strides": [1, 3]})";
    };
    examples.push_back(example(dtype, "x", to + "        return (tmp_1,)\n",
                               {{"x", tensor("float32", "2, 3")}, {"tmp_0", view("float32")}, {"tmp_1", view(dtype)}}));
  }
  const Authored made = write_all(examples);
  ASSERT_THAT(made.passes, SizeIs(1));
  EXPECT_THAT(made.passes[0].python.text, HasSubstr("    tmp_1 = tmp_0.to(torch.float16)\n"));
  EXPECT_THAT(made.left, Each(Field(&NotWritten::graphs, ElementsAre("float32"))));
}

Written product_and_sum(const std::string& dtype) {
  const std::string type = tensor(dtype, "20, 30");
  const Authored made = write_all({example("a", "x, y", "        t = x * y\n        u = t + x\n        return (u,)\n",
                                           {{"x", type}, {"y", type}, {"t", type}, {"u", type}})});
  return made.passes.at(0);
}

TEST(Products, AreRoundedBeforeAnotherOperatorAddsToThem) {
  for (const std::string& text : {product_and_sum("float32").cpp, product_and_sum("float32").cuda})
    EXPECT_THAT(text, HasSubstr("multiply("));
}

TEST(Products, AreRoundedByTheirConversionWhereTheyHave16Bits) {
  for (const std::string& text : {product_and_sum("float16").cpp, product_and_sum("float16").cuda})
    EXPECT_THAT(text, AllOf(HasSubstr("rounded<float16>("), Not(HasSubstr("multiply("))));
}

TEST(Conversions, HaveMemoryOfTheirOwnWhenNobodySeesTheirOperand) {
  const Authored made = converting("        tmp_0 = x * 2\n        tmp_1 = tmp_0.float()\n", "tmp_1,");
  ASSERT_THAT(made.passes, SizeIs(1));
  EXPECT_THAT(made.passes[0].python.text, Not(HasSubstr("tmp_0 if")));
}

}  // namespace
}  // namespace passnet::author
