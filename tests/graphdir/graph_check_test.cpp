#include "graphdir/graph_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "fx/graph_text.h"
#include "tests/scratch.h"

namespace passnet::graphdir {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kRecord =
    "class Program_weight_tensor_meta_a:\n    name = \"a\"\n    shape = [2, 3]\n    dtype = "
    "\"torch.float32\"\n";
constexpr const char* kConstraints =
    "from sympy import Symbol\nS0 = Symbol(\"S0\")\ndynamic_dim_constraint_symbols = [S0]\n"
    "dynamic_dim_constraint_symbol2example_value = {S0: 2}\ndynamic_dim_constraint_relations = []\n"
    "dynamic_dim_constraint_input_shapes = [([S0, 3], \"a\")]\n";

class GraphCheckTest : public ::testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) { ASSERT_TRUE(write_file(root_ / name, text)); }
  /// A graph directory with nothing wrong.
  void put_good() {
    const std::string text = fx::model_text("a", "r = a + 1\nreturn (r,)");
    put("model.py", text);
    put("weight_meta.py", kRecord);
    put("input_meta.py", "");
    put("input_tensor_constraints.py", kConstraints);
    put("graph_net.json", R"({"framework": "torch"})");
    put("graph_hash.txt", graph_hash(*fx::parse_text(text)));
  }
  /// The error of the graph, its directory left out.
  std::string error() {
    const GraphCheck check = check_graph(root_);
    std::string text = check.error ? to_string(*check.error) : "no error";
    const std::string directory = root_.string() + "/";
    for (size_t at; (at = text.find(directory)) != std::string::npos;) text.erase(at, directory.size());
    return text;
  }
  const ScratchDirectory scratch_;
  const fs::path& root_ = scratch_.path;
};

TEST_F(GraphCheckTest, AcceptsAGraphWithAllItsFiles) {
  put_good();
  for (const fs::path& path : {root_, root_ / "model.py"}) {
    const GraphCheck check = check_graph(path);
    EXPECT_FALSE(check.error) << to_string(*check.error);
    EXPECT_TRUE(check.parsed && check.roundtrip && check.has_hash && check.missing.empty());
    EXPECT_EQ(check.nodes, 3u);
    EXPECT_EQ(check.hash_rule, HashRule::Graph);
    EXPECT_GT(check.total_bytes, check.size_bytes);
  }
}

TEST_F(GraphCheckTest, ALoneModelIsEnough) {
  put("model.py", fx::model_text("a", "r = a + 1\nreturn (r,)"));
  const GraphCheck check = check_graph(root_);
  EXPECT_TRUE(check.parsed && check.roundtrip && !check.error && !check.has_hash);
  EXPECT_THAT(check.missing, ::testing::ElementsAre("weight_meta.py"));
  put("other.py", fx::model_text("a", "return (a,)"));
  EXPECT_TRUE(check_graph(root_ / "other.py").missing.empty());  // checked alone
}

TEST_F(GraphCheckTest, NamesWhatIsWrongInEachFile) {
  put_good();
  put("model.py", fx::model_text("a", "r = a +\nreturn (r,)"));
  EXPECT_EQ(error(), "model.py:6:16: error: expected an expression, found the end of the line");
  put_good();
  put("model.py", fx::model_text("a", "r = torch.relo(a)\nreturn (r,)"));
  EXPECT_EQ(error(), "model.py:6:13: error: unknown operator 'torch.relo'\nhint: did you mean 'torch.relu'?");
  put_good();
  put("weight_meta.py", "");
  EXPECT_EQ(error(), "model.py:5:23: error: argument 'a' of forward has no record in weight_meta.py");
  put_good();
  put("input_meta.py", kRecord);
  EXPECT_EQ(error(), "input_meta.py:1:7: error: a second record has the name 'a'");
  put_good();
  put("input_tensor_constraints.py", std::string(kConstraints) + "x = 3\n");
  EXPECT_THAT(error(), HasSubstr("input_tensor_constraints.py:7:5: error: expected 'Symbol' behind 'x =', found '3'"));
  put_good();
  std::string wrong = kConstraints;
  wrong.replace(wrong.find("S0: 2"), 5, "S0: 4");
  put("input_tensor_constraints.py", wrong);
  EXPECT_EQ(error(),
            "input_tensor_constraints.py:6:40: error: argument 'a' has the shape [S0, 3] with S0 = 4, "
            "expected [2, 3] "
            "as recorded");
  put_good();
  put("graph_net.json", "[1]");
  EXPECT_EQ(error(), "graph_net.json: error: found a JSON array, expected an object");
  put("graph_net.json", R"({"framework": "paddle"})");
  EXPECT_EQ(error(),
            "graph_net.json: error: found the framework 'paddle', expected \"torch\"\n"
            "hint: graphs of other frameworks are not read");
  put("graph_net.json", R"({"framework")");
  EXPECT_THAT(error(), HasSubstr("graph_net.json:1:13: error: not valid JSON"));
  put_good();
  put("graph_hash.txt", "abc");
  EXPECT_EQ(error(), "graph_hash.txt:1:1: error: found 'abc', expected 64 lower-case hex digits");
}

