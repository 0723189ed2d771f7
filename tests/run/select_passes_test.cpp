// The passes of a sample, limited: which stay, which are surplus, and in which order.
#include "run/apply/select_passes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file/file.h"
#include "tests/scratch.h"

namespace passnet::run {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SelectPassesTest : public testing::Test {
 protected:
  // A pass with this pattern that shares its function with others of the same `function`.
  void put_pass(const std::string& name, const std::string& pattern, const std::string& function,
                const std::string& directory = "pass_dir") const {
    put(directory + "/" + name + ".py",
        fmt::format("import torch\nfrom pass_dir.shared import {0}\ndef pattern(x, y):\n    return {1}\n"
                    "def replacement_args(x, y):\n    return (x, y)\ndef replacement_func():\n    return {0}\n",
                    function, pattern));
  }
  void put(const std::string& name, std::string_view text) const { ASSERT_TRUE(write_file(root_ / name, text)); }
  void SetUp() override {
    for (const char* directory : {"pass_dir", "given"})
      put(std::string(directory) + "/shared.py",
          "def f(x, y):\n    return x\ndef g(x, y):\n    return x\ndef h(x, y):\n    return x\n");
    put_pass("a", "torch.relu(x + y)", "f");
    put_pass("b", "torch.tanh(x + y)", "g");
    put_pass("c", "(y + x).relu()", "h");
    put_pass("d", "torch.relu(x * 2 + y)", "f");
    put_pass("e", "torch.relu(x * 3 + y)", "g");
    put("pass_dir/sorted_output_pass_rule_names.json", R"(["a", "b", "c", "d", "e"])");
    sample_.name = "sample";
    sample_.pass_dir = root_ / "pass_dir";
  }

  struct Names {
    std::vector<std::string> passes, surplus;
  };
  Names select(const pass::Selection& selection) const {
    const Result<SelectedPasses> selected = select_passes(sources_of(sample_, selection), sample_, selection);
    EXPECT_TRUE(selected) << (selected ? "" : to_string(selected.error()));
    Names names;
    if (!selected) return names;
    for (const pass::Pass& one : selected->passes) names.passes.push_back(one.name);
    for (const record::SurplusPass& one : selected->surplus) names.surplus.push_back(one.pass);
    return names;
  }

  const ScratchDirectory scratch_;
  const std::filesystem::path& root_ = scratch_.path;
  graphdir::Sample sample_;
};

TEST_F(SelectPassesTest, WithoutLimitsAllApply) {
  EXPECT_THAT(select({}).passes, ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(select({{}, {}, 5, 3}).surplus, IsEmpty());
}

TEST_F(SelectPassesTest, TheFirstDistinctFunctionsStay) {
  const Names one = select({{}, {}, {}, 1});
  EXPECT_THAT(one.passes, ElementsAre("a", "d"));
  EXPECT_THAT(one.surplus, ElementsAre("b", "c", "e"));
  EXPECT_THAT(select({{}, {}, {}, 2}).surplus, ElementsAre("c"));
}

TEST_F(SelectPassesTest, TheFirstDistinctPatternsStay) {
  EXPECT_THAT(select({{}, {}, 1, {}}).passes, ElementsAre("a", "c"))
      << "spelling and order of operands make no difference";
  EXPECT_THAT(select({{}, {}, 3, {}}).passes, ElementsAre("a", "b", "c", "d")) << "a constant does";
}

TEST_F(SelectPassesTest, FunctionsAreLimitedFirst) {
  const Names both = select({{}, {}, 2, 2});
  EXPECT_THAT(both.passes, ElementsAre("a", "b"));
  EXPECT_THAT(both.surplus, ElementsAre("c", "d", "e"));
  const Result<SelectedPasses> selected = select_passes(sources_of(sample_, {{}, {}, 2, 2}), sample_, {{}, {}, 2, 2});
  ASSERT_TRUE(selected);
  EXPECT_THAT(selected->surplus[0].reason, HasSubstr("--pass-replacement-func-limit 2"));
  EXPECT_THAT(selected->surplus[1].reason, HasSubstr("--pass-pattern-limit 2"));
}

TEST_F(SelectPassesTest, LimitsAreForTheSamplesOwnAndAGivenOneStandsIn) {
  put_pass("c", "torch.exp(x) + y", "h", "given");
  put_pass("z", "torch.exp(x) - y", "h", "given");
  put("given/sorted_input_pass_rule_names.json", R"(["z", "c"])");
  const pass::Selection selection{root_ / "given", {}, {}, 1};
  const Names names = select(selection);
  EXPECT_THAT(names.passes, ElementsAre("z", "c", "a", "d"));
  EXPECT_THAT(names.surplus, ElementsAre("b", "c", "e"));
  const Result<SelectedPasses> selected = select_passes(sources_of(sample_, selection), sample_, selection);
  ASSERT_TRUE(selected);
  EXPECT_EQ(selected->passes[1].path, root_ / "given/c.py");
  EXPECT_THAT(select({root_ / "given", {}, {}, 3}).passes, ElementsAre("z", "c", "a", "b", "d", "e"));
  EXPECT_EQ(listed_files(sources_of(sample_, selection), sample_, selection).size(), 7u);
}

TEST_F(SelectPassesTest, TheOrderThatIsAskedForHoldsAfterTheLimits) {
  const Names names = select({{}, {"e", "d", "c", "b", "a"}, {}, 1});
  EXPECT_THAT(names.passes, ElementsAre("d", "a")) << "which stay is decided in the order of the list";
  EXPECT_THAT(names.surplus, ElementsAre("b", "c", "e"));
}

TEST_F(SelectPassesTest, ASampleWithoutPassesSaysSo) {
  sample_.pass_dir.clear();
  const Result<SelectedPasses> selected = select_passes(sources_of(sample_, {}), sample_, {});
  ASSERT_FALSE(selected);
  EXPECT_THAT(to_string(selected.error()), HasSubstr("sample 'sample' has no pass_dir"));
  EXPECT_THAT(listed_files(sources_of(sample_, {}), sample_, {}), IsEmpty());
  sample_.pass_dir = root_ / "gone";
  EXPECT_EQ(select_passes(sources_of(sample_, {}), sample_, {}).error().message,
            "the passes are missing: expected the directory '" + sample_.pass_dir.string() + "'");
}

}  // namespace
}  // namespace passnet::run
