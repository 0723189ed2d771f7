#include "pass/source.h"

#include <gmock/gmock.h>

#include <fstream>

#include "base/file/file.h"
#include "fx/print.h"
#include "ir/tensor_type.h"
#include "pass/plan/library/builtins.h"
#include "pass/plan/plan.h"
#include "pass/plan/syntax/check.h"
#include "tests/bad_inputs.h"
#include "tests/paths.h"
#include "tests/scratch.h"

namespace passnet::pass {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

struct PassDirectory : ScratchDirectory {
  void write(const std::string& name, std::string_view text) const { std::ofstream(path / name) << text; }
};

constexpr char kPass[] = R"("""A pass."""
from __future__ import annotations
import torch
import triton.language as tl
from torch import (
    nn,
)

@triton.jit
def kernel(x, n, B: tl.constexpr):
    pass

def pattern(x, y):
    t = x + y
    return torch.relu(t), t

def replacement_args(x, y):
    return (x, y, "sum")

@torch.fx.wrap
def plan(x, y, route):
    out = torch.empty_like(x)
    kernel[1](out, n=4, B=2)
    return out, out

def replacement_func():
    return plan
)";

TEST(LoadPass, ReadsThePartsOfAPass) {
  const PassDirectory dir;
  dir.write("both.py", kPass);
  dir.write("both.cpp", "");
  dir.write("other.cu", "");
  auto pass = load_pass(dir.path / "both.py");
  ASSERT_TRUE(pass) << to_string(pass.error());
  EXPECT_EQ(pass->name, "both");
  EXPECT_EQ(pass->path, dir.path / "both.py");
  EXPECT_EQ(*pass->text, kPass);
  EXPECT_EQ(pass->pattern.placeholder_count(), 2u);
  EXPECT_EQ(pass->pattern.size(), 5u);
  EXPECT_EQ(pass->plan.entry, "plan");
  EXPECT_EQ(pass->cpu_source, dir.path / "both.cpp");
  EXPECT_EQ(pass->cuda_source, "");
  EXPECT_TRUE(pass->has_triton);
  const auto type = ir::contiguous(ir::DType::Float32, {4});
  auto evaluated = evaluate_plan(pass->plan, pass->name, {type, type}, 2, {});
  ASSERT_TRUE(evaluated) << to_string(evaluated.error());
  EXPECT_EQ(std::get<PlanResult>(*evaluated).list.launches.size(), 1u);
}

TEST(LoadPass, ReadsFilesWithByteOrderMarkAndWindowsLines) {
  const PassDirectory dir;
  std::string text = "\xef\xbb\xbf";
  for (const char* c = kPass; *c; ++c) text += *c == '\n' ? std::string("\r\n") : std::string(1, *c);
  dir.write("p.py", text);
  auto pass = load_pass(dir.path / "p.py");
  EXPECT_TRUE(pass) << to_string(pass.error());
}

TEST(LoadPass, SaysWhyAFileCannotBeRead) {
  auto pass = load_pass("/nonexistent/p.py");
  ASSERT_FALSE(pass);
  EXPECT_EQ(to_string(pass.error()), "error: cannot open '/nonexistent/p.py': No such file or directory");
}

/// The first block of docs/passes.md that begins with `first_line`.
std::string documented_block(const std::string& language, const std::string& first_line) {
  const std::string text = *read_file(tests::source_dir() / "docs/passes.md", FileKind::Lines);
  const std::string start = "```" + language + "\n";
  const size_t at = text.find(start + first_line);
  if (at == std::string::npos) return {};
  return text.substr(at + start.size(), text.find("```\n", at + start.size()) - at - start.size());
}

TEST(PassManual, ShowsAPassThatLoadsAndRuns) {
  const PassDirectory dir;
  dir.write("add_relu.py", documented_block("python", "# add_relu.py"));
  auto pass = load_pass(dir.path / "add_relu.py");
  ASSERT_TRUE(pass) << to_string(pass.error());
  const auto type = ir::contiguous(ir::DType::BFloat16, {40000});
  auto evaluated = evaluate_plan(pass->plan, pass->name, {type, type}, 1, {});
  ASSERT_TRUE(evaluated) << to_string(evaluated.error());
  const LaunchList& list = std::get<PlanResult>(*evaluated).list;
  ASSERT_EQ(list.launches.size(), 1u);
  EXPECT_THAT(list.launches[0].grid, ElementsAre(3));
  const std::string kernel = documented_block("cpp", "// add_relu.cpp");
  EXPECT_THAT(kernel, testing::HasSubstr("PASSNET_KERNEL " + list.launches[0].kernel + "("));
}

TEST(PassManual, NamesEverythingAPlanMayCall) {
  const std::string text = *read_file(tests::source_dir() / "docs/plan-language.md", FileKind::Lines);
  for (std::string_view name : function_names()) EXPECT_THAT(text, testing::HasSubstr("`" + std::string(name) + "("));
  for (std::string_view name : method_names()) EXPECT_THAT(text, testing::HasSubstr("`" + std::string(name) + "("));
}

TEST(LoadPass, GivesTheExactMessageForEveryBadPass) {
  const std::vector<BadInput> inputs = read_bad_inputs((tests::source_dir() / "tests/data/bad/passes.txt").string());
  ASSERT_GE(inputs.size(), 48u);
  for (const BadInput& input : inputs) {
    const PassDirectory dir;
    dir.write("pass.py", input.text);
    auto pass = load_pass(dir.path / "pass.py");
    if (pass) {
      ADD_FAILURE() << input.name << " loads, but should give:\n" << input.message;
      continue;
    }
    EXPECT_EQ(pass.error().kind, Error::Kind::BadPass) << input.name;
    std::string found = to_string(pass.error());
    if (const std::string prefix = dir.path.string() + "/"; found.starts_with(prefix)) found.erase(0, prefix.size());
    EXPECT_EQ(found, input.message) << input.name;
  }
}

/// The pattern of a pass, one statement per line.
std::string pattern_text(const Result<Pass>& pass) {
  if (!pass) return to_string(pass.error());
  std::string text;
  for (ir::NodeId id = 0; id < pass->pattern.size(); ++id)
    text += fmt::format("{}: {}\n", pass->pattern.locate(pass->pattern.node(id)).line,
                        fx::print_node(pass->pattern, pass->pattern.node(id)));
  return text;
}

// Most lines are texts of passes.
TEST(LoadPass, ReadsPatternsThatAreBuiltNodeByNode) {
  const PassDirectory dir;
  constexpr const char* kRest = R"(
def replacement_args(x, y):
    return (x, y)

def plan(x, y):
    out = torch.empty_like(x)
    k[(1,), 64](x, y, out)
    return out

def replacement_func():
    return plan
)";
  constexpr const char* kBuilder = R"(import torch, inspect
import operator as op
import torch.nn.functional as F

def build():
    g = torch.fx.Graph()
    x = g.placeholder("x")
    y = g.placeholder("y")
    sum = g.call_function(op.iadd, (x, y))
    view = g.call_method("view", args=(sum, 1, -1))
    out = g.call_function(F.silu, args=(view,), kwargs={"inplace": True})
    g.output((out,))
    made = torch.fx.GraphModule(torch.nn.Module(), g)
    made.__signature__ = inspect.Signature([inspect.Parameter("x", 1), inspect.Parameter("y", 1)])
    return made
)";
  dir.write("builder.py", kBuilder);
  dir.write("pass.py", std::string("import torch\nfrom builder import build\npattern = build()\n") + kRest);
  const auto pass = load_pass(dir.path / "pass.py");
  ASSERT_TRUE(pass) << to_string(pass.error());
  const std::string imported = pattern_text(pass);
  EXPECT_THAT(imported, testing::HasSubstr("view(1, -1)"));
  EXPECT_THAT(imported, testing::HasSubstr("silu"));
  EXPECT_THAT(imported, testing::HasSubstr("11: ")) << "where the node is built";
  Budget steps(kLoading);
  EXPECT_TRUE(check_names(*pass->plan.files, {}, steps));
  const ir::TensorType type = ir::contiguous(ir::DType::Float32, {4});
  EXPECT_TRUE(evaluate_plan(pass->plan, pass->name, {type, type}, 1, {}));

  const std::pair<const char*, const char*> others[] = {
      {"in a function of the file", "\npattern = build()\n"},
      {"by way of another name", "\nbuilt = build()\npattern = built\n"},
  };
  for (const auto& [what, last] : others) {
    dir.write("pass.py", std::string(kBuilder) + last + kRest);
    EXPECT_EQ(pattern_text(load_pass(dir.path / "pass.py")), imported) << what;
  }
  std::string named = kBuilder;
  named.replace(named.find("def build"), 9, "def pattern");
  dir.write("pass.py", named + "\npattern = pattern()\n" + kRest);
  EXPECT_EQ(pattern_text(load_pass(dir.path / "pass.py")), imported);
  dir.write("pass.py", std::string(R"(import sys, torch, operator
_fx = getattr(torch, "fx")
_Graph = _fx.Graph
_functional = sys.modules["torch.nn.functional"]
_relu = getattr(_functional, "relu")
_g = _Graph()
_x = _g.placeholder("x")
_y = _g.placeholder("y")
_sum = _g.call_function(operator.add, (_x, -2.5))
_sum = _g.call_function(operator.mul, (_sum, _y))
_out = _g.call_function(_relu, (_sum,))
_g.output(_out)
pattern = _fx.GraphModule(torch.nn.Module(), _g)
)") + kRest);
  EXPECT_THAT(pattern_text(load_pass(dir.path / "pass.py")), testing::HasSubstr("-2.5"));
}

TEST(LoadPass, SaysWhatAPatternBuiltNodeByNodeHoldsThatGraphsDoNot) {
  const PassDirectory dir;
  dir.write(
      "pass.py",
      "import inspect\ndef build():\n    import os\n    s = inspect.Signature([])\n    return s\npattern = build()\n");
  const auto empty = load_pass(dir.path / "pass.py");
  ASSERT_FALSE(empty);
  EXPECT_THAT(to_string(empty.error()),
              testing::HasSubstr("pass.py:4:17: error: a pattern built with torch.fx.Graph: the graph has no output"));
  const std::pair<const char*, const char*> cases[] = {
      {"node = g.call_module('layer', (x,))",
       ":5:14: error: a pattern built with torch.fx.Graph: found 'g.call_module()'"},
      {"node = g.call_function(make(), (x,))",
       ":5:28: error: a pattern built with torch.fx.Graph: the target of a node is no name of PyTorch or of operator"},
      {"node = g.call_function(torch.relu, x)",
       ":5:40: error: a pattern built with torch.fx.Graph: arguments that are no tuple"},
      {"node = g.call_function(torch.relu, ([i for i in x],))", "an argument that is neither a node nor a constant"},
  };
  for (const auto& [line, message] : cases) {
    dir.write("pass.py",
              std::string("import torch\ndef build():\n    g = torch.fx.Graph()\n    x = g.placeholder('x')\n    ") +
                  line +
                  "\n    g.output(node)\n    return torch.fx.GraphModule(torch.nn.Module(), g)\npattern = build()\n");
    const auto pass = load_pass(dir.path / "pass.py");
    ASSERT_FALSE(pass) << line;
    EXPECT_THAT(to_string(pass.error()), testing::HasSubstr(message));
  }
}

TEST(LoadPass, ImportsFilesBesideItInEveryWayThatPassesDo) {
  const PassDirectory dir;
  dir.write("shared.py", R"(import torch
from other_file import SIZE
def dispatch(*args):
    route = args[-1]
    k[(SIZE,), 64](*args[:-1], torch.empty_like(args[0]))
    return args[0]
def replacement_func():
    return dispatch
def pattern(x):
    return torch.relu(x) * SIZE
_registry = {}
)");
  dir.write("other_file.py", "SIZE = 3\n");
  constexpr const char* kArguments = "\ndef replacement_args(x):\n    return (x, 'route')\n";
  const std::pair<const char*, const char*> forms[] = {
      {"from pass_dir.shared import pattern, dispatch", "return dispatch"},
      {"from shared import pattern, dispatch as d", "return d"},
      {"from shared import pattern as the_pattern, dispatch as d\npattern = the_pattern", "return d"},
      {"def pattern(x):\n    return x\nfrom shared import dispatch, pattern as p\npattern = p", "return dispatch"},
      {"from shared import pattern\nfrom pass_dir import shared as s", "return s.dispatch"},
      {"from .shared import pattern\nimport pass_dir.shared as s", "return s.replacement_func()"},
      {"from shared import pattern\nimport pass_dir.shared", "return pass_dir.shared.dispatch"},
      {"from shared import pattern\nimport importlib", "return importlib.import_module('pass_dir.shared').dispatch"},
      {"from shared import pattern\nimport os, sys\nsys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))",
       "from shared import dispatch\n    return dispatch"},
      {"from shared import pattern\nimport importlib.util, os, sys\n"
       "def _load(name):\n"
       "    if name in sys.modules:\n"
       "        return sys.modules[name]\n"
       "    spec = importlib.util.spec_from_file_location(name, os.path.join(os.path.dirname(__file__), 'shared.py'))\n"
       "    made = importlib.util.module_from_spec(spec)\n"
       "    spec.loader.exec_module(made)\n"
       "    sys.modules[name] = made\n"
       "    return made",
       "return _load('the_shared').dispatch"},
      {"from shared import pattern\ntry:\n    from no_such import dispatch\nexcept ImportError:\n    from shared "
       "import dispatch",
       "return dispatch"},
  };
  for (const auto& [imports, last] : forms) {
    dir.write("pass.py", std::string(imports) + kArguments + "def replacement_func():\n    " + last + "\n");
    const auto pass = load_pass(dir.path / "pass.py");
    ASSERT_TRUE(pass) << imports << "\n" << to_string(pass.error());
    EXPECT_EQ(pass->plan.entry, "dispatch") << imports;
    EXPECT_EQ(pass->pattern.size(), 4u) << imports;
    const auto evaluated = evaluate_plan(pass->plan, pass->name, {ir::contiguous(ir::DType::Float32, {4})}, 1, {});
    ASSERT_TRUE(evaluated) << imports << "\n" << to_string(evaluated.error());
    const Launch& launch = std::get<PlanResult>(*evaluated).list.launches.at(0);
    EXPECT_EQ(launch.grid, std::vector<int64_t>{3}) << imports;
    EXPECT_EQ(launch.at.file, (dir.path / "shared.py").string());
  }
}

TEST(LoadPass, SharesStateOnlyAmongTheFilesOfAnEvaluation) {
  const PassDirectory dir;
  dir.write("a.py", "import b\nSEEN = []\ndef count():\n    SEEN.append(b.LAST)\n    return len(SEEN)\n");
  dir.write("b.py", "import a\nLAST = 1\n");  // in a circle
  dir.write("pass.py", R"(import a
import torch
from b import a as again
def pattern(x):
    return torch.relu(x)
def replacement_args(x):
    return (x, a.count(), again.count())
def plan(x, first, second):
    k[1](x, first, second)
    return x
def replacement_func():
    return plan
)");
  const auto pass = load_pass(dir.path / "pass.py");
  ASSERT_TRUE(pass) << to_string(pass.error());
  for (int i = 0; i < 2; ++i) {
    const auto evaluated = evaluate_plan(pass->plan, "pass", {ir::contiguous(ir::DType::Float32, {4})}, 1, {});
    ASSERT_TRUE(evaluated) << to_string(evaluated.error());
    const Launch& launch = std::get<PlanResult>(*evaluated).list.launches.at(0);
    EXPECT_EQ(launch.args[1], LaunchArg(int64_t{1}));
    EXPECT_EQ(launch.args[2], LaunchArg(int64_t{2}));
  }
}

class ListPasses : public testing::Test {
 protected:
  std::string error_for(std::string_view list) {
    dir_.write("sorted_output_pass_rule_names.json", list);
    auto passes = list_passes(SourceFiles({dir_.path}), dir_.path);
    if (passes) return "no error";
    EXPECT_EQ(passes.error().kind, Error::Kind::BadInput);
    std::string text = to_string(passes.error());
    for (size_t at; (at = text.find(dir_.path.string())) != std::string::npos;) {
      text.replace(at, dir_.path.string().size(), "DIR");
    }
    return text;
  }
  PassDirectory dir_;
};

TEST_F(ListPasses, KeepsTheOrderOfTheList) {
  dir_.write("a.py", "");
  dir_.write("b.py", "");
  dir_.write("sorted_output_pass_rule_names.json", R"(["b", "a"])");
  auto passes = list_passes(SourceFiles({dir_.path}), dir_.path);
  ASSERT_TRUE(passes) << to_string(passes.error());
  EXPECT_THAT(*passes, ElementsAre(dir_.path / "b.py", dir_.path / "a.py"));
}

TEST_F(ListPasses, SaysWhatIsWrongWithTheList) {
  dir_.write("add_relu.py", "");
  const std::string at = "DIR/sorted_output_pass_rule_names.json";
  EXPECT_EQ(error_for("{\"a\": 1}"), at + ": error: found object, expected a list of pass names\n"
                                          "hint: write [\"Name\", …], in the order of application");
  EXPECT_EQ(error_for("[\"add_relu\", 3]"), at + ": error: entry 1: found '3', expected the name of a pass");
  EXPECT_EQ(error_for("[\"add_relu\", \"add_relu\"]"), at + ": error: pass 'add_relu' is listed twice");
  EXPECT_EQ(error_for("[\"../add_relu\"]"),
            at + ": error: entry 0: found '../add_relu', expected the name of a pass without directories");
  EXPECT_EQ(error_for("[\"add_rleu\"]"), at + ": error: pass 'add_rleu' is listed, but 'add_rleu.py' does "
                                              "not exist\nhint: did you mean 'add_relu'?");
  EXPECT_EQ(error_for("[\"softmax\"]"),
            at + ": error: pass 'softmax' is listed, but 'softmax.py' does not exist\nhint: DIR holds 1 pass file");
  EXPECT_TRUE(error_for("[\"add_relu\"").starts_with(at + ":1:12: error: not valid JSON: "));
}

TEST_F(ListPasses, SaysThatTheListIsMissing) {
  auto passes = list_passes(SourceFiles({dir_.path}), dir_.path);
  ASSERT_FALSE(passes);
  EXPECT_EQ(passes.error().kind, Error::Kind::BadInput);
  EXPECT_EQ(to_string(passes.error()),
            "error: the list of passes is missing: expected '" + dir_.path.string() +
                "/sorted_output_pass_rule_names.json'\n"
                "hint: write a JSON list of pass names into it, in the order of application");
}

/// A pass whose pattern and what stands above it are given.
std::string pass_text(const std::string& top, const std::string& pattern) {
  return "import torch\nimport torch.nn.functional as F\nimport operator\n" + top + pattern +
         "\ndef replacement_args(*args):\n    return args\ndef plan(*args):\n    return args[0]\n"
         "def replacement_func():\n    return plan\n";
}

TEST(LoadPass, PatternsUseOtherNamesOfFunctions) {
  const PassDirectory dir;
  for (const char* top :
       {"f = torch.relu\n", "_g = torch.relu\nf = _g\n", "f = F.relu\n", "f, g = torch.relu, torch.sigmoid\n",
        "f = getattr(torch, 'relu')\n", "nn = torch.nn\nf = nn.functional.relu\n", "f = torch.Tensor.relu\n",
        "f = operator.neg\n", "try:\n    f = F.relu\nexcept AttributeError:\n    f = None\n"}) {
    dir.write("p.py", pass_text(top, "def pattern(x):\n    return f(x)\n"));
    const auto pass = load_pass(dir.path / "p.py");
    ASSERT_TRUE(pass) << top << to_string(pass.error());
    EXPECT_EQ(pass->pattern.size(), 3u) << top;
  }
  dir.write("p.py", pass_text("o = torch.ops.aten\n", "def pattern(x):\n    return o.relu.default(x)\n"));
  EXPECT_TRUE(load_pass(dir.path / "p.py"));
  dir.write("shared.py", "import torch\nrelu_of = torch.relu\n");
  dir.write("p.py", pass_text("from shared import relu_of\n", "def pattern(x):\n    return relu_of(x)\n"));
  const auto imported = load_pass(dir.path / "p.py");
  ASSERT_TRUE(imported) << to_string(imported.error());
  EXPECT_EQ(imported->pattern.node(1).target, "torch.relu");
}

TEST(LoadPass, PatternsCallFunctionsThatCollectionsHold) {
  const PassDirectory dir;
  const auto node_of = [&](const std::string& top, const std::string& body) {
    dir.write("p.py", pass_text(top, "def pattern(x):\n    " + body + "\n"));
    const auto pass = load_pass(dir.path / "p.py");
    return pass ? std::string(pass->pattern.node(1).target) : pass.error().message;
  };
  const std::string dict = "f = {'relu': torch.relu, 1: F.gelu, 'more': [torch.tanh, {'a': F.silu}], 'eps': 0.5}\n";
  EXPECT_EQ(node_of(dict, "return f['relu'](x)"), "torch.relu");
  EXPECT_EQ(node_of(dict, "return f[1](x)"), "torch.nn.functional.gelu");
  EXPECT_EQ(node_of(dict, "return f['more'][-1]['a'](x)"), "torch.nn.functional.silu");
  EXPECT_EQ(node_of(dict, "g = f['more'][0]\n    return g(x)"), "torch.tanh");
  EXPECT_EQ(node_of(dict, "return x + f['eps']"), "+");
  EXPECT_EQ(node_of("f = (torch.relu, torch.sigmoid)\n", "return f[1](x)"), "torch.sigmoid");
  EXPECT_EQ(node_of("", "f = (torch.relu, torch.sigmoid)\n    return f[-1](x)"), "torch.sigmoid");
  EXPECT_EQ(node_of(dict, "return f['gelu'](x)"),
            "'f' has no such item, or none that the graph language has words for");
  EXPECT_EQ(node_of(dict, "return f"), "found all of 'f', expected one of its items");
}

TEST(LoadPass, PatternsCallLambdasOfTheFile) {
  const PassDirectory dir;
  const auto read = [&](const std::string& top, const std::string& value) {
    dir.write("p.py", pass_text(top, "def pattern(x, k):\n    return " + value + "\n"));
    const auto pass = load_pass(dir.path / "p.py");
    if (!pass) return pass.error().message;
    std::string targets;
    for (const auto& node : pass->pattern.nodes().subspan(2)) targets += std::string(node.target) + " ";
    return targets;
  };
  const std::string top =
      "k = 2\nf = lambda x: torch.relu(x * k)\ng = lambda a, b: f(a) + f(b)\nh = {'f': lambda x:\n x.tanh()}\n";
  EXPECT_EQ(read(top, "f(x) - k"), "* torch.relu - output ");
  EXPECT_EQ(read(top, "g(x, x.abs())"), "abs * torch.relu * torch.relu + output ");
  EXPECT_EQ(read(top, "h['f'](x).T + k"), "tanh T + output ");
  EXPECT_EQ(read(top, "f(x, k)"), "the lambda 'f' takes 1 arguments, found 2");
  EXPECT_EQ(read(top, "f(x=x)"), "found a keyword argument of a lambda, expected its position");
  EXPECT_EQ(read(top, "torch.add(x, f)"), "found the lambda 'f', expected a call of it");
  EXPECT_EQ(read("f = lambda x: x if x else 0\n", "f(x)"),
            "in the lambda 'f': expected the end of the lambda, found 'if'");
  EXPECT_EQ(read("f = lambda x: f(x)\n", "f(x)"),
            "in the lambda 'f': lambdas call too many others: at most 4096, 16 deep");
}

TEST(LoadPass, ParametersOfPatternsMayHaveAnyName) {
  const PassDirectory dir;
  for (const std::string name :
       {"device", "inf", "nan", "slice", "float", "math", "operator", "self", "passnet", "torch", "F"}) {
    dir.write("p.py", pass_text("", "def pattern(" + name + "):\n    return " + name + ".relu()\n"));
    const auto pass = load_pass(dir.path / "p.py");
    ASSERT_TRUE(pass) << name << to_string(pass.error());
    EXPECT_EQ(pass->pattern.placeholder_count(), 1u);
  }
}

TEST(LoadPass, AGraphThatIsBuiltOnceAndKeptIsAPattern) {
  const PassDirectory dir;
  dir.write("p.py",
            pass_text("_kept = None\n",
                      "def pattern(x):\n    global _kept\n    if _kept is None:\n        g = torch.fx.Graph()\n"
                      "        g.output(g.call_function(torch.relu, (g.placeholder('x'),)))\n"
                      "        _kept = torch.fx.GraphModule({}, g)\n    return _kept\npattern = pattern(None)\n"));
  const auto pass = load_pass(dir.path / "p.py");
  ASSERT_TRUE(pass) << to_string(pass.error());
  EXPECT_EQ(pass->pattern.placeholder_count(), 1u);
  EXPECT_EQ(pass->pattern.node(1).target, "torch.relu");
}

}  // namespace
}  // namespace passnet::pass
