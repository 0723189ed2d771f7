// The shipped samples as they are for a GPU, without one: plans evaluated with is_cuda, kernels compiled, launches
// checked against them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "graphdir/sample.h"
#include "pass/kernel/gpu_compiler.h"
#include "pass/source.h"
#include "run/apply/build_kernels.h"
#include "run/apply/passes.h"
#include "run/worker/requests.h"
#include "tests/paths.h"

namespace passnet::run {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class GpuPlans : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto compiler = pass::find_gpu_compiler(); !compiler)
      GTEST_SKIP() << "1 check skipped: " << to_string(compiler.error());
    ASSERT_TRUE(worker_.start().has_value());
  }

  Result<Values> trace(const ir::Graph& graph, const std::vector<pass::LaunchList>& lists, const Bundle& inputs) {
    PASSNET_TRY_VOID(load_graph(worker_, "traced", graph, lists, {}, 60s));
    PASSNET_TRY_VOID(set_inputs(worker_, "traced", inputs, 60s));
    return trace_graph(worker_, "traced", graph, 60s);
  }

  // What keeps the passes of a sample from running on this graph, or "".
  std::string problem_of(const fs::path& path, const std::vector<pass::Pass>& passes) {
    const auto graph = graphdir::load_graph_dir(path);
    if (!graph) return to_string(graph.error());
    if (auto loaded = load_graph(worker_, "graph", graph->graph, {}, {}, 60s); !loaded)
      return to_string(loaded.error());
    const auto inputs = replay_inputs(worker_, "graph", *graph, 123, 60s);
    if (!inputs) return to_string(inputs.error());
    const auto traced = [&](const ir::Graph& rewritten, const std::vector<pass::LaunchList>& lists) {
      return trace(rewritten, lists, *inputs);
    };
    GraphBudgets budgets;
    const auto rewritten = apply_passes(graph->graph, passes, traced, {}, {true}, budgets);
    if (!rewritten) return to_string(rewritten.error());
    if (rewritten->sites() == 0) return "no pass matches";
    const auto built = build_kernels(*rewritten, passes, {}, "sm_90");
    if (!built) return to_string(built.error());
    return built->kernels[0][0].object.extension() == ".cubin" ? "" : "no cubin was built";
  }

  Worker worker_{{tests::binary_dir() / "bin/passnet-worker", Role::Reference, 1, nullptr, {}}};
};

TEST_F(GpuPlans, EveryGraphOfEverySample) {
  size_t graphs = 0;
  for (const auto& entry : fs::directory_iterator(tests::source_dir() / "samples")) {
    if (!fs::exists(entry.path() / "pass_dir")) continue;
    const auto sample = graphdir::load_sample(entry.path());
    ASSERT_TRUE(sample) << to_string(sample.error());
    const auto files = pass::list_passes(SourceFiles(sample->roots), sample->pass_dir);
    ASSERT_TRUE(files) << to_string(files.error());
    std::vector<pass::Pass> passes;
    for (const fs::path& path : *files) passes.push_back(pass::load_pass(path).value());
    for (size_t i = 0; i < sample->graph_paths.size(); ++i, ++graphs)
      EXPECT_EQ(problem_of(sample->graph_paths[i], passes), "") << sample->name << "/" << sample->graph_names[i];
  }
  EXPECT_GE(graphs, 72u);
}

}  // namespace
}  // namespace passnet::run
