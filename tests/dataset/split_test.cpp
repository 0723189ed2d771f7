#include "dataset/catalog/split.h"

#include <gmock/gmock.h>

#include "base/text/strings.h"
#include "dataset/catalog/family.h"
#include "dataset/catalog/sample_list.h"
#include "dataset/tree_fixture.h"

namespace passnet::dataset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Split : public TreeTest {
 protected:
  Result<SplitReport> run(const SplitOptions& options, const std::string& lists = "tree/lists") const {
    return write_split(root / "tree", root / lists, options, [](const std::string&) {});
  }
  SplitReport report(const SplitOptions& options, const std::string& lists = "tree/lists") const {
    Result<SplitReport> done = run(options, lists);
    EXPECT_TRUE(done) << to_string(done.error());
    return done.value_or(SplitReport());
  }
  // Graphs of several families; "relu" and "relu_view" are of one.
  void write_tree() const {
    write_graph("tree/relu", kRelu);
    write_graph("tree/relu_view", "b = a.view(-1)\nc = b.relu()\nreturn (c,)");
    int number = 0;
    for (const char* op : {"tanh", "exp", "sin", "cos", "sqrt", "abs", "neg", "sigmoid"})
      write_graph(fmt::format("tree/deep/{}_{}", op, number++), fmt::format("b = torch.{}(a)\nreturn (b,)", op));
  }
  std::vector<std::string> lines(const std::string& file) const {
    std::vector<std::string> found;
    const std::string text = read(file);
    for (const std::string_view line : split(text, '\n')) {
      if (!line.empty()) found.emplace_back(line);
    }
    return found;
  }
};

TEST_F(Split, ListsEachSampleOnOneSide) {
  write_tree();
  const SplitReport done = report({0.5, 1024, {}, {2, nullptr}});
  EXPECT_EQ(done.samples, 10u);
  EXPECT_EQ(done.families, 9u);
  std::vector<std::string> train = lines("tree/lists/train.txt"), eval = lines("tree/lists/eval.txt");
  EXPECT_EQ(eval.size(), done.evaluation);
  EXPECT_FALSE(train.empty() || eval.empty());
  const auto holds = [](const std::vector<std::string>& list, const std::string& line) {
    return std::find(list.begin(), list.end(), line) != list.end();
  };
  EXPECT_EQ(holds(eval, "../relu"), holds(eval, "../relu_view"));
  train.insert(train.end(), eval.begin(), eval.end());
  std::sort(train.begin(), train.end());
  EXPECT_EQ(train, lines("tree/lists/all.txt"));
  EXPECT_THAT(read("tree/lists/all.csv"), HasSubstr("\nrelu_view,"));
  EXPECT_THAT(read("tree/lists/all.csv"), HasSubstr(",1,Tensor.view Tensor.relu\n"));
}

TEST_F(Split, ALargerDatasetMovesNothing) {
  write_tree();
  report({0.5, 1024, {}, {}});
  const std::vector<std::string> before = lines("tree/lists/eval.txt");
  write_graph("tree/more", "b = torch.cosh(a)\nreturn (b,)");
  report({0.5, 1024, {}, {}});
  std::vector<std::string> after = lines("tree/lists/eval.txt");
  std::erase(after, "../more");
  EXPECT_EQ(after, before);
}

TEST_F(Split, KeepBringsWholeFamiliesToEvaluation) {
  write_tree();
  write("upstream.txt", "# made elsewhere\nelse/where/tree/relu_view\nelse/where/tree/gone\n");
  const SplitReport done = report({0, 1024, root / "upstream.txt", {}});
  EXPECT_EQ(done.families_kept, 1u);
  EXPECT_EQ(done.families_for_evaluation, 1u);
  EXPECT_THAT(done.not_found, ElementsAre("else/where/tree/gone"));
  EXPECT_THAT(lines("tree/lists/eval.txt"), ElementsAre("../relu", "../relu_view"));
  EXPECT_EQ(report({1, 1024, root / "upstream.txt", {}}).families_kept, 0u);
}

TEST_F(Split, KeepNamesADirectoryOfSamplesOrAGraphInOne) {
  write_graph("tree/s/graphs/0", kRelu);
  write_graph("tree/s/graphs/1", kRelu);
  write("tree/s/graph_list.txt", "0\n1\n");
  write_graph("tree/deep/t", kTanh);
  write("keep.txt", "s/graphs/1\n");
  SplitReport done = report({0, 1024, root / "keep.txt", {}});
  EXPECT_EQ(done.samples, 2u);
  EXPECT_EQ(done.graphs, 3u);
  EXPECT_THAT(lines("tree/lists/eval.txt"), ElementsAre("../s"));
  write("keep.txt", "deep\n");
  report({0, 1024, root / "keep.txt", {}});
  EXPECT_THAT(lines("tree/lists/eval.txt"), ElementsAre("../deep/t"));
}

TEST_F(Split, ListsElsewhereStillLeadToTheSamples) {
  write_tree();
  report({0, 1024, {}, {}}, "some/where");
  for (const std::string& line : lines("some/where/all.txt"))
    EXPECT_TRUE(exists("some/where/" + line + "/model.py")) << line;
}

