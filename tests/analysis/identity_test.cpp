#include "analysis/identity.h"

#include <gtest/gtest.h>

#include "fx/graph_text.h"

namespace passnet::analysis {
namespace {

ir::Graph graph(const std::string& parameters, const std::string& body) {
  auto parsed = fx::parse_text(fx::model_text(parameters, body));
  EXPECT_TRUE(parsed) << to_string(parsed.error());
  return std::move(*parsed);
}
std::string identity(const std::string& parameters, const std::string& body) {
  return identity_hash(graph(parameters, body));
}
std::string structure(const std::string& parameters, const std::string& body) {
  return structure_hash(graph(parameters, body));
}

const std::string kBase = identity("a, b", "c = a + b\nd = torch.relu(a)\ne = c - d\nreturn (e,)");

TEST(Identity, ForgetsNamesAndOrder) {
  EXPECT_EQ(identity("x, y", "u = x + y\nv = torch.relu(x)\nw = u - v\nreturn (w,)"), kBase);
  EXPECT_EQ(identity("b, a", "c = a + b\nd = torch.relu(a)\ne = c - d\nreturn (e,)"), kBase);
  EXPECT_EQ(identity("a, b", "d = torch.relu(a)\nc = a + b\ne = c - d\nreturn (e,)"), kBase);
}

TEST(Identity, ForgetsSpellings) {
  EXPECT_EQ(identity("a, b",
                     "c = torch.add(b, a)\nd = torch.nn.functional.relu(a, inplace=False)\ne = torch.sub(c, "
                     "d)\nreturn (e,)"),
            kBase);
  EXPECT_EQ(identity("a, b", "c = a + b\nd = a.relu()\ne = c.sub(d)\nreturn (e,)"), kBase);
}

TEST(Identity, KeepsConnections) {
  EXPECT_NE(identity("a, b", "c = a + b\nd = torch.relu(b)\ne = d - c\nreturn (e,)"), kBase);
  EXPECT_NE(identity("a, b", "c = a + b\nd = torch.relu(c)\ne = c - d\nreturn (e,)"), kBase);
  EXPECT_NE(identity("a, b", "c = a + b\nd = torch.relu(a)\ne = c - d\nreturn (e, c)"), kBase);
  EXPECT_NE(identity("a, b, x", "c = a + b\nd = torch.relu(x)\ne = c - d\nreturn (e,)"), kBase);
}

TEST(Identity, KeepsConstants) {
  const auto softmax = [](const std::string& rest) {
    return identity("a", "b = torch.softmax(a, " + rest + ")\nreturn (b,)");
  };
  EXPECT_NE(softmax("dim=1"), softmax("dim=2"));
  EXPECT_EQ(softmax("dim=1"), softmax("1"));
  EXPECT_NE(identity("a", "b = a * 2\nreturn (b,)"), identity("a", "b = a * 3\nreturn (b,)"));
  EXPECT_NE(identity("a", "b = a - 2\nreturn (b,)"), identity("a", "b = 2 - a\nreturn (b,)"));
}

TEST(Identity, ForgetsDevices) {
  const auto on = [](const std::string& device) {
    return identity("a", "b = torch.arange(4, device=device(" + device + "))\nc = a + b\nreturn (c,)");
  };
  EXPECT_EQ(on("type='cpu'"), on("type='cuda', index=0"));
}

TEST(Identity, KeepsTheOrderOfOverwriting) {
  // y reads x before it is overwritten, or after.
  EXPECT_NE(identity("x", "y = x * 2\nx += 1\nz = x\nreturn (y, z)"),
            identity("x", "x += 1\nz = x\ny = x * 2\nreturn (y, z)"));
}

TEST(Identity, FollowsMemoryThatIsGivenByKeyword) {
  const auto overwritten = [](const std::string& call) {
    return std::pair(identity("x", call + "\nb = x * 2\nreturn (b,)"),
                     identity("x", "b = x * 2\n" + call + "\nreturn (b,)"));
  };
  const auto [after, before] = overwritten("a = torch.relu_(input=x)");
  EXPECT_NE(after, before);
  const auto [after_place, before_place] = overwritten("a = torch.relu_(x)");
  EXPECT_NE(after_place, before_place);
  EXPECT_EQ(after, after_place);
}

TEST(Identity, LetsTheResultOfAnUnknownOperatorShareMemory) {
  EXPECT_NE(identity("x", "v = torch.mystery(x)\nx += 1\nb = v * 2\nreturn (b, x)"),
            identity("x", "v = torch.mystery(x)\nb = v * 2\nx += 1\nreturn (b, x)"));
}

TEST(TypedIdentity, TellsWhichArgumentHasWhichShape) {
  const auto typed = [](const std::string& parameters, const std::vector<int64_t>& first, ir::DType dtype) {
    graphdir::GraphDir dir;
    dir.graph = graph(parameters, "c = torch.nn.functional.linear(a, b)\nreturn (c,)");
    for (const char* name : {"a", "b"}) dir.weights.emplace_back().name = name;
    dir.weights[0].shape = first;
    dir.weights[0].dtype = dtype;
    dir.weights[1].shape = {8};
    if (parameters == "b, a") std::swap(dir.weights[0], dir.weights[1]);
    return typed_identity_hash(dir);
  };
  const std::string base = typed("a, b", {4}, ir::DType::Float32);
  EXPECT_EQ(typed("b, a", {4}, ir::DType::Float32), base);
  EXPECT_NE(typed("a, b", {5}, ir::DType::Float32), base);
  EXPECT_NE(typed("a, b", {4}, ir::DType::Float16), base);
}

TEST(Structure, ForgetsSizesOnly) {
  const auto view = [](const std::string& sizes) { return structure("a", "b = a.view(" + sizes + ")\nreturn (b,)"); };
  EXPECT_EQ(view("1, 64, 7, 7"), view("2, 64, 14, 14"));
  EXPECT_NE(view("1, 64"), view("1, 64, 1"));
  EXPECT_NE(structure("a", "b = torch.softmax(a, 1)\nreturn (b,)"),
            structure("a", "b = torch.softmax(a, 2)\nreturn (b,)"));
  EXPECT_EQ(structure("a", "b = a[(slice(None, 5, None), 0)]\nreturn (b,)"),
            structure("a", "b = a[(slice(None, 9, None), 0)]\nreturn (b,)"));
}

TEST(Structure, ForgetsTheSizesOfEveryOperatorThatHasThem) {
  const auto of = [](const std::string& call) { return structure("a", "b = " + call + "\nreturn (b,)"); };
  EXPECT_EQ(of("torch.randn(2, 8)"), of("torch.randn(4, 16)"));
  EXPECT_EQ(of("torch.rand((2, 8))"), of("torch.rand((4, 16))"));
  EXPECT_EQ(of("torch.eye(8)"), of("torch.eye(16)"));
  EXPECT_EQ(of("torch.linspace(0, 1, 8)"), of("torch.linspace(0, 1, 16)"));
  EXPECT_EQ(of("torch.nn.functional.fold(a, (8, 8), 3)"), of("torch.nn.functional.fold(a, (16, 16), 3)"));
  EXPECT_EQ(of("torch.nn.functional.affine_grid(a, (1, 3, 8, 8))"),
            of("torch.nn.functional.affine_grid(a, (2, 3, 9, 9))"));
  EXPECT_EQ(of("torch.split(a, 4)"), of("a.split_with_sizes(split_sizes=8)"));
}

TEST(Structure, KeepsTheIntegersThatAreNoSizes) {
  const auto of = [](const std::string& call) { return structure("a", "b = " + call + "\nreturn (b,)"); };
  EXPECT_NE(of("torch.split(a, 4, 0)"), of("torch.split(a, 4, 1)"));
  EXPECT_NE(of("torch.arange(0, 8, 1)"), of("torch.arange(0, 8, 2)"));
  EXPECT_NE(of("torch.nn.functional.fold(a, (8, 8), 3)"), of("torch.nn.functional.fold(a, (8, 8), 5)"));
  EXPECT_NE(of("a[0]"), of("a[1]"));
  EXPECT_NE(of("a[(slice(None, 8, 2), 0)]"), of("a[(slice(None, 8, 4), 0)]"));
  EXPECT_NE(of("torch.full((2, 2), 1)"), of("torch.full((2, 2), 2)"));
  EXPECT_NE(of("a + 1"), of("a + 2"));
}

}  // namespace
}  // namespace passnet::analysis
