// Records that were edited, moved, doubled or dropped after they were written.
#include "record/chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text/strings.h"

namespace passnet::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ChainTest : public testing::Test {
 protected:
  /// A session of sample "vit" that begins after what has been written.
  void begin(std::vector<Session::SetAside> superseded = {}, std::vector<std::string> unchained = {}) {
    Session session;
    session.number = static_cast<int64_t>(sessions_.size()) + 1;
    session.previous = sessions_.empty() ? "" : sessions_.back().sha256;
    session.samples.push_back({.name = "vit",
                               .graphs = {},
                               .passes = {},
                               .kernels = {},
                               .records = written_,
                               .head = head_,
                               .superseded = std::move(superseded),
                               .unchained = std::move(unchained)});
    previous_ = sha256_hex(session_line(session));
    sessions_.push_back({std::move(session), previous_});
  }
  void write(const std::string& graph) {
    RunRecord record;
    record.sample = "vit";
    record.graph = graph;
    record.chain = Link{++written_, previous_};
    lines_.push_back(dump(to_json(record)));
    previous_ = head_ = sha256_hex(lines_.back());
  }
  void write_all(const std::vector<std::string>& graphs) {
    begin();
    for (const std::string& graph : graphs) write(graph);
  }
  static std::string unchained(const std::string& graph) {
    RunRecord record;
    record.sample = "vit";
    record.graph = graph;
    return dump(to_json(record));
  }
  void edit(size_t line) {
    lines_[line] = with(lines_[line], [](Json& json) { json["error"] = "no"; });
  }
  static std::string with(const std::string& line, const std::function<void(Json&)>& change) {
    Json json = try_parse_json(line);
    change(json);
    return dump(json);
  }
  Chain check(const Seal& seal = {}) const {
    const std::string text = join(lines_, "\n") + "\n";
    const Result<Chain> chain = check_chain(
        {.sample = "vit", .file = "records.jsonl", .lines = lines_of(text), .sessions = &sessions_, .seal = seal},
        [](const RunRecord&) {});
    EXPECT_TRUE(chain.has_value()) << (chain ? "" : to_string(chain.error()));
    return *chain;
  }
  std::vector<std::string> problems(const Seal& seal = {}) const {
    std::vector<std::string> texts;
    for (const Error& error : check(seal).problems)
      texts.push_back(error.at->file + ":" + std::to_string(error.at->line) + ": " + error.message);
    return texts;
  }

  std::vector<SessionLine> sessions_;
  std::vector<std::string> lines_;
  int64_t written_ = 0;
  std::string head_, previous_;
};

TEST_F(ChainTest, HoldsAsItWasWritten) {
  write_all({"a", "b", "c"});
  EXPECT_THAT(problems({3, head_}), ElementsAre());
  EXPECT_EQ(check().end, (Seal{3, head_}));
  EXPECT_EQ(check().lines[2].session, 0u);
}

TEST_F(ChainTest, SaysOfWhichSessionEachRecordIs) {
  write_all({"a", "b"});
  begin();
  write("c");
  begin();  // ended before it wrote anything
  const Chain chain = check();
  EXPECT_EQ(chain.lines[0].session, 0u);
  EXPECT_EQ(chain.lines[1].session, 0u) << "the last one before a session is not of that session";
  EXPECT_EQ(chain.lines[2].session, 1u);
}

TEST_F(ChainTest, NamesALineThatWasChanged) {
  write_all({"a", "b", "c"});
  const std::string was = sha256_hex(lines_[1]);
  edit(1);
  EXPECT_THAT(problems(),
              ElementsAre("records.jsonl:2: the record of 'b' was changed after it was written: its line has "
                          "SHA-256 '" +
                          sha256_hex(lines_[1]) + "', and line 3 was written after '" + was + "'"));
}

