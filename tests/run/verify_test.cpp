// Runs of a scripted worker: what they promise, how they go on, and what verify finds of those that somebody touched.
#include "run/batch/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "base/hash.h"
#include "base/text/strings.h"
#include "graphdir/sample.h"
#include "record/session.h"
#include "run/batch/batch.h"
#include "run/keep/load_records.h"
#include "tests/paths.h"
#include "tests/scratch.h"

namespace passnet::run {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class VerifyTest : public testing::Test {
 protected:
  VerifyTest() { list({"a", "b", "c"}); }

  /// Makes the sample's list, and the directories of graphs that are not there yet.
  void list(const std::vector<std::string>& graphs) {
    const fs::path shipped = tests::source_dir() / "samples/gpt2_gelu";
    const fs::path graph = graphdir::load_sample(shipped).value().graph_paths.at(0);
    for (const std::string& name : graphs) {
      if (!fs::exists(sample_ / "graphs" / name)) {
        fs::create_directories(sample_ / "graphs");
        fs::copy(graph, sample_ / "graphs" / name, fs::copy_options::recursive);
      }
    }
    ASSERT_TRUE(write_file(sample_ / "graph_list.txt", join(graphs, "\n") + "\n"));
  }
  /// Evaluates into out_; stop_after: interrupted by an error after so many graphs.
  std::vector<record::RunRecord> run(bool resume = false, std::optional<uint64_t> seed = {}, int stop_after = 100) {
    BatchOptions options;
    options.out = out_;
    options.resume = resume;
    options.seed = seed;
    options.evaluate.compiler = "eager";
    options.evaluate.gpu = 0;
    options.evaluate.threads = 1;
    options.evaluate.timed = false;
    options.evaluate.worker = tests::binary_dir() / "bin/scripted_worker";
    std::atomic<bool> interrupted = false;
    options.evaluate.interrupted = &interrupted;
    BatchHooks hooks;
    hooks.again = [&](const std::string&, const std::vector<std::string>& graphs, const std::string& reason) {
      again_.push_back(join(graphs, " ") + ": " + reason);
    };
    hooks.finished = [&](const record::RunRecord&) { interrupted = --stop_after <= 0; };
    const BatchResult result = evaluate_batch({sample_}, options, hooks);
    if (stop_after > 0) {
      EXPECT_FALSE(result.error) << to_string(*result.error);
    }
    return result.records;
  }
  VerifiedRun verify() const {
    const Result<VerifiedRun> found = verify_run(out_);
    EXPECT_TRUE(found.has_value()) << (found ? "" : to_string(found.error()));
    return *found;
  }
  VerifiedSample verified() const {
    const VerifiedRun found = verify();
    EXPECT_EQ(found.samples.size(), 1u);
    return found.samples.at(0);
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> found;
    const std::string text = read_file(records_, FileKind::Lines).value();
    for (const std::string_view line : split(trim(text), '\n')) found.emplace_back(line);
    return found;
  }
  static void write_lines(const fs::path& path, const std::vector<std::string>& lines) {
    ASSERT_TRUE(write_file(path, join(lines, "\n") + "\n"));
  }
  void edit(size_t line, const std::function<void(Json&)>& change) const {
    std::vector<std::string> all = lines();
    Json json = try_parse_json(all.at(line));
    change(json);
    all[line] = dump(json);
    write_lines(records_, all);
  }

