// Run directories: a new one each, `latest`, nothing overwritten unasked, one writer.
#include "run/keep/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "run/keep/load_records.h"
#include "tests/scratch.h"

namespace passnet::run {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RunDirectoryTest : public testing::Test {
 protected:
  RunRequest request(const fs::path& out = {}) const {
    RunRequest made;
    made.out = out;
    made.runs = root_ / "runs";
    made.samples = {"vit"};
    return made;
  }
  static void put(const fs::path& file, const std::string& text = "x\n") { ASSERT_TRUE(write_file(file, text)); }
  static void put_record(const fs::path& file, const std::string& sample, const std::string& graph) {
    record::RunRecord record;
    record.sample = sample;
    record.graph = graph;
    put(file, record::to_json(record).dump() + "\n");
  }
  static RunDirectory open(const RunRequest& request) {
    Result<RunDirectory> run = RunDirectory::open(request);
    EXPECT_TRUE(run.has_value()) << (run ? "" : to_string(run.error()));
    return std::move(*run);
  }
  static std::string error_of(const RunRequest& request) {
    const Result<RunDirectory> run = RunDirectory::open(request);
    return run ? "no error" : to_string(run.error());
  }
  const ScratchDirectory scratch_;
  const fs::path& root_ = scratch_.path;
};

TEST(RunDirectoryName, IsTimeAndSample) {
  EXPECT_EQ(run_directory_name(1795304405, {"vit_add_layer_norm"}), "2026-11-21T23-40-05-vit_add_layer_norm");
  EXPECT_EQ(run_directory_name(0, {"a", "b"}), "1970-01-01T00-00-00-2-samples");
}

TEST_F(RunDirectoryTest, EachRunHasItsOwnAndLatestIsTheLast) {
  const RunDirectory first = open(request());
  EXPECT_EQ(first.shown(), first.path()) << "it holds no record yet";
  EXPECT_TRUE(first.become_latest());
  EXPECT_EQ(first.shown(), root_ / "runs/latest");
  const RunDirectory second = open(request());
  EXPECT_NE(first.path(), second.path());
  EXPECT_EQ(first.shown(), root_ / "runs/latest");
  EXPECT_TRUE(second.become_latest());
  EXPECT_TRUE(fs::equivalent(root_ / "runs/latest", second.path()));
  EXPECT_FALSE(fs::read_symlink(root_ / "runs/latest").has_parent_path())
      << "the link must hold when the tree is moved";
  EXPECT_EQ(first.shown(), first.path());
  EXPECT_EQ(second.shown(), root_ / "runs/latest");
}

TEST_F(RunDirectoryTest, ResumeGoesOnInLatestUnderItsOwnName) {
  fs::path path;
  {
    const RunDirectory first = open(request());
    path = first.path();
    put(path / "vit/records.jsonl");
    EXPECT_TRUE(first.become_latest());
  }
  RunRequest again = request();
  again.resume = true;
  EXPECT_EQ(open(again).path(), path);
  again.samples = {"gpt2"};
  EXPECT_THAT(error_of(again), HasSubstr("is of 'vit'\nhint: name the run to go on with by --out"));
}

TEST_F(RunDirectoryTest, ResumeWithoutALatestStartsOne) {
  RunRequest first = request();
  first.resume = true;
  EXPECT_TRUE(fs::is_directory(open(first).path()));
}

TEST_F(RunDirectoryTest, ResumeWithoutOutGoesOnWithARunOfTheSameSamples) {
  put_record(root_ / "runs/first/gpt2/records.jsonl", "gpt2", "g");
  fs::create_directory_symlink("first", root_ / "runs/latest");
  RunRequest other = request();
  other.resume = true;
  EXPECT_EQ(error_of(other), "error: the latest run, '" + (root_ / "runs/first").string() +
                                 "', is of 'gpt2'\nhint: name the run to go on with by --out, or leave --resume away");
}

TEST_F(RunDirectoryTest, LatestThatIsNoLinkStays) {
  put(root_ / "runs/latest");
  EXPECT_THAT(error_of(request()), HasSubstr("is no link to the latest run"));
  EXPECT_TRUE(fs::is_regular_file(root_ / "runs/latest"));
}

TEST_F(RunDirectoryTest, RecordsOfAnotherRunAreNotOverwritten) {
  const fs::path out = root_ / "out";
  put(out / "gpt2/records.jsonl");
  EXPECT_EQ(error_of(request(out)),
            "error: '" + out.string() +
                "' holds the records of another run, of 'gpt2'\n"
                "hint: --resume goes on with it, --force deletes them and starts over; or give another --out");
  RunRequest resumed = request(out);
  resumed.resume = true;
  EXPECT_EQ(open(resumed).shown(), out);
  EXPECT_TRUE(fs::exists(out / "gpt2/records.jsonl"));
}

TEST_F(RunDirectoryTest, ForceDeletesWhatRunsWroteAndNothingElse) {
  const fs::path out = root_ / "out";
  for (const char* file :
       {"gpt2/records.jsonl", "gpt2/records.superseded.jsonl", "gpt2/validation.log", "gpt2/notes.txt",
        "vit/records.jsonl", "vit/aggregated_score.json", "report.html", "other/notes.txt"})
    put(out / file);
  RunRequest forced = request(out);
  forced.force = true;
  open(forced);
  std::vector<std::string> left;
  for (const auto& entry : fs::recursive_directory_iterator(out)) {
    if (entry.is_regular_file() && entry.path().filename() != ".lock")
      left.push_back(entry.path().lexically_relative(out));
  }
  EXPECT_THAT(left, testing::UnorderedElementsAre("gpt2/notes.txt", "other/notes.txt"));
  EXPECT_FALSE(fs::exists(out / "vit"));
}

TEST_F(RunDirectoryTest, ADirectoryOfRunsIsNoRun) {
  EXPECT_TRUE(open(request()).become_latest());
  EXPECT_THAT(error_of(request(root_ / "runs")), HasSubstr("holds directories of runs, not one run"));
}

TEST_F(RunDirectoryTest, SecondWriterIsRefused) {
  RunRequest both = request(root_ / "out");
  both.resume = true;
  const RunDirectory first = open(both);
  EXPECT_EQ(error_of(both), "error: '" + (root_ / "out").string() +
                                "' is being written by another run\n"
                                "hint: wait for it, or give this run its own --out");
}

TEST_F(RunDirectoryTest, RecordsAreFoundInARunAFileAndTheLatestOfRuns) {
  const fs::path older = root_ / "runs/2026-01-01T00-00-00-x", newer = root_ / "runs/2026-01-02T00-00-00-x";
  put_record(older / "vit/records.jsonl", "vit", "old");
  put_record(newer / "vit/records.jsonl", "vit", "new");
  put_record(newer / "gpt2/records.jsonl", "gpt2", "g");
  put(newer / "gpt2/records.superseded.jsonl", "not read\n");
  fs::create_directory_symlink(newer.filename(), root_ / "runs/latest");
  const auto names = [](const fs::path& path) {
    std::vector<std::string> found;
    const auto records = load_run(path);
    EXPECT_TRUE(records) << to_string(records.error());
    for (const record::RunRecord& record : *records) found.push_back(record.sample + "/" + record.graph);
    return found;
  };
  EXPECT_THAT(names(newer), testing::ElementsAre("gpt2/g", "vit/new"));
  EXPECT_THAT(names(root_ / "runs"), testing::ElementsAre("gpt2/g", "vit/new")) << "runs are never mixed";
  EXPECT_THAT(names(root_ / "runs/latest"), testing::ElementsAre("gpt2/g", "vit/new"));
  EXPECT_THAT(names(older / "vit/records.jsonl"), testing::ElementsAre("vit/old"));
  EXPECT_THAT(to_string(load_run(root_ / "absent").error()), HasSubstr("does not exist"));
  put(root_ / "empty/vit/records.jsonl", "");
  EXPECT_THAT(to_string(load_run(root_ / "empty").error()), HasSubstr("holds no finished record"));
}

}  // namespace
}  // namespace passnet::run
