#include "fx/print.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "graph_text.h"

namespace passnet::fx {
namespace {

TEST(Print, WholeModel) {
  const auto graph =
      parse_text(model_text("L_x_: torch.Tensor, L_y_",
                            "x = L_x_\nt = x.to(device(type='cpu')); t = None\nx += L_y_\nz = x\nx = None\n"
                            "z[0] = inf\nsetitem = z\nr = torch.cat((z,), dim=-1)\nreturn (r,)"));
  ASSERT_TRUE(graph) << to_string(graph.error());
  EXPECT_EQ(print_model(*graph),
            "import torch\n"
            "from torch import device, inf\n"
            "\n\n"
            "class GraphModule(torch.nn.Module):\n"
            "    def forward(self, L_x_: torch.Tensor, L_y_):\n"
            "        x = L_x_\n"
            "        t = x.to(device(type=\"cpu\"))\n"
            "        t = None\n"
            "        x += L_y_\n"
            "        z = x\n"
            "        x = L_y_ = None\n"
            "        z[0] = inf\n"
            "        setitem = z\n"
            "        setitem = None\n"
            "        r = torch.cat((z,), dim = -1)\n"
            "        z = None\n"
            "        return (r,)\n");
}

TEST(Print, ValueReadAfterItsInPlaceChangeKeepsItsName) {
  // `b` means the value of `a` as it was, so `a += 1` may not rebind `a` in the printed text.
  const auto graph = parse_text(model_text("a", "b = a + 0\nc = b\nb += 1\nr = c * b\nreturn (r,)", "import torch\n"));
  ASSERT_TRUE(graph) << to_string(graph.error());
  EXPECT_EQ(print_model(*graph),
            "import torch\nimport operator\n\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, a):\n"
            "        b = a + 0\n        a = None\n        iadd = operator.iadd(b, 1)\n        r = b * iadd\n       "
            " b = iadd = None\n"
            "        return (r,)\n");
}

TEST(Print, WhatSyntaxCannotSayIsAnOperatorCall) {
  ir::Graph graph;
  const ir::NodeId x = graph.add_placeholder("x", "x");
  const auto add = [&](std::string_view target, std::string_view name, std::initializer_list<ir::Arg> args) {
    graph.add_node(ir::NodeKind::Operator, target, name, {args.begin(), args.size()});
    return print_node(graph, graph.node(graph.size() - 1));
  };
  const ir::Arg node = ir::Arg::of_node(x), five = ir::Arg::of_int(5), minus = ir::Arg::of_int(-5);
  EXPECT_EQ(add("neg", "a", {five}), "a = operator.neg(5)");
  EXPECT_EQ(add("neg", "b", {node}), "b = -x");
  EXPECT_EQ(add("**", "c", {minus, node}), "c = (-5) ** x");
  EXPECT_EQ(add("+=", "d", {five, node}), "d = operator.iadd(5, x)");
  EXPECT_EQ(add("+", "e", {node}), "e = operator.add(x)");
  EXPECT_EQ(add("setitem", "f", {node, five, minus}), "x[5] = -5; f = x");
  EXPECT_EQ(add("getitem", "g", {five, node}), "g = (5)[x]");
  EXPECT_EQ(add("invert", "h", {minus}), "h = ~-5");
}

TEST(Print, FloatsAsPythonWritesThem) {
  EXPECT_EQ(print_float(0.0), "0.0");
  EXPECT_EQ(print_float(-0.0), "-0.0");
  EXPECT_EQ(print_float(1.0), "1.0");
  EXPECT_EQ(print_float(0.1), "0.1");
  EXPECT_EQ(print_float(1e-5), "1e-05");
  EXPECT_EQ(print_float(1.5e-7), "1.5e-07");
  EXPECT_EQ(print_float(0.0001), "0.0001");
  EXPECT_EQ(print_float(123456.789), "123456.789");
  EXPECT_EQ(print_float(1e15), "1000000000000000.0");
  EXPECT_EQ(print_float(1e16), "1e+16");
  EXPECT_EQ(print_float(1.25e300), "1.25e+300");
  EXPECT_EQ(print_float(-3.4028234663852886e38), "-3.4028234663852886e+38");
  EXPECT_EQ(print_float(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(print_float(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(print_float(std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(Print, StringsEscapeWhatTheyMust) { EXPECT_EQ(print_string("a\"b\\c\n\t\x01é"), "\"a\\\"b\\\\c\\n\\t\\x01é\""); }

RC_GTEST_PROP(Print, FloatsReadBackToTheSameBits, (uint64_t bits)) {
  const double value = std::bit_cast<double>(bits);
  RC_PRE(std::isfinite(value));
  const std::string text = print_float(value);
  double read = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), read);
  RC_ASSERT(status == std::errc{});
  RC_ASSERT(stop == text.data() + text.size());
  RC_ASSERT(std::bit_cast<uint64_t>(read) == bits);
}

}  // namespace
}  // namespace passnet::fx
