// What a record is made of, as files on disk; and records picked for another evaluation.
#include "run/evaluate/provenance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file/file.h"
#include "base/hash.h"
#include "run/batch/reproduce.h"
#include "tests/scratch.h"

namespace passnet::run {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::Key;
using testing::UnorderedElementsAre;

class ProvenanceTest : public testing::Test {
 protected:
  void SetUp() override {
    put("graph_list.txt", "small\n");
    put("graphs/small/model.py", "the model");
    put("graphs/small/weight_meta.py", "the weights");
    put("graphs/small/notes.txt", "nobody reads this");
    put("pass_dir/sorted_output_pass_rule_names.json", R"(["second", "first"])");
    for (const char* name : {"first", "second", "unused"}) {
      put(std::string("pass_dir/") + name + ".py", name);
      put(std::string("pass_dir/") + name + ".cpp", name);
    }
    put("pass_dir/first.cu", "for a GPU");
  }
  void put(const std::string& file, const std::string& text) const { ASSERT_TRUE(write_file(root_ / file, text)); }
  graphdir::Sample sample() const {
    Result<graphdir::Sample> loaded = graphdir::load_sample(root_);
    EXPECT_TRUE(loaded) << to_string(loaded.error());
    return std::move(*loaded);
  }
  const ScratchDirectory scratch_;
  const fs::path& root_ = scratch_.path;
};

TEST_F(ProvenanceTest, HoldsWhatIsReadAndNothingElse) {
  const record::Provenance made_of = provenance_of(SourceFiles(), SourceFiles(), sample(), 0, {}, {{"torch", "2"}});
  EXPECT_THAT(made_of.graph, ElementsAre(testing::Pair("model.py", sha256_hex("the model")), Key("weight_meta.py")));
  EXPECT_THAT(made_of.passes,
              UnorderedElementsAre(Key("sorted_output_pass_rule_names.json"), Key("first.py"), Key("second.py")));
  EXPECT_THAT(made_of.kernels, UnorderedElementsAre(Key("first.cpp"), Key("second.cpp")));
  EXPECT_EQ(made_of.sample_path, fs::weakly_canonical(root_));
  EXPECT_GE(made_of.options.threads, 1) << "the threads that run, never 'all'";
}

TEST_F(ProvenanceTest, ObjectsAreHashedByLaunch) {
  const pass::BuiltKernel kernel{.object = "one.so", .entry = "passnet_run_add", .parameters = {}, .sha256 = "12ab"};
  EXPECT_THAT(hash_objects({{}, {kernel, kernel}}),
              ElementsAre(testing::Pair("1.0 passnet_run_add", "12ab"), testing::Pair("1.1 passnet_run_add", "12ab")));
}

TEST_F(ProvenanceTest, OnAGpuKernelsAreItsOwn) {
  EvaluateOptions options;
  options.gpu = 3;
  const record::Provenance made_of = provenance_of(SourceFiles(), SourceFiles(), sample(), 0, options, {});
  EXPECT_THAT(made_of.kernels, ElementsAre(testing::Pair("first.cu", sha256_hex("for a GPU"))));
  EXPECT_EQ(made_of.options.device, "cuda");
  EXPECT_EQ(made_of.options.cuda_graph, "auto");
}

TEST_F(ProvenanceTest, WithoutPassesThereAreNone) {
  EvaluateOptions options;
  options.compiler = "eager";
  const record::Provenance made_of = provenance_of(SourceFiles(), SourceFiles(), sample(), 0, options, {});
  EXPECT_TRUE(made_of.passes.empty());
  EXPECT_TRUE(made_of.kernels.empty());
}

TEST_F(ProvenanceTest, OrderOfThePassesCounts) {
  const auto before = hash_passes(SourceFiles(), sample(), {});
  put("pass_dir/sorted_output_pass_rule_names.json", R"(["first", "second"])");
  EXPECT_NE(hash_passes(SourceFiles(), sample(), {}), before);
}

TEST_F(ProvenanceTest, FilesThatAPassImportsCount) {
  put("pass_dir/first.py", "from pass_dir.unused import f\n");
  put("pass_dir/unused.py", "import broken\n");
  put("pass_dir/broken.py", "def (");
  EXPECT_THAT(hash_passes(SourceFiles(), sample(), {}),
              UnorderedElementsAre(Key("sorted_output_pass_rule_names.json"), Key("first.py"), Key("second.py"),
                                   Key("unused.py"), Key("broken.py")));
}

TEST_F(ProvenanceTest, PassesThatAreGivenCount) {
  put("given/sorted_input_pass_rule_names.json", R"(["other"])");
  put("given/other.py", "");
  put("given/other.cpp", "");
  put("pass_dir/sorted_input_pass_rule_names.json", R"(["other"])");
  const pass::Selection selection{sample().path / "given", {}, {}, {}};
  const auto own = hash_passes(SourceFiles(), sample(), {});
  auto all = hash_passes(SourceFiles(), sample(), selection);
  EXPECT_EQ(all.size(), own.size() + 3);
  for (const char* name :
       {"given/sorted_input_pass_rule_names.json", "given/other.py", "sorted_input_pass_rule_names.json"})
    EXPECT_TRUE(all.contains(name)) << name;
  EXPECT_TRUE(hash_kernels(SourceFiles(), sample(), selection, false).contains("given/other.cpp"));
}

TEST_F(ProvenanceTest, AMalformedListIsStillItself) {
  put("pass_dir/sorted_output_pass_rule_names.json", "nonsense");
  EXPECT_THAT(hash_passes(SourceFiles(), sample(), {}), ElementsAre(Key("sorted_output_pass_rule_names.json")));
  EXPECT_TRUE(hash_kernels(SourceFiles(), sample(), {}, false).empty());
}

TEST(Options, SurviveTheRecord) {
  EvaluateOptions options;
  options.compiler = "eager";
  options.warmup = 3;
  options.trials = 4;
  options.seed = 5;
  options.threads = 6;
  options.timeout_s = 7;
  options.strict = true;
  options.baseline = "python";
  options.host_code = HostCode::Fallback;
  options.selection = {"/given", {"b", "a"}, 3, 1};
  const record::RunOptions recorded = resolve_options(options);
  const Result<EvaluateOptions> back = options_of(recorded, "cpu");
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(resolve_options(*back), recorded);
  options.gpu = 2;
  options.cuda_graph = "on";
  const Result<EvaluateOptions> on_gpu = options_of(resolve_options(options), "cuda:2");
  ASSERT_TRUE(on_gpu) << to_string(on_gpu.error());
  EXPECT_EQ(on_gpu->gpu, 2);
  EXPECT_EQ(resolve_options(*on_gpu), resolve_options(options));
}

record::RunRecord record_of(const std::string& sample, const std::string& graph) {
  record::RunRecord record;
  record.sample = sample;
  record.graph = graph;
  return record;
}

TEST(SelectRecords, ByGraphOrSampleAndGraph) {
  const std::vector<record::RunRecord> records = {record_of("s", "b1_float32"), record_of("s", "b2"),
                                                  record_of("t", "b2")};
  EXPECT_EQ(select_records(records, "")->size(), 3u);
  EXPECT_EQ(select_records(records, "b1_float32")->at(0).graph, "b1_float32");
  EXPECT_EQ(select_records(records, "t/b2")->at(0).sample, "t");
  EXPECT_EQ(to_string(select_records(records, "b2").error()),
            "error: graph 'b2' is in 2 samples\nhint: name one: 's/b2'");
  EXPECT_EQ(to_string(select_records(records, "b1_float23").error()),
            "error: no record of graph 'b1_float23' among 3\nhint: did you mean 'b1_float32'?");
}

TEST(Reproduce, NeedsToKnowWhatTheRecordWasMadeOf) {
  const auto done = reproduce(record_of("s", "g"), "", {});
  ASSERT_FALSE(done);
  EXPECT_THAT(to_string(done.error()), testing::HasSubstr("the record of 's/g' does not say what it was made of"));
}

}  // namespace
}  // namespace passnet::run