TEST_F(ChainTest, NamesALastLineThatWasChangedByTheScore) {
  write_all({"a", "b"});
  const std::string was = head_;
  edit(1);
  EXPECT_THAT(problems(), ElementsAre()) << "nobody has followed it";
  EXPECT_THAT(
      problems({2, was}),
      ElementsAre("records.jsonl:2: the record of 'b' was changed after it was written: its line has SHA-256 '" +
                  sha256_hex(lines_[1]) + "', and aggregated_score.json was written after '" + was + "'"));
}

TEST_F(ChainTest, NamesLinesThatWereDropped) {
  write_all({"a", "b", "c", "d"});
  const std::vector<std::string> all = lines_;
  lines_ = {all[0], all[2], all[3]};
  EXPECT_THAT(problems(),
              ElementsAre("records.jsonl:2: the record of 'c' is record 3 of the sample, and record 2 is neither "
                          "here nor set aside: lines were dropped"));
  lines_ = {all[3]};
  EXPECT_THAT(problems(),
              ElementsAre("records.jsonl:1: the record of 'd' is record 4 of the sample, and records 1 to 3 are "
                          "neither here nor set aside: lines were dropped"));
  lines_ = {all[0], all[1]};
  EXPECT_THAT(problems({4, head_}),
              ElementsAre("records.jsonl:0: aggregated_score.json follows record 4 of the sample, found "
                          "2: lines were dropped at the end"));
}

TEST_F(ChainTest, NamesLinesThatWereDoubledOrReordered) {
  write_all({"a", "b", "c"});
  const std::vector<std::string> all = lines_;
  lines_ = {all[0], all[1], all[1], all[2]};
  EXPECT_THAT(problems(), ElementsAre("records.jsonl:3: the record of 'b' is line 2 once more: the line was doubled"));
  lines_ = {all[0], all[2], all[1]};
  EXPECT_THAT(problems(),
              ElementsAre("records.jsonl:3: the record of 'b' is record 2 of the sample, found after record 3: lines "
                          "were reordered"));
  lines_ = {all[0], all[1], with(all[1], [](Json& json) { json["graph"] = "x"; }), all[2]};
  EXPECT_THAT(problems(),
              ElementsAre("records.jsonl:3: the record of 'x' says that it is record 2 of the sample, and so does "
                          "line 2: one of them was changed or added"));
}

TEST_F(ChainTest, NamesALineOfAnotherRun) {
  write_all({"a"});
  const std::string other = lines_[0];
  sessions_.clear(), lines_.clear(), written_ = 0, head_ = "";
  begin();
  begin();
  write("a");
  lines_[0] = other;
  EXPECT_THAT(problems(),
              ElementsAre(HasSubstr("records.jsonl:1: the record of 'a' was written after a session with SHA-256")));
  sessions_.clear();
  EXPECT_THAT(problems(),
              ElementsAre("records.jsonl:1: the record of 'a' follows a session, and run.jsonl has none of this "
                          "sample"));
}

TEST_F(ChainTest, GoesOnOverSessionsAndWhatTheySetAside) {
  write_all({"a", "b"});
  const std::string moved = lines_[0];
  begin({{"a", 1, sha256_hex(moved)}});
  write("a");
  EXPECT_THAT(problems(),
              ElementsAre("records.jsonl:1: the record of 'a' was set aside by a later session and is still here"));
  EXPECT_THAT(check().left_behind, ElementsAre(0u));
  lines_.erase(lines_.begin());
  EXPECT_THAT(problems({3, head_}), ElementsAre());
  EXPECT_EQ(check().lines[1].session, 1u);
  begin();  // ended before it wrote anything
  begin();
  write("c");
  EXPECT_THAT(problems({4, head_}), ElementsAre());
  edit(0);
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("the record of 'b' was changed after it was written")));
}

TEST_F(ChainTest, ASetAsideLastRecordLeavesNoGap) {
  write_all({"a"});
  begin({{"a", 1, head_}});
  lines_.clear();
  EXPECT_THAT(problems(), ElementsAre());
  EXPECT_EQ(check().end, (Seal{1, head_}));
}

