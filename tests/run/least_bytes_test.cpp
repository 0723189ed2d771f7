#include "run/measure/least_bytes.h"

#include <gtest/gtest.h>

#include "fx/graph_text.h"

namespace passnet::run {
namespace {

/// The least bytes of a graph all of whose values are float32[2, 4], and whose only output is its own or not.
int64_t bytes_of(const std::string& parameters, const std::string& body, bool owned = true) {
  const auto graph = fx::parse_text(fx::model_text(parameters, body));
  if (!graph) return -1;
  ir::Values types(graph->size());
  for (ir::Value& value : types) value.is = ir::contiguous(ir::DType::Float32, {2, 4});
  return least_bytes(*graph, types, {owned});
}
constexpr int64_t kTensor = 2 * 4 * 4;

TEST(LeastBytes, AreOutputsAndTheInputsTheyNeedInFull) {
  EXPECT_EQ(bytes_of("x", "y = torch.relu(x)\nreturn (y,)"), 2 * kTensor);
  EXPECT_EQ(bytes_of("x, y", "z = torch.matmul(x, y)\nw = torch.tanh(z)\nreturn (w,)"), 3 * kTensor);
  EXPECT_EQ(bytes_of("x, unused", "y = torch.relu(x)\nreturn (y,)"), 2 * kTensor);
  EXPECT_EQ(bytes_of("x", "y = torch.add(x, x)\nreturn (y,)"), 2 * kTensor);
}

TEST(LeastBytes, LeaveOutWhatMayBeReadInPart) {
  EXPECT_EQ(bytes_of("x", "y = torch.relu(x)\nz = y[0]\nw = torch.tanh(z)\nreturn (w,)"), kTensor);
  EXPECT_EQ(bytes_of("i, table", "y = torch.nn.functional.embedding(i, table)\nreturn (y,)"), kTensor);
  EXPECT_EQ(bytes_of("m, x, y", "z = torch.where(m, x, y)\nreturn (z,)"), kTensor);
}

TEST(LeastBytes, LeaveOutInputsOfGraphsThatOverwrite) {
  EXPECT_EQ(bytes_of("x", "y = torch.relu(x)\nz = y.zero_()\nreturn (y,)"), kTensor);
}

TEST(LeastBytes, AreNoneOfAView) { EXPECT_EQ(bytes_of("x", "y = x.view(4, 2)\nreturn (y,)", false), 0); }

TEST(LeastBytes, AreNoneWhenTheOutputsAreNotKnown) {
  const auto graph = fx::parse_text(fx::model_text("x", "y = torch.relu(x)\nreturn (y,)"));
  ASSERT_TRUE(graph);
  EXPECT_EQ(least_bytes(*graph, ir::Values(graph->size()), {}), 0);
  EXPECT_EQ(least_bytes(*graph, {}, {true}), 0);
}

TEST(LeastBytes, CountWhatLiesInOnePlaceOnce) {
  EXPECT_EQ(distinct_bytes({ir::DType::Float32, {8, 4}, {4, 1}}), 128);
  EXPECT_EQ(distinct_bytes({ir::DType::Float32, {8, 4}, {0, 1}}), 16);
  EXPECT_EQ(distinct_bytes({ir::DType::Float32, {8, 4}, {1, 1}}), 44);  // windows that overlap
  EXPECT_EQ(distinct_bytes({ir::DType::Float32, {0, 4}, {4, 1}}), 0);
  EXPECT_EQ(distinct_bytes({ir::DType::Float64, {}, {}}), 8);
}

}  // namespace
}  // namespace passnet::run
