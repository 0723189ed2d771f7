#include "leaderboard/tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file/file.h"
#include "leaderboard/submission.h"
#include "tests/scratch.h"

namespace passnet::leaderboard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Tasks : public testing::Test {
 protected:
  void write(const fs::path& file, const std::string& text) { ASSERT_TRUE(write_file(root_ / file, text)); }
  void write_graph(const fs::path& directory) { write(directory / "model.py", "# a graph"); }
  std::string error_of(const fs::path& directory, const fs::path& graphs = {}) {
    const auto found = load_tasks(root_ / directory, graphs);
    return found ? "" : to_string(found.error());
  }
  ScratchDirectory scratch_;
  fs::path root_ = scratch_.path;
};

TEST_F(Tasks, OfWhatDatasetOfficialWrote) {
  write_graph("graphs/float32/a");
  for (const char* task : {"tasks/xx/beta", "tasks/alpha"}) {
    write(fs::path(task) / "graph_list.txt", "graphs/float32/a\n");
    write_graph(fs::path(task) / "graphs/float32/a");
  }
  const auto found = load_tasks(root_, {});
  ASSERT_TRUE(found) << to_string(found.error());
  ASSERT_EQ(found->tasks.size(), 2);
  EXPECT_EQ(found->tasks[0].name, "alpha");
  EXPECT_EQ(found->tasks[1].name, "beta");
  EXPECT_EQ(found->tasks[1].graph_names, std::vector<std::string>{"graphs/float32/a"});
}

TEST_F(Tasks, OfASampleWithoutAList) {
  write_graph("samples/mine/graphs/b1");
  write_graph("samples/mine/graphs/b2");
  const auto found = load_tasks(root_ / "samples", {});
  ASSERT_TRUE(found) << to_string(found.error());
  ASSERT_EQ(found->tasks.size(), 1);
  EXPECT_EQ(found->tasks[0].name, "mine");
  EXPECT_EQ(found->tasks[0].graph_names, (std::vector<std::string>{"graphs/b1", "graphs/b2"}));
}

TEST_F(Tasks, OfListsBesideTheirGraphs) {
  write_graph("official/graphs/float32/a");
  write_graph("official/graphs/float32/b");
  write("lists/one.txt", "graphs/float32/a\ngraphs/float32/b\n");
  for (const fs::path& graphs : {root_ / "official", root_ / "official/graphs"}) {
    const auto found = load_tasks(root_ / "lists", graphs);
    ASSERT_TRUE(found) << to_string(found.error());
    ASSERT_EQ(found->tasks.size(), 1) << graphs;
    EXPECT_TRUE(fs::exists(found->tasks[0].graph_paths[1] / "model.py")) << graphs;
  }
}

TEST_F(Tasks, ABadListIsOneTask) {
  write_graph("official/graphs/a");
  write("lists/good.txt", "graphs/a\n");
  write("lists/missing.txt", "graphs/a\ngraphs/b\ngraphs/c\n");
  write("lists/empty.txt", "");
  write("lists/twice.txt", "graphs/a\ngraphs/a\n");
  const auto found = load_tasks(root_ / "lists", root_ / "official");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->tasks.size(), 1);
  ASSERT_EQ(found->unusable.size(), 3);
  EXPECT_EQ(found->unusable[1].task, "missing");
  EXPECT_THAT(found->unusable[1].why, HasSubstr("missing.txt:2:1: error: 2 of 3 graphs are not below"));
  EXPECT_THAT(found->unusable[2].why, HasSubstr("listed twice"));
}

TEST_F(Tasks, WhatIsNoneSaysSo) {
  EXPECT_THAT(error_of("nowhere"), HasSubstr("is no directory, expected one of samples"));
  fs::create_directory(root_ / "empty");
  EXPECT_THAT(error_of("empty"), HasSubstr("no sample in"));
  write("lists/one.txt", "a\n");
  EXPECT_THAT(error_of("lists"), HasSubstr("--graphs DIR says what their lines are below"));
  write_graph("samples/one/graphs/a");
  write("samples/one/graph_list.txt", "a\n");
  EXPECT_THAT(error_of("samples", root_), HasSubstr("leave --graphs away"));
  write("samples/deep/one/graph_list.txt", "a\n");
  EXPECT_THAT(error_of("samples"), HasSubstr("two samples are named 'one'"));
}

TEST_F(Tasks, AreSelectedByNameAndNumber) {
  TaskSet all;
  for (const char* name : {"abc", "bcd", "cde"}) all.tasks.emplace_back().name = name;
  all.unusable = {{"zbc", "broken"}};
  EXPECT_EQ(select_tasks(all, "bc", 0)->tasks.size(), 2);
  EXPECT_EQ(select_tasks(all, "", 1)->tasks[0].name, "abc");
  EXPECT_EQ(select_tasks(all, "cd", 0)->unusable.size(), 0);
  EXPECT_THAT(to_string(select_tasks(all, "nothing", 0).error()), HasSubstr("no sample's name holds 'nothing'"));
  EXPECT_THAT(to_string(select_tasks(all, "zb", 0).error()),
              HasSubstr("none of 1 samples can be evaluated; zbc: broken"));
}

TEST_F(Tasks, SubmissionsAreDirectoriesOfTasks) {
  write("model/task/score.txt", "0.5\n");
  write("model/bad/score.txt", "fast");
  const auto found = find_submissions({(root_ / "model/").string()});
  ASSERT_TRUE(found) << to_string(found.error());
  EXPECT_EQ((*found)[0].model, "model");
  EXPECT_EQ(**published_score((*found)[0], "task"), 0.5);
  EXPECT_FALSE(published_score((*found)[0], "absent")->has_value());
  EXPECT_FALSE(published_score((*found)[0], "bad"));
  graphdir::Sample task;
  task.name = "task";
  EXPECT_EQ(with_passes(task, (*found)[0]).pass_dir, root_ / "model/task");
  EXPECT_EQ(with_passes(task, (*found)[0]).roots.back(), root_ / "model");
  EXPECT_FALSE(find_submissions({(root_ / "model/task").string()})) << "it holds no directory";
  EXPECT_FALSE(find_submissions({(root_ / "model").string(), (root_ / "model").string()}));
}

}  // namespace
}  // namespace passnet::leaderboard
