#include "store/store.h"

#include <gmock/gmock.h>

#include "base/file/file.h"
#include "base/file/temporary_directory.h"
#include "page_records.h"
#include "record/floor.h"
#include "record/score/compare.h"

namespace passnet::store {
namespace {

namespace fs = std::filesystem;
using record::RunRecord;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A store beside runs, in a directory of its own.
class StoreTest : public testing::Test {
 protected:
  fs::path file() const { return directory_.path() / "store.sqlite"; }

  fs::path write_run(const std::string& name, const std::vector<RunRecord>& records) {
    std::map<std::string, std::vector<RunRecord>> samples;
    for (const RunRecord& record : records) samples[record.sample].push_back(record);
    for (const auto& [sample, of_sample] : samples)
      EXPECT_TRUE(write_file(directory_.path() / name / sample / "records.jsonl", record::to_lines(of_sample)));
    return directory_.path() / name;
  }

  Store open() { return Store::open_or_create(file()).value(); }

  const TemporaryDirectory directory_ = TemporaryDirectory::make("store").value();
};

/// Two graphs of a sample, started on a day of January.
std::vector<RunRecord> records_of(int day, double after_us) {
  std::vector<RunRecord> records{report::of_sample("gelu", report::measured("b1_float32", 60, after_us, -6, 1e-6)),
                                 report::of_sample("gelu", report::measured("b2_float32", 90, 90, 6, 1))};
  for (RunRecord& record : records) record.started = fmt::format("2026-01-{:02}T00:00:00Z", day);
  return records;
}

TEST_F(StoreTest, AddsARunWithWhatALeaderboardSaysOfIt) {
  Store store = open();
  const StoredRun added = store.add(write_run("a", records_of(1, 20)), 2).value();
  EXPECT_EQ(added.name, "a");
  EXPECT_EQ(added.started, "2026-01-01T00:00:00Z");
  EXPECT_EQ(added.records, 2);
  EXPECT_EQ(added.counted, 2);
  EXPECT_EQ(added.correct, 1);
  EXPECT_NEAR(*added.speedup, 3, 0.01);
  const std::vector<StoredRun> runs = store.runs({}).value();
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].path, (directory_.path() / "a").string());
  EXPECT_EQ(runs[0].score, added.score);
  EXPECT_EQ(runs[0].graphs, added.graphs);
  EXPECT_EQ(store.find("a").value().id, added.id);
  EXPECT_EQ(store.find(fmt::format("{}", added.id)).value().id, added.id);
}

TEST_F(StoreTest, ReadsARunAnewInPlaceOfItself) {
  Store store = open();
  store.add(write_run("a", records_of(1, 20)), 1).value();
  store.add(write_run("a", records_of(1, 30)), 1).value();
  const std::vector<StoredRun> runs = store.runs({}).value();
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_NEAR(*runs[0].speedup, 2, 0.01);
  EXPECT_EQ(store.records(runs[0].id, {}).value().size(), 2u);
}

TEST_F(StoreTest, ChangesNothingWhenARunCannotBeRead) {
  Store store = open();
  const fs::path run = write_run("a", records_of(1, 20));
  store.add(run, 1).value();
  EXPECT_TRUE(write_file(run / "gelu" / "records.jsonl", "{}\n{}\n"));
  EXPECT_FALSE(store.add(run, 1));
  EXPECT_EQ(store.runs({}).value().at(0).records, 2);
}

TEST_F(StoreTest, ComparesAsTheRecordsThemselves) {
  std::vector<RunRecord> before = report::page_records(), after = before;
  for (RunRecord& record : after) {
    for (double& us : record.candidate.trials_us) us *= 1.5;
  }
  Store store = open();
  const StoredRun a = store.add(write_run("a", before), 1).value(), b = store.add(write_run("b", after), 1).value();
  const record::RunComparison stored = store.compare(a.id, b.id).value(), direct = record::compare_runs(before, after);
  ASSERT_EQ(stored.graphs.size(), direct.graphs.size());
  for (int i = 0; i < record::kChanges; ++i)
    EXPECT_EQ(stored.count(static_cast<record::Change>(i)), direct.count(static_cast<record::Change>(i))) << i;
  EXPECT_TRUE(stored.worse());
}

