// Kernels compiled beside evaluations, by real workers.
#include "run/batch/build_ahead.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

#include "tests/paths.h"
#include "tests/scratch.h"

namespace passnet::run {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class BuildAhead : public testing::Test {
 protected:
  BuildAhead() { options_.build.cache_dir = scratch_.path / "kernels"; }
  /// In the cache; files come and go there.
  size_t objects() const {
    size_t count = 0;
    std::error_code failed;
    for (fs::recursive_directory_iterator at(options_.build.cache_dir, failed), end; at != end; at.increment(failed))
      count += at->path().extension() == ".so" ? 1 : 0;
    return count;
  }

  const ScratchDirectory scratch_;
  const graphdir::Sample sample_ = graphdir::load_sample(tests::source_dir() / "samples/gpt2_gelu").value();
  EvaluateOptions options_;
};

TEST_F(BuildAhead, LeavesOutWhatNobodyWants) {
  size_t asked = 0;
  const Result<void> done = build_ahead({{&sample_, {0, 1}}}, options_, 1, {}, [&](const graphdir::Sample&, size_t) {
    ++asked;
    return false;
  });
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_EQ(asked, 2u);
  EXPECT_EQ(objects(), 0u);
}

TEST_F(BuildAhead, GoesOnBesideWhoeverBeganIt) {
  BuildingAhead building({{&sample_, {0, 1}}}, options_, 1, {});
  building.leave_out(sample_, sample_.graph_names[1]);
  const auto begin = std::chrono::steady_clock::now();
  while (objects() == 0) {
    ASSERT_LT(std::chrono::steady_clock::now() - begin, 120s) << "nothing was compiled";
    std::this_thread::sleep_for(10ms);
  }
}

}  // namespace
}  // namespace passnet::run