  const ScratchDirectory scratch_;
  const fs::path sample_ = scratch_.path / "scripted", out_ = scratch_.path / "out";
  const fs::path records_ = out_ / "scripted/records.jsonl", sessions_ = out_ / "run.jsonl";
  std::vector<std::string> again_;
};

TEST_F(VerifyTest, AFinishedRunIsOk) {
  const auto records = run();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_STREQ(verified().result(), "ok") << testing::PrintToString(verified().problems);
  EXPECT_EQ(verify().sessions, 1u);
  EXPECT_EQ(verify().head, verify().head);
}

TEST_F(VerifyTest, TextsBesideTheRecordsAreThoseThatWereEvaluated) {
  run();
  const fs::path before = out_ / "scripted/graphs/a/before.py", log = out_ / "scripted/validation.log";
  const std::string text = *read_file(before, FileKind::Kept);
  ASSERT_TRUE(write_file(before, text + "# more\n"));
  EXPECT_THAT(verified().problems, ElementsAre("graphs/a/before.py is not the text that was evaluated"));
  ASSERT_TRUE(write_file(before, text));
  ASSERT_TRUE(write_file(out_ / "scripted/graphs/a/after.py", "another\n"));
  EXPECT_THAT(verified().problems, ElementsAre("graphs/a/after.py is not the text that was evaluated"));
  fs::remove(out_ / "scripted/graphs/a/after.py");
  fs::remove(before);
  fs::create_symlink("/etc/hostname", before);
  EXPECT_THAT(verified().problems, ElementsAre("graphs/a/before.py: found a link, expected a regular file"));
  ASSERT_TRUE(write_file(before, text));
  ASSERT_TRUE(write_file(log, *read_file(log, FileKind::Lines) + "\n"));
  EXPECT_THAT(verified().problems, ElementsAre("validation.log is not that of the records"));
  fs::remove(log);
  fs::remove(before);
  EXPECT_STREQ(verified().result(), "ok") << "what is gone misleads nobody";
}

TEST_F(VerifyTest, ASeedComesFromTheSystemAndOpensItsCommitment) {
  const auto first = run();
  EXPECT_FALSE(first[0].seed_given);
  EXPECT_EQ(first[0].seed_nonce.size(), 32u);
  EXPECT_LE(first[0].seed, UINT32_MAX);
  const auto session =
      record::sessions_from_text(*read_file(sessions_, FileKind::Lines), "run.jsonl").value().at(0).session;
  EXPECT_EQ(session.seed_commitment, record::seed_commitment(first[0].seed, first[0].seed_nonce));
  EXPECT_EQ(session.seed, 0u) << "it is not told before";
  fs::remove_all(out_);
  const auto second = run();
  EXPECT_NE(std::tie(first[0].seed, first[0].seed_nonce), std::tie(second[0].seed, second[0].seed_nonce));
}

TEST_F(VerifyTest, AGivenSeedMarksTheRecord) {
  const auto records = run(false, 7);
  EXPECT_EQ(records[0].seed, 7u);
  EXPECT_TRUE(records[0].seed_given);
  EXPECT_EQ(records[0].seed_nonce, "");
  EXPECT_STREQ(verified().result(), "ok");
  run(true, 8);
  EXPECT_THAT(again_, ElementsAre("a b c: --seed 8, was 7"));
  EXPECT_STREQ(verified().result(), "ok") << testing::PrintToString(verified().problems);
}

TEST_F(VerifyTest, TheSessionIsWrittenBeforeAnythingIsEvaluated) {
  BatchOptions options;
  options.out = out_;
  options.evaluate.gpu = 0;
  options.evaluate.compiler = "eager";
  options.evaluate.timed = false;
  options.evaluate.worker = tests::binary_dir() / "bin/scripted_worker";
  BatchHooks hooks;
  bool promised = false;
  hooks.started = [&](const std::string&, const std::string& graph) {
    if (graph == "a")
      promised =
          read_file(sessions_, FileKind::Lines)->ends_with("\n") && read_file(records_, FileKind::Lines)->empty();
  };
  evaluate_batch({sample_}, options, hooks);
  EXPECT_TRUE(promised);
}

TEST_F(VerifyTest, WhatWasInterruptedIsIncompleteAndGoesOn) {
  const auto first = run(false, {}, 1);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_STREQ(verified().result(), "incomplete");
  EXPECT_THAT(verified().missing, ElementsAre("b has no record", "c has no record"));
  const auto all = run(true);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0], first[0]) << "another seed is no reason to measure again";
  EXPECT_NE(all[1].seed_nonce, first[0].seed_nonce) << "the first is known by now";
  EXPECT_THAT(again_, IsEmpty());
  EXPECT_STREQ(verified().result(), "ok") << testing::PrintToString(verified().problems);
  EXPECT_EQ(verify().sessions, 2u);
  const std::string before = *read_file(sessions_, FileKind::Lines);
  run(true);
  EXPECT_EQ(*read_file(sessions_, FileKind::Lines), before) << "there was nothing to do";
}

TEST_F(VerifyTest, ATornLastLineIsMeasuredAgain) {
  run();
  std::string text = *read_file(records_, FileKind::Lines);
  ASSERT_TRUE(write_file(records_, text.substr(0, text.size() - 40)));
  fs::remove(out_ / "scripted/aggregated_score.json");  // killed before it was written
  EXPECT_STREQ(verified().result(), "incomplete") << testing::PrintToString(verified().problems);
  run(true);
  EXPECT_STREQ(verified().result(), "ok") << testing::PrintToString(verified().problems);
  // Whole, and without its end: it counts until the run goes on.
  text = *read_file(records_, FileKind::Lines);
  ASSERT_TRUE(write_file(records_, text.substr(0, text.size() - 1)));
  EXPECT_STREQ(verified().result(), "ok") << testing::PrintToString(verified().problems);
}

TEST_F(VerifyTest, WhatIsMeasuredAgainStaysInTheChain) {
  run();
  ASSERT_TRUE(write_file(sample_ / "graphs/b/weight_meta.py",
                         *read_file(sample_ / "graphs/b/weight_meta.py", FileKind::Lines) + "\n"));
  EXPECT_STREQ(verified().result(), "changed");
  EXPECT_THAT(verified().changed, ElementsAre("weight_meta.py changed of b"));
  run(true);
  EXPECT_THAT(again_, ElementsAre("b: weight_meta.py changed"));
  EXPECT_STREQ(verified().result(), "ok") << testing::PrintToString(verified().problems);
  list({"a", "b"});
  EXPECT_THAT(verified().changed, ElementsAre("c is no longer listed"));
  run(true);
  EXPECT_EQ(lines().size(), 2u);
  EXPECT_STREQ(verified().result(), "ok") << testing::PrintToString(verified().problems);
  fs::remove(out_ / "scripted/records.superseded.jsonl");
  EXPECT_STREQ(verified().result(), "ok") << "what was set aside may be deleted";
}

