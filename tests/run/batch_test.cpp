// Records on disk: whole lines, one writer, resumable.
#include "run/batch/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/paths.h"
#include "tests/scratch.h"

namespace passnet::run {
namespace {

using testing::HasSubstr;

class RecordFileTest : public testing::Test {
 protected:
  static record::RunRecord record(const std::string& graph) {
    record::RunRecord made;
    made.sample = "sample";
    made.graph = graph;
    return made;
  }
  RecordFile open(bool keep) {
    Result<RecordFile> file = RecordFile::open(path_, keep);
    EXPECT_TRUE(file.has_value()) << (file ? "" : to_string(file.error()));
    return std::move(*file);
  }
  const ScratchDirectory scratch_;
  const std::filesystem::path path_ = scratch_.path / "sample" / "records.jsonl";
};

TEST_F(RecordFileTest, ReopeningKeepsFinishedRecords) {
  { ASSERT_TRUE(open(false).append(record("a")).has_value()); }
  RecordFile again = open(true);
  ASSERT_EQ(again.records().size(), 1u);
  EXPECT_EQ(again.records()[0].graph, "a");
}

TEST_F(RecordFileTest, ReopeningWithoutKeepStartsEmpty) {
  { ASSERT_TRUE(open(false).append(record("a")).has_value()); }
  EXPECT_TRUE(open(false).records().empty());
  EXPECT_EQ(std::filesystem::file_size(path_), 0u);
}

TEST_F(RecordFileTest, TornLastLineIsCutOff) {
  { ASSERT_TRUE(open(false).append(record("a")).has_value()); }
  std::ofstream(path_, std::ios::app) << R"({"version": 1, "sample": "sam)";
  {
    RecordFile file = open(true);
    ASSERT_EQ(file.records().size(), 1u);
    ASSERT_TRUE(file.append(record("b")).has_value());
  }
  const RecordFile file = open(true);
  ASSERT_EQ(file.records().size(), 2u);
  EXPECT_EQ(file.records()[1].graph, "b");
}

TEST_F(RecordFileTest, SecondWriterIsRefused) {
  const RecordFile first = open(false);
  const Result<RecordFile> second = RecordFile::open(path_, true);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().message, "'" + path_.string() + "' is being written by another run");
}

TEST_F(RecordFileTest, SupersededRecordsAreMovedAsTheyWereWritten) {
  {
    RecordFile file = open(false);
    for (const char* graph : {"a", "b", "c"}) ASSERT_TRUE(file.append(record(graph)).has_value());
  }
  std::string text = *read_file(path_, FileKind::Lines);
  text.insert(text.find('{') + 1, R"("of_a_later_version": 1, )");
  ASSERT_TRUE(write_file(path_, "\n" + text));  // a blank line is no record
  const std::string first = text.substr(0, text.find('\n') + 1);
  {
    RecordFile file = open(true);
    ASSERT_TRUE(file.supersede({0, 2}).has_value());
    ASSERT_EQ(file.records().size(), 1u);
    EXPECT_EQ(file.records()[0].graph, "b");
    ASSERT_TRUE(file.append(record("a")).has_value());
  }
  const std::string moved = *read_file(path_.parent_path() / "records.superseded.jsonl", FileKind::Lines);
  EXPECT_TRUE(moved.starts_with(first)) << moved;
  EXPECT_EQ(std::count(moved.begin(), moved.end(), '\n'), 2);
  RecordFile again = open(true);
  ASSERT_EQ(again.records().size(), 2u);
  EXPECT_EQ(again.records()[1].graph, "a");
  ASSERT_TRUE(again.supersede({1}).has_value());
  const std::string more = *read_file(path_.parent_path() / "records.superseded.jsonl", FileKind::Lines);
  EXPECT_TRUE(more.starts_with(moved)) << "what was set aside before stays";
}

// A file size limit stands in for a full disk: both make write() fail with part of a line written or none.
TEST_F(RecordFileTest, FullDiskKeepsFinishedRecordsWhole) {
  RecordFile file = open(false);
  ASSERT_TRUE(file.append(record("a")).has_value());
  const auto size = std::filesystem::file_size(path_);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit = before;
  limit.rlim_cur = size + 10;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const Result<void> appended = file.append(record("b"));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_handler);
  ASSERT_FALSE(appended.has_value());
  EXPECT_THAT(appended.error().message, HasSubstr("cannot write '" + path_.string() + "'"));
  EXPECT_EQ(std::filesystem::file_size(path_), size);
}

