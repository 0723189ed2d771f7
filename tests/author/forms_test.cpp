// Which form of a sample stays, by scripted evaluations.
#include "author/forms/forms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "pass/source.h"
#include "tests/author/scripted.h"
#include "tests/scratch.h"

namespace passnet::author {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Written written(const std::string& name, size_t products) {
  Written one;
  one.name = name;
  one.products = products;
  one.python.text = "# " + name + "\n" + std::string(name.size(), '#') + "\n";  // another name alone is the same pass
  one.cpp = one.cuda = "// " + name + "\n";
  one.python.sites = {{"g1", "batch == 1"}, {"g2", "batch == 2"}};
  return one;
}

/// Two graphs. Plain, one pass holds a product; without products another pass does what is left; nothing goes through tiles. An
/// evaluation gives what was put down for the passes that are listed.
class Forms : public testing::Test {
 protected:
  Forms() {
    sample_.path = scratch_.path;
    sample_.graph_names = {"g1", "g2"};
    sample_.graph_paths = {"g1", "g2"};
    sample_.pass_dir = scratch_.path / "pass_dir";
    plain_.passes = {written("product", 1)};
    without_.passes = {written("rest", 0)};
  }

  /// evaluations: as many as the budget is for; -1: no end.
  SettledForm settle(int evaluations = -1) {
    const Write write = [&](const WriteOptions& options) {
      if (options.tiles != InTiles::None && !tiles_.passes.empty()) return tiles_;
      Authored made = options.products ? plain_ : without_;
      for (Written& one : made.passes) {
        if (options.taken.contains(one.name)) one.name += "_2";
      }
      return made;
    };
    const Evaluate evaluate = [&](const graphdir::Sample& sample, const IsSpent&) -> Result<Records> {
      asked_.push_back(listed(sample.pass_dir));
      asked_graphs_.push_back(sample.graph_names);
      Records found = evaluated(records_.at(asked_.back()), sample.graph_names, asked_.back());
      for (record::RunRecord& one : found) {
        if (stands_in_all(one.graph, sample.pass_dir)) one = left_alone(one.graph);
      }
      return found;
    };
    const IsSpent is_spent = [&] { return asked_.size() == static_cast<size_t>(evaluations); };
    Evaluations made(evaluate, is_spent);
    Result<SettledForm> settled = judge_forms(sample_, known_forms(false, on_gpu_), write, made);
    EXPECT_TRUE(settled) << to_string(settled.error());
    std::error_code ignored;
    EXPECT_THAT(std::distance(fs::directory_iterator(scratch_.path, ignored), fs::directory_iterator()), 1);
    return std::move(*settled);
  }

