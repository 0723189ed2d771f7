// Random tables of ratios: the judge leaves no graph slower, whatever passes gain, lose and decline together.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>

#include "author/judge/judge.h"
#include "base/file/file.h"
#include "record/verdict.h"
#include "tests/author/scripted.h"
#include "tests/scratch.h"

namespace passnet::author {
namespace {

using Declined = std::map<std::string, std::string>;

/// Passes of a list are tried in order. The first that may apply to a graph and does not decline it takes it.
struct Table {
  struct Pass {
    std::string name;
    std::map<std::string, double> ratios;           // by graph that it applies to, also to those that it cannot decline
    std::map<std::string, std::string> conditions;  // by graph that it can decline
    std::map<std::string, double> on_device;        // by graph of `ratios`
    std::set<std::string> declines;                 // as it is written now, by condition

    /// A plan that declines all graphs that it knows declines any other, too.
    bool declines_all() const {
      return std::ranges::all_of(conditions, [&](const auto& one) { return declines.contains(one.second); });
    }
  };
  std::vector<std::string> graphs;
  std::vector<Pass> passes;

  /// The pass of these names that takes the graph.
  const Pass* taker(const std::string& graph, const Names& listed) const {
    for (const std::string& name : listed) {
      const Pass& pass = *std::ranges::find(passes, name, &Pass::name);
      const auto condition = pass.conditions.find(graph);
      const bool declines = (condition != pass.conditions.end() && pass.declines.contains(condition->second)) ||
                            (!pass.conditions.empty() && pass.declines_all());
      if (pass.ratios.contains(graph) && !declines) return &pass;
    }
    return nullptr;
  }

  record::RunRecord record_of(const std::string& graph, const Names& listed) const {
    const Pass* taking = taker(graph, listed);
    record::RunRecord one = timed(graph, taking == nullptr ? 1 : taking->ratios.at(graph));
    one.passes.clear();
    for (const std::string& name : listed)
      one.passes.push_back({name, taking != nullptr && taking->name == name ? 1 : 0, 1, ""});
    if (taking == nullptr) {
      one.outputs.clear();
      return one;
    }
    const record::Track device{"device", "fresh", "warm"};
    one.reference.others = {{device, std::vector<double>(40, 10)}};
    one.candidate.others = {{device, std::vector<double>(40, 10 / taking->on_device.at(graph))}};
    return one;
  }
};

Table random_table(std::mt19937& random) {
  const auto up_to = [&](int most) { return std::uniform_int_distribution(1, most)(random); };
  const auto ratio = [&] { return std::exp(std::normal_distribution(0.2, 0.6)(random)); };
  Table table;
  for (int i = up_to(7); i > 0; --i) table.graphs.push_back(fmt::format("g{}", i));
  for (int i = up_to(4); i > 0; --i) {
    Table::Pass pass{fmt::format("p{}", i), {}, {}, {}, {}};
    for (const std::string& graph : table.graphs) {
      if (up_to(4) == 1) continue;
      pass.ratios[graph] = ratio();
      pass.on_device[graph] = up_to(3) == 1 ? ratio() : 1.1;
      // A few graphs are taken by passes that were not written for them.
      if (up_to(6) > 1) pass.conditions[graph] = fmt::format("c{}", up_to(8));
    }
    table.passes.push_back(std::move(pass));
  }
  return table;
}

class Tables : public testing::Test {
 protected:
  /// Judges the table's passes with so many evaluations in the budget; -1: no end.
  Judged judge(Table& table, const graphdir::Sample& sample, int budget, bool together) {
    std::vector<Candidate> candidates;
    for (Table::Pass& pass : table.passes) {
      const auto rewrite = [&pass](const Declined& declined) -> Result<void> {
        pass.declines.clear();
        for (const auto& [graph, why] : declined) pass.declines.insert(pass.conditions.at(graph));
        return {};
      };
      Candidate one{pass.name, pass.name, {}, false, rewrite};
      for (const auto& [graph, condition] : pass.conditions) {
        one.graphs.push_back(graph);
        one.conditions.push_back(condition);
      }
      candidates.push_back(std::move(one));
    }
    const Evaluate evaluate = [&](const graphdir::Sample& few, const IsSpent&) -> Result<Records> {
      --budget;
      Records records;
      for (const std::string& graph : few.graph_names) records.push_back(table.record_of(graph, listed(few.pass_dir)));
      return records;
    };
    Evaluations evaluations(evaluate, [&] { return budget == 0; });
    Result<Judged> judged = judge_passes(sample, candidates, evaluations, {{}, together});
    EXPECT_TRUE(judged) << to_string(judged.error());
    return std::move(*judged);
  }
};

TEST_F(Tables, LeaveNoGraphSlower) {
  const ScratchDirectory scratch;
  std::mt19937 random(20261129);
  int kept = 0, declined = 0, ended = 0;
  for (int round = 0; round < 240; ++round) {
    SCOPED_TRACE(fmt::format("table {}", round));
    Table table = random_table(random);
    graphdir::Sample sample;
    sample.path = scratch.path;
    for (const std::string& graph : table.graphs) {
      sample.graph_names.push_back(graph);
      sample.graph_paths.emplace_back(graph);
    }
    sample.pass_dir = scratch.path / fmt::format("pass_dir_{}", round);
    std::filesystem::create_directories(sample.pass_dir);
    const int budget = round % 3 == 0 ? 1 + round % 7 : -1;
    const Judged judged = judge(table, sample, budget, round % 5 == 0);
    const Names list = listed(sample.pass_dir);
    ended += judged.ended_by_budget ? 1 : 0;
    for (const std::string& graph : table.graphs) {
      const Table::Pass* taking = table.taker(graph, list);
      kept += taking != nullptr ? 1 : 0;
      declined += taking == nullptr ? 1 : 0;
      if (taking == nullptr) continue;
      EXPECT_GE(taking->ratios.at(graph), 0.98) << graph << " by " << taking->name;
      EXPECT_GE(taking->on_device.at(graph), 0.9) << graph << " by " << taking->name;
    }
    // Records are of the passes as they stand.
    for (const record::RunRecord& one : judged.records) {
      const Table::Pass* taking = table.taker(one.graph, list);
      const bool applied = std::ranges::any_of(one.passes, [](const auto& pass) { return pass.matches > 0; });
      ASSERT_EQ(applied, taking != nullptr) << one.graph;
      if (!applied) continue;
      EXPECT_NEAR(record::median_ratio(one.reference, one.candidate), taking->ratios.at(one.graph), 1e-6) << one.graph;
    }
  }
  EXPECT_GT(kept, 200);
  EXPECT_GT(declined, 200);
  EXPECT_GT(ended, 20);
}

}  // namespace
}  // namespace passnet::author
