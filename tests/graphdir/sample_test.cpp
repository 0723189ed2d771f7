#include "graphdir/sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file/file.h"
#include "fx/graph_text.h"
#include "tests/scratch.h"

namespace passnet::graphdir {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

std::string record(const std::string& name, const std::string& shape = "[2]") {
  return "class Program_weight_tensor_meta_" + name + ":\n    name = \"" + name + "\"\n    shape = " + shape +
         "\n    dtype = \"torch.float32\"\n";
}

// `put` writes files in the scratch directory, `at` names them.
class SampleTest : public ::testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) { ASSERT_TRUE(write_file(root_ / name, text)); }
  void put_graph(const std::string& dir) {
    put(dir + "/model.py", fx::model_text("a, b", "r = a + b\nreturn (r,)"));
    put(dir + "/weight_meta.py", record("a") + "\n\n" + record("b"));
  }
  std::string at(const std::string& name) const { return (root_ / name).string(); }
  /// The text of an error, without the directory of the test.
  template <class T>
  std::string error(const Result<T>& result) const {
    std::string text = result ? "no error" : to_string(result.error());
    for (size_t where; (where = text.find(root_.string() + "/")) != std::string::npos;)
      text.erase(where, root_.string().size() + 1);
    return text;
  }

  const ScratchDirectory scratch_;
  const fs::path& root_ = scratch_.path;
};

TEST_F(SampleTest, GraphDirectoryIsReadWithItsRecordsInOrder) {
  put("g/model.py", fx::model_text("a, b, c", "r = a + b\nreturn (r,)"));
  put("g/weight_meta.py", record("c") + record("a"));
  put("g/input_meta.py", record("b"));
  const auto graph = load_graph_dir(at("g/"));
  ASSERT_TRUE(graph) << to_string(graph.error());
  EXPECT_EQ(graph->name, "g");
  EXPECT_EQ(graph->graph.size(), 5u);
  ASSERT_EQ(graph->weights.size(), 2u);
  EXPECT_EQ(graph->weights[0].name, "a");
  EXPECT_EQ(graph->weights[1].name, "c");
  ASSERT_EQ(graph->inputs.size(), 1u);
}

TEST_F(SampleTest, GraphWithoutArgumentsNeedsNoRecords) {
  put("g/model.py", fx::model_text("", "r = torch.zeros(2)\nreturn (r,)"));
  EXPECT_TRUE(load_graph_dir(at("g")));
}

TEST_F(SampleTest, RecordsAndArgumentsMustAgree) {
  put("g/model.py", fx::model_text("in_0, in_1", "return (in_0,)"));
  EXPECT_EQ(error(load_graph_dir(at("g"))), "error: cannot open 'g/weight_meta.py': No such file or directory");
  put("g/weight_meta.py", record("in_0") + record("in_2"));
  EXPECT_EQ(error(load_graph_dir(at("g"))),
            "g/model.py:5:29: error: argument 'in_1' of forward has no record in weight_meta.py\nhint: did "
            "you mean 'in_0'?");
  put("g/weight_meta.py", record("in_0") + record("in_1") + record("in_2"));
  EXPECT_EQ(error(load_graph_dir(at("g"))).substr(0, 78),
            "g/weight_meta.py:9:7: error: record 'in_2' belongs to no argument of forward\nh");
  put("g/weight_meta.py", record("in_0"));
  put("g/input_meta.py", record("in_1") + "class B:\n  name = 'in_1'\n  shape = []\n  dtype = 'torch.bool'\n");
  EXPECT_EQ(error(load_graph_dir(at("g"))), "g/input_meta.py:5:7: error: a second record has the name 'in_1'");
  EXPECT_EQ(error(load_graph_dir(at("h"))),
            "error: 'h/model.py' does not exist\nhint: give a graph directory or a model.py");
}

TEST_F(SampleTest, ListedGraphsAreFoundBelowGraphsAndBeside) {
  put_graph("s/graphs/one");
  put_graph("s/two");
  put("s/graph_list.txt", "# graphs\n\n one \r\ntwo\n");
  fs::create_directories(at("s/pass_dir"));
  const auto sample = load_sample(at("s"));
  ASSERT_TRUE(sample) << to_string(sample.error());
  EXPECT_EQ(sample->name, "s");
  EXPECT_THAT(sample->graph_names, ElementsAre("one", "two"));
  EXPECT_THAT(sample->graph_paths, ElementsAre(at("s/graphs/one"), at("s/two")));
  EXPECT_EQ(sample->pass_dir, at("s/pass_dir"));
}

