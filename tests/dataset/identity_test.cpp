#include "dataset/identity.h"

#include <gtest/gtest.h>

#include "fx/graph_text.h"

namespace passnet::dataset {
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

TEST(TypedIdentity, TellsWhichArgumentHasWhichShape) {
  const auto typed = [](const std::string& parameters, const std::vector<int64_t>& first, ir::DType dtype) {
    fx::GraphDir dir;
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
  const auto view = [](const std::string& sizes) {
    return structure("a", "b = a.view(" + sizes + ")\nreturn (b,)");
  };
  EXPECT_EQ(view("1, 64, 7, 7"), view("2, 64, 14, 14"));
  EXPECT_NE(view("1, 64"), view("1, 64, 1"));
  EXPECT_NE(structure("a", "b = torch.softmax(a, 1)\nreturn (b,)"),
            structure("a", "b = torch.softmax(a, 2)\nreturn (b,)"));
  EXPECT_EQ(structure("a", "b = a[(slice(None, 5, None), 0)]\nreturn (b,)"),
            structure("a", "b = a[(slice(None, 9, None), 0)]\nreturn (b,)"));
}

}  // namespace
}  // namespace passnet::dataset
