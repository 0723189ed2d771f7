#include "analysis/shape_inputs.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "fx/graph_text.h"

namespace passnet::analysis {
namespace {

/// A graph of `body` on x (float32), ids (int64), mask (bool) and other (bool).
graphdir::GraphDir graph_of(const std::string& body) {
  graphdir::GraphDir dir;
  Result<ir::Graph> graph = fx::parse_text(fx::model_text("x, ids, mask, other", body));
  EXPECT_TRUE(graph) << to_string(graph.error());
  if (graph) dir.graph = std::move(*graph);
  const auto add = [&](const char* name, ir::DType dtype) {
    graphdir::TensorMeta record;
    record.name = name;
    record.dtype = dtype;
    record.shape = {8};
    dir.weights.push_back(record);
  };
  add("x", ir::DType::Float32);
  add("ids", ir::DType::Int64);
  add("mask", ir::DType::Bool);
  add("other", ir::DType::Bool);
  return dir;
}

/// "x any, ids order, …": of the inputs that cannot be drawn in any way.
std::string decided(const std::string& body) {
  constexpr std::array kNames = {"x", "ids", "mask", "other"};
  const std::vector<graphdir::Redraw> redraws = shape_inputs(graph_of(body));
  std::string text;
  for (size_t i = 0; i < redraws.size(); ++i) {
    if (redraws[i] == graphdir::Redraw::Any) continue;
    text += (text.empty() ? "" : ", ") + std::string(kNames.at(i)) +
            (redraws[i] == graphdir::Redraw::Order ? " order" : " none");
  }
  return text;
}

TEST(ShapeInputs, AreNoneWhereNoShapeDependsOnData) {
  for (const char* body : {
           "a = x + 1\nreturn (a,)",
           "a = x[ids]\nreturn (a,)",
           "n = x.size(0)\na = torch.arange(n)\nreturn (a,)",
           "x[mask] = 0\na = x * 2\nreturn (a,)",
           "a = torch.where(mask, x, 0)\nreturn (a,)",
           "s = ids.sum()\nn = s.item()\na = x * n\nreturn (a,)",
           "s = ids.max()\nn = s.item()\na = torch.full((2, 3), n)\nreturn (a,)",
           "a = torch.repeat_interleave(x, 2)\nreturn (a,)",
       })
    EXPECT_EQ(decided(body), "") << body;
}

TEST(ShapeInputs, AreReorderedWhereACountAloneDecides) {
  EXPECT_EQ(decided("a = x[mask]\nreturn (a,)"), "mask order");
  EXPECT_EQ(decided("a = x.masked_select(mask)\nreturn (a,)"), "mask order");
  EXPECT_EQ(decided("m = ~mask\na = x[m]\nreturn (a,)"), "mask order");
  EXPECT_EQ(decided("m = ids != 0\na = x[m]\nreturn (a,)"), "ids order");
  EXPECT_EQ(decided("m = mask.view(2, 4)\na = m.nonzero()\nreturn (a,)"), "mask order");
  EXPECT_EQ(decided("a = x.repeat_interleave(ids)\nreturn (a,)"), "ids order");
  EXPECT_EQ(decided("a = torch.repeat_interleave(x, repeats=ids)\nreturn (a,)"), "ids order");
  EXPECT_EQ(decided("s = mask.sum()\nn = s.item()\na = x[:n]\nreturn (a,)"), "mask order");
  EXPECT_EQ(decided("s = ids.max()\nn = s.item()\nk = n + 1\na = torch.zeros((k, 2))\nreturn (a,)"), "ids order");
}

TEST(ShapeInputs, AreKeptWhereOtherOrdersCountOtherwise) {
  EXPECT_EQ(decided("m = mask & other\na = x[m]\nreturn (a,)"), "mask none, other none");
  EXPECT_EQ(decided("m = mask.view(2, 4).any(1)\na = x[m]\nreturn (a,)"), "mask none");
  EXPECT_EQ(decided("a = ids.unique_consecutive()\nreturn (a,)"), "ids none");
  EXPECT_EQ(decided("f = ids[0]\nn = f.item()\na = x[n:]\nreturn (a,)"), "ids none");
  EXPECT_EQ(decided("x[0] = ids[1]\nm = x > 0\na = m.nonzero()\nreturn (a,)"), "x none, ids none");
}

TEST(ShapeInputs, KnowConversionsToIntegers) {
  EXPECT_TRUE(converts_to_integers(graph_of("a = x.long()\nreturn (a,)")));
  EXPECT_TRUE(converts_to_integers(graph_of("a = x.to(torch.int32)\nreturn (a,)")));
  EXPECT_FALSE(converts_to_integers(graph_of("a = mask.long()\nb = ids.to(torch.int32)\nreturn (a, b)")));
  EXPECT_FALSE(converts_to_integers(graph_of("m = x > 0\na = m.long()\nreturn (a,)")));
  EXPECT_FALSE(converts_to_integers(graph_of("a = x.to(torch.float16)\nb = x > 0\nreturn (a, b)")));
}

}  // namespace
}  // namespace passnet::analysis
