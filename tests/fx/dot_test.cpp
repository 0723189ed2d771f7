#include "fx/dot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph_text.h"

namespace passnet::fx {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Dot, DrawsNodesAndEdges) {
  const std::string dot =
      print_dot(parse("x", "a = torch.nn.functional.gelu(x, approximate='tanh')\nb = a.view(1, -1)\nreturn (b,)"), {});
  EXPECT_THAT(dot, ::testing::StartsWith("digraph model {\n  rankdir=TB;"));
  EXPECT_THAT(dot, HasSubstr("n0 [shape=ellipse, fillcolor=\"#cfe8cf\", label=\"x\""));
  EXPECT_THAT(dot, HasSubstr("n1 [shape=box, fillcolor=\"#d6e6f5\", label=\"gelu\\napproximate = \\\"tanh\\\"\""));
  EXPECT_THAT(dot, HasSubstr("label=\".view\\n1, -1\""));
  EXPECT_THAT(dot, HasSubstr("  n0 -> n1;\n"));
  EXPECT_THAT(dot, HasSubstr("label=\"output\"];\n  n2 -> n3;\n}\n"));
}

TEST(Dot, FoldsWeightsIntoWhatUsesThem) {
  const ir::Graph graph = parse("L_self_modules_conv1_modules_0_parameters_weight_: torch.nn.parameter.Parameter, x",
                                "r = torch.conv2d(x, L_self_modules_conv1_modules_0_parameters_weight_)\nreturn (r,)");
  const std::vector<std::string> shapes{"float32[8, 3, 1, 1]", "float32[1, 3, 4, 4]", "float32[1, 8, 4, 4]", ""};
  const std::string folded = print_dot(graph, shapes);
  EXPECT_THAT(folded, HasSubstr("label=\"conv2d\\nconv1.0.weight  float32[8, 3, 1, 1]\""));
  EXPECT_THAT(folded, HasSubstr("n1 -> n2 [label=\" float32[1, 3, 4, 4]\"];"));
  EXPECT_THAT(folded, Not(HasSubstr("n0 ")));
}

TEST(Dot, MarksWhatChangesItsArgument) {
  const std::string dot =
      print_dot(parse("x, y", "x += y\nz = x\nz.relu_()\nz[0] = y\nw = z.__eq__(y)\nreturn (z, w)"), {});
  const auto count = [&](std::string_view part) {
    size_t found = 0;
    for (size_t at = 0; (at = dot.find(part, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_EQ(count("#c0392b"), 3u);
}

TEST(Dot, EscapesAndShortensText) {
  const std::string dot = print_dot(parse("x", "r = torch.foo(x, \"quote \\\" back \\\\ line\\n\", '" +
                                                   std::string(70, 'a') + "\u00e4\u00e4\u00e4')\nreturn (r,)"),
                                    {});
  EXPECT_THAT(dot, HasSubstr(R"(label="foo\n\"quote \\\" back \\\\ line\\n\", \"aaaa)"));
  EXPECT_THAT(dot, HasSubstr("aaa…\""));
  EXPECT_THAT(dot, Not(HasSubstr("\u00e4")));
}

TEST(Dot, AManifoldArgumentIsOneEdge) {
  const std::string dot = print_dot(parse("x", "r = torch.cat([x, x, x], x)\nreturn (r,)"), {});
  EXPECT_EQ(dot.find("n0 -> n1"), dot.rfind("n0 -> n1"));
}

}  // namespace
}  // namespace passnet::fx
