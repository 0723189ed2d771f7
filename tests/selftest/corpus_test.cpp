#include "selftest/corpus.h"

#include <gmock/gmock.h>

#include <set>

#include "base/file.h"
#include "selftest/selftest.h"
#include "tests/scratch.h"

namespace passnet::selftest {
namespace {

namespace fs = std::filesystem;

const fs::path kCorpus = fs::path(PASSNET_SOURCE_DIR) / "tests/adversarial";

TEST(Corpus, HoldsTogether) {
  const auto bundles = load_corpus(kCorpus, false, {});
  ASSERT_TRUE(bundles) << to_string(bundles.error());
  size_t controls = 0;
  std::set<std::string> names;
  for (const Bundle& bundle : *bundles) {
    controls += bundle.is_control() ? 1 : 0;
    EXPECT_TRUE(names.insert(bundle.name).second);
    EXPECT_EQ(bundle.rows.empty(), bundle.is_control()) << bundle.name;
    EXPECT_FALSE(bundle.what.empty()) << bundle.name;
  }
  EXPECT_GE(controls, 20U);
  EXPECT_GE(bundles->size() - controls, 120U);
}

TEST(Corpus, HasAttacksAndControlsForAGpu) {
  const auto bundles = load_corpus(kCorpus, true, {});
  ASSERT_TRUE(bundles) << to_string(bundles.error());
  const auto controls = std::ranges::count_if(*bundles, &Bundle::is_control);
  EXPECT_GE(controls, 5);
  EXPECT_GE(std::ssize(*bundles) - controls, 30);
}

TEST(Corpus, EveryLayerHasAnAttack) {
  const auto bundles = load_corpus(kCorpus, false, {});
  ASSERT_TRUE(bundles);
  run::Layers named;
  for (const Bundle& bundle : *bundles) named.insert(bundle.layers.begin(), bundle.layers.end());
  // No pass reaches a clock: lying workers are tested in tests/run.
  named.insert(run::Layer::Clocks);
  EXPECT_EQ(named, run::Layers(run::kLayers.begin(), run::kLayers.end()));
}

class BadCorpus : public ::testing::Test {
 protected:
  std::string problem(const std::string& expect) {
    const fs::path graph = scratch_.path / "graphs/g";
    fs::create_directories(graph);
    fs::create_directories(scratch_.path / "one/pass_dir");
    EXPECT_TRUE(write_file(graph / "model.py", ""));
    EXPECT_TRUE(write_file(scratch_.path / "one/expect.json", expect));
    const auto bundles = load_corpus(scratch_.path, false, {});
    return bundles ? "accepted" : bundles.error().message;
  }
  passnet::ScratchDirectory scratch_;
};

TEST_F(BadCorpus, IsNamed) {
  EXPECT_EQ(problem(R"({"rows": [1], "what": "x", "graph": "g", "verdict": ["wrong"]})"), "accepted");
  EXPECT_EQ(problem(R"({"what": "x", "graph": "g", "verdict": ["worng"]})"), "no verdict is called 'worng'");
  EXPECT_EQ(problem(R"({"what": "x", "graph": "g", "verdict": ["correct"]})"),
            "'correct' of an attack, expected what is no score");
  EXPECT_EQ(problem(R"({"what": "x", "graph": "g", "verdict": ["wrong"], "layers": ["poisons"]})").substr(0, 28),
            "no layer is called 'poisons'");
  EXPECT_EQ(problem(R"({"what": "x", "graph": "h", "verdict": ["wrong"]})").substr(0, 12), "no graph 'h'");
}

TEST(Rows, CountAsCaughtWhereEveryBundleIs) {
  Bundle a, b;
  a.rows = {1, 2};
  b.rows = {2, 3};
  const Rows rows = count_rows({{&a, {"wrong", "", 0}, {}}, {&b, {"correct", "", 0}, {}}});
  EXPECT_EQ(rows.all, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(rows.caught, (std::vector<int>{1}));
}

}  // namespace
}  // namespace passnet::selftest
