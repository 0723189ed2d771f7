// Whole files and functions: signatures, statements, names.
#include "fx/syntax/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file/file.h"
#include "fx/print.h"
#include "fx/syntax/lexer.h"
#include "graph_text.h"
#include "tests/scratch.h"

namespace passnet::fx {
namespace {

TEST(Parser, ReadsAModelAsTorchPrintsIt) {
  const auto graph = parse_text(
      "import torch\n\nfrom torch import device\nclass GraphModule(torch.nn.Module):\n"
      "    def forward(self, L_x_ : torch.Tensor, L_w_ : torch.nn.parameter.Parameter):\n"
      "        l_x_ = L_x_\n        l_w_ = L_w_\n"
      "        add = l_x_ + l_w_;  l_x_ = l_w_ = None\n"
      "        relu = torch.nn.functional.relu(add, inplace = False);  add = None\n"
      "        return (relu,)\n        ");
  ASSERT_TRUE(graph) << to_string(graph.error());
  EXPECT_EQ(dump(graph), "add = l_x_ + l_w_\nrelu = torch.nn.functional.relu(add, inplace = False)\nreturn (relu,)\n");
  ASSERT_EQ(graph->placeholder_count(), 2u);
  EXPECT_EQ(graph->node(0).target, "L_x_");
  EXPECT_EQ(graph->node(0).name, "l_x_");
  EXPECT_EQ(graph->args(0)[0].string(), "torch.Tensor");
  EXPECT_EQ(graph->args(1)[0].string(), "torch.nn.parameter.Parameter");
  EXPECT_EQ(graph->output(), 4u);
}

TEST(Parser, NoWordOfPythonIsAName) {
  for (const char* word : {"False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
                           "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
                           "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
                           "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"})
    EXPECT_TRUE(is_keyword(word)) << word;
  for (const char* name : {"i", "print", "match", "case", "continued", "nonlocals", "Continue"})
    EXPECT_FALSE(is_keyword(name)) << name;
  EXPECT_THAT(dump_body("nonlocal = a\nreturn (a,)"),
              testing::HasSubstr("'nonlocal' is not part of the graph language"));
  EXPECT_THAT(dump(parse_text(model_text("continue", "return (continue,)"))),
              testing::HasSubstr("'continue' is not part of the graph language"));
}

TEST(Parser, NamesKeepTheTextAlive) {
  auto text = std::make_shared<const std::string>(model_text("a", "r = a.view(-1)\nreturn (r,)"));
  auto graph = parse_model("model.py", text);
  ASSERT_TRUE(graph);
  graph->source = nullptr;
  text.reset();
  EXPECT_EQ(graph->node(1).name, "r");
  EXPECT_EQ(graph->node(1).target, "view");
}

TEST(Parser, ReadsTheHeadersThatTorchFxWrites) {
  const std::string body = "    def forward(self, a):\n        return (F.relu(a),)\n";
  for (const char* init : {"", "    def __init__(self):\n        super().__init__()\n        self.w = [\n1]\n\n",
                           "    'A class.'\n    def __init__(self) -> None: super().__init__()\n"}) {
    const auto graph = parse_text(
        "import torch\nimport torch.fx._pytree as fx_pytree\nNoneType = type(None)\n"
        "F = torch.nn.functional\nfrom torch.nn import *\n"
        "class GraphModule(torch.nn.Module):\n" +
        std::string(init) + body);
    EXPECT_EQ(dump(graph), "relu = torch.nn.functional.relu(a)\nreturn (relu,)\n") << init;
  }
  const std::string start = "import torch\n@\nclass GraphModule(torch.nn.Module):\n" + body;
  const auto with = [&](const char* line) {
    std::string text = start;
    return dump(parse_text(text.replace(text.find('@'), 1, line)));
  };
  EXPECT_THAT(with("F = 3"), testing::HasSubstr("model.py:2:1: error: expected an import or 'class GraphModule"));
  EXPECT_THAT(with("F = type(a)"), testing::HasSubstr("model.py:2:1: error: expected an import or 'class GraphModule"));
  EXPECT_THAT(with("from torch import *"), testing::HasSubstr("found 'import *', expected the names"));
}

TEST(Parser, UnpacksIntoBrackets) {
  for (const char* text : {"(v, i) = torch.max(a, 1)", "[v, i] = torch.max(a, 1)", "v, (i) = torch.max(a, 1)",
                           "(\nv,\ni,\n) = torch.max(a, 1)"}) {
    EXPECT_EQ(dump_body(std::string(text) + "\nreturn (v, i)"),
              "max = torch.max(a, 1)\nv = max[0]\ni = max[1]\nreturn (v, i)\n")
        << text;
  }
  EXPECT_EQ(dump_body("(v, i), w = torch.max(a, 1), a\nreturn (v, i, w)"),
            "max = torch.max(a, 1)\nv = max[0]\ni = max[1]\nreturn (v, i, a)\n");
  EXPECT_EQ(dump_body("o, (h, d) = a.lstm()\nreturn (d,)"),
            "lstm = a.lstm()\no = lstm[0]\ngetitem = lstm[1]\nh = getitem[0]\nd = getitem[1]\nreturn (d,)\n");
  EXPECT_EQ(dump_body("(v,) = a.split(2)\nreturn (v,)"), "split = a.split(2)\nv = split[0]\nreturn (v,)\n");
  EXPECT_EQ(dump_body("(v) = a.relu()\nreturn (v,)"), "v = a.relu()\nreturn (v,)\n");
  EXPECT_EQ(dump_body("(a + a).relu_()\nreturn (a,)"), "add = a + a\nrelu_ = add.relu_()\nreturn (a,)\n");
  EXPECT_THAT(dump_body("(v, i) = (a, a, a)\nreturn (v,)"),
              testing::HasSubstr("cannot unpack: found 3 values, expected 2"));
  EXPECT_THAT(dump_body("v, *i = a.split(1)\nreturn (v,)"), testing::HasSubstr("expected a name, found '*'"));
  EXPECT_THAT(dump_body(std::string(5000, '(') + "v\nreturn (v,)"), testing::HasSubstr("error: "));
}

TEST(Parser, ReadsNamesOfLettersBeyondAscii) {
  EXPECT_EQ(dump_body("größe = a + 1\nα_1 = größe * 2\n变量 = α_1.relu()\nreturn (变量,)"),
            "größe = a + 1\nα_1 = größe * 2\n变量 = α_1.relu()\nreturn (变量,)\n");
  EXPECT_THAT(dump_body("b = a × 2\nreturn (b,)"),
              testing::HasSubstr("error: found '×' (U+00D7), which no name has here"));
  EXPECT_THAT(dump_body("b = a.pad(mode=“constant”)\nreturn (b,)"), testing::HasSubstr("found '“' (U+201C)"));
  // Python takes this for 'fi', and the accent for a part of the letter before it.
  EXPECT_THAT(dump_body("\xef\xac\x81 = a\nreturn (a,)"), testing::HasSubstr("(U+FB01)"));
  EXPECT_THAT(dump_body("x\xcc\x82 = a\nreturn (a,)"), testing::HasSubstr("(U+0302)"));
}

TEST(Parser, ParametersMayHaveTheNamesOfDevicesAndNumbers) {
  const std::string text =
      "import torch\nfrom torch import device\nclass GraphModule(torch.nn.Module):\n"
      "    def forward(self, device, inf):\n"
      "        z = torch.zeros(3, device=torch.device('cuda:0'))\n"
      "        y = device.clamp(-torch.inf, torch.inf)\n        return (y, inf + torch.nan, z)\n";
  const auto graph = parse_text(text);
  ASSERT_TRUE(graph) << to_string(graph.error());
  const std::string printed = print_model(*graph);
  EXPECT_THAT(printed, testing::HasSubstr("z = torch.zeros(3, device = torch.device(type=\"cuda\", index=0))"));
  EXPECT_THAT(printed, testing::HasSubstr("device.clamp(-torch.inf, torch.inf)"));
  EXPECT_THAT(printed, testing::HasSubstr("from torch import nan\n"));
  const auto again = parse_text(printed);
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(print_model(*again), printed);
}

TEST(Parser, OutOverwritesATensor) {
  EXPECT_EQ(dump_body("o = torch.empty(2)\nadd = torch.add(a, 1, out=o)\nreturn (o, add)"),
            "o = torch.empty(2)\nadd_1 = torch.add(a, 1)\nview_as = add_1.view_as(o)\nadd = o.copy_(view_as)\n"
            "return (o, add)\n");
  EXPECT_EQ(dump_body("torch.ops.aten.sum.IntList_out(a, [1], out=b)\nreturn (b,)"),
            "sum = torch.ops.aten.sum(a, [1])\nview_as = sum.view_as(b)\ncopy_ = b.copy_(view_as)\nreturn (b,)\n");
  EXPECT_EQ(dump_body("m = torch.max(a, 1, out=(a, b))\nreturn (m[1],)"),
            "max = torch.max(a, 1)\ngetitem = max[0]\nview_as = getitem.view_as(a)\ncopy_ = a.copy_(view_as)\n"
            "getitem_1 = max[1]\nview_as_1 = getitem_1.view_as(b)\ncopy__1 = b.copy_(view_as_1)\n"
            "getitem_2 = (copy_, copy__1)[1]\nreturn (getitem_2,)\n");
  EXPECT_EQ(dump_body("r = torch.add(a, 1, out=None)\nreturn (r,)"), "r = torch.add(a, 1, out = None)\nreturn (r,)\n");
  EXPECT_THAT(dump_body("torch.max(a, 1, out=(a, 3))\nreturn (a,)"),
              testing::HasSubstr("expected tensors after 'out='"));
}

TEST(Parser, FunctionsMayHaveOtherNames) {
  EXPECT_EQ(dump_body("f = torch.nn.functional\nr = f.relu\ny = r(a)\nreturn (torch.Tensor.view(y, -1),)"),
            "y = torch.nn.functional.relu(a)\nview = y.view(-1)\nreturn (view,)\n");
}

TEST(Parser, AcceptsWhatFormattersAndPeopleAdd) {
  const auto graph = parse_text(
      "\xef\xbb\xbf\"\"\"A file.\n\"\"\"\n# comment\nimport torch, math  # more\n\n\nclass "
      "GraphModule(torch.nn.Module):\n"
      "\t'''A class.'''\n\n\t# comment\n\tdef forward(\n        self,\n        a: torch.Tensor,  # first\n"
      "        b: \"f32[1, 2)\",\n    ) -> tuple[int, ...]:\n\t\t\"\"\"A\n    function.\"\"\"\n  # odd "
      "comment\n"
      "\t\tc: \"f32[2]\" = a + b\n\n\t\ta = (\n  b\n\t\t) = None\n\t\treturn (\n  c,\n\t\t)\n\n# end\n");
  EXPECT_EQ(dump(graph), "c = a + b\nreturn (c,)\n");
  EXPECT_EQ(graph->args(1)[0].string(), "\"f32[1, 2)\"");
}

TEST(Parser, LivenessStatementsAreCheckedAndDropped) {
  EXPECT_EQ(dump_body("r = a + b\na = (\n    b\n) = None\nreturn (r,)"), "r = a + b\nreturn (r,)\n");
  EXPECT_EQ(dump_body("r = a + b\na = None\nreturn (a,)"),
            "model.py:8:17: error: 'a' is used after it was set to None\n"
            "hint: a name set to None has ended its life; drop that statement or use the name before it");
  EXPECT_EQ(dump_body("zz = None\nreturn (a,)"),
            "model.py:6:9: error: name 'zz' is set to None but not defined before");
}

TEST(Parser, InPlaceOperatorIsNamedByTheAliasBehindIt) {
  EXPECT_EQ(dump_body("a += b\nz = a\na = None\nr = z * 2\nreturn (r,)"), "a += b; z = a\nr = z * 2\nreturn (r,)\n");
  EXPECT_EQ(dump_body("a *= b;  z = a;  a = b = None\nreturn (z,)"), "a *= b; z = a\nreturn (z,)\n");
}

TEST(Parser, AfterAnInPlaceOperatorTheNameMeansItsResult) {
  const ir::Graph graph = parse("a, b", "a += b\nr = a * 2\nreturn (r, a)");
  EXPECT_EQ(graph.node(2).name, "iadd");
  EXPECT_EQ(graph.args(3)[0].node, 2u);
  EXPECT_EQ(dump(graph), "a += b; iadd = a\nr = iadd * 2\nreturn (r, iadd)\n");
}

TEST(Parser, StoresAreNamedByTheAliasBehindThem) {
  EXPECT_EQ(dump_body("a[b] = 1\nsetitem = a\nb = setitem = None\nreturn (a,)"),
            "a[b] = 1; setitem = a\nreturn (a,)\n");
  EXPECT_EQ(dump_body("a[:, 0] = b + c\na[0] = 2\nreturn (a,)"),
            "add = b + c\na[(slice(None, None, None), 0)] = add; setitem = a\na[0] = 2; setitem_1 = "
            "a\nreturn (a,)\n");
  EXPECT_EQ(dump_body("a[0][1] = b\nreturn (a,)"), "getitem = a[0]\ngetitem[1] = b; setitem = getitem\nreturn (a,)\n");
}

TEST(Parser, AliasThatDoesNotFollowDirectlyOnlyMeansTheSameNode) {
  EXPECT_EQ(dump_body("a += b\nr = a * 2\nz = a\nreturn (z, r)"), "a += b; iadd = a\nr = iadd * 2\nreturn (iadd, r)\n");
}

TEST(Parser, MadeNamesAvoidAllNamesOfTheText) {
  EXPECT_EQ(dump_body("r = torch.relu(torch.relu(a))\nrelu = r + 1\nrelu_2 = relu + 1\nreturn relu_2"),
            "relu_1 = torch.relu(a)\nr = torch.relu(relu_1)\nrelu = r + 1\nrelu_2 = relu + 1\nreturn relu_2\n");
  EXPECT_EQ(dump_body("r = a.float().to(b.device)\nreturn r"),
            "float_1 = a.float()\ndevice_1 = b.device\nr = float_1.to(device_1)\nreturn r\n");
}

TEST(Parser, ReboundNamesGetFreshNodeNames) {
  EXPECT_EQ(dump_body("a = a + b\na = torch.relu(a)\nr = a * c\nr = r + 1\nreturn (a, r)"),
            "a_1 = a + b\na_2 = torch.relu(a_1)\nr = a_2 * c\nr_1 = r + 1\nreturn (a_2, r_1)\n");
}

TEST(Parser, ReservedNamesAreNotGivenToNodes) {
  EXPECT_EQ(dump_body("device = a.device\nr = torch.zeros(2, device=device)\nreturn r"),
            "device_1 = a.device\nr = torch.zeros(2, device = device_1)\nreturn r\n");
}

TEST(Parser, OutputNodeHasItsOwnName) {
  const ir::Graph graph = parse("a", "output = a + 1\nreturn (output,)");
  EXPECT_EQ(graph.node(1).name, "output");
  EXPECT_EQ(graph.node(2).name, "output_1");
}

TEST(Parser, TupleTargetsUnpack) {
  EXPECT_EQ(dump_body("x, y = torch.split(a, 2)\nreturn x + y"),
            "split = torch.split(a, 2)\nx = split[0]\ny = split[1]\nadd = x + y\nreturn add\n");
  EXPECT_EQ(dump_body("x, y = a, b\nr = x - y\nreturn r"), "r = a - b\nreturn r\n");
  EXPECT_EQ(dump_body("x, y = (a, b, c)\nreturn x"), "model.py:6:14: error: cannot unpack: found 3 values, expected 2");
}

TEST(Parser, ReturnsTuplesValuesAndNothing) {
  EXPECT_EQ(dump_body("return (a, b,)"), "return (a, b)\n");
  EXPECT_EQ(dump_body("return a, b"), "return (a, b)\n");
  EXPECT_EQ(dump_body("return a,"), "return (a,)\n");
  EXPECT_EQ(dump_body("return a"), "return a\n");
  EXPECT_EQ(dump_body("return [a, (b, None)]"), "return [a, (b, None)]\n");
  EXPECT_EQ(dump_body("return"), "return None\n");
}

TEST(Parser, CallsMayStandAlone) {
  EXPECT_EQ(dump_body("torch._check(True)\n'comment'\na.add_(1)\nreturn a"),
            "_check = torch._check(True)\nadd_ = a.add_(1)\nreturn a\n");
}

TEST(Parser, FunctionsOfPassFiles) {
  EXPECT_EQ(dump_function("import torch\nimport torch.nn.functional as F\nfrom torch.nn import functional\n"
                          "from torch import nn as N, sigmoid\n\n"
                          "def pattern(x, y):\n    '''Doc'''\n    return F.relu(x + y), functional.gelu(x), "
                          "N.functional.silu(sigmoid(y))\n"),
            "add = x + y\nrelu = torch.nn.functional.relu(add)\ngelu = torch.nn.functional.gelu(x)\nsigmoid "
            "= torch.sigmoid(y)\n"
            "silu = torch.nn.functional.silu(sigmoid)\nreturn (relu, gelu, silu)\n");
  EXPECT_EQ(dump_function("def pattern(x): return torch.relu(x)"), "relu = torch.relu(x)\nreturn relu\n");
  EXPECT_EQ(dump_function("def pattern(x, w):\n  bias = None\n  shape = (768,)\n  eps = 1e-5\n"
                          "  return torch.nn.functional.layer_norm(x, shape, w, bias, eps)\n"),
            "layer_norm = torch.nn.functional.layer_norm(x, (768,), w, None, 1e-05)\nreturn layer_norm\n");
}

TEST(Parser, FunctionsEndWhereTheirTextEnds) {
  const std::string text =
      "x = '''\nfrom nowhere\n'''\ndef pattern(x):\n    return x.T  # tail\n\ndef other(y):\n    for\n";
  size_t end = 0;
  const auto graph = parse_function("pass.py", std::make_shared<const std::string>(text), text.find("def"), &end);
  ASSERT_TRUE(graph) << to_string(graph.error());
  EXPECT_EQ(text.substr(end), "\n\ndef other(y):\n    for\n");
}

TEST(Parser, ImportedModulesMayBeCalled) {
  EXPECT_EQ(dump(parse_text(
                model_text("a", "r = passnet.fused(0, a)\ns = r[0]\nreturn (s,)", "import torch\nimport passnet\n"))),
            "r = passnet.fused(0, a)\ns = r[0]\nreturn (s,)\n");
}

TEST(Parser, NodesAreNotCalledLikeImportedModules) {
  // Printed text says foo.bar(…), so no value may be called foo there.
  EXPECT_EQ(dump(parse_text(
                model_text("a", "foo = f.bar(a)\nr = f.baz(foo)\nreturn (r,)", "import torch\nimport foo as f\n"))),
            "foo_1 = foo.bar(a)\nr = foo.baz(foo_1)\nreturn (r,)\n");
}

TEST(Parser, LoadsADirectoryOrAFile) {
  const ScratchDirectory scratch;
  const std::filesystem::path& dir = scratch.path;
  ASSERT_TRUE(write_file(dir / "model.py", model_text("a", "return (a,)")));
  for (const auto& path : {dir, dir / "model.py"}) {
    const auto graph = load_model(path.string());
    ASSERT_TRUE(graph) << to_string(graph.error());
    EXPECT_EQ(graph->file, (dir / "model.py").string());
  }
  EXPECT_EQ(to_string(load_model((dir / "none").string()).error()),
            "error: '" + (dir / "none").string() + "' does not exist\nhint: give a graph directory or a model.py");
}

TEST(Parser, HostileSizesEndQuickly) {
  const std::string huge = model_text("a", "r = a + " + std::string(8 << 20, '9') + "\nreturn r");
  EXPECT_EQ(dump(parse_text(huge)), "model.py:6:17: error: integer '" + std::string(60, '9') +
                                        "…' (8388608 digits) is out of range, expected -2**63 to 2**63 - 1");
  const std::string real = model_text("a", "r = a + 0." + std::string(8 << 20, '9') + "\nreturn r");
  EXPECT_EQ(dump(parse_text(real)),
            "model.py:6:17: error: number is too long: found 8388610 digits, expected at most 4096");
  EXPECT_EQ(dump(parse_text(std::string((64 << 20) + 1, ' '))),
            "model.py:1:1: error: the text is too large: found 67108865 bytes, expected at most 67108864");
  const std::string open = model_text("a", "r = '" + std::string(8 << 20, 'x') + "\nreturn r");
  EXPECT_EQ(dump(parse_text(open)), "model.py:6:13: error: the string that begins here has no closing '");
}

TEST(Parser, TuplesUsedByNameCannotBlowUp) {
  EXPECT_EQ(dump_body("t = (a, b)\nu = (t, t)\nreturn a"),
            "model.py:7:9: error: name 'u' stands for a tuple that holds tuples\nhint: write it where it is used");
  std::string wide = "t = (";
  for (int i = 0; i < 1000; ++i) wide += "1, ";
  wide += ")\nr = torch.foo(";
  for (int i = 0; i < 100; ++i) wide += "t, ";
  EXPECT_NE(dump_body(wide + ")\nreturn r").find("error: tuples used by name hold too many elements: more than 65536"),
            std::string::npos);
}

}  // namespace
}  // namespace passnet::fx
