// Models captured by a worker that only acts (capture_worker.cpp): which are asked for, what the journal has of them,
// and what is left on disk.
#include "dataset/capture.h"

#include <gmock/gmock.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/file/line_file.h"
#include "base/text/strings.h"
#include "dataset/tree_fixture.h"
#include "tests/paths.h"

namespace passnet::dataset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Names = std::vector<std::string>;

class Capture : public TreeTest {
 protected:
  Capture() {
    options.from = "toys";
    options.worker = {tests::binary_dir() / "bin/capture_worker", (root / "asked").string()};
    options.interrupted = &interrupted;
  }
  Result<void> try_run() {
    told.clear();
    write("asked", "");
    return capture(root / "out", options, [&](const CaptureLine& line) { told.push_back(line); });
  }
  void run(Names match) {
    options.match = std::move(match);
    const Result<void> done = try_run();
    ASSERT_TRUE(done) << to_string(done.error());
  }
  Names asked() const {
    const std::string text = read("asked");
    const auto lines = split(std::string_view(text).substr(0, text.rfind('\n')), '\n');
    return text.empty() ? Names() : Names(lines.begin(), lines.end());
  }
  Names told_names() const {
    Names names;
    for (const CaptureLine& line : told) names.push_back(line.model);
    return names;
  }
  std::string journal() const { return read("out/journal.jsonl"); }
  size_t journal_lines() const { return split(journal(), '\n').size() - 1; }

  CaptureOptions options;
  std::atomic<bool> interrupted = false;
  std::vector<CaptureLine> told;
};

TEST_F(Capture, ListsTheNamesThatMatch) {
  options.match = {"good*", "[fgd]*"};
  EXPECT_THAT(list_models(options).value(), ElementsAre("good", "good/2", "fails", "dies"));
  options.limit = 2;
  EXPECT_THAT(list_models(options).value(), ElementsAre("good", "good/2"));
  options.match = {"Good", "\\good"};
  EXPECT_EQ(to_string(list_models(options).error()),
            "error: --filter: found no model of toys that matches Good, \\good\nhint: did you mean 'good'?");
  options.match = {"nowhere"};
  EXPECT_EQ(
      to_string(list_models(options).error()),
      "error: --filter: found no model of toys that matches nowhere\nhint: --dry-run without --filter prints them "
      "all");
}

TEST_F(Capture, AsksForEachModelAndWritesItsLine) {
  options.timeout_s = 7, options.memory_gb = 0.5, options.shapes = 3;
  run({"good*"});
  EXPECT_THAT(told_names(), ElementsAre("good", "good/2"));
  EXPECT_TRUE(told[0].captured && !told[0].earlier);
  EXPECT_EQ(try_parse_json(read("out/toys/good_2/b1/request.json")),
            try_parse_json(fmt::format(R"({{"do": "capture", "model": "good/2", "out": "{}", "directory": "toys/good_2",
                                        "shapes": 3, "seconds": 7.0, "memory_bytes": 536870912}})",
                                       (root / "out").string())));
  EXPECT_EQ(
      std::string(split(journal(), '\n')[0]),
      R"({"model":"good","source":"toys","status":"captured","cause":null,"message":null,"graphs":["toys/good/b1"],)"
      R"("shapes":{"b1":"captured"},"seconds":0.25,"peak_mb":0,"library_version":null,"torch_version":null,)"
      R"("licence":null})");
}

TEST_F(Capture, TellsInOrderWithSeveralWorkers) {
  options.jobs = 2;
  run({"slow", "good*", "fails"});
  EXPECT_THAT(told_names(), ElementsAre("slow", "good", "good/2", "fails"));
  EXPECT_EQ(journal_lines(), 4u);
}

TEST_F(Capture, PatternWithoutAMatchIsAFailureThatNamesTheNearest) {
  run({"godd", "xyz", "good"});
  EXPECT_THAT(told_names(), ElementsAre("godd", "xyz", "good"));
  EXPECT_EQ(told[0].cause, "not-found");
  EXPECT_EQ(told[0].message, "found no model 'godd' in toys; did you mean 'good'?");
  EXPECT_EQ(told[1].message, "found no model 'xyz' in toys; run with --dry-run");
  EXPECT_EQ(told[0].library_version, "1.0");
}

