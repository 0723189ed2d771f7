// How long matching takes: 100 patterns against a transformer-like graph of 10,000 nodes.
// Usage: match_benchmark [google-benchmark flags]
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <stdexcept>
#include <string>

#include "fx/syntax/parser.h"
#include "rewrite/match.h"
#include "rewrite/rewrite.h"

namespace passnet::rewrite {
namespace {

ir::Graph parse(std::string text) {
  size_t end = 0;
  auto graph = fx::parse_function("bench.py", std::make_shared<const std::string>(std::move(text)), 0, &end);
  if (!graph) throw std::runtime_error(to_string(graph.error()));
  return std::move(*graph);
}

/// Blocks of 10 calls: a residual sum, layer_norm, linear, gelu, linear, a scaled and masked softmax,
/// in-place add.
ir::Graph blocks(int count) {
  std::string text = "def f(x0, w, b, m):\n";
  for (int i = 0; i < count; ++i) {
    text += fmt::format(
        "    s{0} = x{0} + b\n    n{0} = torch.nn.functional.layer_norm(s{0}, (64,), w, b, {2})\n"
        "    l{0} = torch.nn.functional.linear(n{0}, w, b)\n    g{0} = torch.nn.functional.gelu(l{0})\n"
        "    k{0} = torch.nn.functional.linear(g{0}, w)\n    q{0} = k{0} * 0.125\n    r{0} = q{0} + m\n"
        "    t{0} = r{0}.softmax(dim=-1)\n    u{0} = t{0}.transpose(1, 2)\n    u{0} += s{0}\n    x{1} = "
        "u{0}\n",
        i, i + 1, i % 2 ? "1e-05" : "1e-06");
  }
  return parse(text + fmt::format("    return x{}\n", count));
}

/// Patterns that match often, seldom, nearly and not at all, in turn.
std::vector<ir::Graph> patterns(int count) {
  std::vector<ir::Graph> result;
  for (int i = 0; i < count; ++i) {
    switch (i % 5) {
      case 0:
        result.push_back(
            parse("def p(x, y, w, b):\n    s = x + y\n    n = torch.nn.functional.layer_norm(s, (64,), w, b, "
                  "1e-05)\n"
                  "    return s, n\n"));
        break;
      case 1: result.push_back(parse("def p(x, m):\n    return torch.softmax(m + x * 0.125, -1)\n")); break;
      case 2:
        result.push_back(
            parse("def p(x, w, b):\n    return torch.nn.functional.gelu(torch.nn.functional.linear(x, w, b))\n"));
        break;
      case 3:
        result.push_back(parse(fmt::format("def p(x, m):\n    return torch.softmax(x * {}.5 + m, -1)\n", i)));
        break;
      default: result.push_back(parse("def p(x, y):\n    return torch.sigmoid(x) * torch.tanh(y)\n")); break;
    }
  }
  return result;
}

void HundredPatterns(benchmark::State& state) {
  ir::Graph graph = blocks(static_cast<int>(state.range(0)) / 10);
  const auto all = patterns(100);
  size_t matches = 0;
  for (auto _ : state) {
    PreparedGraph prepared(graph);
    matches = 0;
    for (const ir::Graph& pattern : all) {
      Budget steps(kMatching);
      auto report = find_matches(pattern, prepared, steps);
      if (!report) throw std::runtime_error(to_string(report.error()));
      matches += report->matches.size();
    }
  }
  state.counters["nodes"] = graph.size();
  state.counters["matches"] = static_cast<double>(matches);
}
BENCHMARK(HundredPatterns)->Arg(100)->Arg(1000)->Arg(10000)->Unit(benchmark::kMillisecond);

void OnePattern(benchmark::State& state) {
  ir::Graph graph = blocks(static_cast<int>(state.range(0)) / 10);
  const auto all = patterns(5);
  for (auto _ : state) {
    auto report = find_matches(all[1], graph);
    benchmark::DoNotOptimize(report);
  }
  state.counters["nodes"] = graph.size();
}
BENCHMARK(OnePattern)->Arg(100)->Arg(10000)->Unit(benchmark::kMillisecond);

void Prepare(benchmark::State& state) {
  ir::Graph graph = blocks(static_cast<int>(state.range(0)) / 10);
  for (auto _ : state) {
    PreparedGraph prepared(graph);
    benchmark::DoNotOptimize(prepared.order());
  }
}
BENCHMARK(Prepare)->Arg(10000)->Unit(benchmark::kMillisecond);

void Apply(benchmark::State& state) {
  ir::Graph graph = blocks(static_cast<int>(state.range(0)) / 10);
  auto report = find_matches(patterns(2)[1], graph);
  if (!report) throw std::runtime_error(to_string(report.error()));
  std::vector<Site> sites;
  for (const Match& match : report->matches)
    sites.push_back({match, static_cast<int64_t>(sites.size()), {match.inputs[0].node, match.inputs[1].node}});
  for (auto _ : state) benchmark::DoNotOptimize(rewrite::apply(graph, sites));
  state.counters["sites"] = static_cast<double>(sites.size());
}
BENCHMARK(Apply)->Arg(10000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace passnet::rewrite

BENCHMARK_MAIN();
