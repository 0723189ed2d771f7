#include "base/memory.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/file/file.h"
#include "tests/scratch.h"

namespace passnet {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMiB = 1 << 20;

// A /proc and a /sys of our own.
class Memory : public ::testing::Test {
 protected:
  Memory() { put("proc/meminfo", "MemTotal:       24731708 kB\nMemAvailable:       8192 kB\n"); }

  void put(const fs::path& path, const std::string& text) { ASSERT_TRUE(write_file(root_ / path, text)); }

  const ScratchDirectory scratch_;
  const fs::path& root_ = scratch_.path;
};

TEST_F(Memory, IsWhatTheKernelEstimates) { EXPECT_EQ(available_memory(root_), 8 * kMiB); }

TEST_F(Memory, IsUnknownWhereTheKernelDoesNotTell) {
  fs::remove(root_ / "proc/meminfo");
  EXPECT_EQ(available_memory(root_), std::nullopt);
}

TEST_F(Memory, IsBoundByTheNarrowestControlGroup) {
  put("proc/self/cgroup", "0::/outer/inner\n");
  put("sys/fs/cgroup/outer/memory.max", "7340032\n");
  put("sys/fs/cgroup/outer/memory.current", "6291456\n");
  put("sys/fs/cgroup/outer/memory.stat", "anon 1\ninactive_file 1048576\n");
  put("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  put("sys/fs/cgroup/outer/inner/memory.current", "6291456\n");
  EXPECT_EQ(available_memory(root_), 2 * kMiB);
}

TEST_F(Memory, IsNotBoundByAGroupWithoutLimit) {
  put("proc/self/cgroup", "0::/\n");
  EXPECT_EQ(available_memory(root_), 8 * kMiB);
}

TEST_F(Memory, IsAskedForAgainThroughWhatIsOpen) {
  ASSERT_EQ(available_memory(root_), 8 * kMiB);
  std::ofstream(root_ / "proc/meminfo") << "MemAvailable: 4096 kB\n";
  fs::rename(root_ / "proc/meminfo", root_ / "proc/elsewhere");
  EXPECT_EQ(available_memory(root_), 4 * kMiB);
}

TEST(RequireMemory, TellsHowMuchIsNeededAndHowMuchThereIs) {
  EXPECT_TRUE(require_memory("the inputs", 1e6));
  const Result<void> refused = require_memory("the inputs", 1e15);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Error::Kind::Resource);
  EXPECT_THAT(refused.error().message,
              ::testing::MatchesRegex("the inputs need 931322.6 GiB of memory, found [0-9.]+ GiB available"));
}

TEST(LimitOwnMemory, MakesAnAllocationBeyondItFail) {
  const auto allocate = [] {
    limit_own_memory();
    void* const memory = std::malloc(static_cast<size_t>(*available_memory()) + (size_t{64} << 20));
    std::_Exit(memory == nullptr ? 0 : 1);
  };
  EXPECT_EXIT(allocate(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace passnet