TEST_F(Capture, LeavesOutWhatStandsInTheJournalWhenItResumes) {
  run({"good", "fails"});
  run({"good", "fails"});
  EXPECT_THAT(asked(), ElementsAre("good", "fails")) << "without --resume all is captured anew";
  options.resume = true;
  run({"good*", "fails"});
  EXPECT_THAT(asked(), ElementsAre("good/2"));
  EXPECT_THAT(told_names(), ElementsAre("good", "good/2", "fails"));
  EXPECT_TRUE(told[0].earlier && !told[1].earlier);
  EXPECT_EQ(told[2].message, "found no shape");
  options.retry_failed = true;
  run({"good*", "fails"});
  EXPECT_THAT(asked(), ElementsAre("fails"));
  EXPECT_EQ(journal_lines(), 6u);
}

TEST_F(Capture, FailingAnewTakesTheOldGraphsAway) {
  write("out/toys/fails/b1/model.py", "");
  write("out/toys/dies/b1/model.py", "");
  run({"fails", "dies"});
  EXPECT_FALSE(exists("out/toys/fails"));
  EXPECT_FALSE(exists("out/toys/dies"));
}

TEST_F(Capture, GoesOnAfterAWorkerThatDied) {
  run({"dies", "leaves", "xyz*", "good"});
  EXPECT_THAT(asked(), ElementsAre("good", "dies", "leaves"));
  ASSERT_THAT(told, SizeIs(4));
  EXPECT_EQ(told[2].cause, "crash");
  EXPECT_EQ(told[2].message, "the capture worker ended during 'capture': killed by SIGSEGV (invalid memory access)");
  EXPECT_EQ(told[2].library_version, "1.0");
}

TEST_F(Capture, WorkerThatWasKilledWhileNothingWasAskedIsStartedAgain) {
  run({"leaves", "last"});
  EXPECT_THAT(asked(), ElementsAre("leaves", "last"));
  EXPECT_TRUE(told[0].captured && told[1].captured);
}

TEST_F(Capture, NothingHalfWrittenStays) {
  write("out/.partial/1/model/model.py", "");
  run({"fails"});
  EXPECT_FALSE(exists("out/.partial"));
}

TEST_F(Capture, InterruptKeepsWhatIsFinishedAndEndsTheWorker) {
  options.match = {"good", "hangs"};
  const std::jthread user([&] {
    while (!exists("out/.partial/hangs")) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    interrupted = true;
  });
  const Result<void> done = try_run();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "interrupted");
  EXPECT_THAT(told_names(), ElementsAre("good"));
  EXPECT_THAT(asked(), ElementsAre("good", "hangs", "ended"));
  EXPECT_EQ(journal_lines(), 1u);
  EXPECT_FALSE(exists("out/.partial"));
}

TEST_F(Capture, SecondRunIntoTheSameDirectoryIsRefused) {
  const Result<LineFile> first = LineFile::open(root / "out/journal.jsonl", true);
  ASSERT_TRUE(first);
  const Result<void> done = try_run();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, Error::Kind::Resource);
  EXPECT_THAT(done.error().message, HasSubstr("journal.jsonl' is being written by another run"));
  EXPECT_THAT(asked(), IsEmpty());
}

TEST_F(Capture, SourceThatIsNotThereIsTheUsersFault) {
  options.from = "none";
  const Result<void> done = try_run();
  ASSERT_FALSE(done);
  EXPECT_EQ(to_string(done.error()), "error: found 'none', expected toys");
  EXPECT_EQ(done.error().kind, Error::Kind::BadInput);
  EXPECT_FALSE(exists("out"));
}

TEST_F(Capture, ProgramThatIsNoWorkerIsNamed) {
  options.worker = {"/bin/false"};
  const Result<void> done = try_run();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "the capture worker ended during 'source': exit code 1");
  EXPECT_THAT(done.error().hint, HasSubstr("PASSNET_PYTHON"));
}

}  // namespace
}  // namespace passnet::dataset
