// Shards of a scripted worker's run, merged: equal to one run, and refused where they are not of one kind.
#include "cluster/merge.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/shard.h"
#include "base/text/strings.h"
#include "graphdir/sample.h"
#include "record/session.h"
#include "run/batch/batch.h"
#include "run/batch/verify.h"
#include "run/keep/load_records.h"
#include "run/keep/record_file.h"
#include "tests/paths.h"
#include "tests/scratch.h"

namespace passnet::cluster {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class MergeTest : public testing::Test {
 protected:
  MergeTest() {
    const fs::path shipped = tests::source_dir() / "samples/gpt2_gelu";
    const fs::path graph = graphdir::load_sample(shipped).value().graph_paths.at(0);
    for (int i = 0; i < 12; ++i) {
      const fs::path sample = scratch_.path / fmt::format("sample_{}", i);
      fs::create_directories(sample / "graphs");
      fs::copy(graph, sample / "graphs" / "a", fs::copy_options::recursive);
      EXPECT_TRUE(write_file(sample / "graph_list.txt", std::string_view("a\n")));
      samples_.push_back(sample);
    }
  }

  fs::path out(const std::string& name) const { return scratch_.path / name; }

  /// Evaluates the shard into out(name). change: the options before that.
  void run(const std::string& name, Shard shard = {}, const std::function<void(run::BatchOptions&)>& change = {}) {
    run::BatchOptions options;
    options.out = out(name);
    options.seed = 7;
    if (!shard.is_whole()) options.shard = to_string(shard);
    options.evaluate.compiler = "eager";
    options.evaluate.gpu = 0;
    options.evaluate.threads = 1;
    options.evaluate.timed = false;
    options.evaluate.worker = tests::binary_dir() / "bin/scripted_worker";
    if (change) change(options);
    std::vector<fs::path> mine;
    for (const fs::path& sample : samples_) {
      if (shard.holds(sample.filename().string())) mine.push_back(sample);
    }
    const run::BatchResult result = run::evaluate_batch(mine, options, {});
    EXPECT_FALSE(result.error) << to_string(*result.error);
  }
  void run_shards(int count) {
    for (int i = 1; i <= count; ++i) run(fmt::format("{}", i), {i, count});
  }

  Result<Merged> merge(const std::vector<std::string>& names, bool latest = false, const std::string& to = "merged") {
    MergeRequest request{{}, out(to), latest};
    for (const std::string& name : names) request.runs.push_back(out(name));
    return merge_runs(request);
  }
  std::string refusal(const std::vector<std::string>& names) {
    const Result<Merged> merged = merge(names);
    EXPECT_FALSE(merged.has_value());
    EXPECT_FALSE(fs::exists(out("merged"))) << "nothing stays after an error";
    return merged ? "" : replaced(merged.error().message);
  }
  std::string replaced(std::string text) const {
    for (size_t at; (at = text.find(scratch_.path.string() + "/")) != text.npos;)
      text.erase(at, scratch_.path.string().size() + 1);
    return text;
  }
  /// The records of a run, without what is another each time.
  std::vector<record::RunRecord> records(const std::string& name) const {
    Result<std::vector<record::RunRecord>> all = run::load_run(out(name));
    EXPECT_TRUE(all.has_value()) << (all ? "" : to_string(all.error()));
    for (record::RunRecord& record : *all) {
      record.chain.reset();
      record.started.clear();
      record.evaluate_seconds = 0;
      record.reference_memory = record.candidate_memory = {};  // the scripted worker counts on
    }
    return *all;
  }
  std::vector<std::string> texts(const std::string& name) const {
    std::vector<std::string> all;
    for (const record::RunRecord& record : records(name)) all.push_back(compact(record::to_json(record)));
    return all;
  }
  std::string verdict(const std::string& name) const {
    const Result<run::VerifiedRun> found = run::verify_run(out(name));
    if (!found) return to_string(found.error());
    std::string text = join(found->problems, "\n");
    for (const run::VerifiedSample& sample : found->samples) {
      if (std::string_view(sample.result()) != "ok")
        text += fmt::format("{}: {} {}{}\n", sample.sample, sample.result(), join(sample.problems, ", "),
                            join(sample.missing, ", "));
    }
    return text.empty() ? "ok" : text;
  }