  const ScratchDirectory scratch_;
  graphdir::Sample sample_;
  Authored plain_, without_, tiles_;
  std::map<Names, Records> records_;
  std::vector<Names> asked_, asked_graphs_;  // what was listed, and which graphs, by evaluation
  bool on_gpu_ = false;
};

const Names kProduct = {"product"}, kRest = {"rest"};

TEST_F(Forms, AreNotTriedWhereTheFirstLosesNothing) {
  records_[kProduct] = {timed("g1", 2), timed("g2", 2)};
  const SettledForm settled = settle();
  EXPECT_THAT(asked_, ElementsAre(kProduct));
  EXPECT_EQ(settled.best.label, "plain");
  EXPECT_THAT(settled.others, IsEmpty());
}

TEST_F(Forms, StayWithoutProductsWhereTheProductWasSlow) {
  records_[kProduct] = {timed("g1", 0.5), timed("g2", 0.5)};
  records_[kRest] = {timed("g1", 2), timed("g2", 2)};
  const SettledForm settled = settle();
  EXPECT_EQ(settled.best.label, "without products");
  EXPECT_THAT(settled.best.authored.passes, SizeIs(1));
  EXPECT_EQ(settled.best.authored.passes[0].name, "rest");
  EXPECT_NEAR(settled.best.judged.score, 2, 0.01);
  ASSERT_THAT(settled.others, SizeIs(1));
  EXPECT_EQ(settled.others[0].label, "plain");
  EXPECT_EQ(settled.others[0].score, 1);
  EXPECT_EQ(listed(sample_.pass_dir), kRest);
  EXPECT_TRUE(fs::exists(sample_.pass_dir / "rest.cu"));
  EXPECT_FALSE(fs::exists(sample_.pass_dir / "product.py"));
}

TEST_F(Forms, TakeTheGraphsThatTheFirstLeaves) {
  records_[kProduct] = {timed("g1", 8), timed("g2", 0.5)};
  records_[kRest] = {timed("g1", 9), timed("g2", 2)};
  const SettledForm settled = settle();
  EXPECT_THAT(asked_graphs_.back(), ElementsAre("g2"));
  EXPECT_EQ(settled.best.label, "without products and plain");
  EXPECT_NEAR(settled.best.judged.score, 4, 0.01);
  EXPECT_EQ(listed(sample_.pass_dir), (Names{"rest", "product"}));
  EXPECT_EQ(settled.best.judged.passes[0].declined.at("g1"), "8.00x by another pass");
  EXPECT_EQ(settled.best.judged.passes[1].declined.count("g2"), 1U);
}

TEST_F(Forms, LeaveTheFirstWhereTheOtherGainsNothing) {
  records_[kProduct] = {timed("g1", 8), timed("g2", 0.5)};
  records_[kRest] = {timed("g1", 9), timed("g2", 1)};
  const SettledForm settled = settle();
  EXPECT_EQ(settled.best.label, "plain");
  EXPECT_EQ(listed(sample_.pass_dir), kProduct);
  EXPECT_THAT(*read_file(sample_.pass_dir / "product.py", FileKind::Lines), HasSubstr("# product\n"));
  EXPECT_EQ(settled.best.judged.passes[0].declined.count("g2"), 1U);
}

TEST_F(Forms, AreNotTriedWithTheSameTexts) {
  records_[kProduct] = {timed("g1", 0.5), timed("g2", 0.5)};
  without_ = plain_;
  EXPECT_THAT(settle().others, IsEmpty());
  EXPECT_THAT(asked_, ElementsAre(kProduct));
}

TEST_F(Forms, AreNotTriedWhereTheSlowPassHoldsNoProduct) {
  plain_.passes[0].products = 0;
  records_[kProduct] = {timed("g1", 0.5), timed("g2", 0.5)};
  EXPECT_THAT(settle().others, IsEmpty());
}

/// Plain, a pass leaves the product to PyTorch.
class FormsWithTiles : public Forms {
 protected:
  FormsWithTiles() {
    plain_.passes = {written("rest", 0)};
    tiles_.passes = {written("product", 1)};
    for (Authored* one : {&plain_, &tiles_})
      one->passes[0].python.sites = {{"g1", "x.shape[0] == 1"}, {"g2", "x.shape[0] == 2"}};
  }
};

/// There plain passes are judged first, and tiles on all graphs.
class FormsOnGpu : public FormsWithTiles {
 protected:
  FormsOnGpu() { on_gpu_ = true; }
};

TEST_F(FormsOnGpu, AreEvaluatedOnceWhereTilesAreFasterEverywhere) {
  records_[kRest] = {timed("g1", 2), timed("g2", 2)};
  records_[kProduct] = {timed("g1", 3), timed("g2", 4)};
  const SettledForm settled = settle();
  EXPECT_THAT(asked_, ElementsAre(kRest, kProduct));
  EXPECT_EQ(settled.best.label, "products in tiles");
  EXPECT_THAT(settled.best.authored.passes, SizeIs(1));
  EXPECT_EQ(listed(sample_.pass_dir), kProduct);
}

TEST_F(FormsOnGpu, AreMixedWhereEachIsFasterSomewhere) {
  records_[kRest] = {timed("g1", 2), timed("g2", 2)};
  records_[kProduct] = {timed("g1", 4), timed("g2", 1.5)};
  const SettledForm settled = settle();
  EXPECT_THAT(asked_, ElementsAre(kRest, kProduct));
  EXPECT_EQ(settled.best.label, "products in tiles and plain");
  EXPECT_NEAR(settled.best.judged.score, std::sqrt(8), 0.01);
  EXPECT_THAT(settled.best.judged.passes[0].declined,
              testing::UnorderedElementsAre(testing::Pair("g2", "1.50x, and 2.00x by another pass")));
  EXPECT_THAT(*read_file(sample_.pass_dir / "product.py", FileKind::Lines),
              HasSubstr("# Not faster there: g2.\n    if x.shape[0] == 2:"));
  EXPECT_THAT(*read_file(sample_.pass_dir / "rest.py", FileKind::Lines), HasSubstr("# Not faster there: g1.\n"));
}

TEST_F(FormsOnGpu, CountWhatResultsThatDifferCost) {
  records_[kRest] = {timed("g1", 2), timed("g2", 3.5)};
  records_[kProduct] = {timed("g1", 4), timed("g2", 4, -5)};
  const SettledForm settled = settle();
  EXPECT_EQ(settled.best.label, "products in tiles and plain");
  EXPECT_THAT(settled.best.judged.passes[0].declined,
              testing::UnorderedElementsAre(testing::Pair("g2", "4.00x (scores 2.77), and 3.50x by another pass")));
}

TEST_F(FormsOnGpu, StayPlainWhereTilesPromiseNothing) {
  records_[kRest] = {timed("g1", 2), timed("g2", 2)};
  records_[kProduct] = {timed("g1", 2.05), timed("g2", 1)};
  EXPECT_EQ(settle().best.label, "plain");
  EXPECT_EQ(listed(sample_.pass_dir), kRest);
}

TEST_F(FormsOnGpu, StayPlainWhereTilesAreWrong) {
  records_[kRest] = {timed("g1", 2), timed("g2", 2)};
  records_[kProduct] = {timed("g1", 9), wrong("g2")};
  EXPECT_EQ(settle().best.label, "plain");
  EXPECT_THAT(asked_, ElementsAre(kRest, kProduct));
}

TEST_F(FormsOnGpu, AreNotEvaluatedWhereNothingGoesThroughTiles) {
  records_[kRest] = {timed("g1", 2), timed("g2", 2)};
  tiles_ = plain_;
  EXPECT_EQ(settle().best.label, "plain");
  EXPECT_THAT(asked_, ElementsAre(kRest));
}

TEST_F(FormsWithTiles, AreNotEvaluatedPlainWhereTilesAreFaster) {
  records_[kProduct] = {timed("g1", 3), timed("g2", 4)};
  const SettledForm settled = settle();
  EXPECT_THAT(asked_, ElementsAre(kProduct));
  EXPECT_EQ(settled.best.label, "products in tiles");
}

TEST_F(FormsWithTiles, LeaveToPlainOnesTheGraphsThatTheyAreNotFasterOn) {
  records_[kProduct] = {timed("g1", 3), timed("g2", 0.5)};
  records_[kRest] = {timed("g1", 9), timed("g2", 2)};
  const SettledForm settled = settle();
  EXPECT_THAT(asked_, ElementsAre(kProduct, kProduct, kRest));
  EXPECT_THAT(asked_graphs_, ElementsAre(Names{"g1", "g2"}, Names{"g2"}, Names{"g2"}));
  EXPECT_EQ(settled.best.label, "plain and products in tiles");
  EXPECT_EQ(listed(sample_.pass_dir), (Names{"rest", "product"}));
  EXPECT_NEAR(settled.best.judged.score, std::sqrt(6), 0.01);
  EXPECT_THAT(settled.best.judged.passes[0].declined,
              testing::UnorderedElementsAre(testing::Pair("g1", "3.00x by another pass")));
}

TEST_F(FormsWithTiles, AreJudgedPlainWhereTilesGainNothing) {
  records_[kProduct] = {timed("g1", 0.5), timed("g2", 0.5)};
  records_[kRest] = {timed("g1", 2), timed("g2", 2)};
  EXPECT_EQ(settle().best.label, "plain");
  EXPECT_EQ(listed(sample_.pass_dir), kRest);
}

TEST_F(FormsWithTiles, AreCalledPlainWhereNothingGoesThroughTiles) {
  records_[kRest] = {timed("g1", 2), timed("g2", 2)};
  tiles_ = plain_;
  EXPECT_EQ(settle().best.label, "plain");
  EXPECT_THAT(asked_, ElementsAre(kRest));
}

TEST_F(Forms, EndWithTheBudget) {
  records_[kProduct] = {timed("g1", 0.5), timed("g2", 0.5)};
  const SettledForm settled = settle(1);
  EXPECT_THAT(asked_, ElementsAre(kProduct));
  EXPECT_EQ(settled.best.label, "plain");
  EXPECT_TRUE(settled.best.judged.ended_by_budget);
  EXPECT_THAT(settled.others, IsEmpty());
}

}  // namespace
}  // namespace passnet::author