TEST_F(VerifyTest, AKillWhileRecordsAreMovedIsMended) {
  run();
  const std::string before = *read_file(records_, FileKind::Lines);
  ASSERT_TRUE(write_file(sample_ / "graphs/b/weight_meta.py",
                         *read_file(sample_ / "graphs/b/weight_meta.py", FileKind::Lines) + "\n"));
  run(true, {}, 1);
  // As if it had been killed after its promise: nothing is moved, nothing measured.
  ASSERT_TRUE(write_file(records_, before));
  fs::remove(out_ / "scripted/aggregated_score.json");
  EXPECT_THAT(load_run(out_).error().message, HasSubstr("the record of 'b' was set aside by a later session"));
  fs::remove(out_ / "scripted/records.superseded.jsonl");
  run(true);
  EXPECT_STREQ(verified().result(), "ok") << testing::PrintToString(verified().problems);
}

TEST_F(VerifyTest, OldRecordsStayAndAreMarked) {
  run(false, 1024);
  for (size_t i = 0; i < 3; ++i) edit(i, [](Json& json) { json.erase("chain"); });
  fs::remove(sessions_);
  fs::remove(out_ / "scripted/aggregated_score.json");
  EXPECT_EQ(load_run(out_).value().size(), 3u);
  list({"a", "b", "c", "d"});
  run(true);
  EXPECT_EQ(lines().size(), 4u);
  EXPECT_STREQ(verified().result(), "unchained") << testing::PrintToString(verified().problems);
  EXPECT_EQ(verified().unchained, 3u);
  edit(1, [](Json& json) { json["error"] = "none"; });
  EXPECT_THAT(verified().problems,
              ElementsAre(HasSubstr("records.jsonl:2: the record of 'b' has no place in the chain")));
}

TEST_F(VerifyTest, WhatWasTouchedIsBrokenAndNothingReadsIt) {
  run();
  const std::vector<std::string> all = lines();
  edit(1, [](Json& json) { json["stage"] = "build"; });
  EXPECT_STREQ(verified().result(), "broken");
  EXPECT_THAT(load_run(out_).error().message, HasSubstr("the record of 'b' was changed after it was written"));
  BatchOptions options;
  options.out = out_;
  options.resume = true;
  const BatchResult refused = evaluate_batch({sample_}, options, {});
  ASSERT_TRUE(refused.error);
  EXPECT_THAT(refused.error->message, HasSubstr("the record of 'b' was changed after it was written"));
  write_lines(records_, {all[0], all[2]});
  EXPECT_THAT(verified().problems,
              testing::Contains(HasSubstr("records.jsonl:2: the record of 'c' is record 3 of the sample")));
  write_lines(records_, {all[0], all[1]});
  EXPECT_THAT(load_run(out_).error().message,
              HasSubstr("aggregated_score.json follows record 3 of the sample, found 2"));
  fs::remove_all(out_ / "scripted");
  EXPECT_THAT(verified().missing, ElementsAre("a has no record", "b has no record", "c has no record"));
}

TEST_F(VerifyTest, AForgedScoreIsFound) {
  run();
  const fs::path path = out_ / "scripted/aggregated_score.json";
  Json score = try_parse_json(*read_file(path, FileKind::Lines));
  score["score_linear"] = 9.5;
  ASSERT_TRUE(write_file(path, dump(score)));
  EXPECT_THAT(verified().problems,
              ElementsAre(HasSubstr("aggregated_score.json: score_linear: found '9.5', the records give")));
}

TEST_F(VerifyTest, AChosenSeedIsFound) {
  run();
  // Everything is written anew but for the promise.
  const record::SessionLine session =
      record::sessions_from_text(*read_file(sessions_, FileKind::Lines), "").value().at(0);
  fs::remove_all(out_);
  run(false, 5);
  std::vector<std::string> forged = lines();
  for (size_t i = 0; i < forged.size(); ++i) {
    Json json = try_parse_json(forged[i]);
    json["chain"]["previous"] = i == 0 ? session.sha256 : sha256_hex(forged[i - 1]);
    forged[i] = dump(json);
  }
  write_lines(records_, forged);
  write_lines(sessions_, {record::session_line(session.session)});
  fs::remove(out_ / "scripted/aggregated_score.json");
  EXPECT_THAT(verified().problems, testing::Each(HasSubstr("seed 5 with its nonce gives")));
  EXPECT_EQ(verified().problems.size(), 3u);
}

TEST_F(VerifyTest, SaysWhatIsNoRun) {
  EXPECT_THAT(to_string(verify_run(out_).error()), HasSubstr("is no directory, expected that of a run"));
  fs::create_directories(out_);
  EXPECT_THAT(to_string(verify_run(out_).error()), HasSubstr("no records.jsonl in or below"));
  ASSERT_TRUE(write_file(sessions_, "nonsense\n"));
  EXPECT_THAT(verify().problems, ElementsAre(HasSubstr("run.jsonl:1: not valid JSON")));
}

}  // namespace
}  // namespace passnet::run
