#include "dataset/sizes/choice.h"

#include <gtest/gtest.h>

#include "dataset/shapes_fixture.h"

namespace passnet::dataset {
namespace {

// The best sizes of the last statement's integers, given the shapes of the values before it: as captured,
// then at others.
std::string best(const std::string& parameters, const std::string& body, const std::vector<Shapes>& shapes) {
  const auto graph = fx::parse_text(fx::model_text(parameters, body + "\nreturn (y,)"));
  if (!graph) return to_string(graph.error());
  Probes probes;
  for (const Shapes& one : shapes) probes.push_back(shapes_of(*graph, one));
  const ir::NodeId id = graph->size() - 2;
  SizePool pool;
  for (ir::NodeId before = 0; before < id; ++before) {
    if (probes.front().shape[before]) pool.add(before, probes);
  }
  const std::vector<analysis::SizeSlot> slots = analysis::size_slots(*graph, id, probes.front());
  const std::vector<Assignment> found =
      size_assignments(*graph, id, slots, probes, pool, std::vector<std::vector<int64_t>>(probes.size()));
  if (found.empty()) return "none";
  std::string text;
  for (const analysis::SizeExpression& size : found.front())
    text += (text.empty() ? "" : ", ") + to_string(size, *graph);
  return text;
}

TEST(SizeChoice, ViewTakesTheSizesOfItsOperandAtTheSamePlace) {
  EXPECT_EQ(
      best("x", "y = x.view(1, 196, 3, 64)", {{{"x", {1, 196, 192}}}, {{"x", {3, 196, 192}}}, {{"x", {1, 784, 192}}}}),
      "x.size(0), x.size(1), 3, 64");
}

TEST(SizeChoice, ViewMergesSizes) {
  EXPECT_EQ(best("x", "y = x.reshape(12, 196, 64)",
                 {{{"x", {1, 12, 196, 64}}}, {{"x", {3, 12, 196, 64}}}, {{"x", {1, 12, 784, 64}}}}),
            "x.size(0) * x.size(1), x.size(2), 64");
}

TEST(SizeChoice, ViewCutsASizeIntoWindows) {
  EXPECT_EQ(best("x", "y = x.view(1, 8, 7, 8, 7, 96)",
                 {{{"x", {1, 56, 56, 96}}}, {{"x", {3, 56, 56, 96}}}, {{"x", {1, 112, 112, 96}}}}),
            "x.size(0), x.size(1) // (7), 7, x.size(2) // (7), 7, 96");
}

TEST(SizeChoice, ALeadingMinusOneStandsForTheBatchToo) {
  EXPECT_EQ(
      best("b, x", "y = x.view(-1, 64, 4, 49)",
           {{{"b", {1}}, {"x", {64, 4, 49}}}, {{"b", {3}}, {"x", {192, 4, 49}}}, {{"b", {5}}, {"x", {320, 4, 49}}}}),
      "64, 4, 49");
}

TEST(SizeChoice, ARangeIsAsLongAsWhatWasSeenLast) {
  const std::vector<Shapes> shapes{{{"x", {1, 16, 8}}}, {{"x", {3, 16, 8}}}, {{"x", {1, 32, 8}}}};
  EXPECT_EQ(best("x", "y = torch.arange(16)", shapes), "x.size(1)");
  EXPECT_EQ(best("x", "y = torch.arange(17)", shapes), "x.size(1) + 1");
  EXPECT_EQ(best("x", "y = torch.arange(1)", shapes), "x.size(0)");
  EXPECT_EQ(best("x", "y = torch.arange(8)", shapes), "8");
}

TEST(SizeChoice, ASliceOfATableIsASizeAndASliceOfChannelsIsNone) {
  const std::vector<Shapes> shapes{{{"x", {1, 64, 64}}, {"w", {1, 512}}, {"c", {1, 128}}},
                                   {{"x", {3, 64, 64}}, {"w", {1, 512}}, {"c", {3, 128}}},
                                   {{"x", {1, 128, 128}}, {"w", {1, 512}}, {"c", {1, 128}}}};
  EXPECT_EQ(best("x, w, c", "y = w[(slice(None, None, None), slice(None, 64, None))]", shapes), "x.size(2)");
  EXPECT_EQ(best("x, w, c", "y = c[(slice(None, None, None), slice(None, 64, None))]", shapes), "64");
}

TEST(SizeChoice, OnlyRewritesWhatAnotherCaptureHas) {
  const auto graph = fx::parse_text(fx::model_text("x", "y = torch.zeros((1, 16))\nreturn (y,)"));
  const Probes probes{shapes_of(*graph, {{"x", {1, 16}}}), shapes_of(*graph, {{"x", {2, 50}}})};
  SizePool pool;
  pool.add(0, probes);
  const std::vector<analysis::SizeSlot> slots = analysis::size_slots(*graph, 1, probes.front());
  const auto sizes = [&](std::vector<int64_t> there) {
    const std::vector<std::vector<int64_t>> required{{}, std::move(there)};
    const auto found = size_assignments(*graph, 1, slots, probes, pool, required);
    return found.empty() ? "none" : to_string(found[0][0], *graph) + ", " + to_string(found[0][1], *graph);
  };
  EXPECT_EQ(sizes({2, 50}), "x.size(0), x.size(1)");
  EXPECT_EQ(sizes({1, 50}), "1, x.size(1)");
  EXPECT_EQ(sizes({1, 77}), "none");
}

TEST(SizeSlots, AreTheIntegersThatStandForSizes) {
  const auto graph = fx::parse_text(fx::model_text(
      "x",
      "a = x.view(2, -1)\nb = x[(Ellipsis, slice(1, 7, 2), 3)]\nc = torch.full((4, 5), 6)\nd = x.split(3, "
      "dim=1)\n"
      "e = torch.nn.functional.interpolate(x, size=(8, 9), mode='nearest')\nf = x.sum(1)\nreturn (a,)"));
  ASSERT_TRUE(graph);
  const analysis::ValueShapes shapes = shapes_of(*graph, {{"x", {2, 3, 8, 8}}});
  std::string text;
  for (ir::NodeId id = 1; id + 1 < graph->size(); ++id) {
    for (const analysis::SizeSlot& slot : analysis::size_slots(*graph, id, shapes))
      text += std::to_string(slot.value) + "@" + std::to_string(slot.position) + " ";
    text += "; ";
  }
  EXPECT_EQ(text, "2@0 ; 1@2 7@2 ; 4@0 5@1 ; 3@1 ; 8@0 9@1 ; ; ");
}

TEST(SizeSlots, AreReplacedByCallsAndByNumbers) {
  const auto graph = fx::parse_text(fx::model_text("x", "y = x.view(1, 8, 7)\nreturn (y,)"));
  const analysis::ValueShapes captured = shapes_of(*graph, {{"x", {1, 56}}}),
                              other = shapes_of(*graph, {{"x", {2, 112}}});
  analysis::NodeSizes change{1, analysis::size_slots(*graph, 1, captured), {}};
  change.sizes = {analysis::SizeExpression::of({0, 0}), {{{0, 1}}, {}, 1, 7, 0}, analysis::SizeExpression::constant(7)};
  EXPECT_EQ(fx::dump(analysis::with_size_calls(*graph, {&change, 1})),
            "passnet_size_0 = x.size(0)\npassnet_size_1 = x.size(1)\npassnet_size_2 = passnet_size_1 // 7\n"
            "y = x.view(passnet_size_0, passnet_size_2, 7)\nreturn (y,)\n");
  EXPECT_EQ(fx::dump(*analysis::with_sizes_at(*graph, {&change, 1}, other)), "y = x.view(2, 16, 7)\nreturn (y,)\n");
  EXPECT_EQ(fx::dump(*analysis::with_sizes_at(*graph, {&change, 1}, captured)), fx::dump(graph));
  EXPECT_FALSE(analysis::with_sizes_at(*graph, {&change, 1}, shapes_of(*graph, {{"x", {1, 57}}})));
}

}  // namespace
}  // namespace passnet::dataset
