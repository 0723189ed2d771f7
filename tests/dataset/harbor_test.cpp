#include <gmock/gmock.h>

#include <map>

#include "dataset/harbor/export.h"
#include "tests/dataset/tree_fixture.h"

namespace passnet::dataset {
namespace {

using testing::HasSubstr;
using testing::Not;

class Harbor : public TreeTest {
 protected:
  void SetUp() override {
    for (const char* name : {"relu", "tanh"}) {
      write_graph(std::filesystem::path(name) / "graphs/b1", name == std::string("relu") ? kRelu : kTanh);
      write(std::filesystem::path(name) / "graph_list.txt", "b1\n");
    }
    write("tanh/pass_dir/sorted_output_pass_rule_names.json", "[]");
    write("relu/pass_dir/sorted_output_pass_rule_names.json", "[\"one\"]");
    write("relu/pass_dir/one.py", "# shipped\n");
  }

  Result<HarborReport> write_tasks(const std::string& out, HarborOptions options = {.image = "passnet:1"}) const {
    const auto samples = graphdir::load_samples({root / "tanh", root / "relu"});
    if (!samples) return samples.error();
    return export_harbor(*samples, root / out, options, [](const std::string&) {});
  }

  /// Every file of an export.
  std::map<std::string, std::string> files_of(const std::string& out) const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / out)) {
      const std::string name = entry.path().lexically_relative(root / out).string();
      if (entry.is_regular_file()) files[name] = read(entry.path());
    }
    return files;
  }
};

TEST_F(Harbor, WritesATaskPerSampleAndTheIndex) {
  const Result<HarborReport> report = write_tasks("out");
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_EQ(report->tasks, 2U);
  EXPECT_EQ(report->solved, 1U);
  std::vector<std::string> names;
  for (const auto& [name, text] : files_of("out")) {
    if (!name.starts_with("tasks/tanh/")) names.push_back(name);
    EXPECT_THAT(text, Not(HasSubstr("{{"))) << name;
  }
  std::vector<std::string> expected{"README.md", "data/tasks.jsonl", "eval.yaml", "registry.json"};
  for (const std::string file :
       {"Dockerfile", "sample/graph_list.txt", "sample/graphs/b1/graph_hash.txt", "sample/graphs/b1/graph_net.json",
        "sample/graphs/b1/model.py", "sample/graphs/b1/weight_meta.py"}) {
    expected.push_back("tasks/relu/environment/" + file);
    expected.push_back("tasks/relu/tests/" + file);
  }
  for (const char* file : {"instruction.md", "task.toml", "solution/solve.sh", "solution/pass_dir/one.py",
                           "solution/pass_dir/sorted_output_pass_rule_names.json", "tests/test.sh"})
    expected.push_back(std::string("tasks/relu/") + file);
  EXPECT_THAT(names, testing::UnorderedElementsAreArray(expected));
  EXPECT_FALSE(exists("out/tasks/tanh/solution"));
  EXPECT_EQ(read("out/data/tasks.jsonl"),
            "{\"task\":\"passnet/relu\",\"path\":\"tasks/relu\",\"graphs\":1,\"operators\":[\"relu\"]}\n"
            "{\"task\":\"passnet/tanh\",\"path\":\"tasks/tanh\",\"graphs\":1,\"operators\":[\"tanh\"]}\n");
}

TEST_F(Harbor, GivesEqualBytesTwice) {
  ASSERT_TRUE(write_tasks("first"));
  HarborOptions options{.image = "passnet:1"};
  options.tree.jobs = 2;
  ASSERT_TRUE(write_tasks("second", options));
  EXPECT_EQ(files_of("first"), files_of("second"));
}

TEST_F(Harbor, TakesPassDirAloneFromTheAgent) {
  ASSERT_TRUE(write_tasks("out"));
  const std::string task = read("out/tasks/relu/task.toml");
  EXPECT_THAT(task, HasSubstr("\nartifacts = [\"/work/relu/workspace/pass_dir\"]\n"));
  EXPECT_THAT(task, HasSubstr("\nenvironment_mode = \"separate\"\n"));
  EXPECT_THAT(task, HasSubstr("\nsolution = \"shipped\"\n"));
  const std::string agent = read("out/tasks/relu/environment/Dockerfile");
  EXPECT_THAT(agent, HasSubstr("FROM passnet:1\n"));
  EXPECT_THAT(
      agent,
      HasSubstr("RUN rm -r /opt/passnet/passnet/bin/passnet-author /opt/passnet/passnet/share/passnet/samples\n"));
  EXPECT_THAT(agent, Not(HasSubstr("test.sh")));
  EXPECT_THAT(read("out/tasks/relu/instruction.md"),
              HasSubstr("Write passes for it into `/work/relu/workspace/pass_dir/`"));
}

TEST_F(Harbor, PrefersGivenSolutionsAndAsksForAGpu) {
  write("given/tanh/pass_dir/two.py", "# given\n");
  HarborOptions options{.passes = root / "given", .image = "passnet-nvidia:1", .on_gpu = true};
  const Result<HarborReport> report = write_tasks("out", options);
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_EQ(report->solved, 2U);
  EXPECT_EQ(read("out/tasks/tanh/solution/pass_dir/two.py"), "# given\n");
  const std::string task = read("out/tasks/tanh/task.toml");
  EXPECT_THAT(task, HasSubstr("\nsolution = \"given\"\n"));
  EXPECT_THAT(task, HasSubstr("\ngpus = 1\n"));
  EXPECT_THAT(read("out/tasks/tanh/tests/test.sh"), HasSubstr("--device cuda"));
}

TEST_F(Harbor, RefusesADirectoryThatHoldsSomething) {
  write("out/notes.txt", "mine");
  const Result<HarborReport> report = write_tasks("out");
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message,
            "'" + (root / "out").string() + "' holds 'notes.txt', expected an empty or a new directory");
  EXPECT_EQ(report.error().hint, "remove it, or name another directory");
}

TEST_F(Harbor, RefusesANameThatHarborRefuses) {
  write_graph("a sample/graphs/b1", kRelu);
  write("a sample/graph_list.txt", "b1\n");
  const auto samples = graphdir::load_samples({root / "a sample"});
  ASSERT_TRUE(samples);
  const Result<HarborReport> report = export_harbor(*samples, root / "out", {}, [](const std::string&) {});
  ASSERT_FALSE(report);
  EXPECT_EQ(
      report.error().message,
      "sample 'a sample': expected a name of letters, digits, '.', '_' and '-' that begins with a letter or digit, "
      "as Harbor's tasks have");
}

}  // namespace
}  // namespace passnet::dataset
