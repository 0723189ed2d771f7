// What is said of a schedule is what the plan decides: each rule in C++ against its text.
#include "author/text/schedule.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/pass/plan_support.h"

namespace passnet::author {
namespace {

using pass::test::expect_list;
using pass::test::run_plan;
using pass::test::tensor;

/// What a launch of that text is given as arguments.
std::vector<int64_t> decided(const std::string& functions, const std::string& numbers, bool on_gpu) {
  const std::string text = "import triton\n" + functions +
                           "def replacement_args(x):\n    return (x,)\ndef plan(x):\n    k[(1,)](x, " + numbers +
                           ")\n    return x\ndef replacement_func():\n    return plan\n";
  const pass::LaunchList list = expect_list(run_plan(text, {tensor({4})}, 1, on_gpu));
  std::vector<int64_t> found;
  for (const pass::Launch& launch : list.launches) {
    for (size_t i = 1; i < launch.args.size(); ++i) found.push_back(std::get<int64_t>(launch.args[i]));
  }
  return found;
}

Schedule another() {
  Schedule schedule;
  schedule.row_threads = 4096;
  schedule.split_blocks = 64;
  schedule.split_share = 1024;
  schedule.tasks = 8;
  schedule.task_work = 1000;
  return schedule;
}

constexpr int64_t kRows[] = {0, 1, 2, 3, 8, 33, 66, 67, 255, 4096, 100000};
constexpr int64_t kWidths[] = {0, 1, 2, 7, 16, 31, 32, 33, 512, 1025, 4096, 65536, 200000, 10000000};

/// What a function of the plan says of each width. text: that defines it; call: how its call begins, "down_of(x, ".
std::vector<int64_t> planned(const std::string& text, const std::string& call, int64_t rows, bool on_gpu) {
  std::string numbers;
  for (const int64_t width : kWidths) numbers += fmt::format("{}{}, {}), ", call, rows, width);
  return decided(text, numbers, on_gpu);
}

template <class Rule>
std::vector<int64_t> ruled(const Schedule& schedule, int64_t rows, Rule rule) {
  std::vector<int64_t> numbers;
  for (const int64_t width : kWidths) numbers.push_back(rule(schedule, rows, width));
  return numbers;
}

TEST(Schedule, SharesRowsAsThePlanDoes) {
  for (const Schedule& schedule : {Schedule(), another()}) {
    for (const int64_t rows : kRows)
      EXPECT_EQ(planned(rows_grid_text(schedule), "threads_of(", rows, true), ruled(schedule, rows, threads_of))
          << rows << " rows";
  }
}

TEST(Schedule, SplitsRowsAsThePlanDoes) {
  for (const Schedule& schedule : {Schedule(), another()}) {
    for (const int64_t rows : kRows) {
      for (const bool on_gpu : {false, true}) {
        std::string numbers;
        std::vector<int64_t> expected;
        for (const int64_t width : kWidths) {
          numbers += fmt::format("parts_of(x, {0}, {1}, False), parts_of(x, {0}, {1}, True), ", rows, width);
          for (const bool columns : {false, true}) expected.push_back(parts_of(schedule, on_gpu, rows, width, columns));
        }
        EXPECT_EQ(decided(parts_of_text(schedule), numbers, on_gpu), expected) << rows << " rows, GPU " << on_gpu;
      }
    }
  }
}

TEST(Schedule, SharesColumnsAsThePlanDoes) {
  for (const Schedule& schedule : {Schedule(), another()}) {
    for (const int64_t columns : kRows) {
      const std::vector<int64_t> expected = ruled(schedule, columns, down_of);
      EXPECT_EQ(planned(down_of_text(schedule), "down_of(x, ", columns, true), expected) << columns << " columns";
      EXPECT_EQ(planned(down_of_text(schedule), "down_of(x, ", columns, false),
                std::vector<int64_t>(expected.size(), 1));
    }
  }
  EXPECT_EQ(down_of(Schedule(), 768, 49), 16);
  EXPECT_EQ(down_of(Schedule(), 768, 197), 32);
  EXPECT_EQ(down_of(Schedule(), 24576, 197), 4);
  EXPECT_EQ(down_of(Schedule(), 100000, 197), 1);
}

TEST(Schedule, TakesBandsAsThePlanDoes) {
  Schedule wide;
  wide.band = 8;
  wide.pack_threads = 1000;
  for (const Schedule& schedule : {Schedule(), wide}) {
    for (const int64_t height : {0, 1, 3, 4, 7, 56}) {
      std::string numbers;
      std::vector<int64_t> expected;
      for (const int64_t n : {0, 1, 1999, 2000, 262143, 262144, 524288, 100000000}) {
        numbers += fmt::format("band_of(x, {}, {}), ", n, height);
        expected.push_back(band_of(schedule, n, height));
      }
      EXPECT_EQ(decided(band_of_text(schedule), numbers, true), expected) << height << " high";
      EXPECT_EQ(decided(band_of_text(schedule), numbers, false), std::vector<int64_t>(expected.size(), 1));
    }
  }
  EXPECT_EQ(band_of(Schedule(), 524288, 7), 4);
  EXPECT_EQ(band_of(Schedule(), 524288, 3), 2);
  EXPECT_EQ(band_of(Schedule(), 262144, 7), 2);
}

TEST(Schedule, TakesTilesAsThePlanDoes) {
  Schedule small;
  small.processors = 16;
  for (const Schedule& schedule : {Schedule(), small}) {
    for (const int64_t rows : {1, 17, 32, 33, 64, 80, 128, 196, 257, 4096}) {
      for (const int64_t depth : {64, 1023, 1024, 2304, 4608}) {
        std::string texts;
        std::vector<int64_t> expected;
        for (const int64_t columns : {1, 31, 64, 100, 129, 256, 9216}) {
          for (const int64_t n : {1, 2, 12, 300}) {
            for (int i = 0; i < 3; ++i)
              texts += fmt::format("tile_of({}, {}, {}, {})[{}], ", n, rows, columns, depth, i);
            const ProductTile tile = tile_of(schedule, n, rows, columns, depth);
            expected.insert(expected.end(), {tile.rows, tile.columns, tile.cluster});
          }
        }
        EXPECT_EQ(decided(products_grid_text(schedule), texts, true), expected) << rows << " rows of " << depth;
      }
    }
  }
  EXPECT_EQ(tile_of(Schedule(), 1, 17, 9216, 64), (ProductTile{32, 64, 1}));
  EXPECT_EQ(tile_of(Schedule(), 1, 4096, 4096, 4096), (ProductTile{128, 128, 1}));
  EXPECT_EQ(tile_of(Schedule(), 16, 257, 257, 64), (ProductTile{64, 64, 1}));
  EXPECT_EQ(tile_of(Schedule(), 1, 64, 64, 64), (ProductTile{32, 32, 1}));
  EXPECT_EQ(tile_of(Schedule(), 1, 64, 64, 2304), (ProductTile{32, 32, 4}));
  EXPECT_EQ(tile_of(Schedule(), 1, 512, 324, 4608), (ProductTile{64, 64, 4}));
  EXPECT_EQ(tile_of(Schedule(), 1, 304, 1296, 2736), (ProductTile{64, 64, 2}));
}

TEST(Schedule, SplitsFewLongRowsAlone) {
  const Schedule schedule;
  EXPECT_EQ(parts_of(schedule, true, 8, 200000, false), 32);
  EXPECT_EQ(parts_of(schedule, true, 1, 200000, false), 64);
  EXPECT_EQ(parts_of(schedule, true, 100, 200000, false), 1);
  EXPECT_EQ(parts_of(schedule, true, 8, 16384, false), 1);
  EXPECT_EQ(parts_of(schedule, true, 768, 197, true), 1);
  EXPECT_EQ(parts_of(schedule, true, 128, 4096, true), 32);
  EXPECT_EQ(parts_of(schedule, false, 1, 200000, false), 16);
  EXPECT_EQ(parts_of(schedule, false, 8, 200000, false), 1);
}

}  // namespace
}  // namespace passnet::author
