#include "selftest/dump.h"

#include <gmock/gmock.h>

#include "base/file/file.h"
#include "graphdir/sample.h"
#include "selftest/expectation.h"
#include "tests/paths.h"
#include "tests/scratch.h"

namespace passnet::selftest {
namespace {

namespace fs = std::filesystem;

const fs::path kAttacks = tests::source_dir() / "tests/adversarial";

Bundle bundle_named(const std::string& name) {
  const auto bundles = load_corpus(kAttacks, false, {name});
  EXPECT_TRUE(bundles) << to_string(bundles.error());
  return bundles->front();
}

TEST(Dump, WritesASampleThatSaysWhatIsExpected) {
  const ScratchDirectory scratch;
  const Bundle bundle = bundle_named("text_null_character");
  const fs::path directory = scratch.path / "sample";
  const auto dumped = dump_bundle(bundle, directory);
  ASSERT_TRUE(dumped) << to_string(dumped.error());
  const auto sample = graphdir::load_sample(directory);
  ASSERT_TRUE(sample) << to_string(sample.error());
  EXPECT_THAT(sample->graph_names, ::testing::ElementsAre("relu"));
  EXPECT_EQ(sample->pass_dir, directory / "pass_dir");
  EXPECT_EQ(read_file(directory / "pass_dir/sorted_output_pass_rule_names.json", FileKind::Lines).value(), "[\"p\"]\n");
  EXPECT_NE(read_file(directory / "pass_dir/p.cpp", FileKind::Lines).value().find('\0'), std::string::npos);
  const auto expected = parse_expectation(read_file(directory / "expect.json", FileKind::Lines).value(), "expect.json");
  ASSERT_TRUE(expected) << to_string(expected.error());
  EXPECT_EQ(expected->what, bundle.what);
  EXPECT_EQ(expected->verdict, bundle.verdict);
  EXPECT_EQ(expected->rows, bundle.rows);
  EXPECT_EQ(expected->reason, bundle.reason);
}

TEST(Dump, RefusesADirectoryThatHoldsSomething) {
  const ScratchDirectory scratch;
  ASSERT_TRUE(write_file(scratch.path / "mine", "x"));
  const auto dumped = dump_bundle(bundle_named("stale_tail"), scratch.path);
  ASSERT_FALSE(dumped);
  EXPECT_EQ(dumped.error().message,
            "'" + scratch.path.string() + "' holds 'mine', expected an empty or a new directory");
  const auto over = dump_bundle(bundle_named("stale_tail"), scratch.path / "mine");
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().message,
            "'" + (scratch.path / "mine").string() + "' is no directory, expected an empty or a new one");
}

}  // namespace
}  // namespace passnet::selftest
