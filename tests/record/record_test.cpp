#include "record/record.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "example_records.h"
#include "record/check_json.h"
#include "tests/scratch.h"

namespace passnet::record {
namespace {

std::string line_of(const RunRecord& record) { return to_json(record).dump() + "\n"; }

std::string error_of(const Result<std::vector<RunRecord>>& result) {
  return result ? "no error" : to_string(result.error());
}

/// The worked example's first record with one field replaced.
Json changed(const char* key, Json value) {
  Json json = to_json(worked_example().front());
  json[key] = std::move(value);
  return json;
}

RC_GTEST_PROP(Record, SurvivesItsJson, ()) {
  const RunRecord record = *any_record();
  const Result<Json> json = parse_json(to_json(record).dump(), "text");
  RC_ASSERT(json.has_value());
  const Result<RunRecord> back = record_from_json(*json);
  RC_ASSERT(back.has_value());
  RC_ASSERT(*back == record);
}

TEST(Record, KeepsNanAndInfinitiesAsStrings) {
  RunRecord record = worked_example().front();
  record.outputs[0].max_abs_diff = NAN;
  record.outputs[0].mean_abs_diff = INFINITY;
  record.outputs[0].max_rel_diff = -INFINITY;
  record.candidate.trials_us = {1, NAN};
  const Json json = to_json(record);
  EXPECT_EQ(json["outputs"][0]["max_abs_diff"], "nan");
  EXPECT_EQ(json["outputs"][0]["mean_abs_diff"], "inf");
  EXPECT_EQ(json["outputs"][0]["max_rel_diff"], "-inf");
  EXPECT_EQ(json["candidate"]["trials_us"].dump(), "[1.0,\"nan\"]");
  const Result<RunRecord> back = record_from_json(json);
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_TRUE(std::isnan(back->outputs[0].max_abs_diff));
  EXPECT_EQ(back->outputs[0].mean_abs_diff, INFINITY);
  EXPECT_EQ(back->outputs[0].max_rel_diff, -INFINITY);
}

TEST(Record, WritesForeignBytesAsReplacementCharacters) {
  RunRecord record = worked_example().front();
  record.error = "bad \xff byte";
  EXPECT_EQ(to_json(record)["error"], "bad \xef\xbf\xbd byte");
  EXPECT_NO_THROW(static_cast<void>(to_json(record).dump()));
}

TEST(Record, NamesTheFieldThatIsWrong) {
  const std::pair<Json, const char*> cases[] = {
      {changed("stage", "lunch"),
       "error: record: field 'stage': expected the name of a stage, found string '\"lunch\"'"},
      {changed("graph", 3), "error: record: field 'graph': expected a string, found number '3'"},
      {changed("seed", -1), "error: record: field 'seed': expected an integer >= 0, found number '-1'"},
      {changed("threads", 1e10), "error: record: field 'threads': expected an integer, found number '10000000000.0'"},
      {changed("threads", 10000000000),
       "error: record: field 'threads': expected an integer, found number '10000000000'"},
      {changed("passes", {{"pass", "x"}}),
       "error: record: field 'passes': expected an array of objects, found object '{\"pass\":\"x\"}'"},
      {changed("outputs", {1}), "error: output check: expected an object, found number '1'"},
      {changed("candidate", Json::object()), "error: timing: field 'warmup' is missing, expected an integer"},
      {changed("reference", {{"warmup", 1}, {"trials_us", {1, "fast"}}}),
       "error: timing: field 'trials_us': expected an array of numbers, found array '[1,\"fast\"]'"},
      {Json(7), "error: record: expected an object, found number '7'"},
  };
  for (const auto& [json, message] : cases) {
    const Result<RunRecord> record = record_from_json(json);
    ASSERT_FALSE(record) << message;
    EXPECT_EQ(to_string(record.error()), message);
  }
}

TEST(Record, OfAnotherVersionSaysWhoWroteIt) {
  Json json = changed("version", 2);
  json["passnet"] = "0.9.0";
  json.erase("graph");  // whatever a later version may look like
  const Result<RunRecord> record = record_from_json(json);
  ASSERT_FALSE(record);
  EXPECT_EQ(to_string(record.error()),
            "error: record version 2 written by passnet '0.9.0': expected version 1\n"
            "hint: read it with the passnet that wrote it, or evaluate again");
}

TEST(OutputChecks, TravelAlone) {
  const std::vector<OutputCheck> outputs = {output_of("float16", -3), output_of("int64", -10)};
  const auto back = from_json_list<OutputCheck>(JsonForm<std::vector<OutputCheck>>::write(outputs), "output checks");
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(*back, outputs);
  const auto wrong = from_json_list<OutputCheck>(Json::object(), "output checks");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(to_string(wrong.error()), "error: output checks: expected an array of objects, found object '{}'");
}

TEST(RecordsFile, IsReadLineByLine) {
  const auto records = worked_example();
  std::string text;
  for (const RunRecord& record : records) text += line_of(record) + "\n";
  const auto back = records_from_text(text, "records.jsonl");
  ASSERT_TRUE(back) << error_of(back);
  EXPECT_EQ(*back, records);
}

TEST(RecordsFile, SkipsATornLastLineWhereverItIsTorn) {
  const auto records = worked_example();
  const std::string whole = line_of(records[0]), last = line_of(records[1]);
  for (size_t kept = 0; kept + 1 < last.size(); ++kept) {
    const auto back = records_from_text(whole + last.substr(0, kept), "records.jsonl");
    ASSERT_TRUE(back) << error_of(back);
    EXPECT_THAT(*back, testing::ElementsAre(records[0])) << "torn after byte " << kept;
  }
}

TEST(RecordsFile, KeepsALastLineThatLacksOnlyItsNewline) {
  const std::string line = line_of(worked_example()[1]);
  const auto back = records_from_text(std::string_view(line).substr(0, line.size() - 1), "records.jsonl");
  ASSERT_TRUE(back) << error_of(back);
  EXPECT_THAT(*back, testing::ElementsAre(worked_example()[1]));
}

TEST(RecordsFile, RefusesADamagedLineWithItsNumber) {
  const std::string good = line_of(worked_example().front());
  EXPECT_EQ(error_of(records_from_text(good + "{\"version\":1}\n" + good, "out/records.jsonl")),
            "out/records.jsonl:2:1: error: record: field 'sample' is missing, expected a string");
  EXPECT_THAT(error_of(records_from_text(good + good + "{\"version\":1,\n" + good, "out/records.jsonl")),
              testing::StartsWith("out/records.jsonl:3:14: error: not valid JSON: "));
  EXPECT_THAT(error_of(records_from_text("nonsense\n", "out/records.jsonl")),
              testing::StartsWith("out/records.jsonl:1:2: error: not valid JSON: "));
}

TEST(RecordsFile, IsHandedOnOneRecordAtATime) {
  const std::string line = dump(to_json(worked_example().front()));
  uint32_t given = 0, used = 0;
  const Lines lines = [&](const UseLine& use) -> Result<void> {
    while (given < 5) {
      use(++given, line, true);
      EXPECT_EQ(used, given) << "a record waits for later lines";
    }
    return {};
  };
  ASSERT_TRUE(for_each_record(lines, "records.jsonl", [&](uint32_t, std::string_view, const RunRecord&) { ++used; }));
  EXPECT_EQ(used, 5u);
}

TEST(RecordsFile, ComesFromDiskAndMayBeMissing) {
  const ScratchDirectory scratch;
  const auto path = scratch.path / "records.jsonl";
  ASSERT_TRUE(write_file(path, line_of(worked_example().front())));
  const auto back = load_records(path.string());
  ASSERT_TRUE(back) << error_of(back);
  EXPECT_EQ(back->size(), 1u);
  std::filesystem::remove(path);
  EXPECT_EQ(error_of(load_records(path.string())),
            fmt::format("error: cannot open '{}': No such file or directory", path.string()));
}

}  // namespace
}  // namespace passnet::record
