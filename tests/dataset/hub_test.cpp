#include "dataset/hub/hub.h"

#include <gmock/gmock.h>

#include "base/hash.h"
#include "base/json/json.h"
#include "tests/dataset/tree_fixture.h"

namespace passnet::dataset {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Hub : public TreeTest {
 protected:
  void SetUp() override {
    write_graph("samples/relu/graphs/b1", kRelu);
    write_graph("samples/relu/graphs/b2", kRelu, "[8, 8]");
    write_graph("samples/tanh/graphs/b1", kTanh);
    write("samples/relu/graph_list.txt", "b1\nb2\n");
    write("samples/tanh/graph_list.txt", "b1\n");
    write("samples/tanh/graphs/b1/graph_net.json",
          R"({"source": "timm", "model_name": "tiny", "licence": "Apache-2.0", "data_type": "float32"})");
    write("lists/train.txt", "../samples/relu\n");
    write("lists/eval.txt", "../samples/tanh\n");
  }

  Result<HubReport> push(const std::string& out, const std::string& name = "me/graphs", int jobs = 1) const {
    return write_hub(root, root / out, {.name = name, .tree = {.jobs = jobs}}, [](const std::string&) {});
  }
  std::string problem(const Result<HubReport>& report) const { return report ? "" : to_string(report.error()); }
};

TEST_F(Hub, WritesARowPerGraph) {
  const Result<HubReport> report = push("out");
  ASSERT_TRUE(report) << problem(report);
  EXPECT_THAT(report->splits, testing::ElementsAre(testing::Pair("eval", 1), testing::Pair("train", 2)));
  EXPECT_THAT(report->licences, testing::ElementsAre(testing::Pair("Apache-2.0", 1), testing::Pair("unknown", 2)));
  const Json row = try_parse_json(read("out/data/eval.jsonl"));
  EXPECT_EQ(row["sample"], "tanh");
  EXPECT_EQ(row["graph"], "b1");
  EXPECT_EQ(row["operators"], "tanh");
  EXPECT_EQ(row["licence"], "Apache-2.0");
  EXPECT_EQ(row["model_py"], read("samples/tanh/graphs/b1/model.py"));
  EXPECT_EQ(row["input_meta_py"], "");
}

TEST_F(Hub, DescribesTheRowsInTheCardAndInCroissant) {
  ASSERT_TRUE(push("out"));
  const Json croissant = try_parse_json(read("out/croissant.json"));
  ASSERT_TRUE(croissant.is_object());
  EXPECT_EQ(croissant["distribution"][0]["sha256"], sha256_hex(read("out/data/train.jsonl")));
  const Json row = try_parse_json(read("out/data/eval.jsonl"));
  ASSERT_EQ(croissant["recordSet"][1]["field"].size(), row.size());
  for (const Json& field : croissant["recordSet"][1]["field"])
    EXPECT_TRUE(row.contains(field["name"].get<std::string>())) << field;
  const std::string card = read("out/README.md");
  EXPECT_THAT(card, StartsWith("---\npretty_name: me/graphs\n"));
  EXPECT_THAT(card, HasSubstr("| Apache-2.0 | 1 |\n| unknown | 2 |\n"));
  EXPECT_THAT(read("out/parquet.sql"), HasSubstr("TO 'data/train.parquet'"));
}

TEST_F(Hub, GivesEqualBytesTwice) {
  ASSERT_TRUE(push("first"));
  ASSERT_TRUE(push("second", "me/graphs", 2));
  for (const char* file : {"data/train.jsonl", "data/eval.jsonl", "README.md", "croissant.json", "parquet.sql"})
    EXPECT_EQ(read(std::string("first/") + file), read(std::string("second/") + file)) << file;
}

TEST_F(Hub, RefusesWhatItCannotWrite) {
  EXPECT_EQ(problem(push("out", "graphs")),
            "error: 'graphs' is no repository of the Hub, expected USER/NAME of letters, digits, '.', '_' and '-'");
  write("full/file", "x");
  EXPECT_THAT(problem(push("full")), HasSubstr("full' holds 'file', expected an empty or a new directory"));
  write("lists/eval.txt", "../samples/gone\n");
  EXPECT_THAT(problem(push("out")), HasSubstr("eval.txt' names '../samples/gone', which is not in the dataset"));
  std::filesystem::remove(root / "lists/train.txt");
  EXPECT_THAT(problem(push("other")),
              testing::AllOf(HasSubstr("train.txt' is not there"),
                             HasSubstr("hint: 'passnet dataset split' makes the lists of a dataset")));
}

}  // namespace
}  // namespace passnet::dataset
