#include "record/provenance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "example_records.h"
#include "record/record.h"

namespace passnet::record {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = Difference::Kind;

Provenance example() {
  Provenance made_of;
  made_of.sample_path = "/somewhere/sample";
  made_of.graph = {{"model.py", "aa"}, {"weight_meta.py", "bb"}};
  made_of.passes = {{"sorted_output_pass_rule_names.json", "cc"}, {"fuse.py", "dd"}};
  made_of.kernels = {{"fuse.cpp", "ee"}};
  made_of.options = {{"passes", "off", 2, 1024, 25, 100, 60, false}, "cpu"};
  made_of.versions = {{"torch", "2.11.0"}, {"hardware", "a processor"}};
  return made_of;
}

template <class Change>
std::vector<Difference> after(Change change) {
  Provenance now = example();
  change(now);
  return differences(example(), now);
}

RunRecord record_of_example(const std::string& error_kind = "") {
  RunRecord record = worked_example().front();
  record.error_kind = error_kind;
  record.provenance = example();
  return record;
}

TEST(Provenance, SaysWhichFileChangedCameOrWent) {
  EXPECT_THAT(after([](Provenance&) {}), IsEmpty());
  EXPECT_THAT(after([](Provenance& now) { now.graph["weight_meta.py"] = "xx"; }),
              ElementsAre(Difference{Kind::Graph, "weight_meta.py changed"}));
  EXPECT_THAT(after([](Provenance& now) { now.graph["input_meta.py"] = "xx"; }),
              ElementsAre(Difference{Kind::Graph, "input_meta.py is new"}));
  EXPECT_THAT(after([](Provenance& now) { now.passes["fuse.py"] = "xx"; }),
              ElementsAre(Difference{Kind::Pass, "pass fuse.py changed"}));
  EXPECT_THAT(after([](Provenance& now) { now.kernels["fuse.cpp"] = "xx"; }),
              ElementsAre(Difference{Kind::Kernel, "kernel fuse.cpp changed"}));
  EXPECT_THAT(after([](Provenance& now) { now.kernels.clear(); }),
              ElementsAre(Difference{Kind::Kernel, "kernel fuse.cpp is gone"}));
}

TEST(Provenance, SaysWhichOptionWasAnother) {
  EXPECT_THAT(after([](Provenance& now) { now.options.trials = 12; }),
              ElementsAre(Difference{Kind::Option, "--trials 12, was 100"}));
  EXPECT_THAT(after([](Provenance& now) { now.options.seed = 7; }),
              ElementsAre(Difference{Kind::Option, "--seed 7, was 1024"}));
  EXPECT_THAT(after([](Provenance& now) { now.options.strict = true; }),
              ElementsAre(Difference{Kind::Option, "--matching strict, was usual"}));
  // No option may be forgotten.
  const auto each = after([](Provenance& now) { now.options = {{"eager", "on", 3, 3, 3, 3, 3, true}, "cuda"}; });
  EXPECT_EQ(each.size(), 9u);
}

TEST(Provenance, SaysWhichVersionWasAnother) {
  EXPECT_THAT(after([](Provenance& now) { now.versions["torch"] = "2.12.0"; }),
              ElementsAre(Difference{Kind::Version, "torch '2.12.0', was '2.11.0'"}));
  EXPECT_THAT(after([](Provenance& now) { now.versions["compiler"] = "g++"; }),
              ElementsAre(Difference{Kind::Version, "compiler 'g++', was unknown"}));
}

TEST(Provenance, WhereTheSampleLiesMakesNoDifference) {
  EXPECT_THAT(after([](Provenance& now) { now.sample_path = "/elsewhere"; }), IsEmpty());
}

TEST(ReasonsToRepeat, NoneWhenNothingChanged) {
  EXPECT_THAT(reasons_to_repeat(record_of_example(), example()), IsEmpty());
  EXPECT_THAT(reasons_to_repeat(record_of_example("crash"), example()), IsEmpty());
}

TEST(ReasonsToRepeat, AreTheDifferences) {
  Provenance now = example();
  now.kernels["fuse.cpp"] = "xx";
  now.options.trials = 12;
  EXPECT_THAT(reasons_to_repeat(record_of_example(), now),
              ElementsAre("kernel fuse.cpp changed", "--trials 12, was 100"));
}

TEST(ReasonsToRepeat, AnotherTimeoutMattersToTimeoutsAlone) {
  Provenance now = example();
  now.options.timeout_s = 600;
  EXPECT_THAT(reasons_to_repeat(record_of_example(), now), IsEmpty());
  EXPECT_THAT(reasons_to_repeat(record_of_example("timeout"), now), ElementsAre("--timeout 600, was 60"));
}

TEST(ReasonsToRepeat, WhatTheMachineFailedAtIsNoResult) {
  for (const char* kind : {"resource", "io", "killed"}) {
    EXPECT_TRUE(is_environment_failure(record_of_example(kind))) << kind;
    EXPECT_EQ(reasons_to_repeat(record_of_example(kind), example()).size(), 1u) << kind;
  }
  for (const char* kind : {"", "crash", "timeout", "bad-pass", "no-match", "out-of-bounds"})
    EXPECT_FALSE(is_environment_failure(record_of_example(kind))) << kind;
}

TEST(ReasonsToRepeat, ARecordWithoutProvenanceNeverStands) {
  RunRecord record = record_of_example();
  record.provenance.reset();
  EXPECT_THAT(reasons_to_repeat(record, example()), ElementsAre("its record does not say what it was made of"));
}

}  // namespace
}  // namespace passnet::record