TEST_F(StoreTest, TellsTheHistoryOfASampleTheNewestFirst) {
  Store store = open();
  for (const int day : {2, 1, 3}) store.add(write_run(fmt::format("day{}", day), records_of(day, 20 * day)), 1).value();
  std::vector<std::string> runs;
  for (const StoredRecord& record : store.history("gelu", "b1_float32", 10).value()) runs.push_back(record.run_name);
  EXPECT_THAT(runs, ElementsAre("day3", "day2", "day1"));
  EXPECT_EQ(store.history("gelu", "", 10).value().size(), 6u);
  EXPECT_EQ(store.history("gelu", "", 4).value().size(), 4u);
  EXPECT_TRUE(store.history("other", "", 4).value().empty());
}

TEST_F(StoreTest, ListsRecordsBySampleAndVerdict) {
  Store store = open();
  const int64_t run = store.add(write_run("a", report::page_records()), 2).value().id;
  EXPECT_EQ(store.records(run, {}).value().size(), report::page_records().size());
  EXPECT_EQ(store.records(run, {.sample = "gpt2_gelu"}).value().size(), 2u);
  for (const StoredRecord& record : store.records(run, {.verdict = "wrong"}).value())
    EXPECT_EQ(record.verdict, "wrong");
  EXPECT_EQ(store.records(run, {.sample = "gpt2_gelu", .verdict = "wrong"}).value().size(), 0u);
}

TEST_F(StoreTest, PrunesOldRunsAndTheirGraphs) {
  Store store = open();
  for (const int day : {1, 2, 3}) {
    const fs::path run = write_run(fmt::format("x{}/a", day), records_of(day, 20));
    store.add(run, 1).value();
  }
  EXPECT_EQ(store.prune({.keep = 1}).value(), 2u);
  const std::vector<StoredRun> runs = store.runs({}).value();
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].started, "2026-01-03T00:00:00Z");
  EXPECT_EQ(store.prune({.runs = {runs[0].id}}).value(), 1u);
  auto graphs = store.database().prepare("SELECT count(*) FROM graph").value();
  EXPECT_EQ(graphs.rows().value().at(0).at(0), sqlite::Cell(int64_t{0}));
}

/// No query reads all records: with a million of them it would take a second.
TEST_F(StoreTest, AnswersEachQueryByAnIndex) {
  Store store = open();
  const std::string columns = sql::kRecordColumns;
  for (const std::string& query :
       {columns + sql::kRecords, columns + sql::kRecordsOfVerdict, columns + sql::kRecordsOfSample,
        columns + sql::kHistory, std::string(sql::kSide), std::string("DELETE FROM record WHERE run = ?")}) {
    auto plan = store.database().prepare("EXPLAIN QUERY PLAN " + query).value();
    const auto steps = plan.rows().value();
    for (const auto& row : steps) {
      const std::string step = std::get<std::string>(row.at(3));
      EXPECT_THAT(step, Not(HasSubstr("SCAN"))) << query;
    }
  }
}

TEST_F(StoreTest, SaysWhatIsWrongWithAFile) {
  EXPECT_EQ(to_string(Store::open(file()).error()),
            fmt::format("error: there is no store at '{0}'\nhint: make it: passnet store add RUN --store {0}",
                        file().string()));
  {
    auto database = sqlite::Database::create(file().string()).value();
    EXPECT_TRUE(database.execute("CREATE TABLE other(x)"));
  }
  EXPECT_EQ(Store::open(file()).error().message,
            fmt::format("'{}' is a database, and no store of 'passnet store'", file().string()));
  fs::remove(file());
  {
    Store store = open();
    EXPECT_EQ(
        to_string(store.find("x").error()),
        "error: no run 'x' in the store, expected an id, a path or a name\nhint: 'passnet store list' shows them");
    EXPECT_TRUE(store.database().execute("PRAGMA user_version=99"));
  }
  EXPECT_EQ(Store::open(file()).error().message, fmt::format("store '{}' has version 99, expected 2", file().string()));
}

TEST(Digest, GivesTheShareOfTheLimit) {
  RunRecord record = report::measured("g", 60, 20, -6, 1e-6);
  record.floor = record::Floor{.bytes = 100000, .gb_per_s = 10, .us = 2};
  EXPECT_FALSE(digest_of(record).limit) << "a record of an older version";
  record.floor->arithmetic.emplace();
  const Digest digest = digest_of(record);
  ASSERT_TRUE(digest.limit);
  EXPECT_NEAR(digest.limit->us, 10, 1e-9);
  EXPECT_NEAR(limit_share(digest), 0.5, 0.01);
  EXPECT_EQ(digest.dtype, "float32");
  record.candidate.trials_us.clear();
  EXPECT_EQ(limit_share(digest_of(record)), 0);
}

}  // namespace
}  // namespace passnet::store