TEST_F(GraphCheckTest, FindsRecordsThatNoInputsCanBeMadeFrom) {
  const auto found = [&](const std::string& dtype, const std::string& lines) {
    put_good();
    put("weight_meta.py", "class W:\n    name = \"a\"\n    shape = [2, 3]\n    dtype = \"" + dtype + "\"\n" + lines);
    return error();
  };
  const std::string data = "    data = [0, 0, 0, 0, 0, @]\n";
  const auto last = [&](const std::string& value) { return std::string(data).replace(data.find('@'), 1, value); };
  EXPECT_EQ(found("torch.uint8", last("300")),
            "weight_meta.py:1:7: error: tensor 'a': data holds 300, which is no value of torch.uint8");
  EXPECT_EQ(found("torch.uint8", last("-1")),
            "weight_meta.py:1:7: error: tensor 'a': data holds -1, which is no value of torch.uint8");
  EXPECT_EQ(found("torch.int16", last("32768")),
            "weight_meta.py:1:7: error: tensor 'a': data holds 32768, which is no value of torch.int16");
  EXPECT_EQ(found("torch.int64", "    min_val = 5\n    max_val = 2\n"),
            "weight_meta.py:1:7: error: tensor 'a': found the range 5 to 2, expected whole numbers, the smaller one as "
            "min_val");
  EXPECT_THAT(found("torch.int8", "    min_val = 0.5\n    max_val = 2\n"), HasSubstr("found the range 0.5 to 2"));
  EXPECT_EQ(found("torch.uint8", last("255")), "no error");
  EXPECT_EQ(found("torch.bool", last("300")), "no error");
  EXPECT_EQ(found("torch.int64", "    min_val = -5\n    max_val = 2\n"), "no error");
}

TEST_F(GraphCheckTest, RecordsOfInputsAloneAreNotEnough) {
  put_good();
  fs::remove(root_ / "weight_meta.py");
  put("input_meta.py", kRecord);
  EXPECT_THAT(check_graph(root_).missing, ::testing::ElementsAre("weight_meta.py"));
}

TEST_F(GraphCheckTest, AnotherHashIsNoError) {
  put_good();
  put("graph_hash.txt", std::string(64, 'a') + "\n");
  const GraphCheck check = check_graph(root_);
  EXPECT_FALSE(check.error);
  EXPECT_TRUE(check.has_hash);
  EXPECT_EQ(check.hash_rule, std::nullopt);
}

TEST_F(GraphCheckTest, NeverWaitsForWhatIsNoFile) {
  put_good();
  fs::remove(root_ / "model.py");
  ASSERT_EQ(::mkfifo((root_ / "model.py").c_str(), 0600), 0);
  EXPECT_EQ(error(), "model.py: error: found a pipe, expected a regular file");
  fs::remove(root_ / "model.py");
  fs::create_directory(root_ / "model.py");
  EXPECT_EQ(error(), "model.py: error: found a directory, expected a regular file");
  fs::remove(root_ / "model.py");
  fs::create_symlink("model.py", root_ / "model.py");
  EXPECT_THAT(error(), StartsWith("model.py: error: found a link, expected a regular file"));
  put_good();
  fs::remove(root_ / "weight_meta.py");
  fs::create_symlink("nowhere", root_ / "weight_meta.py");
  EXPECT_THAT(error(), StartsWith("weight_meta.py: error: found a link, expected a regular file"));
}

TEST_F(GraphCheckTest, RefusesAHugeFileUnread) {
  put("model.py", "");
  fs::resize_file(root_ / "model.py", uintmax_t{2} << 30);  // sparse
  EXPECT_EQ(error(), "model.py: error: the file is too large: found 2147483648 bytes, expected at most 67108864");
}

TEST_F(GraphCheckTest, SumsUp) {
  put_good();
  CheckSummary summary;
  summary.add(check_graph(root_));
  put("graph_hash.txt", std::string(64, 'a'));
  summary.add(check_graph(root_));
  fs::remove(root_ / "graph_hash.txt");
  fs::remove(root_ / "weight_meta.py");
  summary.add(check_graph(root_));
  put("model.py", "");
  summary.add(check_graph(root_));
  Json json = to_json(summary);
  const Json failed = json["failed"];
  json.erase("failed");
  EXPECT_EQ(json.dump(), R"({"graphs":4,"parsed":3,"roundtrip":3,"hash_equal":1,"hash_different":1,"hash_absent":1,)"
                         R"("hash_rules":{"graph":1},"without_records":1})");
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0]["path"], root_.string());
  EXPECT_THAT(failed[0]["error"].get<std::string>(), HasSubstr("model.py:1:1: error: expected an import"));
}

}  // namespace
}  // namespace passnet::graphdir
