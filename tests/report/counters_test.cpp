#include "report/counters/counters.h"

#include <gmock/gmock.h>

#include "base/file/file.h"
#include "base/text/strings.h"
#include "tests/paths.h"

namespace passnet::report {
namespace {

using testing::HasSubstr;

/// Printed by ncu 2025.3.1 on an H200 for three launches: a streaming kernel, one of arithmetic, one of a single block.
std::string recorded() {
  return read_file(tests::source_dir() / "tests" / "data" / "ncu" / "h200.csv", FileKind::Lines).value();
}

TEST(Counters, AreReadByNameInBaseUnits) {
  const Result<std::vector<KernelCounters>> launches = parse_counters(recorded());
  ASSERT_TRUE(launches) << to_string(launches.error());
  ASSERT_EQ(launches->size(), 3u);
  const KernelCounters& first = launches->front();
  EXPECT_EQ(first.kernel, "scale_rows(const float *, float *, long)");
  EXPECT_EQ(first.grid, "(65536, 1, 1)");
  EXPECT_EQ(first.device, "NVIDIA H200");
  EXPECT_EQ(first.metrics.at("gpu__time_duration.sum"), 48544);
  EXPECT_EQ(first.metrics.at("dram__bytes_read.sum"), 67118848);
  EXPECT_FALSE(first.metrics.contains("sass__inst_executed_register_spilling_mem_local"));  // "no data"
}

TEST(Counters, SayWhatBoundsTheLongestKernel) {
  EXPECT_EQ(
      counters_text(*parse_counters(recorded())),
      "kernel scale_rows(const float *, float *, long), 48.5 us, grid (65536, 1, 1), block (256, 1, 1), NVIDIA H200\n"
      "bound by latency: waiting for device memory or L2\n"
      "next: load more at a time (vectors of 16 bytes), several loads before the first use; reuse by shared memory\n"
      "  device memory  49 % of peak: 64.0 MB read, 45.7 MB written, 2370 GB/s\n"
      "  L2             66 % of peak, 51 % hits\n"
      "  L1, shared     20 % of peak\n"
      "  arithmetic     25 % of peak; tensor cores 0 % of peak\n"
      "  occupancy      71 % of the warps that fit, 100 % possible; threads a block limit it to 8 blocks a "
      "multiprocessor\n"
      "  launch         62.06 waves, 16 registers a thread, 1.0 KB of shared memory a block\n"
      "  stall          35.7 cycles an instruction: waiting for device memory or L2 (long_scoreboard)\n"
      "  stall          2.3 cycles an instruction: fixed latency of arithmetic (wait)\n"
      "  stall          1.7 cycles an instruction: waiting for shared memory or special functions (short_scoreboard)\n"
      "  stall          0.9 cycles an instruction: waiting for stores to finish (drain)\n"
      "46.2 us, polynomial(float *, int): bound by arithmetic\n"
      "2.0 us, scale_rows(const float *, float *, long): bound by too few blocks: most multiprocessors have nothing to "
      "do\n");
}

TEST(Counters, NameEachKindOfBound) {
  const auto bound = [](std::map<std::string, double, std::less<>> metrics) {
    metrics.emplace("launch__waves_per_multiprocessor", 4);
    const std::string text = counters_text({{"k", "(1, 1, 1)", "(1, 1, 1)", "", std::move(metrics)}});
    const size_t begin = text.find("bound by ") + 9;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  const std::string memory = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
                    dram = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
                    l2 = "lts__throughput.avg.pct_of_peak_sustained_elapsed",
                    l1 = "l1tex__throughput.avg.pct_of_peak_sustained_active",
                    compute = "sm__throughput.avg.pct_of_peak_sustained_elapsed",
                    tensor = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
                    barrier = "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio";
  EXPECT_EQ(bound({{memory, 91}, {dram, 91}}), "device memory");
  EXPECT_EQ(bound({{memory, 91}, {dram, 20}, {l2, 91}, {l1, 30}}), "the L2 cache");
  EXPECT_EQ(bound({{memory, 91}, {l1, 91}}), "the L1 cache and shared memory");
  EXPECT_EQ(bound({{compute, 80}, {memory, 61}}), "arithmetic");
  EXPECT_EQ(bound({{compute, 80}, {tensor, 75}}), "tensor cores");
  EXPECT_EQ(bound({{compute, 30}, {barrier, 4}}), "latency: waiting at a barrier");
  EXPECT_EQ(bound({}), "latency: neither memory nor arithmetic is busy");
}

TEST(Counters, AskForAllThatTheTextsUse) {
  const std::string names = counter_names();
  EXPECT_THAT(names, testing::StartsWith("gpu__time_duration.sum,"));
  EXPECT_EQ(names.find(",,"), std::string::npos);
  // ncu gives those of the launch and of the device without being asked.
  const std::string first_line = recorded().substr(recorded().find("\"ID\""));
  for (const std::string_view name : split(names, ',')) EXPECT_THAT(first_line, HasSubstr(std::string(name)));
}

TEST(Counters, AreRefusedWithWhatToDo) {
  const auto error = [](const std::string& text) { return to_string(parse_counters(text).error()); };
  EXPECT_EQ(error("==PROF== Connected\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n"),
            "error: ncu: ERR_NVGPUCTRPERM - The user does not have permission\n"
            "hint: run as root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0; in a container add "
            "CAP_SYS_ADMIN");
  EXPECT_EQ(error("==WARNING== No kernels were profiled.\n\"done\"\n"),
            "error: ncu saw no kernel\nhint: see that the passes match, on a GPU");
}

}  // namespace
}  // namespace passnet::report
