// Which schedules are proposed and which one stays, by scripted evaluations; what is kept of it.
#include "author/search/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "author/search/known.h"
#include "base/file/file.h"
#include "tests/author/scripted.h"
#include "tests/scratch.h"

namespace passnet::author {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

KernelShape rows(int64_t count, int64_t width) {
  return {true, true, false, false, 2, {{count, width, width, count * width * 4}}};
}
KernelShape items(int64_t count, bool tiles) { return {false, !tiles, tiles, false, 0, {{count, 1, 1, count * 8}}}; }

std::vector<std::string> labels(const std::vector<KernelShape>& kernels, bool on_gpu) {
  std::vector<std::string> all;
  for (const Proposal& one : proposals(kernels, 0, {on_gpu, 8, {}})) all.push_back(one.label);
  return all;
}

TEST(Proposals, AreNoneWhereEveryScheduleDecidesTheSame) {
  EXPECT_THAT(labels({items(100, false)}, true), IsEmpty());
  EXPECT_THAT(labels({items(100, false)}, false), IsEmpty());
  EXPECT_THAT(labels({rows(1000, 8)}, true), IsEmpty());
}

TEST(Proposals, AreOfWhatTheKernelsHave) {
  EXPECT_THAT(labels({items(4'000'000, true)}, true), Not(Contains("rows are not split")));
  EXPECT_THAT(labels({rows(8, 200000)}, true), Contains("rows are split into more parts"));
  EXPECT_THAT(labels({rows(8, 200000)}, true), Not(Contains("no tiles")));
  EXPECT_THAT(labels({items(100'000, false)}, false), Contains("more tasks"));
}

TEST(Proposals, LeaveOutWhatTheModelSaysIsFarSlower) {
  // A block for each of eight rows moves a small part of what 256 do.
  EXPECT_THAT(labels({rows(8, 2'000'000)}, true), Not(Contains("rows are not split")));
  EXPECT_GT(estimated_us({rows(8, 2'000'000)}, {.split_blocks = 0}, 0, {true, 1, {}}),
            3 * estimated_us({rows(8, 2'000'000)}, {}, 0, {true, 1, {}}));
}

TEST(Proposals, AreAtMostThree) {
  EXPECT_THAT(labels({rows(8, 200000), items(1'000'000, false), items(1'000'000, true)}, true), SizeIs(3));
}

/// One pass over two graphs, whose text is its schedule; an evaluation gives what was put down for that text.
class Search : public testing::Test {
 protected:
  Search() {
    if (const char* home = std::getenv("PASSNET_HOME")) home_before_ = home;
    setenv("PASSNET_HOME", (scratch_.path / "home").c_str(), 1);
    sample_.path = scratch_.path / "sample";
    sample_.graph_names = {"g1", "g2"};
    sample_.graph_paths = {"g1", "g2"};
    best_.label = "plain";
    best_.authored = write({});
    best_.judged.passes = {{"pass", true}};
    best_.judged.records = {timed("g1", 2), timed("g2", 4)};
    for (record::RunRecord& one : best_.judged.records) one.hardware = "a machine";
  }
  ~Search() override {
    if (home_before_) {
      setenv("PASSNET_HOME", home_before_->c_str(), 1);
    } else {
      unsetenv("PASSNET_HOME");
    }
  }

  static Authored write(const WriteOptions& options) {
    Written one;
    one.name = "pass";
    const auto found = options.schedules.find("pass");
    const Schedule schedule = found == options.schedules.end() ? Schedule() : found->second;
    one.python.text = "# " + std::to_string(schedule.task_work) + "\n";
    one.cpp = one.cuda = "// A pass.\n#include <passnet/kernel.h>\n";
    one.python.sites = {{"g1", ""}, {"g2", ""}};
    one.shapes = {items(100'000, false)};
    one.shapes[0].by_graph.push_back(one.shapes[0].by_graph[0]);
    return {{one}, {}};
  }

  /// speed_of: by task_work of the schedule; of others 1.5. evaluations: as many as the budget is for.
  SearchedSchedules search(std::map<std::string, double> speed_of, size_t evaluations = 100) {
    const Evaluate evaluate = [&, speed_of](const graphdir::Sample& sample, const IsSpent&) -> Result<Records> {
      const std::string text = *read_file(sample.pass_dir / "pass.py", FileKind::Lines);
      asked_.push_back(text.substr(2, text.size() - 3));
      graphs_.push_back(sample.graph_names);
      const auto found = speed_of.find(asked_.back());
      if (found != speed_of.end() && found->second == 0) return Records{wrong("g1")};
      return Records{timed("g1", found == speed_of.end() ? 1.5 : found->second)};
    };
    const Write writes = write;
    const Machine machine{false, 8, {}};
    const IsSpent is_spent = [&] { return asked_.size() >= evaluations; };
    Result<SearchedSchedules> found = search_schedules(sample_, best_, {}, writes, evaluate, machine, is_spent);
    EXPECT_TRUE(found) << to_string(found.error());
    EXPECT_FALSE(fs::exists(sample_.path / "schedules"));
    return std::move(*found);
  }
  void forget() { fs::remove_all(scratch_.path / "home"); }

  const ScratchDirectory scratch_;
  std::optional<std::string> home_before_;
  graphdir::Sample sample_;
  JudgedForm best_;
  std::vector<std::string> asked_;
  std::vector<std::vector<std::string>> graphs_;
};

TEST_F(Search, KeepsWhatIsFasterBeyondTheNoise) {
  const SearchedSchedules found = search({{"8192", 2}, {"2048", 3}});
  ASSERT_EQ(found.better.count("pass"), 1u);
  EXPECT_EQ(found.better.at("pass").task_work, 2048);
  EXPECT_EQ(asked_.front(), "8192");
  EXPECT_EQ(found.measured.size(), asked_.size());
  // Of one dtype the graph that takes the longest stands for both.
  EXPECT_THAT(graphs_, Each(ElementsAre("g1")));
}

TEST_F(Search, KeepsTheDefaultWhereOthersAreWithinTheNoise) {
  EXPECT_THAT(search({{"8192", 2}, {"2048", 2.01}}).better, IsEmpty());
}

TEST_F(Search, NeverTakesWhatIsWrong) { EXPECT_THAT(search({{"8192", 1.6}, {"2048", 0}}).better, IsEmpty()); }

TEST_F(Search, DoesNotMeasureAgainWhatIsKnown) {
  search({{"8192", 2}, {"2048", 3}});
  const size_t evaluations = asked_.size();
  const SearchedSchedules again = search({});
  EXPECT_EQ(asked_.size(), evaluations);
  EXPECT_THAT(again.measured, IsEmpty());
  EXPECT_EQ(again.better.at("pass").task_work, 2048);
  best_.judged.records[0].hardware = "another machine";
  search({{"8192", 2}});
  EXPECT_GT(asked_.size(), evaluations);
}

TEST_F(Search, MeasuresAnewWhereWhatIsKeptIsBroken) {
  search({{"8192", 2}, {"2048", 3}});
  const fs::path file = fs::directory_iterator(scratch_.path / "home" / "schedules")->path();
  for (const char* text : {"{", R"({"hardware": "a machine", "structure": "other", "schedule": {}})"}) {
    ASSERT_TRUE(write_file(file, std::string_view(text)));
    asked_.clear();
    EXPECT_THAT(search({{"8192", 2}}).better, IsEmpty());
    EXPECT_THAT(asked_, Not(IsEmpty()));
  }
}

TEST_F(Search, KeepsNothingWhereTheBudgetEndedIt) {
  EXPECT_THAT(search({{"8192", 2}, {"2048", 3}}, 1).better, IsEmpty());
  EXPECT_THAT(asked_, ElementsAre("8192"));
  search({{"8192", 2}, {"2048", 3}});
  EXPECT_GT(asked_.size(), 1u);
}

TEST_F(Search, LeavesPassesAloneThatDoNotStay) {
  best_.judged.passes[0].kept = false;
  search({});
  EXPECT_THAT(asked_, IsEmpty());
}

}  // namespace
}  // namespace passnet::author
