// What is fit to be a task, and types at other sizes, by a worker that only acts (dataset_worker.cpp).
#include "dataset/screen.h"

#include <gtest/gtest.h>

#include "dataset/sizes/typing.h"
#include "fx/graph_text.h"

namespace passnet::dataset {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<run::Worker> acting_worker() {
  auto worker = std::make_unique<run::Worker>(run::WorkerOptions{});
  const Result<void> started = worker->start();
  EXPECT_TRUE(started) << to_string(started.error());
  return worker;
}

graphdir::GraphDir graph_that_calls(const std::string& op) {
  graphdir::GraphDir graph;
  graph.graph = fx::parse("a", "b = " + op + "(a)\nreturn (b,)");
  return graph;
}

TEST(Screen, SaysWhyAGraphIsNotFit) {
  const auto worker = acting_worker();
  const auto found = [&](const std::string& op) { return screen(*worker, graph_that_calls(op), 10s); };
  EXPECT_EQ(found("torch.relu"), "");
  EXPECT_EQ(found("torch.nonzero"), "bad-input: first");
  EXPECT_EQ(found("torch.special"), "unsupported: no such operator");
  graphdir::GraphDir empty;
  empty.graph = fx::parse("a", "return ()");
  EXPECT_EQ(screen(*worker, empty, 10s), "it has no outputs");
  EXPECT_EQ(found("torch.rand_like"), "not deterministic");
  EXPECT_EQ(found("torch.log"), "outputs are not finite");
  EXPECT_EQ(found("torch.clone"), "an output is an input");
  EXPECT_EQ(found("torch.zeros_like"), "an output does not depend on the inputs");
  EXPECT_EQ(found("torch.relu"), "") << "graphs that were not fit leave nothing behind";
}

TEST(TryRun, OnlyAsksWhetherTheGraphRuns) {
  const auto worker = acting_worker();
  EXPECT_EQ(try_run(*worker, graph_that_calls("torch.zeros_like"), 10s), "");
  EXPECT_EQ(try_run(*worker, graph_that_calls("torch.nonzero"), 10s), "bad-input: first");
}

std::vector<graphdir::TensorMeta> metas_of(std::vector<int64_t> shape) {
  graphdir::TensorMeta meta;
  meta.class_name = "Program_weight_tensor_meta_a";
  meta.name = "a";
  meta.shape = std::move(shape);
  return {meta};
}

TEST(Typing, GivesShapesAndTheLargestComputedValue) {
  const auto worker = acting_worker();
  const graphdir::GraphDir graph = graph_that_calls("torch.relu");
  Typing typing(graph.graph, *worker, "g", 10s);
  ASSERT_TRUE(typing.infer_captured(metas_of({4, 8})));
  EXPECT_EQ(typing.captured().shape[1], (std::vector<int64_t>{4, 8}));
  const Result<Types> types = typing.at(graph.graph, metas_of({6, 8}));
  ASSERT_TRUE(types) << to_string(types.error());
  EXPECT_EQ(types->shapes.shape[0], (std::vector<int64_t>{6, 8}));
  EXPECT_EQ(types->shapes.shape[1], (std::vector<int64_t>{6, 8}));
  EXPECT_EQ(types->shapes.unknown[1], "");
  EXPECT_FALSE(types->shapes.integral[1]);
  EXPECT_EQ(types->largest_bytes, 6 * 8 * 4);
  EXPECT_EQ(typing.also_at(metas_of({2, 8}))->largest_bytes, 2 * 8 * 4);
}

TEST(Typing, KeepsTheFirstLineOfWhyATypeIsNotKnown) {
  const auto worker = acting_worker();
  const graphdir::GraphDir graph = graph_that_calls("torch.bincount");
  Typing typing(graph.graph, *worker, "g", 10s);
  ASSERT_TRUE(typing.infer_captured(metas_of({4})));
  EXPECT_EQ(typing.captured().unknown[1], "depends on data");
  EXPECT_EQ(typing.captured().shape[1], std::nullopt);
}

TEST(Typing, GivesTheWorkersErrorAndStartsALostWorkerAgain) {
  const auto worker = acting_worker();
  const graphdir::GraphDir graph = graph_that_calls("torch.special");
  Typing refused(graph.graph, *worker, "g", 10s);
  EXPECT_EQ(refused.infer_captured(metas_of({4})).error().message, "no such operator");
  run::Worker idle(run::WorkerOptions{});
  const graphdir::GraphDir fit = graph_that_calls("torch.relu");
  Typing typing(fit.graph, idle, "g", 10s);
  EXPECT_TRUE(typing.infer_captured(metas_of({4})));
}

}  // namespace
}  // namespace passnet::dataset
