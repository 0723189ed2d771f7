#include "run/measure/calibration.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file/file.h"
#include "tests/paths.h"
#include "tests/scratch.h"

namespace passnet::run {
namespace {

class Calibrations : public testing::Test {
 protected:
  void SetUp() override { ::setenv("PASSNET_HOME", (scratch_.path / "home").c_str(), 1); }
  void TearDown() override {
    if (before_)
      ::setenv("PASSNET_HOME", before_->c_str(), 1);
    else
      ::unsetenv("PASSNET_HOME");
  }
  const ScratchDirectory scratch_;
  const std::optional<std::string> before_ =
      std::getenv("PASSNET_HOME") ? std::optional<std::string>(std::getenv("PASSNET_HOME")) : std::nullopt;
};

TEST_F(Calibrations, AreMeasuredOnceAndKeptByHardwareAndThreads) {
  Worker reference({tests::binary_dir() / "bin/scripted_worker", Role::Reference, 1, nullptr, {}});
  ASSERT_TRUE(reference.start());
  EXPECT_FALSE(load_calibration("scripted", 1));
  const auto measured = known_calibration(reference, "scripted", 1, std::chrono::seconds(10));
  ASSERT_TRUE(measured) << to_string(measured.error());
  EXPECT_EQ(load_calibration("scripted", 1), *measured);
  EXPECT_FALSE(load_calibration("scripted", 2));
  EXPECT_FALSE(load_calibration("other", 1));
  EXPECT_EQ(measured->products, (std::vector<record::ProductSpeed>{{"float32", 100}}));
  reference.stop();
  const auto kept = known_calibration(reference, "scripted", 1, std::chrono::seconds(10));
  ASSERT_TRUE(kept) << to_string(kept.error());
  EXPECT_EQ(*kept, *measured);
}

TEST_F(Calibrations, KeepLaunchesAndCachesAndDoWithoutThem) {
  Calibration full{kCalibrationVersion, "scripted", 1, "2026-01-01T00:00:00Z", {{1 << 20, 10}}};
  full.products = {{"float32", 100}, {"float16", 50}};
  full.caches = {{1, 32 << 10}, {2, 1 << 20}};
  full.call_us = 5.5;
  full.launch_us = 0.25;
  ASSERT_TRUE(store_calibration(full));
  EXPECT_EQ(load_calibration("scripted", 1), full);
  record::RunRecord record;
  record.hardware = "scripted, torch 2.11.0";
  record.threads = 1;
  EXPECT_EQ(calibration_of(record), full);
  record.threads = 2;
  EXPECT_FALSE(calibration_of(record));
  const Calibration copies{kCalibrationVersion, "scripted", 1, "2026-01-01T00:00:00Z", {{1 << 20, 10}}};
  ASSERT_TRUE(store_calibration(copies));
  const std::optional<Calibration> read = load_calibration("scripted", 1);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->launch_us, 0);
  EXPECT_EQ(describe(*read), "10 GB/s, 1 MiB at a time, and up to 10 GB/s, 1024 KiB at a time");
  EXPECT_EQ(describe(full).substr(describe(*read).size()),
            "; multiplies float32 at 100 GFLOP/s, float16 at 50 GFLOP/s");
  EXPECT_TRUE(read->caches.empty());
}

TEST_F(Calibrations, ThatCannotBeUsedAreAsGoodAsNone) {
  const Calibration good{kCalibrationVersion, "scripted", 1, "2026-01-01T00:00:00Z", {{1 << 20, 10}}};
  ASSERT_TRUE(store_calibration(good));
  ASSERT_EQ(load_calibration("scripted", 1), good);
  for (Calibration bad : {Calibration{kCalibrationVersion - 1, "scripted", 1, "", {{1 << 20, 10}}},
                          Calibration{kCalibrationVersion, "scripted", 1, "", {}},
                          Calibration{kCalibrationVersion, "scripted", 1, "", {{1 << 20, 10}}, {{"float32", 0}}},
                          Calibration{kCalibrationVersion, "scripted", 1, "", {{1 << 20, 10}}, {{"float32", 1e10}}},
                          Calibration{kCalibrationVersion, "scripted", 1, "", {{1 << 20, 0}}},
                          Calibration{kCalibrationVersion, "scripted", 1, "", {{1 << 20, 1e9}}},
                          Calibration{kCalibrationVersion, "scripted", 1, "", {{0, 10}}}}) {
    ASSERT_TRUE(store_calibration(bad));
    EXPECT_FALSE(load_calibration("scripted", 1));
  }
  ASSERT_TRUE(write_file(calibration_file("scripted", 1), "{"));
  EXPECT_FALSE(load_calibration("scripted", 1));
}

TEST_F(Calibrations, ThatWereEditedOrComeFromElsewhereAreNotBelieved) {
  const Calibration good{kCalibrationVersion, "scripted", 1, "2026-01-01T00:00:00Z", {{1 << 20, 10}}};
  ASSERT_TRUE(store_calibration(good));
  const std::filesystem::path file = calibration_file("scripted", 1);
  const std::string text = *read_file(file, FileKind::Settings),
                    seal = *read_file(file.string() + ".seal", FileKind::Settings);
  std::string edited = text;
  edited.replace(edited.find("10.0"), 4, "90.0");
  ASSERT_TRUE(write_file(file, std::string_view(edited)));
  EXPECT_FALSE(load_calibration("scripted", 1));
  ASSERT_TRUE(write_file(file, std::string_view(text)));
  EXPECT_EQ(load_calibration("scripted", 1), good);
  std::filesystem::remove(file.string() + ".seal");
  EXPECT_FALSE(load_calibration("scripted", 1));
  // As another installation would seal it.
  ASSERT_TRUE(write_file(file.string() + ".seal", std::string_view(seal)));
  std::filesystem::remove(scratch_.path / "home/kernel.key");
  EXPECT_FALSE(load_calibration("scripted", 1));
}

}  // namespace
}  // namespace passnet::run