TEST_F(SampleTest, NoLineLeadsOutOfTheSample) {
  put_graph("elsewhere");
  put_graph("s/one");
  for (const std::string& line : {at("elsewhere"), std::string("../elsewhere"), std::string("one/../../elsewhere")}) {
    put("s/graph_list.txt", "one\n" + line + "\n");
    EXPECT_EQ(to_string(load_sample(at("s")).error()),
              at("s/graph_list.txt") + ":2:1: error: graph '" + line + "' lies elsewhere, expected one below '" +
                  at("s") +
                  "'\n"
                  "hint: name the graph's directory itself, or list it in a file that is no graph_list.txt");
  }
}

TEST_F(SampleTest, NothingInASampleIsReachedThroughALink) {
  put_graph("s/graphs/one");
  put("s/graph_list.txt", "one\n");
  fs::create_directory_symlink("s", at("linked"));
  const auto sample = load_sample(at("linked"));
  ASSERT_TRUE(sample) << to_string(sample.error());
  EXPECT_TRUE(load_graph_dir(SourceFiles(sample->roots), sample->graph_paths[0]));
  fs::rename(at("s/graphs/one"), at("elsewhere"));
  fs::create_directory_symlink(at("elsewhere"), at("s/graphs/one"));
  EXPECT_EQ(error(load_graph_dir(SourceFiles(sample->roots), sample->graph_paths[0])),
            "linked/graphs/one/model.py: error: found a link, expected a regular file\n"
            "hint: below 'linked' no link is followed: put there what it points to");
  EXPECT_EQ(error(load_sample(at("s"))),
            "s/graph_list.txt:1:1: error: graph 'one' is reached through a link, expected directories\n"
            "hint: below 's' no link is followed: put there what 'graphs/one' points to");
  fs::rename(at("s/graph_list.txt"), at("list"));
  fs::create_symlink(at("list"), at("s/graph_list.txt"));
  EXPECT_EQ(error(load_sample(at("s"))),
            "s/graph_list.txt: error: found a link, expected a regular file\n"
            "hint: below 's' no link is followed: put there what it points to");
}

