// Whole graphs cut, made at other shapes, and made samples of, by a worker that only acts (dataset_worker.cpp).
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "dataset/decompose.h"
#include "dataset/generalize.h"
#include "dataset/samples.h"
#include "dataset/tree_fixture.h"
#include "graphdir/sample.h"

namespace passnet::dataset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class Steps : public TreeTest {
 protected:
  std::string at(const std::string& path) const { return (root / path).string(); }
  std::vector<std::string> graphs_below(const std::string& path) const {
    std::vector<std::string> names;
    for (const auto& directory : graphdir::find_graph_dirs(root / path))
      names.push_back(directory.lexically_relative(root / path).string());
    return names;
  }
};

class Decompose : public Steps {
 protected:
  std::vector<WholeReport> run() const {
    DecomposeOptions options;
    options.kinds = {graphdir::Kind::SoleOp};
    options.measure = false;
    std::vector<WholeReport> reports;
    const auto done =
        decompose({at("full")}, root / "out", options, [&](const WholeReport& report) { reports.push_back(report); });
    EXPECT_TRUE(done) << to_string(done.error());
    return reports;
  }
};

TEST_F(Decompose, WritesEqualPiecesOnceWithAllTheirSources) {
  write_graph("full/one", "b = torch.relu(a)\nc = torch.tanh(b)\nreturn (c,)");
  write_graph("full/two", "b = torch.tanh(a)\nc = torch.exp(b)\nreturn (c,)");
  const auto reports = run();
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].graph, "one");
  EXPECT_THAT(reports[0].pieces, ElementsAre(Pair("sole_op", 2)));
  EXPECT_THAT(reports[0].written, ElementsAre(Pair("sole_op", 2)));
  EXPECT_THAT(reports[1].pieces, ElementsAre(Pair("sole_op", 2)));
  EXPECT_THAT(reports[1].written, ElementsAre(Pair("sole_op", 1)));
  EXPECT_THAT(graphs_below("out/sole_op"),
              ElementsAre("one/_decomposed/one_start0_end1_0", "one/_decomposed/one_start1_end2_1",
                          "two/_decomposed/two_start1_end2_1"));
  EXPECT_EQ(try_parse_json(read("out/sole_op/one/_decomposed/one_start1_end2_1/subgraph_sources.json")),
            try_parse_json(R"({"one": [[1, 2]], "two": [[0, 1]]})"));
  EXPECT_THAT(read("out/sole_op/two/_decomposed/two_start1_end2_1/model.py"), HasSubstr("tmp_0 = torch.exp(in_0)"));
}

TEST_F(Decompose, GoesOnWhereItStopped) {
  write_graph("full/one", kRelu);
  EXPECT_THAT(run()[0].written, ElementsAre(Pair("sole_op", 1)));
  write_graph("full/two", kTanh);
  const auto reports = run();
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].graph, "one") << "what is there already comes first";
  EXPECT_EQ(graphs_below("out").size(), 2u);
}

TEST_F(Decompose, SaysWhyAGraphGaveNothing) {
  write_graph("full/refused", "b = torch.special(a)\nreturn (b,)");
  const auto reports = run();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_THAT(reports[0].error, HasSubstr("no such operator"));
  EXPECT_THAT(graphs_below("out"), IsEmpty());
}

TEST_F(Decompose, NeedsGraphs) {
  const auto done = decompose({at("none")}, root / "out", {}, [](const WholeReport&) {});
  EXPECT_THAT(to_string(done.error()), HasSubstr("'" + at("none") + "' does not exist"));
}

class Generalize : public Steps {
 protected:
  std::vector<GeneralizeReport> run(const GeneralizeOptions& options) const {
    std::vector<GeneralizeReport> reports;
    const auto done = generalize({at("full")}, root / "out", options,
                                 [&](const GeneralizeReport& report) { reports.push_back(report); });
    EXPECT_TRUE(done) << to_string(done.error());
    return reports;
  }
};