TEST(Batch, JobsShareTheSamplesAndUseAGpuEach) {
  const std::filesystem::path samples = tests::source_dir() / "samples";
  BatchOptions options;
  const ScratchDirectory scratch;
  options.out = scratch.path / "out";
  options.slots.gpus = 2;
  options.evaluate.gpu = 3;
  options.evaluate.compiler = "eager";
  options.evaluate.worker = (tests::binary_dir() / "tests/run/workers").string() + "/fake_refuses";
  size_t started = 0, finished = 0;
  BatchHooks hooks;
  hooks.started = [&](const std::string&, const std::string&) { ++started; };
  hooks.finished = [&](const record::RunRecord&) { ++finished; };
  const std::vector<std::filesystem::path> paths{samples / "gpt2_gelu", samples / "phi3_swiglu",
                                                 samples / "llama_rotary"};
  const BatchResult result = evaluate_batch(paths, options, hooks);
  EXPECT_FALSE(result.error) << to_string(*result.error);
  ASSERT_EQ(result.records.size(), 18u);
  EXPECT_EQ(started, 18u);
  EXPECT_EQ(finished, 18u);
  for (size_t i = 0; i < result.records.size(); ++i) {
    EXPECT_EQ(result.records[i].sample, paths[i / 6].filename());
    EXPECT_THAT(result.records[i].device, testing::AnyOf("cuda:3", "cuda:4"));
    EXPECT_EQ(result.records[i].device, result.records[i / 6 * 6].device);
  }
  for (const std::filesystem::path& path : paths)
    EXPECT_TRUE(std::filesystem::exists(options.out / path.filename() / "aggregated_score.json"));
}

TEST(Batch, RecordsOfASlotSayTheThreadsThatWereAskedFor) {
  BatchOptions options;
  const ScratchDirectory scratch;
  options.out = scratch.path / "out";
  options.evaluate.gpu = 0;
  options.evaluate.compiler = "eager";
  options.evaluate.worker = (tests::binary_dir() / "tests/run/workers").string() + "/fake_refuses";
  const BatchResult result = evaluate_batch({tests::source_dir() / "samples/gpt2_gelu"}, options, {});
  ASSERT_FALSE(result.error) << to_string(*result.error);
  ASSERT_TRUE(result.records[0].provenance);
  EXPECT_EQ(result.records[0].provenance->options.threads, available_threads());
}

TEST(Batch, GraphsThatFindASharedGpuFullGetItAlone) {
  const ScratchDirectory scratch;
  const std::filesystem::path original = tests::source_dir() / "samples/gpt2_gelu";
  graphdir::Sample sample;
  sample.path = scratch.path / "sample";
  sample.name = "scripted";
  sample.graph_names = {"a", "always_full"};
  for (const std::string& name : sample.graph_names) {
    sample.graph_paths.push_back(sample.path / name);
    std::filesystem::create_directories(sample.path);
    std::filesystem::copy(graphdir::load_sample(original).value().graph_paths.at(0), sample.path / name);
  }
  BatchOptions options;
  options.out = scratch.path / "out";
  options.evaluate.gpu = 0;
  options.evaluate.compiler = "eager";
  options.evaluate.timed = false;
  options.evaluate.worker = tests::binary_dir() / "bin/scripted_worker";
  for (const int per_gpu : {1, 2}) {
    options.slots.per_gpu = per_gpu;
    std::vector<std::string> finished;
    BatchHooks hooks;
    hooks.finished = [&](const record::RunRecord& record) { finished.push_back(record.graph); };
    const BatchResult result = evaluate_batch({sample}, options, hooks);
    ASSERT_FALSE(result.error) << to_string(*result.error);
    EXPECT_EQ(result.records.size(), 2u);
    EXPECT_EQ(finished, per_gpu == 1 ? (std::vector<std::string>{"a", "always_full"})
                                     : (std::vector<std::string>{"a", "always_full", "always_full"}));
  }
}

}  // namespace
}  // namespace passnet::run
