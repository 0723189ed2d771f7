#include "analysis/kernel_count.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "dataset/pieces/fusible.h"
#include "fx/graph_text.h"

namespace passnet::analysis {
namespace {

using testing::ElementsAre;

std::vector<int> counts(const std::string& body, const std::vector<int64_t>& elements = {}) {
  const auto graph = fx::parse_text(fx::model_text("a, b, w", body));
  EXPECT_TRUE(graph) << to_string(graph.error());
  return kernel_counts(*graph, elements);
}

TEST(KernelCounts, PointwiseCallsAreOneKernel) {
  EXPECT_THAT(counts("c = a + b\nd = torch.relu(c)\ne = d * w\nreturn (e,)"), ElementsAre(1, 1, 1));
}

TEST(KernelCounts, ViewsAreNone) {
  EXPECT_THAT(counts("c = a.view(1, -1)\nd = c.transpose(0, 1)\ne = d.size(0)\nf = d + b\ng = f[0]\nreturn (g, e)"),
              ElementsAre(0, 0, 0, 1, 1));
}

TEST(KernelCounts, NormsFuseWithWhatIsBeforeAndAfter) {
  EXPECT_THAT(counts("c = a + b\nd = torch.nn.functional.layer_norm(c, (8,), w, w, 1e-05)\ne = "
                     "torch.nn.functional.gelu(d)\nreturn (e,)"),
              ElementsAre(1, 1, 1));
}

TEST(KernelCounts, ProductsStandAlone) {
  EXPECT_THAT(counts("c = torch.relu(a)\nd = torch.matmul(c, b)\ne = torch.relu(d)\nf = e + d\nreturn (f,)"),
              ElementsAre(1, 2, 3, 3));
}

TEST(KernelCounts, KernelsThatANodeNeedsBothBecomeOne) {
  EXPECT_THAT(counts("c = torch.relu(a)\nd = torch.sigmoid(b)\ne = c + d\nreturn (e,)"), ElementsAre(1, 2, 1));
}

TEST(KernelCounts, WhatAProductLiesBetweenStaysApart) {
  EXPECT_THAT(counts("c = torch.relu(a)\nd = torch.matmul(c, b)\ne = c + d\nreturn (e,)"), ElementsAre(1, 2, 3));
}

TEST(KernelCounts, LoopsOfDifferentLengthsStayApart) {
  // a, b, w, c = mean(a) over rows of 8, d of c alone, e of a and d
  EXPECT_THAT(
      counts("c = torch.mean(a, 1, True)\nd = torch.relu(c)\ne = a - d\nreturn (e,)", {64, 64, 8, 8, 8, 64, -1}),
      ElementsAre(1, 1, 1));
  EXPECT_THAT(
      counts("c = torch.relu(a)\nd = torch.relu(w)\ne = torch.cat([c, d])\nreturn (e,)", {64, 64, 8, 64, 8, 72, -1}),
      ElementsAre(1, 2, 3));
}

TEST(KernelCounts, WhatIsNotATensorIsNoKernel) {
  EXPECT_THAT(counts("t = a.dtype\nd = a.device\ns = a.size(0)\nm = torch.sym_max(s, 4)\nc = torch._check(m)\nb = "
                     "a.cpu\nreturn (a,)"),
              ElementsAre(0, 0, 0, 0, 0, 0));
}

TEST(KernelCounts, InPlaceCallsCostWhatTheyCostOtherwise) {
  EXPECT_THAT(counts("c = torch.matmul(a, b)\nc += w\nreturn (c,)"), ElementsAre(1, 2));
}

TEST(KernelCounts, TransformsAndTheirLikeStandAlone) {
  EXPECT_THAT(counts("c = torch.relu(a)\nd = torch.fft.rfft2(c)\ne = torch._C._fft.fft_irfft2(d)\nf = "
                     "torch.linalg.inv(e)\nreturn (f,)"),
              ElementsAre(1, 2, 3, 4));
}

TEST(KernelCounts, ASizeIsNotReadFromMemory) {
  // d's loop does not wait for the product, of which it only takes the size: it is part of c's.
  EXPECT_THAT(counts("c = torch.relu(a)\np = torch.matmul(c, w)\ns = p.size(0)\nd = c.clamp(max=s)\nreturn (p, d)"),
              ElementsAre(1, 2, 2, 2));
}

TEST(KernelCounts, TheLargerOfTwoTensorsIsPointwise) {
  const auto of = [](const std::string& call) {
    const auto graph = fx::parse_text(fx::model_text("a, b", "c = " + call + "\nreturn (c,)"));
    return kernel_class(*graph, graph->size() - 2);
  };
  EXPECT_EQ(of("torch.max(a, b)"), KernelClass::Pointwise);
  EXPECT_EQ(of("torch.max(a, other=b)"), KernelClass::Pointwise);
  EXPECT_EQ(of("torch.max(a)"), KernelClass::Reduction);
  EXPECT_EQ(of("a.max(dim=1)"), KernelClass::Reduction);
}

// The ranges that were published for it come from a profiler; they are (21,26), (37,42) and (55,58) where a
// convolution on the skip path ends a stage, and the same elsewhere.
TEST(KernelCounts, GiveNearlyTheKnownRangesOfResNet18) {
  std::string body, last = "a";
  int number = 0;
  const auto call = [&](const std::string& expression) {
    body += fmt::format("v{} = {}\n", number, expression);
    return fmt::format("v{}", number++);
  };
  const auto conv_norm = [&](const std::string& x) {
    return call(fmt::format("torch.nn.functional.batch_norm({}, w, w, w, w, False)",
                            call(fmt::format("torch.conv2d({}, w)", x))));
  };
  const auto relu = [&](const std::string& x) {
    return call(fmt::format("torch.nn.functional.relu({}, inplace=True)", x));
  };
  last = call(fmt::format("torch.nn.functional.max_pool2d({}, 3, 2, 1)", relu(conv_norm("a"))));
  for (int block = 0; block < 8; ++block) {
    const std::string inner = conv_norm(relu(conv_norm(last)));
    const std::string skip = block % 2 == 0 && block > 0 ? conv_norm(last) : last;
    body += fmt::format("{0} += {1}\nv{2} = {0}\n", inner, skip, number);
    last = relu(fmt::format("v{}", number++));
  }
  last = call(fmt::format("torch.flatten({}, 1)",
                          call(fmt::format("torch.nn.functional.adaptive_avg_pool2d({}, (1, 1))", last))));
  last = call(fmt::format("torch.nn.functional.linear({}, w, w)", last));
  const std::vector<int> found = counts(body + fmt::format("return ({},)", last));
  ASSERT_EQ(found.size(), 69);
  std::string ranges;
  for (const Range& range : dataset::fusible_ranges(found)) ranges += fmt::format("({},{})", range.start, range.end);
  EXPECT_EQ(ranges,
            "(0,3)(4,7)(7,11)(11,14)(14,18)(18,21)(21,23)(23,27)(27,30)(30,34)(34,37)(37,39)(39,43)(43,46)("
            "46,50)(50,53)(53,55)"
            "(55,59)(59,62)(62,68)");
}

}  // namespace
}  // namespace passnet::analysis
