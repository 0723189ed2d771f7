#include "dataset/catalog/index.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "dataset/tree_fixture.h"

namespace passnet::dataset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Index : public TreeTest {
 protected:
  void SetUp() override {
    TreeTest::SetUp();
    write_graph("fusible_subgraphs/0/samples/x/_decomposed/x_start0_end1_0", kRelu);
    write_graph("fusible_subgraphs/1/samples/x/_decomposed/x_start0_end1_0", kRelu);
    write_graph("fusible_subgraphs/1/samples/y/_decomposed/y_start0_end1_0", kTanh);
  }
  IndexReport index(const std::vector<std::filesystem::path>& lists = {}) const {
    IndexOptions options;
    options.lists = lists;
    Result<IndexReport> done =
        write_index(root / "fusible_subgraphs", root / "index", options, [](const std::string&) {});
    EXPECT_TRUE(done) << to_string(done.error());
    return done.value_or(IndexReport());
  }
  std::vector<std::string> find(GraphQuery query) const {
    const auto graphs = query_graphs(root / "index", query);
    EXPECT_TRUE(graphs) << to_string(graphs.error());
    std::vector<std::string> paths;
    for (const IndexedGraph& graph : *graphs) paths.push_back(graph.path);
    return paths;
  }
  static GraphQuery split(const std::string& name) {
    GraphQuery query;
    query.split = name;
    return query;
  }
  static GraphQuery list(const std::string& name) {
    GraphQuery query;
    query.list = name;
    return query;
  }
};

TEST_F(Index, TakesListsOfUpstream) {
  const std::string text =
      "graphs/fusible_subgraphs/1/samples/x/_decomposed/x_start0_end1_0\ngraphs/fusible_subgraphs/9/gone\n";
  write("config/fusible_eval_2_subgraphs.txt", text);
  write("config/small.txt", "0/samples\n");
  const IndexReport done = index({root / "config"});
  EXPECT_EQ(read("config/fusible_eval_2_subgraphs.txt"), text);
  ASSERT_EQ(done.lists.size(), 2u);
  EXPECT_EQ(done.lists[0].name, "fusible_eval_2_subgraphs");
  EXPECT_EQ(done.lists[0].split, "eval");
  EXPECT_EQ(done.lists[0].found, 1u);
  EXPECT_THAT(done.lists[0].missing, ElementsAre("graphs/fusible_subgraphs/9/gone"));
  EXPECT_EQ(done.lists[1].split, "");
  const auto one = ElementsAre("1/samples/x/_decomposed/x_start0_end1_0");
  EXPECT_THAT(find(split("eval")), one);
  EXPECT_THAT(find(list("fusible_eval_2_subgraphs")), one);
  EXPECT_THAT(find(list("small")), ElementsAre("0/samples/x/_decomposed/x_start0_end1_0"));
}

TEST_F(Index, TakesTheListsOfADataset) {
  write("fusible_subgraphs/lists/train.txt", "../0\n");
  write("fusible_subgraphs/lists/eval.txt", "");
  EXPECT_EQ(index().lists.size(), 2u);
  EXPECT_THAT(find(split("train")), ElementsAre("0/samples/x/_decomposed/x_start0_end1_0"));
}

TEST_F(Index, WhatIsInBothListsIsForEvaluation) {
  write("train.txt", "0\n1\n");
  write("eval.txt", "1/samples/y\n");
  EXPECT_EQ(index({root / "train.txt", root / "eval.txt"}).in_both, 1u);
  EXPECT_THAT(find(split("eval")), ElementsAre("1/samples/y/_decomposed/y_start0_end1_0"));
}

TEST_F(Index, KnowsTheKindByTheNameOfTheTree) {
  index();
  GraphQuery query;
  query.kind = "fusible";
  EXPECT_EQ(find(query).size(), 3u);
}

TEST_F(Index, SaysThatAListIsNotThere) {
  IndexOptions options;
  options.lists = {root / "nothing"};
  const auto done = write_index(root / "fusible_subgraphs", root / "index", options, [](const std::string&) {});
  ASSERT_FALSE(done);
  EXPECT_THAT(to_string(done.error()), HasSubstr("found no list at"));
  EXPECT_FALSE(exists("index"));
}

}  // namespace
}  // namespace passnet::dataset