TEST_F(Split, LeavesListsOfOthersAsTheyAre) {
  write_tree();
  write("tree/lists/eval.txt", "relu\n");
  const Result<SplitReport> refused = run({});
  ASSERT_FALSE(refused);
  EXPECT_THAT(to_string(refused.error()), HasSubstr("has lists that this command did not write"));
  EXPECT_EQ(read("tree/lists/eval.txt"), "relu\n");
}

TEST_F(Split, SaysWhatIsWrong) {
  write("tree/readme.txt", "");
  write("keep.txt", "nothing/here\n");
  Result<SplitReport> refused = run({});
  ASSERT_FALSE(refused);
  EXPECT_THAT(to_string(refused.error()), HasSubstr("no sample at or below"));
  write_tree();
  write_graph("tree/broken", "b = torch.relu(a\nreturn (b,)");
  refused = run({0.1, 1024, root / "keep.txt", {}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(to_string(refused.error()), HasSubstr("names no sample of"));
  const SplitReport done = report({});
  EXPECT_THAT(done.failed, ElementsAre(HasSubstr("broken: ")));
  EXPECT_EQ(done.samples, 10u);
}

using Lists = TreeTest;

TEST_F(Lists, AreReadAgainstThePlaceThatTheirLinesAreRelativeTo) {
  write_graph("tree/7/samples/timm/x", kRelu);
  write_graph("tree/7/samples/timm/y", kRelu);
  const auto paths = [&](const std::string& file, const std::string& text) {
    write(file, text);
    const Result<PathList> list = read_list(root / file, root / "tree");
    EXPECT_TRUE(list) << to_string(list.error());
    return list ? list->paths : std::vector<std::string>();
  };
  const auto both = ElementsAre("7/samples/timm/x", "7/samples/timm/y");
  EXPECT_THAT(paths("a.txt", "7/samples/timm/x\n7/samples/timm/y\n"), both);
  EXPECT_THAT(paths("a.txt", "graphs/hf/tree/7/samples/timm/x\ngraphs/hf/tree/7/samples/timm/y\n"), both);
  EXPECT_THAT(paths("a.txt", "7/samples/timm/x/\n7/samples/timm/./y\n"), both);
  EXPECT_THAT(paths("tree/lists/a.txt", "../7/samples/timm/x\n../7/samples/timm/y\n"), both);
  // Another place for a line alone would be a guess.
  EXPECT_THAT(paths("a.txt", "7/samples/timm/x\ngraphs/7/samples/timm/y\n"), ElementsAre("7/samples/timm/x"));
  EXPECT_THAT(paths("a.txt", "../elsewhere\n"), IsEmpty());
  EXPECT_THAT(paths("a.txt", "\n"), IsEmpty());
}

TEST(CsvCell, IsQuotedWhereItNeedsTo) {
  EXPECT_EQ(csv_cell("a b"), "a b");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("a\"b"), "\"a\"\"b\"");
}

ir::Graph graph(const std::string& body) {
  auto parsed = fx::parse_text(fx::model_text("a, w", body));
  EXPECT_TRUE(parsed) << to_string(parsed.error());
  return std::move(*parsed);
}

TEST(Family, ForgetsViewsSpellingsAndCastsOfADtypeVariant) {
  const std::string family = family_of(graph("b = torch.relu(a)\nc = torch.matmul(b, w)\nreturn (c,)"));
  EXPECT_EQ(family_of(graph("b = a.view(-1)\nc = b.relu()\nd = c @ w\nreturn (d,)")), family);
  EXPECT_EQ(family_of(graph("b = a.relu()\nc = b.to(torch.float16)\nd = torch.matmul(c, w)\nreturn (d,)")), family);
  EXPECT_NE(family_of(graph("b = torch.matmul(a, w)\nc = b.relu()\nreturn (c,)")), family);
  // A cast that something else reads is an operator of the graph.
  EXPECT_NE(family_of(graph("b = a.relu()\nc = b.to(torch.float16)\nd = torch.matmul(c, w)\nreturn (d, c)")), family);
}

TEST(OpSequence, IsThatOfTheGraphBeforeItsVariant) {
  EXPECT_THAT(op_sequence(graph("b = a.to(torch.bfloat16)\nc = torch.matmul(b, w)\nreturn (c,)")),
              ElementsAre("matmul"));
  EXPECT_THAT(op_sequence(graph("b = a.to(torch.float32)\nc = torch.matmul(b, w)\nreturn (c,)")),
              ElementsAre("Tensor.to", "matmul"));
}

TEST(IsForEvaluation, TakesItsShareOfFamilies) {
  int taken = 0;
  for (int i = 0; i < 1000; ++i) taken += is_for_evaluation(std::to_string(i), 0.1, 1024);
  EXPECT_GT(taken, 70);
  EXPECT_LT(taken, 130);
  EXPECT_FALSE(is_for_evaluation("x", 0, 1024));
  EXPECT_TRUE(is_for_evaluation("x", 1, 1024));
}

}  // namespace
}  // namespace passnet::dataset
