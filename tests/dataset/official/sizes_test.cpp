#include <gtest/gtest.h>

#include "dataset/official/shape_rows.h"
#include "dataset/official/size_passes.h"
#include "dataset/shapes_fixture.h"

namespace passnet::dataset::official {
namespace {

ir::Values types_of(const ir::Graph& graph, const Shapes& shapes) {
  ir::Values types(graph.size());
  for (ir::NodeId id = 0; id < graph.size(); ++id) {
    const auto found = shapes.find(std::string(graph.node(id).name));
    if (found != shapes.end()) types[id].is = ir::contiguous(ir::DType::Float32, found->second);
  }
  return types;
}

// The body after one pass, which is told the sizes.
std::string after(const std::string& pass, const std::string& body, const Shapes& shapes,
                  std::vector<ChangingSize> sizes) {
  const ir::Graph graph = fx::parse("x, weight", body);
  const std::string passes[] = {pass};
  const auto sized = apply_size_passes(graph, types_of(graph, shapes), passes, sizes);
  if (!sized) return sized.error().message;
  return (sized->rewritten ? "" : "untouched: ") + fx::dump(sized->graph);
}

const std::vector<ChangingSize> kBatch{{1, {0}}}, kLength{{7, {1}}};

TEST(OfficialShapeRows, BelongToATableAndASignature) {
  const std::string nlp = "naive_nlp_sym_dim_reifier", cv = "naive_cv_sym_dim_reifier";
  EXPECT_EQ(shape_rows(nlp, "[(S0,1),(S0,S1),(S0,S1)]")[6], (std::vector<int64_t>{2, 1024}));
  EXPECT_EQ(shape_rows(nlp, "[(S0,S1)]")[1], (std::vector<int64_t>{1, 1024}));
  EXPECT_EQ(shape_rows(cv, "[(S0,3,S1,S1)]")[8], (std::vector<int64_t>{128, 384}));
  EXPECT_EQ(shape_rows(cv, "[(S0,3,S1,S2)]")[4], (std::vector<int64_t>{2, 512, 512}));
  EXPECT_TRUE(shape_rows(cv, "[(S0,S1)]").empty()) << "a signature of the other table";
  EXPECT_TRUE(shape_rows("", "[(S0,S1)]").empty());
  for (const char* signature : {"[(1,3,S0,S0)]", "[(S0,3,512,512)]", "[(S0,3,224,224)]", "[(S0,3,512,1024)]", "[(S0,)]",
                                "[(1,S0,3,S1,S1)]", "[(S0,),(S1,80,S2),(S1,)]", "[(S0,80,S1),(S0,)]", "[(S0,S1,S2)]",
                                "[(S0,S1,S1,384)]", "[(S0,S1),(S0,S1,2560)]", "[(S0,S1),(S0,S1,1024),(S0,S1,1024)]"})
    EXPECT_EQ(shape_rows(cv, signature).size(), 9u) << signature;
}

TEST(OfficialSizePasses, TakeTheFirstSizeFromTheBatchAndOthersFromOtherAxes) {
  EXPECT_EQ(after("naive_call_method_view_pass", "y = x.view(1, 7, 2, 4)\nreturn (y,)", {{"x", {1, 7, 8}}}, kBatch),
            "size = x.size(0)\nsize_1 = x.size(1)\nview = x.view(size, size_1, 2, 4)\nreturn (view,)\n");
  EXPECT_EQ(after("naive_call_method_reshape_pass", "y = x.reshape(8, 1, -1)\nreturn (y,)", {{"x", {1, 7, 8}}}, kBatch),
            "reshape = x.reshape(8, 1, -1)\nreturn (reshape,)\n")
      << "neither 8 in front nor a 1 behind it is taken, but the node is made anew";
  EXPECT_EQ(after("naive_call_method_view_pass", "y = x.view(1, 7, 2, 4)\nreturn (y,)", {{"x", {1, 7, 8}}}, kLength),
            "untouched: y = x.view(1, 7, 2, 4)\nreturn (y,)\n");
}

TEST(OfficialSizePasses, ExpandTakesSizesAtTheirPlace) {
  EXPECT_EQ(after("naive_call_method_expand_pass", "y = x.expand(1, 12, 7)\nreturn (y,)", {{"x", {1, 1, 7}}}, kBatch),
            "size = x.size(0)\nsize_1 = x.size(2)\nexpand = x.expand(size, 12, size_1)\nreturn (expand,)\n");
  EXPECT_EQ(after("batch_call_method_expand_pass", "y = x + 1\nz = y.expand(1, 3)\nreturn (z,)",
                  {{"x", {1, 3}}, {"y", {1, 3}}}, kBatch),
            "size = x.size(0)\ny = x + 1\nexpand = y.expand(size, 3)\nreturn (expand,)\n");
}

TEST(OfficialSizePasses, BatchAloneAndTuples) {
  EXPECT_EQ(after("batch_call_method_view_pass", "y = x.view(1, 7, 8)\nz = y.view(7, 8)\nreturn (z,)",
                  {{"x", {1, 56}}, {"y", {1, 7, 8}}}, kBatch),
            "size = x.size(0)\nview = x.view(size, 7, 8)\nz = view.view(7, 8)\nreturn (z,)\n");
  EXPECT_EQ(after("tuple_arg_call_method_view_pass", "y = x.view((1, 7, -1))\nreturn (y,)", {{"x", {1, 7, 8}}}, kBatch),
            "size = x.size(0)\nsize_1 = x.size(1)\nview = x.view((size, size_1, -1))\nreturn (view,)\n");
  EXPECT_EQ(after("batch_dim_restore_view_pass", "y = x.view(8, -1, 1)\nreturn (y,)", {{"x", {1, 8, 2, 2}}}, kBatch),
            "size = x.size(0)\nview = x.view(size, 8, -1, 1)\nreturn (view,)\n");
  EXPECT_EQ(after("batch_call_method_zeros_pass", "y = torch.zeros((1, 3), dtype = torch.bool)\nreturn (y,)",
                  {{"x", {1, 3}}}, kBatch),
            "size = x.size(0)\ny = torch.zeros((size, 3), dtype = torch.bool)\nreturn (y,)\n");
  EXPECT_EQ(after("batch_call_method_reshape_pass", "y = x.reshape((1, 21))\nreturn (y,)", {{"x", {1, 3, 7}}}, kBatch),
            "size = x.size(0)\nreshape = x.reshape((size, 21))\nreturn (reshape,)\n");
}

TEST(OfficialSizePasses, OtherSizesComeFromTheLatestValueThatHasThem) {
  const Shapes shapes{{"x", {1, 7}}, {"y", {1, 3, 7}}};
  const std::string y = "y = x[(slice(None, None, None), None)]\n";
  EXPECT_EQ(after("non_batch_call_function_arange_pass", y + "z = torch.arange(0, 7, dtype = torch.int64)\nreturn (z,)",
                  shapes, kLength),
            "y = x[(slice(None, None, None), None)]\nsize = y.size(2)\n"
            "arange = torch.arange(0, size, dtype = torch.int64)\nreturn (arange,)\n");
  EXPECT_EQ(
      after("non_batch_call_function_full_pass", "z = torch.full((7, 7), fill_value = 0)\nreturn (z,)", shapes,
            kLength),
      "size = x.size(1)\nsize_1 = x.size(1)\nfull = torch.full((size, size_1), fill_value = 0)\nreturn (full,)\n");
  EXPECT_EQ(after("non_batch_call_function_zeros_pass", "z = torch.zeros([3, 7])\nreturn (z,)", shapes, kLength),
            "size = x.size(1)\nzeros = torch.zeros((3, size))\nreturn (zeros,)\n");
  EXPECT_EQ(after("non_batch_call_method_expand_pass", "z = x.expand(-1, 7)\nreturn (z,)", shapes, kLength),
            "size = x.size(1)\nexpand = x.expand(-1, size)\nreturn (expand,)\n");
  EXPECT_EQ(
      after("non_batch_call_function_getitem_slice_pass",
            "z = x[(slice(None, None, None), slice(None, 7, None))]\nw = x[(0, slice(-7, None, None))]\nv = x[0]\n"
            "return (z, w, v)",
            shapes, kLength),
      "size = x.size(1)\ngetitem = x[(slice(None, None, None), slice(None, size, None))]\nsize_1 = x.size(1)\n"
      "neg = -size_1\ngetitem_1 = x[(0, slice(neg, None, None))]\nv = x[0]\nreturn (getitem, getitem_1, v)\n");
}

TEST(OfficialSizePasses, OneMoreThanASizeNeedsATriangle) {
  const Shapes shapes{{"x", {1, 7}}, {"y", {7, 8}}};
  EXPECT_EQ(
      after("non_batch_call_function_full_plus_one_pass",
            "y = torch.full((7, 8), fill_value = 0)\nz = torch.triu(y, diagonal = 1)\nreturn (z,)", shapes, kLength),
      "size = x.size(1)\nadd = size + 1\nfull = torch.full((7, add), fill_value = 0)\n"
      "z = torch.triu(full, diagonal = 1)\nreturn (z,)\n");
  const std::string range = "w = torch.arange(8)\nreturn (w,)";
  EXPECT_EQ(after("non_batch_call_function_arange_plus_one_pass", range, shapes, kLength),
            "untouched: w = torch.arange(8)\nreturn (w,)\n");
  EXPECT_EQ(after("non_batch_call_function_arange_plus_one_pass", "y = torch.relu(x)\nz = torch.triu(y)\n" + range,
                  shapes, kLength),
            "y = torch.relu(x)\nz = torch.triu(y)\nsize = x.size(1)\nadd = size + 1\narange = torch.arange(add)\n"
            "return (arange,)\n");
}

TEST(OfficialSizePasses, AViewMayMergeSizesOrTakeASquareRoot) {
  EXPECT_EQ(
      after("non_batch_call_method_view_pass", "y = x.view(1, 7, 32)\nreturn (y,)", {{"x", {1, 7, 4, 8}}}, kLength),
      "size = x.size(1)\nsize_1 = x.size(2)\nsize_2 = x.size(3)\nmul = size_1 * size_2\n"
      "view = x.view(1, size, mul)\nreturn (view,)\n");
  EXPECT_EQ(
      after("non_batch_call_method_view_pass", "y = x.view(1, 4, 4, 8)\nreturn (y,)", {{"x", {1, 16, 8}}}, kLength),
      "size = x.size(2)\nsize_1 = x.size(1)\npow_1 = size_1 ** 0.5\nint_1 = torch.sym_int(pow_1)\n"
      "view = x.view(1, int_1, int_1, size)\nreturn (view,)\n");
}

TEST(OfficialSizePasses, NumbersComeBackAndWhatIsNotKnownIsSaid) {
  const ir::Graph graph = fx::parse("x", "y = x.view(1, 7, 2, 4)\nz = torch.relu(y)\nreturn (z,)");
  const std::string passes[] = {"naive_call_method_view_pass"};
  const auto sized = apply_size_passes(graph, types_of(graph, {{"x", {1, 7, 8}}}), passes, kBatch);
  ASSERT_TRUE(sized) << to_string(sized.error());
  ir::Values values(sized->graph.size());
  values[1].is = int64_t{4};
  values[2].is = ir::Value::Unknown{"it depends\non data"};
  const NumberedGraph numbered = with_numbers(*sized, values);
  EXPECT_EQ(fx::dump(numbered.graph), "view = x.view(4, None, 2, 4)\nz = torch.relu(view)\nreturn (z,)\n");
  EXPECT_EQ(numbered.unknown, (std::vector<std::string>{"", "it depends", "", ""}));
}

TEST(OfficialSizePasses, ThatAreNotKnownAreRefused) {
  EXPECT_EQ(after("naive_call_method_viw_pass", "return (x,)", {}, kBatch),
            "graph_net.json names the unknown pass 'naive_call_method_viw_pass'");
}

TEST(OfficialSizePasses, SizesHaveTheAxesOfTheirSymbols) {
  const auto constraints = graphdir::parse_constraints(
      "c.py",
      "from sympy import Symbol\nS0 = Symbol(\"S0\")\nS1 = Symbol(\"S1\")\n"
      "dynamic_dim_constraint_symbols = [S0, S1]\ndynamic_dim_constraint_symbol2example_value = {S0: 1, S1: 7}\n"
      "dynamic_dim_constraint_relations = []\n"
      "dynamic_dim_constraint_input_shapes = [([S0, S1], \"a\"), ([S0, 3, S1], \"b\")]\n");
  ASSERT_TRUE(constraints) << to_string(constraints.error());
  const std::vector<ChangingSize> sizes = changing_sizes(*constraints);
  ASSERT_EQ(sizes.size(), 2u);
  EXPECT_EQ(sizes[0].axes, (std::vector<size_t>{0, 0}));
  EXPECT_EQ(sizes[1].captured, 7);
  EXPECT_EQ(sizes[1].axes, (std::vector<size_t>{1, 2}));
}

}  // namespace
}  // namespace passnet::dataset::official