  const ScratchDirectory scratch_;
  std::vector<fs::path> samples_;
};

TEST_F(MergeTest, ThreeShardsGiveTheRecordsOfOneRun) {
  run("one");
  run_shards(3);
  const Result<Merged> merged = merge({"1", "2", "3"});
  ASSERT_TRUE(merged.has_value()) << to_string(merged.error());
  EXPECT_EQ(merged->samples, 12u);
  EXPECT_EQ(merged->records, 12u);
  EXPECT_THAT(merged->missing, ElementsAre());
  EXPECT_THAT(texts("merged"), testing::UnorderedElementsAreArray(texts("one")));
  EXPECT_EQ(verdict("merged"), "ok");
}

TEST_F(MergeTest, TheSameRunsGiveTheSameHead) {
  run_shards(3);
  ASSERT_TRUE(merge({"1", "2", "3"}));
  ASSERT_TRUE(merge({"1", "2", "3"}, false, "again"));
  EXPECT_EQ(run::verify_run(out("merged"))->head, run::verify_run(out("again"))->head);
}

TEST_F(MergeTest, AMergedRunIsMergedAgainAndGoneOnWith) {
  run_shards(4);
  ASSERT_TRUE(merge({"1", "2"}, false, "a"));
  ASSERT_TRUE(merge({"3", "4"}, false, "b"));
  ASSERT_TRUE(merge({"a", "b"}));
  EXPECT_EQ(records("merged").size(), 12u);
  EXPECT_EQ(verdict("merged"), "ok");
  // A sample that changed is evaluated again, in a session that goes on after the line that joins.
  const fs::path model = samples_[0] / "graphs/a/model.py";
  ASSERT_TRUE(write_file(model, *read_file(model, FileKind::Graph) + "\n"));
  run("merged", {}, [](run::BatchOptions& options) { options.resume = true; });
  EXPECT_EQ(records("merged").size(), 12u);
  EXPECT_EQ(verdict("merged"), "ok");
  EXPECT_EQ(run::load_sessions(out("merged"))->back().session.samples.size(), 1u);
}

TEST_F(MergeTest, GoesOnWithRecordsThatWereCopiedFromElsewhere) {
  run("one", {1, 2});
  fs::copy(out("one"), out("copy"), fs::copy_options::recursive);
  run("copy", {1, 2}, [](run::BatchOptions& options) { options.resume = true; });
  EXPECT_EQ(run::load_sessions(out("copy"))->size(), 1u) << "all records stand";
}

TEST_F(MergeTest, AShardThatIsMissingIsNamedAndAnEmptyOneIsNot) {
  run_shards(3);
  EXPECT_THAT(merge({"1", "3"})->missing, ElementsAre("2/3"));
  samples_.resize(1);
  for (int i = 1; i <= 2; ++i) run(fmt::format("few{}", i), {i, 2});
  const Result<Merged> merged = merge({"few1", "few2"}, false, "few");
  ASSERT_TRUE(merged.has_value()) << to_string(merged.error());
  EXPECT_THAT(merged->missing, ElementsAre());
  EXPECT_EQ(merged->samples, 1u);
  EXPECT_EQ(verdict("few"), "ok");
}

TEST_F(MergeTest, DoubledSamplesAreRefusedOrTheLatestIsTaken) {
  samples_.resize(2);
  run("old");
  run("new", {}, [](run::BatchOptions& options) { options.seed = 8; });
  EXPECT_EQ(refusal({"old", "new"}),
            "'old' and 'new' both hold records of 'sample_0', expected each sample in one run");
  EXPECT_EQ(refusal({"old", "old"}), "'old' and 'old' are the same run");
  const Result<Merged> merged = merge({"old", "new"}, true);
  ASSERT_TRUE(merged.has_value()) << to_string(merged.error());
  EXPECT_EQ(merged->left.size(), 2u);
  EXPECT_EQ(merged->left.at("sample_0"), out("old"));
  EXPECT_EQ(merged->records, 2u);
  EXPECT_EQ(verdict("merged"), "ok");
}

TEST_F(MergeTest, RunsOfOtherOptionsAreRefusedByName) {
  run("1", {1, 3});
  run("2", {2, 3}, [](run::BatchOptions& options) { options.evaluate.trials += 1; });
  EXPECT_THAT(
      refusal({"1", "2"}),
      testing::MatchesRegex(
          R"('2' \(sample_[0-9]+/a\) was made otherwise than '1' \(sample_[0-9]+/a\): --trials [0-9]+, was [0-9]+)"));
  run("3", {3, 3}, [](run::BatchOptions& options) { options.seed.reset(); });
  EXPECT_THAT(refusal({"1", "3"}), HasSubstr(": --seed was not given, and was"));
}

TEST_F(MergeTest, RunsOfAnotherMachineOrVersionAreRefusedByName) {
  run_shards(2);
  // An honest run of another machine cannot be made here: this one's records are written with its words, and chained anew.
  const std::string session = run::load_sessions(out("2"))->back().sha256;
  for (const record::RunRecord& record : records("2")) {
    record::RunRecord other = record;
    other.provenance->versions["hardware"] = "NVIDIA H100";
    other.chain = record::Link{1, session};
    ASSERT_TRUE(
        write_file(out("2") / record.sample / record::kRecordsFile, std::string_view(record::to_lines({other}))));
    fs::remove(out("2") / record.sample / record::kScoreFile);
  }
  EXPECT_THAT(refusal({"1", "2"}), HasSubstr("hardware 'NVIDIA H100', was '"));
}

TEST_F(MergeTest, AnEditedShardIsRefused) {
  run_shards(2);
  const fs::path sample = out("2") / records("2").at(0).sample;
  std::string text = *read_file(sample / record::kRecordsFile, FileKind::Lines);
  text.replace(text.find("\"threads\":1"), 11, "\"threads\":2");
  ASSERT_TRUE(write_file(sample / record::kRecordsFile, std::string_view(text)));
  EXPECT_THAT(refusal({"1", "2"}), HasSubstr("was changed after it was written"));
}

TEST_F(MergeTest, AMergedRunShowsWhatIsTakenOutOfIt) {
  run_shards(3);
  ASSERT_TRUE(merge({"1", "2", "3"}));
  const fs::path file = out("merged") / record::kSessionsFile;
  const std::string whole = *read_file(file, FileKind::Lines);
  std::vector<std::string> lines;
  for (const std::string_view line : split(trim(whole), '\n')) lines.emplace_back(line);
  ASSERT_EQ(lines.size(), 4u);
  const auto problem = [&](std::vector<std::string> kept) {
    const auto parsed = record::sessions_from_text(join(kept, "\n") + "\n", "run.jsonl");
    return parsed ? std::string("none") : parsed.error().message;
  };
  EXPECT_EQ(problem(lines), "none");
  EXPECT_EQ(problem({lines[0], lines[1], lines[2]}),
            "this is session 1, expected 2: a line was dropped, doubled or moved");
  EXPECT_EQ(problem({lines[0], lines[2], lines[3]}), "it joins 3 runs, found 2 before it");
  EXPECT_THAT(problem({lines[1], lines[0], lines[2], lines[3]}), HasSubstr("one of them was changed"));
  EXPECT_THAT(problem({lines[0], lines[1], lines[2], lines[3], lines[3]}), HasSubstr("it joins 3 runs, found 1"));
  // Records of a shard cannot be exchanged against those of another run.
  fs::remove(out("merged") / records("1").at(0).sample / record::kRecordsFile);
  EXPECT_THAT(verdict("merged"), HasSubstr("incomplete"));
}

TEST_F(MergeTest, SaysWhereNoRunIs) {
  fs::create_directories(out("empty"));
  EXPECT_EQ(refusal({}), "found no run, expected one or more");
  EXPECT_EQ(refusal({"empty"}), "no run.jsonl in 'empty', expected the --out of 'passnet eval'");
  ASSERT_TRUE(write_file(out("torn") / record::kSessionsFile, std::string_view("{\"version\"")));
  EXPECT_EQ(refusal({"torn"}), "no session in 'torn/run.jsonl'");
  run("1", {1, 2});
  ASSERT_TRUE(write_file(out("merged") / "x", std::string_view("x")));
  EXPECT_THAT(replaced(merge({"1"}).error().message), "'merged' holds 'x', expected an empty or a new directory");
}

// Versions before the chain, and those before provenance, wrote such records; later sessions went on beside them.
TEST_F(MergeTest, RecordsOfOlderVersionsAreRefused) {
  run("1", {1, 2});
  record::RunRecord record = records("1").at(0);
  record.sample = "old";
  record::Session session;
  session.seed_given = true;
  session.samples = {{"old", {}, {}, {}, 0, "", {}, {}}};
  const auto write_run = [&](const std::string& name) {
    const std::string sessions = record::session_line(session) + "\n";
    ASSERT_TRUE(write_file(out(name) / record::kSessionsFile, std::string_view(sessions)));
    ASSERT_TRUE(write_file(out(name) / "old" / record::kRecordsFile, std::string_view(record::to_lines({record}))));
  };
  const std::string line = record::to_lines({record});
  session.samples[0].unchained = {sha256_hex(line.substr(0, line.size() - 1))};
  write_run("unchained");
  EXPECT_EQ(refusal({"unchained"}), "1 records without a place in the chain, as those of older versions");
  session.samples[0].unchained = {};
  record.chain = record::Link{1, sha256_hex(record::session_line(session))};
  record.provenance.reset();
  write_run("bare");
  EXPECT_EQ(refusal({"bare"}),
            "'bare' (old/a): the record does not say what it was made of, as those of older versions");
}

class MergeTreesTest : public testing::Test {
 protected:
  void put(const std::string& file, std::string_view text) const {
    ASSERT_TRUE(write_file(scratch_.path / file, text));
  }
  std::string get(const std::string& file) const {
    const Result<std::string> text = read_file(scratch_.path / "out" / file, FileKind::Lines);
    return text ? *text : "none";
  }
  Result<std::vector<std::string>> merge() const {
    return merge_trees({{scratch_.path / "1", scratch_.path / "2"}, scratch_.path / "out"});
  }
  const ScratchDirectory scratch_;
};

TEST_F(MergeTreesTest, JournalsFollowEachOtherAndListsAreLeftOut) {
  put("1/journal.jsonl", "{\"model\":\"a\"}\n");
  put("2/journal.jsonl", "{\"model\":\"b\"}\n{\"torn");
  put("1/timm/a/model.py", "a");
  put("2/timm/b/model.py", "b");
  put("1/options.json", "same");
  put("2/options.json", "same");
  put("1/lists/all.txt", "a\n");
  put("2/lists/all.txt", "b\n");
  const Result<std::vector<std::string>> left = merge();
  ASSERT_TRUE(left.has_value()) << to_string(left.error());
  EXPECT_THAT(*left, ElementsAre("lists/all.txt"));
  EXPECT_EQ(get("journal.jsonl"), "{\"model\":\"a\"}\n{\"model\":\"b\"}\n");
  EXPECT_EQ(get("timm/a/model.py") + get("timm/b/model.py") + get("options.json"), "absame");
  EXPECT_EQ(get("lists/all.txt"), "none");
}

TEST_F(MergeTreesTest, TwoItemsOfOneNameAreRefused) {
  put("1/sample/author.json", "a");
  put("2/sample/author.json", "b");
  const Result<std::vector<std::string>> left = merge();
  ASSERT_FALSE(left.has_value());
  EXPECT_THAT(left.error().message,
              HasSubstr("both have another 'sample/author.json', expected each item in one of them"));
  EXPECT_FALSE(fs::exists(scratch_.path / "out"));
}

}  // namespace
}  // namespace passnet::cluster
