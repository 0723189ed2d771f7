// Which passes are listed, and in which order: those that are given, a sample's own, an order of the caller's.
#include "pass/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file/file.h"
#include "pass/plan/plan.h"
#include "pass/source.h"
#include "tests/scratch.h"

namespace passnet::pass {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SelectionTest : public testing::Test {
 protected:
  std::filesystem::path put(const std::string& name, std::string_view text) const {
    EXPECT_TRUE(write_file(root_ / name, text));
    return root_ / name;
  }
  void SetUp() override {
    for (const char* name : {"given/a.py", "given/b.py", "own/b.py", "own/c.py"}) put(name, "");
    put("given/sorted_input_pass_rule_names.json", R"(["b", "a"])");
    put("own/sorted_output_pass_rule_names.json", R"(["c", "b"])");
  }
  std::vector<std::string> order(const Selection& selection, const char* own = "own") const {
    const Result<Listing> listing = list_selected(SourceFiles({root_}), own ? root_ / own : "", selection);
    EXPECT_TRUE(listing) << (listing ? "" : to_string(listing.error()));
    return listing ? listing->order : std::vector<std::string>{};
  }
  std::string error(const Selection& selection, const char* own = "own") const {
    const Result<Listing> listing = list_selected(SourceFiles({root_}), root_ / own, selection);
    return listing ? "none" : to_string(listing.error());
  }
  Selection given(std::vector<std::string> order = {}) const { return {root_ / "given", std::move(order), {}, {}}; }

  const ScratchDirectory scratch_;
  const std::filesystem::path& root_ = scratch_.path;
};

TEST_F(SelectionTest, GivenPassesComeFirstAndKeepTheirPlaceWhenOverridden) {
  EXPECT_THAT(order({}), ElementsAre("c", "b"));
  EXPECT_THAT(order(given()), ElementsAre("b", "a", "c"));
  const Result<Listing> listing = list_selected(SourceFiles({root_}), root_ / "own", given());
  ASSERT_TRUE(listing);
  EXPECT_THAT(listing->given, ElementsAre(root_ / "given/b.py", root_ / "given/a.py"));
  EXPECT_THAT(listing->own, ElementsAre(root_ / "own/c.py", root_ / "own/b.py"));
}

TEST_F(SelectionTest, WithGivenPassesASampleNeedsNone) {
  put("empty/sorted_output_pass_rule_names.json", "[]");
  for (const char* own : {"empty", "nowhere", static_cast<const char*>(nullptr)})
    EXPECT_THAT(order(given(), own), ElementsAre("b", "a"));
  EXPECT_THAT(order({}, "empty"), IsEmpty());
  put("empty/sorted_output_pass_rule_names.json", "[");
  EXPECT_THAT(error(given(), "empty"), HasSubstr("not valid JSON"));
  EXPECT_THAT(error({root_ / "own", {}, {}, {}}), HasSubstr("sorted_input_pass_rule_names.json"));
}

TEST_F(SelectionTest, AnOrderIsAPermutationOfAllOrOfTheGiven) {
  EXPECT_THAT(order({{}, {"b", "c"}, {}, {}}), ElementsAre("b", "c"));
  EXPECT_THAT(order(given({"c", "a", "b"})), ElementsAre("c", "a", "b"));
  EXPECT_THAT(order(given({"a", "b"})), ElementsAre("a", "b", "c"));
  EXPECT_EQ(
      error(given({"a", "b", "d"})),
      "error: the order that was asked for is no permutation of the passes: it lacks 'c', and 'd' is none of them\n"
      "hint: expected each of these once: b, a, c");
  EXPECT_THAT(error({{}, {"c"}, {}, {}}), HasSubstr("it lacks 'b'\n"));
}

TEST_F(SelectionTest, ThePassDirMayOrderTheGiven) {
  const auto file = put("own/sorted_input_pass_rule_names.json", R"(["a", "b"])");
  EXPECT_THAT(order(given()), ElementsAre("a", "b", "c"));
  EXPECT_THAT(order({}), ElementsAre("c", "b")) << "an order of nothing";
  put("own/sorted_input_pass_rule_names.json", R"(["a", "b", "c", "d"])");
  EXPECT_THAT(error(given()), HasSubstr("is no permutation of the given passes: 'c', 'd' are none of them"));
}

TEST_F(SelectionTest, NamesInAFile) {
  EXPECT_THAT(*read_pass_order(put("order.json", R"(["x", "y"])")), ElementsAre("x", "y"));
  for (const char* bad : {"[\"x\", \"x\"]", "{}", "[1]"}) EXPECT_FALSE(read_pass_order(put("order.json", bad)));
  EXPECT_FALSE(read_pass_order(root_ / "absent.json"));
}

/// The function of a pass whose file ends so.
std::string function_of(const std::filesystem::path& file) {
  const Result<Pass> pass = load_pass(file);
  EXPECT_TRUE(pass) << (pass ? "" : to_string(pass.error()));
  return pass ? pass->plan.entry_id : "";
}

TEST_F(SelectionTest, FunctionsAreOneWhenTheyStandAtOnePlace) {
  const std::string head =
      "import torch\ndef pattern(x):\n    return torch.relu(x)\ndef replacement_args(x):\n    return (x,)\n";
  const auto shares = [&](const char* name, const std::string& body) {
    return put("own/" + std::string(name) + ".py", head + body);
  };
  put("own/shared.py",
      "def f(x):\n    return x\ndef g(x):\n    return x\ndef make(n):\n    def made(x):\n        return x\n    return "
      "made\n");
  const auto f1 = shares("f1", "from pass_dir.shared import f\ndef replacement_func():\n    return f\n");
  const auto f2 = shares("f2", "from shared import f as h\ndef replacement_func():\n    return h\n");
  const auto g = shares("g", "from pass_dir.shared import g\ndef replacement_func():\n    return g\n");
  const auto own = shares("own1", "def f(x):\n    return x\ndef replacement_func():\n    return f\n");
  const auto same_text = shares("own2", "def f(x):\n    return x\ndef replacement_func():\n    return f\n");
  const auto of_other = shares("of_other", "from pass_dir.own1 import f\ndef replacement_func():\n    return f\n");
  const auto made1 = shares("made1", "from pass_dir.shared import make\ndef replacement_func():\n    return make(1)\n");
  const auto made2 = shares("made2", "from pass_dir.shared import make\ndef replacement_func():\n    return make(2)\n");
  EXPECT_EQ(function_of(f1), function_of(f2));
  EXPECT_NE(function_of(f1), function_of(g));
  EXPECT_NE(function_of(own), function_of(same_text));
  EXPECT_EQ(function_of(own), function_of(of_other));
  EXPECT_NE(function_of(made1), function_of(made2));
}

}  // namespace
}  // namespace passnet::pass
