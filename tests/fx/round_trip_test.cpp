// parse(print(graph)) is graph: for random graphs and for every public graph; and reading survives damaged
// texts.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>

#include "base/file/file.h"
#include "corpus.h"
#include "graph_text.h"
#include "graphdir/graph_check.h"
#include "graphdir/inputs/meta.h"
#include "graphdir/sample.h"
#include "random_graph.h"

namespace passnet::fx {
namespace {

RC_GTEST_PROP(RoundTrip, RandomGraphsReadBackEqual, (uint64_t seed)) {
  const ir::Graph graph = random_graph(seed, *rc::gen::inRange<size_t>(0, 30));
  const std::string text = print_model(graph);
  const auto again = parse_text(text);
  if (!again) RC_FAIL(to_string(again.error()) + "\n" + text);
  const std::string difference = first_difference(graph, *again);
  if (!difference.empty()) RC_FAIL(difference + "\n" + text);
}

RC_GTEST_PROP(RoundTrip, PrintingIsStable, (uint64_t seed)) {
  const std::string text = print_model(random_graph(seed, 20));
  const auto graph = parse_text(text);
  RC_ASSERT(graph);
  RC_ASSERT(print_model(*graph) == text);
}

RC_GTEST_PROP(RoundTrip, DamagedTextsGiveAnErrorOrAGraphThatPrints, (uint64_t seed)) {
  std::string text = print_model(random_graph(seed, 10));
  const auto changes = *rc::gen::inRange(1, 4);
  for (int i = 0; i < changes; ++i) {
    const auto at = *rc::gen::inRange<size_t>(0, text.size());
    const auto length = *rc::gen::inRange<size_t>(0, 6);
    text.replace(at, length,
                 *rc::gen::element<std::string>("", "(", ")", "\n", " ", "=", ",", "x", "'", "#", "None", "[:", "**"));
  }
  const auto graph = parse_text(text);
  if (!graph) {
    RC_ASSERT(graph.error().at.has_value());
    RC_ASSERT(!graph.error().message.empty());
    return;
  }
  const auto again = parse_text(print_model(*graph));
  if (!again) RC_FAIL(to_string(again.error()) + "\n" + text + "\n" + print_model(*graph));
  const std::string difference = first_difference(*graph, *again);
  if (!difference.empty()) RC_FAIL(difference + "\n" + text + "\n" + print_model(*graph));
}

/// The graph directories of the corpus but those whose weight_meta.py came out empty: they were published so.
std::vector<std::filesystem::path> graphs_with_records() {
  std::vector<std::filesystem::path> paths = graphdir::find_graph_dirs(corpus());
  std::erase_if(paths, [](const std::filesystem::path& path) {
    std::error_code failed;
    return std::filesystem::file_size(path / "weight_meta.py", failed) == 0 && !failed;
  });
  return paths;
}

TEST(RoundTrip, EveryPublicGraphIsInOrder) {
  PASSNET_NEEDS_CORPUS();
  graphdir::CheckSummary summary;
  for (const auto& path : graphs_with_records()) summary.add(graphdir::check_graph(path));
  EXPECT_GT(summary.graphs, 0u);
  EXPECT_EQ(summary.roundtrip, summary.graphs);
  EXPECT_EQ(summary.without_records, 0u);
  EXPECT_GE(summary.hash_equal, 198u);  // of 215
  for (const auto& failure : summary.failed) ADD_FAILURE() << failure.error;
}

TEST(RoundTrip, EveryPublicRecordReadsBackEqual) {
  PASSNET_NEEDS_CORPUS();
  size_t count = 0;
  for (const auto& path : graphs_with_records()) {
    const auto graph = graphdir::load_graph_dir(path);
    ASSERT_TRUE(graph) << to_string(graph.error());
    EXPECT_EQ(graph->weights.size(), graph->graph.placeholder_count());
    const auto again = graphdir::parse_meta("printed", graphdir::print_meta(graph->weights));
    ASSERT_TRUE(again) << to_string(again.error());
    ASSERT_EQ(again->size(), graph->weights.size());
    for (size_t i = 0; i < again->size(); ++i)
      EXPECT_TRUE(graphdir::equal((*again)[i], graph->weights[i])) << graph->weights[i].name;
    count += again->size();
  }
  EXPECT_GT(count, 0u);
}

}  // namespace
}  // namespace passnet::fx
