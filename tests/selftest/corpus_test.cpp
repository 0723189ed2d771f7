#include "selftest/corpus.h"

#include <gmock/gmock.h>

#include <set>

#include "base/file/file.h"
#include "selftest/selftest.h"
#include "tests/paths.h"
#include "tests/scratch.h"

namespace passnet::selftest {
namespace {

namespace fs = std::filesystem;

const fs::path kCorpus = tests::source_dir() / "tests/adversarial";

/// The corpus for the CPU, loaded once.
const Result<std::vector<Bundle>>& cpu_bundles() {
  static const Result<std::vector<Bundle>> bundles = load_corpus(kCorpus, false, {});
  return bundles;
}

TEST(Corpus, HoldsTogether) {
  const auto& bundles = cpu_bundles();
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
  const auto& bundles = cpu_bundles();
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
  EXPECT_EQ(problem(R"({"what": "x", "graph": "g", "verdict": ["timing crash", "run: crashed", "killed"]})"),
            "accepted");
  EXPECT_EQ(problem(R"({"what": "x", "graph": "g", "verdict": ["worng"]})"), "no verdict is called 'worng'");
  EXPECT_EQ(problem(R"({"what": "x", "graph": "g", "verdict": ["correct"]})"),
            "'correct' of an attack, expected what is no score");
  EXPECT_EQ(problem(R"({"what": "x", "graph": "g", "verdict": ["wrong"], "layers": ["poisons"]})").substr(0, 28),
            "no layer is called 'poisons'");
  EXPECT_EQ(problem(R"({"what": "x", "graph": "h", "verdict": ["wrong"]})").substr(0, 12), "no graph 'h'");
}

TEST_F(BadCorpus, HasTwoBundlesOfOneName) {
  EXPECT_TRUE(write_file(scratch_.path / "a.txt", "bundle one\nwhat x\ngraph g\nverdict wrong\nhost p.py\n| x\n"));
  const std::string file = (scratch_.path / "a.txt").string();
  EXPECT_EQ(problem(R"({"what": "x", "graph": "g", "verdict": ["wrong"]})"),
            "a second bundle is called 'one', the first is in '" + file + "'");
}

TEST_F(BadCorpus, IsNamedWithTheLineOfAFamilyFile) {
  const auto problem_at = [&](const std::string& head, const std::string& fields) {
    const fs::path file = scratch_.path / "a.txt";
    EXPECT_TRUE(write_file(scratch_.path / "graphs.txt", "graph h\nforward\n| return ()\n"));
    EXPECT_TRUE(write_file(file, head + "host p.py\n| x\nbundle two\nwhat x\n" + fields));
    const auto bundles = load_corpus(scratch_.path, false, {});
    if (bundles) return std::string("accepted");
    std::string text = to_string(bundles.error());
    if (const size_t at = text.find(scratch_.path.string() + "/"); at == 0)
      text.erase(0, scratch_.path.string().size() + 1);
    return text;
  };
  EXPECT_EQ(problem_at("", "graph h\nverdict wrong\n"), "accepted");
  EXPECT_EQ(problem_at("", "graph h\nverdict wrong, worng\n"),
            "a.txt:6:9: error: no verdict is called 'worng'\nhint: docs/verdicts.md lists them");
  EXPECT_EQ(problem_at("", "graph h\nverdict\n"),
            "a.txt:6:8: error: field 'verdict' is empty, expected at least one word");
  EXPECT_EQ(problem_at("graph h\ndevice tpu\n", "verdict wrong\n"),
            "a.txt:2:8: error: no device is called 'tpu', expected 'cpu' or 'cuda'");
}

TEST(Corpus, TakesTextsAndDirectoriesBesideEachOther) {
  const passnet::ScratchDirectory scratch;
  const auto write = [&](const char* name, const char* text) { EXPECT_TRUE(write_file(scratch.path / name, text)); };
  write("graphs.txt", "graph g\nforward\n| return ()\n");
  write("graphs/h/model.py", "");
  write("a.txt", "verdict wrong\nhost p.py\n| x\nbundle one\nwhat x\ngraph g\nbundle two\nwhat x\ngraph h\n");
  write("three/expect.json", R"({"what": "x", "graph": "g", "verdict": ["wrong"]})");
  write("three/pass_dir/p.py", "x\n");
  fs::path expanded;
  {
    const auto bundles = load_corpus(scratch.path, false, {});
    ASSERT_TRUE(bundles) << to_string(bundles.error());
    ASSERT_EQ(bundles->size(), 3U);
    for (const Bundle& bundle : *bundles) {
      EXPECT_TRUE(fs::exists(bundle.sample.pass_dir / "p.py")) << bundle.name;
      EXPECT_TRUE(fs::exists(bundle.sample.graph_paths.front() / "model.py")) << bundle.name;
    }
    EXPECT_EQ(bundles->at(1).name, "three");
    EXPECT_EQ(bundles->at(1).sample.pass_dir, scratch.path / "three/pass_dir");
    expanded = bundles->front().sample.path;
  }
  EXPECT_FALSE(fs::exists(expanded));
}

TEST(Corpus, IsADirectoryWithGraphs) {
  const passnet::ScratchDirectory scratch;
  const auto found = find_corpus(scratch.path);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message,
            "'" + scratch.path.string() + "' is no corpus: it has neither 'graphs.txt' nor a directory 'graphs'");
  EXPECT_EQ(find_corpus(kCorpus).value(), kCorpus);
}

TEST(Rows, CountAsCaughtWhereEveryBundleIs) {
  Bundle a, b;
  a.rows = {1, 2};
  b.rows = {2, 3};
  const Rows rows = count_rows({{&a, {"wrong", "", 0}, {}}, {&b, {"correct", "", 0}, {}}});
  EXPECT_EQ(rows.all, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(rows.caught, (std::vector<int>{1}));
  const Rows other_order = count_rows({{&b, {"correct", "", 0}, {}}, {&a, {"wrong", "", 0}, {}}});
  EXPECT_EQ(other_order.caught, (std::vector<int>{1})) << "a bundle that is caught later does not make up for it";
}

}  // namespace
}  // namespace passnet::selftest
