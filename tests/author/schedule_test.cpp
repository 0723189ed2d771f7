// The numbers that plans decide by the rules of a schedule.
#include "author/text/plan/schedule.h"

#include <gmock/gmock.h>

namespace passnet::author {
namespace {

using testing::ElementsAre;

Schedule of_few_processors() {
  Schedule schedule;
  schedule.processors = 16;
  return schedule;
}

TEST(Schedule, SharesRowsThatAreLongOrFew) {
  EXPECT_THAT(
      evaluate_rules({}, "threads_of(1, 0), threads_of(1, 7), threads_of(100000, 32), threads_of(100000, 1025)", true),
      ElementsAre(1, 8, 32, 64));
  EXPECT_THAT(evaluate_rules({}, "threads_of(8, 1024), threads_of(1, 10000000)", true), ElementsAre(128, 512));
  EXPECT_THAT(evaluate_rules({.row_threads = 128}, "threads_of(8, 1024)", true), ElementsAre(32));
}

TEST(Schedule, SplitsFewLongRowsAlone) {
  EXPECT_THAT(evaluate_rules({}, "parts_of(x, 8, 200000, False), parts_of(x, 1, 200000, False)", true),
              ElementsAre(32, 64));
  EXPECT_THAT(evaluate_rules({}, "parts_of(x, 100, 200000, False), parts_of(x, 8, 16384, False)", true),
              ElementsAre(1, 1));
  EXPECT_THAT(evaluate_rules({}, "parts_of(x, 768, 197, True), parts_of(x, 128, 4096, True)", true),
              ElementsAre(1, 32));
  EXPECT_THAT(evaluate_rules({}, "parts_of(x, 1, 200000, False), parts_of(x, 8, 200000, False)", false),
              ElementsAre(16, 1));
  EXPECT_THAT(evaluate_rules({.split_blocks = 0}, "parts_of(x, 1, 200000, False)", true), ElementsAre(1));
}

TEST(Schedule, SharesColumnsThatAreFew) {
  EXPECT_THAT(evaluate_rules({}, "down_of(x, 768, 49), down_of(x, 768, 197), down_of(x, 24576, 197)", true),
              ElementsAre(16, 32, 4));
  EXPECT_THAT(evaluate_rules({}, "down_of(x, 100000, 197)", true), ElementsAre(1));
  EXPECT_THAT(evaluate_rules({}, "down_of(x, 768, 197)", false), ElementsAre(1));
}

TEST(Schedule, TakesBandsWhereManyThreadsStillHaveWork) {
  EXPECT_THAT(evaluate_rules({}, "band_of(x, 524288, 7), band_of(x, 524288, 3), band_of(x, 262144, 7)", true),
              ElementsAre(4, 2, 2));
  EXPECT_THAT(evaluate_rules({}, "band_of(x, 524288, 7)", false), ElementsAre(1));
}

TEST(Schedule, TakesSmallerTilesWhereProcessorsWouldBeIdle) {
  const auto tile = [](const Schedule& schedule, const std::string& of) {
    return evaluate_rules(schedule, "tile_of(" + of + ")[0], tile_of(" + of + ")[1], tile_of(" + of + ")[2]", true);
  };
  EXPECT_THAT(tile({}, "1, 17, 9216, 64"), ElementsAre(32, 64, 1));
  EXPECT_THAT(tile({}, "1, 4096, 4096, 4096"), ElementsAre(128, 128, 1));
  EXPECT_THAT(tile({}, "16, 257, 257, 64"), ElementsAre(64, 64, 1));
  EXPECT_THAT(tile({}, "1, 64, 64, 64"), ElementsAre(32, 32, 1));
  EXPECT_THAT(tile(of_few_processors(), "1, 512, 512, 64"), ElementsAre(128, 128, 1));
  EXPECT_THAT(tile({}, "1, 64, 64, 2304"), ElementsAre(32, 32, 4));
  EXPECT_THAT(tile({}, "1, 512, 324, 4608"), ElementsAre(64, 64, 4));
  EXPECT_THAT(tile({}, "1, 304, 1296, 2736"), ElementsAre(64, 64, 2));
}

TEST(Schedule, MovesAtOnceWhatSixteenBytesHold) {
  EXPECT_THAT(
      evaluate_rules({}, "pack_of(x, 8000, 1000, ()), pack_of(x, 7999, 1000, ()), pack_of(x, 8000, 1000, (6,))", true),
      ElementsAre(8, 4, 2));
  EXPECT_THAT(evaluate_rules({}, "pack_of(x, 8000, 1000, ())", false), ElementsAre(1));
}

}  // namespace
}  // namespace passnet::author
