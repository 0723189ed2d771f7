// Plans end: what they visit, copy, move and search is counted, so that each ends by its steps, whatever it does.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "hostile_plans.h"
#include "pass/plan/library/builtins.h"
#include "plan_support.h"

namespace passnet::pass {
namespace {

using test::Evaluated;
using test::hostile_plans;
using test::plan_text;
using test::tensor;
using testing::HasSubstr;

constexpr Work kAll{"the plans of this graph take", 1'000'000'000, ""};
constexpr Work kFew{"the plans of this graph take", 60'000, ""};

std::string indented(std::string_view body) {
  std::string text = "    ";
  for (const char c : body) text += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return text + "\n";
}

Evaluated run(const std::string& body, Budget& steps, const std::string& top = "") {
  const auto plan = test::parse_plan(plan_text("x", indented(body) + "    return x\n", top));
  if (!plan) return plan.error();
  PlanOptions options;
  options.steps = &steps;
  return evaluate_plan(*plan, "P", {tensor({2, 3})}, 1, options);
}

// t, l: 1,000 numbers; d: 500 keys; s: 512 letters; p: 500 pairs; w: 400 times one tuple of 400
const std::string kSetUp = R"(t = tuple(range(1000))
l = list(t)
d = {i: i for i in range(500)}
s = 'a'
for i in range(9): s = s + s
p = [(i, i) for i in range(500)]
w = [tuple(range(100))] * 400
one = lambda *a: 1
)";

int64_t spent_by(const std::string& body) {
  Budget steps(kAll);
  const Evaluated evaluated = run(kSetUp + body, steps);
  EXPECT_TRUE(evaluated) << body << "\n" << to_string(evaluated.error());
  return steps.spent();
}

/// Steps of `code` beside those of the set-up; calls of builtins have a handful of their own.
int64_t steps_of(const std::string& code) {
  static const int64_t kOfSetUp = spent_by("pass");
  return spent_by(code) - kOfSetUp;
}

struct Charged {
  const char* name;
  std::vector<const char*> code;  // is called without a value that would be charged for
  int64_t least;                  // what it visits
};

// Functions are called by `map`, which puts what they give into a list, whatever its size.
const Charged kCharged[] = {
    {"max", {"map(max, (l,))"}, 1000},
    {"min", {"map(min, (l,))"}, 1000},
    {"sum", {"map(sum, (l,))"}, 1000},
    {"any", {"map(any, ([0] * 1000,))"}, 1000},
    {"all", {"map(all, ([1] * 1000,))"}, 1000},
    {"range", {"map(range, (1000,))"}, 1000},
    {"zip", {"map(lambda a: zip(a, a), (l,))"}, 2000},
    {"enumerate", {"map(enumerate, (l,))"}, 1000},
    {"reversed", {"map(reversed, (l,))"}, 1000},
    {"tuple", {"map(tuple, (l,))"}, 1000},
    {"list", {"map(list, (l,))", "map(list, (d,))"}, 500},
    {"dict", {"map(dict, (d,))", "map(dict, (p,))"}, 100'000},
    {"math.prod", {"import math\nmap(math.prod, ([1] * 1000,))"}, 1000},
    {"str", {"map(str, (p[:20],))"}, 60},
    {"repr", {"map(repr, (p[:20],))"}, 60},
    {"sorted", {"map(sorted, (l,))", "sorted(w, key=sum)"}, 1000},
    {"map", {"map(one, l)"}, 1000},
    {"filter", {"filter(one, l)"}, 1000},
    {"functools.reduce", {"import functools\nfunctools.reduce(one, l)"}, 1000},
    {"isinstance", {"isinstance('', (int,) * 1000)"}, 1000},
    {"torch.Size", {"map(torch.Size, (l,))"}, 1000},
    {"os.path.join", {"import os\nos.path.join(*(('/a',) * 1000))"}, 1000},
    {"triton.Config", {"map(triton.Config, ({f'K{i}': i for i in range(200)},))"}, 400},
    {"operator.add", {"import operator\nfunctools_add = operator.add\nfunctools_add(l, l)"}, 2000},
    {"operator.mul", {"import operator\nf = operator.mul\nf(l, 10)"}, 10'000},
    {"divmod", {"divmod(1e300, 7.0)"}, 64},
    {"startswith", {"s.startswith(('b',) * 1000)"}, 1000},
    {"endswith", {"s.endswith(('b',) * 1000)"}, 1000},
    {"split", {"s.split('ab')", "s.split()"}, 16},
    {"strip", {"s.strip(s)"}, 4000},
    {"replace", {"s.replace('aab', '')"}, 24},
    {"lower", {"s.lower()"}, 64},
    {"upper", {"s.upper()"}, 64},
    {"isdigit", {"s.isdigit()"}, 64},
    {"join", {"one(''.join([''] * 1000))"}, 1000},
    {"append", {"l.append(w)", "[].append(w)"}, 40'000},
    {"extend", {"[].extend(l)", "[].extend(w)"}, 1000},
    {"insert", {"l.insert(0, 1)"}, 1000},
    {"pop", {"l.pop(0)", "d.pop(499)"}, 500},
    {"reverse", {"l.reverse()"}, 1000},
    {"index", {"l.index(999)"}, 1000},
    {"count", {"l.count(1)", "w.count(w[0])"}, 1000},
    {"numel", {"([1] * 1000).numel()"}, 1000},
    {"copy", {"map(lambda a: one(a.copy()), (l,))", "d.copy()"}, 1000},
    {"setdefault", {"d.setdefault(499, 1)", "{w[0]: 1}.setdefault(w[0], 1)"}, 100},
    {"update", {"d.update(d)"}, 100'000},
    {"get", {"d.get(499)", "{w[0]: 1}.get(w[0])"}, 100},
    {"keys", {"d.keys()"}, 500},
    {"values", {"d.values()"}, 500},
    {"items", {"d.items()"}, 500},
};

// Functions that look at one value of limited size, or at the types and shapes of their arguments.
const std::set<std::string_view> kConstant{"len",
                                           "abs",
                                           "int",
                                           "float",
                                           "bool",
                                           "round",
                                           "pow",
                                           "math.sqrt",
                                           "math.log2",
                                           "math.log",
                                           "math.exp",
                                           "math.ceil",
                                           "math.floor",
                                           "math.log10",
                                           "math.pow",
                                           "triton.cdiv",
                                           "cdiv",
                                           "triton.next_power_of_2",
                                           "next_power_of_2",
                                           "bit_length",
                                           "is_integer",
                                           "clear",
                                           "print",
                                           "getattr",
                                           "hasattr",
                                           "setattr",
                                           "id",
                                           "type",
                                           "callable",
                                           "slice",
                                           "typing.cast",
                                           "functools.partial",
                                           "torch.fx.wrap",
                                           "tl.constexpr",
                                           "torch.numel",
                                           "torch.finfo",
                                           "os.path.dirname",
                                           "os.path.basename",
                                           "os.path.abspath",
                                           "os.path.realpath",
                                           "warnings.warn",
                                           "warnings.filterwarnings"};

bool is_constant(std::string_view name) {
  return kConstant.contains(name) || name.starts_with("torch.") || name.starts_with("importlib.") ||
         name.starts_with("types.");
}

TEST(PlanLimits, EveryFunctionAndMethodIsChargedForWhatItVisits) {
  std::set<std::string_view> known;
  for (const Charged& row : kCharged) {
    known.insert(row.name);
    for (const char* code : row.code) EXPECT_GE(steps_of(code), row.least) << row.name << ": " << code;
  }
  for (const std::string_view name : function_names())
    EXPECT_TRUE(known.contains(name) || is_constant(name)) << name << " is in neither table";
  for (const auto table : {string_methods(), list_methods(), dict_methods(), number_methods()}) {
    for (const Builtin& method : table)
      EXPECT_TRUE(known.contains(method.name) || is_constant(method.name)) << method.name << " is in neither table";
  }
}

TEST(PlanLimits, EveryOperatorIsChargedForWhatItVisits) {
  const std::pair<const char*, int64_t> rows[] = {
      {"one(t == tuple(range(1000)))", 1000},
      {"one(t != tuple(range(1000)))", 1000},
      {"one(t < tuple(range(1000)))", 1000},
      {"one(t >= tuple(range(1000)))", 1000},
      {"one(w == w)", 40'000},
      {"one(w[0] in w[:1])", 100},
      {"one(-1 in l)", 1000},
      {"one(-1 not in d)", 500},
      {"one(w[0] in {w[0]: 1})", 200},
      {"one('ab' in s)", 16},
      {"one(s == s + '')", 8},
      {"one(x is x)", 0},
      {"one(1e300 % 7.0)", 32},
      {"one(1e300 // 7.0)", 32},
      {"l[:] ", 2000},
      {"l[::-1]", 2000},
      {"s[::2]", 256},
      {"l[0] = w", 40'000},
      {"d[0] = w", 40'000},
      {"d[-1] = 1", 500},
      {"del d[499]", 500},
      {"l += l", 2000},
      {"[*l]", 1000},
      {"one(*l)", 1000},
      {"for a in l: pass", 1000},
      {"for a in s: pass", 512},
      {"for a in d: pass", 500},
      {"[a for a in l]", 1000},
      {"{a: 1 for a in range(500)}", 100'000},
      {"a, b = w[0][:2]", 2},
      {"f'{p[:20]}'", 60},
  };
  for (const auto& [code, least] : rows) {
    EXPECT_GE(steps_of(code), least) << code;
  }
}

TEST(PlanLimits, HostilePlansEndByTheirSteps) {
  const std::vector<std::string> plans = hostile_plans();
  EXPECT_GT(plans.size(), 60u);
  for (const std::string& body : plans) {
    EXPECT_LE(std::ranges::count(body, '\n'), 20);
    Budget steps(kFew);
    const Evaluated evaluated = run(body, steps);
    ASSERT_FALSE(evaluated) << body;
    EXPECT_EQ(evaluated.error().message, "the plans of this graph take more than 60000 steps") << body;
    ASSERT_TRUE(evaluated.error().at) << body;
    EXPECT_GE(evaluated.error().at->line, 4u) << body;
    EXPECT_LT(steps.spent(), 300'000) << body;  // no single value visits more before it is charged
  }
}

TEST(PlanLimits, LaunchesCountMoreThanOtherSteps) {
  Budget steps(kAll);
  const Evaluated evaluated = run("while True: k[1](x)", steps);
  EXPECT_EQ(evaluated.error().message, "a plan may launch 4096 kernels, this is one more");
  EXPECT_GT(steps.spent(), 400'000);
}

TEST(PlanLimits, AllSitesOfAGraphShareTheirSteps) {
  const auto plan = test::parse_plan(plan_text("x", "    for i in range(60000): pass\n    return x\n"));
  ASSERT_TRUE(plan);
  Budget steps(kPlansOfGraph);
  PlanOptions options;
  options.steps = &steps;
  int sites = 0;
  Evaluated evaluated = evaluate_plan(*plan, "P", {tensor({2})}, 1, options);
  for (; evaluated && sites < 1000; ++sites) evaluated = evaluate_plan(*plan, "P", {tensor({2})}, 1, options);
  EXPECT_GT(sites, 20);
  EXPECT_LT(sites, 100);
  ASSERT_FALSE(evaluated);
  EXPECT_THAT(to_string(evaluated.error()), HasSubstr("P.py:4:"));
  EXPECT_THAT(to_string(evaluated.error()), HasSubstr("the plans of this graph take more than 10000000 steps"));
}

TEST(PlanLimits, AnInterruptionEndsAPlanAndIsNoFaultOfIt) {
  const std::atomic<bool> interrupted = true;
  Budget steps(kPlansOfGraph, {.interrupted = &interrupted});
  const Evaluated evaluated = run("try:\n    while True: pass\nexcept Exception: pass", steps);
  ASSERT_FALSE(evaluated);
  EXPECT_EQ(evaluated.error().failure, "interrupted");
  EXPECT_EQ(evaluated.error().kind, Error::Kind::Resource);
}

TEST(PlanLimits, TimeEndsAPlan) {
  Budget steps(kPlansOfGraph, {.time = std::chrono::milliseconds(0)});
  EXPECT_EQ(run("while True: pass", steps).error().message, "the plans of this graph take longer than 0 s");
}

TEST(PlanLimits, FilesEndWhereTheyAreLoaded) {
  const auto loaded = [](const std::string& top, const Ends& ends = {}) {
    const std::string text = top + plan_text("x", "    return x\n");
    auto file = parse_pass_file("P.py", std::make_shared<const std::string>(text));
    if (!file) return to_string(file.error());
    Budget steps(kLoading, ends);
    const auto plan = make_plan({*file}, {}, steps);
    return plan ? std::string() : to_string(plan.error());
  };
  EXPECT_THAT(loaded("while True: pass\n"),
              testing::ContainsRegex("P.py:1:.*: error: the plan takes more than 1000000 steps"));
  const std::atomic<bool> interrupted = true;
  EXPECT_THAT(loaded("A = 1\n", {.interrupted = &interrupted}), HasSubstr("interrupted"));
  EXPECT_THAT(loaded(std::string(2000, 'a') + " = 1\n"),
              HasSubstr("P.py:1:1: error: name too long: found 2000 bytes, expected at most 1024"));
  // Each function names the one before it: a round of the check for each.
  std::string chain = "def f0(): pass\n";
  for (int i = 1; i < 4000; ++i) chain += fmt::format("def f{}(): f{}()\n", i, i - 1);
  EXPECT_THAT(loaded(chain + "f3999()\n"), HasSubstr("loading the pass takes more than 5000000 steps"));
}

TEST(PlanLimits, NamesOfModulesDoNotGrowForever) {
  Budget steps(kAll);
  EXPECT_THAT(run("m = torch\nwhile True: m = m.nn", steps).error().message, HasSubstr("string too long"));
}

}  // namespace
}  // namespace passnet::pass