TEST_F(ChainTest, TakesRecordsOfOlderVersionsAndNothingAddedToThem) {
  lines_ = {unchained("old"), unchained("older")};
  EXPECT_THAT(problems(), ElementsAre());
  EXPECT_EQ(check().unchained, 2u);
  begin({}, {sha256_hex(lines_[0]), sha256_hex(lines_[1])});
  write("a");
  EXPECT_THAT(problems(), ElementsAre());
  lines_.push_back(unchained("added"));
  lines_.push_back(lines_[0]);
  EXPECT_THAT(
      problems(),
      ElementsAre(
          "records.jsonl:4: the record of 'added' has no place in the chain: it was added, or its place was cut out",
          "records.jsonl:5: the record of 'old' has no place in the chain: it was added, or its place was cut out"));
}

TEST_F(ChainTest, IsNotLedAstrayByWildNumbers) {
  write_all({"a", "b"});
  for (const int64_t number : {INT64_MAX, int64_t{0}, INT64_MIN}) {
    const std::string was = lines_[1];
    lines_[1] = with(was, [&](Json& json) { json["chain"]["number"] = number; });
    EXPECT_EQ(problems({2, head_}).empty(), false) << number;
    lines_[1] = was;
  }
}

TEST_F(ChainTest, ATornLastLineIsNoRecord) {
  write_all({"a", "b"});
  const std::string text = lines_[0] + "\n" + lines_[1].substr(0, 40);
  const auto chain =
      check_chain({.sample = "vit", .file = "records.jsonl", .lines = lines_of(text), .sessions = &sessions_},
                  [](const RunRecord&) {});
  ASSERT_TRUE(chain.has_value());
  EXPECT_TRUE(chain->problems.empty());
  EXPECT_EQ(chain->lines.size(), 1u);
  EXPECT_EQ(chain->end.records, 1);
}

TEST_F(ChainTest, TheFirstProblemSaysHowManyThereAre) {
  write_all({"a", "b", "c", "d"});
  edit(0);
  edit(2);
  const Result<void> refused = first_problem(check());
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(to_string(refused.error()),
              HasSubstr("\nhint: 'passnet verify RUN' shows all that is wrong; take the file from a "
                        "copy, or evaluate again into another --out\nnote: 1 more problem in "
                        "this file"));
}

std::string sessions_error(const std::vector<std::string>& lines) {
  const auto sessions = sessions_from_text(join(lines, "\n") + "\n", "run.jsonl");
  return sessions ? "no error" : to_string(sessions.error());
}

TEST(Sessions, AreRefusedWhenALineWasDroppedOrChanged) {
  std::vector<std::string> lines;
  for (int64_t number = 1; number <= 3; ++number) {
    Session session;
    session.number = number;
    session.previous = lines.empty() ? "" : sha256_hex(lines.back());
    lines.push_back(session_line(session));
  }
  EXPECT_EQ(sessions_error(lines), "no error");
  EXPECT_THAT(sessions_error({lines[0], lines[2]}),
              HasSubstr("run.jsonl:2:1: error: this is session 3, expected 2: a line was dropped, doubled or moved"));
  Json changed = try_parse_json(lines[1]);
  changed["seed_given"] = true;
  EXPECT_THAT(sessions_error({lines[0], dump(changed), lines[2]}),
              HasSubstr("run.jsonl:3:1: error: it was written after a line"));
  EXPECT_THAT(sessions_error({lines[0], "{"}), HasSubstr("run.jsonl:2:2: error: not valid JSON"));
}

TEST(Sessions, CommitToASeedThatANonceOpens) {
  // printf 7:00ff | sha256sum
  EXPECT_EQ(seed_commitment(7, "00ff"), sha256_hex("7:00ff"));
  EXPECT_NE(seed_commitment(7, "00ff"), seed_commitment(70, "0ff"));
}

}  // namespace
}  // namespace passnet::record