TEST_F(Generalize, WritesTheFirstSizesThatFit) {
  write_graph("full/toy/b4_r8", kRelu, "[4, 8]");
  write("full/toy/b4_r8/graph_net.json", R"({"framework": "torch", "shape": "b4_r8"})");
  GeneralizeOptions options;
  options.variants = 2;
  const auto reports = run(options);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].error, "");
  EXPECT_THAT(reports[0].symbols, ElementsAre(Pair("S0", 4), Pair("S1", 8)));
  EXPECT_THAT(reports[0].written, ElementsAre("toy/b1_r16", "toy/b4_r16"));
  EXPECT_THAT(reports[0].rewritten, IsEmpty());
  EXPECT_THAT(read("out/toy/b1_r16/weight_meta.py"), HasSubstr("shape = [1, 16]"));
  EXPECT_EQ(run(options)[0].written, reports[0].written) << "what the journal has";
}

TEST_F(Generalize, LeavesOutWhatDoesNotRun) {
  write_graph("full/toy", "b = torch.nonzero(a)\nreturn (b,)");
  const auto reports = run({});
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_THAT(reports[0].written, IsEmpty());
  EXPECT_THAT(reports[0].skipped, testing::Each(HasSubstr("first")));
  EXPECT_FALSE(reports[0].skipped.empty());
}

class Samples : public Steps {
 protected:
  Result<void> run(const SampleOptions& options, std::vector<SampleReport>& reports) const {
    return make_samples(at("subgraphs"), root / "out", options,
                        [&](const SampleReport& report) { reports.push_back(report); });
  }
  static SampleOptions options() {
    SampleOptions options;
    options.dtypes = {ir::DType::Float32};
    options.min_kernels = 1;
    return options;
  }
};

TEST_F(Samples, AreOneStructureAtSeveralShapes) {
  write_graph("subgraphs/a", kRelu, "[4, 8]");
  write_graph("subgraphs/b", kReluMethod, "[2, 8]");
  write_graph("subgraphs/c", kTanh, "[4, 8]");
  std::vector<SampleReport> reports;
  const auto done = run(options(), reports);
  ASSERT_TRUE(done) << to_string(done.error());
  ASSERT_EQ(reports.size(), 2u);
  const SampleReport& relu = reports[0].members == 2 ? reports[0] : reports[1];
  EXPECT_EQ(relu.graphs, 2u);
  EXPECT_THAT(relu.path, testing::MatchesRegex("samples/relu_[0-9a-f]{8}"));
  EXPECT_EQ(read(relu.path.empty() ? "" : "out/" + relu.path + "/graph_list.txt"), "0_float32\n1_float32\n");
  EXPECT_THAT(read("out/" + relu.path + "/graphs/0_float32/weight_meta.py"), HasSubstr("shape = [2, 8]"))
      << "the smallest shape comes first";
  EXPECT_TRUE(exists("out/lists/all.txt") && exists("out/options.json"));
}

TEST_F(Samples, AreNotMadeOfGraphsThatAreNotFit) {
  write_graph("subgraphs/constant", "b = torch.zeros_like(a)\nc = torch.exp(b)\nreturn (c,)");
  std::vector<SampleReport> reports;
  ASSERT_TRUE(run(options(), reports));
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].graphs, 0u);
  EXPECT_THAT(reports[0].unfit, ElementsAre(HasSubstr("an output does not depend on the inputs")));
  EXPECT_THAT(graphs_below("out/samples"), IsEmpty());
}

TEST_F(Samples, OfADirectoryFollowOneSetOfRules) {
  write_graph("subgraphs/a", kRelu);
  std::vector<SampleReport> reports;
  ASSERT_TRUE(run(options(), reports));
  SampleOptions other = options();
  other.max_shapes = 1;
  const auto refused = run(other, reports);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Error::Kind::BadInput);
}

}  // namespace
}  // namespace passnet::dataset
