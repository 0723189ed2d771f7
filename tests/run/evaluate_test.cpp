// A sample through scripted workers: what is evaluated anew, in which processes, and what the records say of it.
#include "run/evaluate/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file/file.h"
#include "graphdir/sample.h"
#include "tests/paths.h"
#include "tests/scratch.h"

namespace passnet::run {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FreshWorkers : public testing::Test {
 protected:
  /// The records of graphs of these names, in order, evaluated on a GPU.
  std::vector<record::RunRecord> evaluate(const std::vector<std::string>& graphs) {
    const fs::path original = tests::source_dir() / "samples/gpt2_gelu";
    const fs::path graph = graphdir::load_sample(original).value().graph_paths.at(0);
    graphdir::Sample sample;
    sample.path = directory_;
    sample.name = "scripted";
    for (const std::string& name : graphs) {
      sample.graph_names.push_back(name);
      sample.graph_paths.push_back(directory_ / name);
      fs::create_directories(directory_);
      fs::copy(graph, directory_ / name, fs::copy_options::recursive);
      if (name == "asserts_on_others") make_integers(directory_ / name / "weight_meta.py");
    }
    EvaluateOptions options;
    options.compiler = "eager";
    options.gpu = 0;
    options.threads = 1;
    options.timed = false;
    options.worker = tests::binary_dir() / "bin/scripted_worker";
    std::vector<record::RunRecord> records;
    EvaluateHooks hooks;
    hooks.finished = [&](const record::RunRecord& record) -> Result<void> {
      records.push_back(record);
      return {};
    };
    const Result<void> done = evaluate_sample(sample, options, hooks);
    EXPECT_TRUE(done.has_value()) << (done ? "" : to_string(done.error()));
    EXPECT_EQ(records.size(), graphs.size());
    records.resize(graphs.size());
    return records;
  }

  /// Makes the input one of integers that were recorded.
  static void make_integers(const fs::path& weight_meta) {
    ASSERT_TRUE(
        write_file(weight_meta,
                   "class Program_weight_tensor_meta_x_5:\n\tname = \"in_0\"\n\tshape = [2]\n"
                   "\tdtype = \"torch.int64\"\n\tdevice = \"cpu\"\n\tmean = None\n\tstd = None\n\tdata = [0, 0]\n"));
  }

  const ScratchDirectory scratch_;
  const fs::path directory_ = scratch_.path / "sample";
};

/// How many graphs the two processes had loaded that evaluated this one: {1, 1} says that both were fresh.
std::pair<int64_t, int64_t> loads(const record::RunRecord& record) {
  return {record.reference_memory.peak_bytes, record.candidate_memory.peak_bytes};
}
using Loads = std::pair<int64_t, int64_t>;

TEST_F(FreshWorkers, EvaluateAGraphAnewThatFoundTheDeviceFull) {
  for (const char* full : {"full_after_two", "candidate_full"}) {
    fs::remove_all(directory_);
    const auto records = evaluate({"a", "b", full, "c"});
    for (const record::RunRecord& record : records) {
      EXPECT_EQ(record.stage, record::Stage::Done) << record.graph << ": " << record.error;
      EXPECT_EQ(record.error_kind, "") << record.graph;
    }
    EXPECT_EQ(records[1].retried, "");
    EXPECT_EQ(loads(records[1]), (Loads{2, 2}));
    EXPECT_THAT(records[2].retried, HasSubstr("CUDA out of memory. Tried to allocate 20.00 GiB"));
    EXPECT_EQ(loads(records[2]), (Loads{1, 1}));
    EXPECT_EQ(records[3].retried, "");
    EXPECT_EQ(loads(records[3]), (Loads{2, 2}));
  }
}

TEST_F(FreshWorkers, AreTriedOnceAndTheMachineIsBlamedWhenTheyDoNotHelp) {
  const auto records = evaluate({"a", "always_full", "b"});
  EXPECT_EQ(records[1].stage, record::Stage::Reference);
  EXPECT_EQ(records[1].error_kind, "resource");
  EXPECT_THAT(records[1].error, HasSubstr("CUDA out of memory"));
  EXPECT_THAT(records[1].retried, HasSubstr("CUDA out of memory"));
  EXPECT_EQ(records[1].reference_memory.peak_bytes, 1);
  EXPECT_EQ(records[2].stage, record::Stage::Done);
  EXPECT_EQ(records[2].reference_memory.peak_bytes, 2);  // started anew once, not twice
}

TEST_F(FreshWorkers, LeaveTheBlameWithTheGraphWhenItFailsInThemToo) {
  const auto records = evaluate({"a", "unclear"});
  EXPECT_EQ(records[1].error_kind, "bad-input");
  EXPECT_THAT(records[1].error, HasSubstr("CUBLAS_STATUS_EXECUTION_FAILED"));
  EXPECT_THAT(records[1].retried, HasSubstr("CUBLAS_STATUS_EXECUTION_FAILED"));
  EXPECT_EQ(records[1].reference_memory.peak_bytes, 1);
}

TEST_F(FreshWorkers, ReplaceTheOneThatLostTheDeviceAndNoOther) {
  const auto records = evaluate({"a", "asserts", "b"});
  EXPECT_EQ(records[1].stage, record::Stage::Reference);
  EXPECT_EQ(records[1].error_kind, "bad-input");
  EXPECT_THAT(records[1].error, HasSubstr("device-side assert triggered"));
  EXPECT_EQ(records[1].retried, "");
  EXPECT_EQ(records[2].stage, record::Stage::Done) << records[2].error;
  EXPECT_EQ(loads(records[2]), (Loads{1, 2}));
}

TEST_F(FreshWorkers, JudgeOnRecordedIntegersWhereOthersEndTheReference) {
  const auto records = evaluate({"a", "asserts_on_others", "b"});
  EXPECT_EQ(records[1].stage, record::Stage::Done) << records[1].error;
  EXPECT_THAT(records[1].retried, HasSubstr("device-side assert triggered"));
  EXPECT_EQ(records[1].input_kinds.size(), records[0].input_kinds.size());
  EXPECT_EQ(loads(records[1]), (Loads{1, 1}));
  EXPECT_EQ(records[2].retried, "");
  EXPECT_EQ(loads(records[2]), (Loads{2, 2}));
}

}  // namespace
}  // namespace passnet::run