TEST(Sample, WithSomeOfItsGraphsKeepsTheirOrder) {
  const Sample all{"at", "toy", {"a", "b", "c"}, {"at/a", "at/b", "at/c"}, "at/pass_dir"};
  const Sample some = with_graphs(all, {"c", "a", "unknown"});
  EXPECT_EQ(some.graph_names, (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(some.graph_paths, (std::vector<std::filesystem::path>{"at/a", "at/c"}));
  EXPECT_EQ(some.pass_dir, all.pass_dir);
}

TEST_F(SampleTest, WithoutAListEveryGraphBelowIsTaken) {
  put_graph("s/b");
  put_graph("s/a/x");
  put_graph("s/a/x/inner");
  const auto sample = load_sample(at("s"));
  ASSERT_TRUE(sample);
  EXPECT_THAT(sample->graph_names, ElementsAre("a/x", "b"));
  EXPECT_TRUE(sample->pass_dir.empty());
  const auto one = load_sample(at("s/b"));
  ASSERT_TRUE(one);
  EXPECT_THAT(one->graph_names, ElementsAre("b"));
}

TEST_F(SampleTest, BadListsAreNamedWithTheirLine) {
  put_graph("s/graphs/add_relu");
  put("s/graph_list.txt", "# one\n\nadd_rellu\n");
  EXPECT_EQ(error(load_sample(at("s"))),
            "s/graph_list.txt:3:1: error: graph 'add_rellu' does not exist: found neither "
            "'s/graphs/add_rellu/model.py' nor "
            "'s/add_rellu/model.py'\nhint: did you mean 'add_relu'?");
  put("s/graph_list.txt", "add_relu\n./add_relu\n");
  EXPECT_EQ(error(load_sample(at("s"))),
            "s/graph_list.txt:2:1: error: graph './add_relu' stands here again, first on line 1");
  put("s/graph_list.txt", "\n# nothing\n");
  EXPECT_EQ(error(load_sample(at("s"))),
            "s/graph_list.txt: error: the list is empty, expected one graph directory per line");
  put("s/graph_list.txt", std::string("add\0relu\n", 9));
  EXPECT_EQ(error(load_sample(at("s"))), "s/graph_list.txt:1:1: error: found a NUL byte, expected a list of paths");
  fs::create_directories(at("empty"));
  EXPECT_EQ(error(load_sample(at("empty"))),
            "error: found no graph in 'empty', expected graph_list.txt or a directory with model.py");
  EXPECT_EQ(error(load_sample(at("emptyy"))),
            "error: 'emptyy' does not exist, expected a sample directory, a graph directory or a list of them\n"
            "hint: did you mean 'empty'?");
}

TEST_F(SampleTest, PathsOfCommandsStandForSamples) {
  put_graph("samples/one/graphs/g");
  put("samples/one/graph_list.txt", "g\n");
  put_graph("samples/two/graphs/g");
  put("samples/two/graph_list.txt", "g\n");
  put_graph("alone");
  put("lists/all.txt", "# all\n../samples/two\n../alone\n");
  const auto paths = expand_paths({at("samples/one"), at("samples"), at("lists/all.txt"), at("alone/model.py")});
  ASSERT_TRUE(paths) << to_string(paths.error());
  EXPECT_THAT(*paths, ElementsAre(at("samples/one"), at("samples/one"), at("samples/two"), at("lists/../samples/two"),
                                  at("lists/../alone"), at("alone")));
  EXPECT_EQ(error(expand_paths({at("sample")})),
            "error: 'sample' does not exist, expected a sample directory, a graph directory or a list of them\n"
            "hint: did you mean 'samples'?");
  put("lists/bad.txt", "../alone\n../alon\n");
  EXPECT_EQ(error(expand_paths({at("lists/bad.txt")})),
            "lists/bad.txt:2:1: error: 'lists/../alon' does not exist, expected a sample directory, a graph "
            "directory or a list of "
            "them\nhint: did you mean 'alone'?");
  put("lists/none.txt", "");
  EXPECT_EQ(error(expand_paths({at("lists/none.txt")})),
            "lists/none.txt: error: the list is empty, expected one sample or graph directory per line");
}

TEST_F(SampleTest, LinesOfListsAreFoundBelowTheListAboveItOrBelowTheRoot) {
  put_graph("samples/xx/one/graphs/g");
  put("samples/xx/one/graph_list.txt", "\xEF\xBB\xBFgraphs/g\r\n\r\n");
  put("lists/eval/all.txt", "# all\r\n\r\nsamples/xx/one\r\n");
  const auto only = [&](const Result<std::vector<fs::path>>& paths) {
    EXPECT_TRUE(paths) << (paths ? "" : to_string(paths.error()));
    return paths && paths->size() == 1 ? fs::weakly_canonical(paths->front()) : fs::path();
  };
  const fs::path one = fs::weakly_canonical(at("samples/xx/one"));
  EXPECT_EQ(only(expand_paths({at("lists/eval/all.txt")})), one);
  EXPECT_EQ(only(expand_paths({at("samples/xx/one/graph_list.txt")})), one);
  put("lists/eval/short.txt", "xx/one\n");
  EXPECT_EQ(only(expand_paths({at("lists/eval/short.txt")}, at("samples"))), one);
  EXPECT_THAT(error(expand_paths({at("lists/eval/short.txt")})), testing::HasSubstr("--root DIR"));
  EXPECT_FALSE(expand_paths({at("lists/eval/all.txt")}, at("lists"))) << "a root is the only one";
  put_graph("lists/eval/samples/xx/one");
  EXPECT_EQ(only(expand_paths({at("lists/eval/all.txt")})), fs::weakly_canonical(at("lists/eval/samples/xx/one")))
      << "the nearest";
}

TEST_F(SampleTest, TablesHaveAColumnOfPaths) {
  put_graph("a");
  put_graph("b, c");
  put("one.csv", "sample_path\r\na\r\n");
  put("two.csv", "graphs,path,split\n1,a,x\n2,\"b, c\",\"say \"\"y\"\"\"\n");
  ASSERT_TRUE(expand_paths({at("one.csv")}));
  const auto paths = expand_paths({at("two.csv")});
  ASSERT_TRUE(paths) << to_string(paths.error());
  EXPECT_THAT(*paths, ElementsAre(at("a"), at("b, c")));
  put("bad.csv", "name\na\n");
  EXPECT_EQ(error(expand_paths({at("bad.csv")})),
            "bad.csv:1:1: error: found the columns 'name', expected one of them to be 'sample_path' or 'path'");
  put("bad.csv", "x,path\n1\n");
  EXPECT_EQ(error(expand_paths({at("bad.csv")})), "bad.csv:2:1: error: the line has no 'path'");
  put("bad.csv", "path\n");
  EXPECT_EQ(error(expand_paths({at("bad.csv")})),
            "bad.csv: error: the list is empty, expected one sample or graph directory per line");
}

TEST_F(SampleTest, JsonLinesArePathsOrObjectsWithOne) {
  put_graph("a");
  put_graph("b");
  put("two.jsonl", "\"a\"\n{\"path\": \"b\", \"sample\": 1}\n{\"sample_path\": \"a\", \"path\": \"b\"}\n");
  const auto paths = expand_paths({at("two.jsonl")});
  ASSERT_TRUE(paths) << to_string(paths.error());
  EXPECT_THAT(*paths, ElementsAre(at("a"), at("b"), at("a")));
  put("bad.jsonl", "\"a\"\n{\"name\": \"a\"}\n");
  EXPECT_EQ(error(expand_paths({at("bad.jsonl")})),
            "bad.jsonl:2:1: error: found '{\"name\": \"a\"}', expected an object with 'sample_path' or 'path'");
}

TEST_F(SampleTest, LinksToDirectoriesAreNotFollowed) {
  put_graph("s/g");
  fs::create_directory_symlink(at("s"), at("s/loop"));
  EXPECT_THAT(find_graph_dirs(at("s")), ElementsAre(at("s/g")));
}

TEST_F(SampleTest, FindsWhateverIsCalledModel) {
  fs::create_directories(at("s/d/model.py"));
  put_graph("s/g");
  EXPECT_THAT(find_graph_dirs(at("s")), ElementsAre(at("s/d"), at("s/g")));
  EXPECT_THAT(find_graph_dirs(at("none")), ElementsAre());
}

// Root may read everything, so it becomes somebody else for as long as this is in scope.
class AsNobody {
 public:
  AsNobody() { changed_ = ::geteuid() == 0 && ::seteuid(65534) == 0; }
  ~AsNobody() {
    if (changed_ && ::seteuid(0) != 0) std::abort();
  }
  bool is_root() const { return ::geteuid() == 0; }

 private:
  bool changed_ = false;
};

TEST_F(SampleTest, NamesADirectoryThatCannotBeRead) {
  put_graph("s/a");
  put_graph("s/m/inner");
  put_graph("s/z");
  constexpr fs::perms kForAll = fs::perms(0755);
  for (const fs::path& directory : {root_, root_ / "s", root_ / "s/a", root_ / "s/z"})
    fs::permissions(directory, kForAll);  // whatever the mask is
  fs::permissions(at("s/m"), fs::perms::none);
  ::unsetenv("PASSNET_LOG");
  testing::internal::CaptureStderr();
  std::vector<fs::path> found;
  bool is_root = false;
  {
    const AsNobody nobody;
    is_root = nobody.is_root();
    if (!is_root) found = find_graph_dirs(at("s"));
  }
  const std::string warned = testing::internal::GetCapturedStderr();
  fs::permissions(at("s/m"), fs::perms::owner_all);
  if (is_root) GTEST_SKIP() << "1 check skipped: here root cannot become another user";
  EXPECT_THAT(found, ElementsAre(at("s/a"), at("s/z")));
  EXPECT_EQ(warned, "warning: left out: error: cannot read '" + at("s/m") + "': Permission denied\n");
}

}  // namespace
}  // namespace passnet::graphdir
