#include "record/floor.h"

#include <gtest/gtest.h>

#include "example_records.h"
#include "record/isolation.h"
#include "record/score/score.h"
#include "record/verdict.h"

namespace passnet::record {
namespace {

const std::vector<CopySpeed> kCopies = {{32 << 10, 400}, {1 << 20, 100}, {64 << 20, 10}};

TEST(Floor, IsAQuarterOfACopyOfAsManyBytes) {
  const Floor floor = floor_of(100'000'000, kCopies, 1e6);
  EXPECT_EQ(floor.bytes, 100'000'000);
  EXPECT_EQ(floor.gb_per_s, 10);
  EXPECT_DOUBLE_EQ(floor.us, 2500);
}

TEST(Floor, TakesTheFastestCopyThatIsNotMuchSmaller) {
  EXPECT_EQ(floor_of(1 << 10, kCopies, 1e6).gb_per_s, 400);
  EXPECT_EQ(floor_of(128 << 10, kCopies, 1e6).gb_per_s, 400);
  EXPECT_EQ(floor_of(1 << 20, kCopies, 1e6).gb_per_s, 100);
  EXPECT_EQ(floor_of(int64_t{1} << 40, kCopies, 1e12).gb_per_s, 10);
  // What a small copy costs besides does not raise the floor of a small graph.
  EXPECT_EQ(floor_of(1 << 10, {{1 << 10, 1}, {1 << 20, 50}}, 1e6).gb_per_s, 50);
}

TEST(Floor, IsNeverAboveHalfOfTheReferencesTime) { EXPECT_DOUBLE_EQ(floor_of(100'000'000, kCopies, 8).us, 4); }

TEST(Floor, IsNoneWithoutCopiesOrBytes) {
  EXPECT_EQ(floor_of(100, {}, 1e6).us, 0);
  EXPECT_EQ(floor_of(0, kCopies, 1e6).us, 0);
}

TEST(Limit, IsTheLargerOfMovingAndComputing) {
  Floor floor{100'000, 10, 0};
  EXPECT_FALSE(limit_of(floor)) << "arithmetic was not counted";
  floor.arithmetic.emplace();
  ASSERT_TRUE(limit_of(floor));
  EXPECT_DOUBLE_EQ(limit_of(floor)->us, 10);
  EXPECT_STREQ(to_string(limit_of(floor)->bound), "memory");
  floor.arithmetic = {{"float16", 4e9, 200'000}, {"float32", 1e9, 100'000}};
  EXPECT_DOUBLE_EQ(limit_of(floor)->us, 30);
  EXPECT_STREQ(to_string(limit_of(floor)->bound), "arithmetic");
  floor.arithmetic->push_back({"complex64", 1, 0});
  EXPECT_FALSE(limit_of(floor)) << "nothing was measured for complex64";
  floor = {100'000, 0, 0, std::vector<Arithmetic>{}};
  EXPECT_FALSE(limit_of(floor)) << "copies were not measured";
}

TEST(ProductSpeed, IsTheFastestThatHoldsTheValues) {
  const std::vector<ProductSpeed> products = {
      {"float64", 50}, {"float32", 40}, {"bfloat16", 5}, {"float16", 400}, {kTf32, 200}};
  EXPECT_EQ(product_speed("float64", products), 50);
  EXPECT_EQ(product_speed("float32", products), 50);
  EXPECT_EQ(product_speed(kTf32, products), 200);
  EXPECT_EQ(product_speed("float16", products), 400);
  EXPECT_EQ(product_speed("bfloat16", products), 200) << "float16 holds other values";
  EXPECT_EQ(product_speed("complex64", products), 0);
  EXPECT_EQ(product_speed("float32", {}), 0);
}

TEST(BelowFloor, CountsInNoScore) {
  RunRecord record = record_of("g", 2, {output_of("float32", -10)});
  ASSERT_EQ(left_out(record), LeftOut::No);
  const double median = record.candidate.trials_us.front();
  record.floor = Floor{1 << 20, 10, 0.5 * median};
  EXPECT_EQ(left_out(record), LeftOut::No);
  record.floor->us = 2 * median;
  EXPECT_EQ(left_out(record), LeftOut::BelowFloor);
  EXPECT_FALSE(counts(record));
  EXPECT_EQ(judge(record).speedup, 0);
  record.floor->arithmetic = {{"float32", 1e6, 100}};
  record.kind = "fusible";
  EXPECT_EQ(record_from_json(to_json(record)).value(), record);
  record.floor->arithmetic->clear();
  EXPECT_EQ(record_from_json(to_json(record)).value(), record) << "none to compute is not the same as not known";
  record.disturbed = true;
  EXPECT_EQ(left_out(record), LeftOut::Disturbed);
}

/// Times of calls on inputs that a kernel may take longer for, of both sides.
RunRecord with_outliers(std::vector<double> reference_us, std::vector<double> candidate_us,
                        const char* inputs = kPlanted) {
  RunRecord record = record_of("g", 2, {output_of("float32", -10)});
  record.reference.trials_us = {100, 100, 100};
  record.candidate.trials_us = {10, 10, 10};
  record.reference.others = {{{"host", inputs, "warm"}, std::move(reference_us)}};
  record.candidate.others = {{{"host", "same", "warm"}, {9}}, {{"host", inputs, "warm"}, std::move(candidate_us)}};
  return record;
}

TEST(Uneven, IsACandidateThatOutliersMakeFarSlower) {
  const RunRecord slower = with_outliers({100, 100, 100}, {90, 90, 90});
  EXPECT_TRUE(is_uneven(slower));
  EXPECT_EQ(left_out(slower), LeftOut::Uneven);
  EXPECT_EQ(headline(slower), "unranked");
  EXPECT_EQ(verdict_named("uneven"), "unranked");
  EXPECT_EQ(judge(slower).speedup, 0);
  EXPECT_EQ(record_from_json(to_json(slower)).value(), slower);
}

TEST(Uneven, IsACandidateThatWiderValuesMakeFarSlower) {
  RunRecord slower = with_outliers({100, 100, 100}, {90, 90, 90}, kWider);
  EXPECT_TRUE(is_uneven(slower));
  slower.reference.others.push_back({{"host", kPlanted, "warm"}, {100}});
  slower.candidate.others.push_back({{"host", kPlanted, "warm"}, {10}});
  EXPECT_TRUE(is_uneven(slower)) << "fast on outliers is not enough";
  EXPECT_DOUBLE_EQ(unevenness(slower), 9);
}

TEST(Uneven, IsNoneThatIsSlowerWhereEagerIsOrTimesScatter) {
  EXPECT_FALSE(is_uneven(with_outliers({100, 100, 100}, {14, 14, 14})));
  EXPECT_FALSE(is_uneven(with_outliers({700, 700, 700}, {90, 90, 90}))) << "denormals, which eager has too";
  EXPECT_FALSE(is_uneven(with_outliers({100, 100, 100}, {10, 20, 60}))) << "a noisy machine";
  EXPECT_FALSE(is_uneven(with_outliers({50, 50, 50}, {10, 10, 10}))) << "faster eager is no fault of the candidate";
  EXPECT_FALSE(is_uneven(with_outliers({100, 100, 100}, {})));
  RunRecord disturbed = with_outliers({100, 100, 100}, {90, 90, 90});
  disturbed.disturbed = true;
  EXPECT_FALSE(is_uneven(disturbed));
}

TEST(Isolation, IsAnOrderOfWhatIsInForce) {
  EXPECT_EQ(isolation_of("none"), IsolationLevel::None);
  EXPECT_EQ(isolation_of("no new privileges"), IsolationLevel::None);
  EXPECT_EQ(isolation_of("no new privileges; seccomp filter"), IsolationLevel::Seccomp);
  EXPECT_EQ(isolation_of("user, network, pid and ipc namespaces; no new privileges; seccomp filter"),
            IsolationLevel::Seccomp);
  EXPECT_EQ(isolation_of("Landlock; no new privileges; seccomp filter"), IsolationLevel::Confined);
  EXPECT_EQ(isolation_of("user, network, pid and ipc namespaces; Landlock; no new privileges; seccomp filter; "
                         "compilers in an empty root"),
            IsolationLevel::Isolated);
  EXPECT_EQ(describe(IsolationLevel::Isolated), "isolation level: 3 of 3 (isolated)");
  for (const auto level : {IsolationLevel::None, IsolationLevel::Seccomp, IsolationLevel::Isolated})
    EXPECT_EQ(isolation_from(to_string(level)), level);
  EXPECT_FALSE(isolation_from("total"));
}

TEST(Isolation, BelowTheStatedLevelNothingIsRanked) {
  RunRecord record = record_of("g", 2, {output_of("float32", -10)});
  record.provenance.emplace();
  EXPECT_EQ(left_out(record), LeftOut::No);  // of an older version
  record.provenance->isolation_level = kRankedIsolation;
  EXPECT_EQ(left_out(record), LeftOut::No);
  record.provenance->isolation_level = IsolationLevel::None;
  EXPECT_EQ(left_out(record), LeftOut::Unconfined);
  EXPECT_EQ(record_from_json(to_json(record)).value(), record);
}

TEST(HostCode, IsUnrankedWhereItRanInPython) {
  RunRecord record = record_of("g", 2, {output_of("float32", -10)});
  record.host_code = kPythonHostCode;
  record.why_python = "outside the plan language";
  EXPECT_EQ(left_out(record), LeftOut::HostCode);
  EXPECT_EQ(headline(record), "unranked");
  EXPECT_TRUE(judge_all({record}).empty());
  EXPECT_EQ(record_from_json(to_json(record)).value(), record);
  record.outputs[0].passes_from = 6;
  EXPECT_EQ(headline(record), "wrong");
  EXPECT_EQ(left_out(record), LeftOut::HostCode);
}

}  // namespace
}  // namespace passnet::record
