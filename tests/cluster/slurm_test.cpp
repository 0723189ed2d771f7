#include "cluster/slurm.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file/file.h"
#include "tests/scratch.h"

namespace passnet::cluster {
namespace {

using testing::ElementsAre;

SlurmJob job() {
  return {"/bin/passnet", {"eval", "it's a list.txt", "--device", "cuda"}, "/shared/out", 8, {"--gres=gpu:1"}, true};
}

TEST(Slurm, ATaskWorksThroughItsShard) {
  EXPECT_EQ(render_script(job()),
            "#!/bin/bash\n"
            "#SBATCH --job-name=passnet\n"
            "#SBATCH --output=/shared/out/slurm/%A_%a.log\n"
            "#SBATCH --requeue\n"
            "#SBATCH --gres=gpu:1\n"
            "task=$((SLURM_ARRAY_TASK_ID + ${1:-0}))\n"
            "rm -f '/shared/out/slurm'\"/$task.code\"\n"
            "'/bin/passnet' 'eval' 'it'\\''s a list.txt' '--device' 'cuda' --shard \"$task/8\" --out "
            "'/shared/out/shards'\"/$task\" --resume\n"
            "code=$?\n"
            "echo $code >'/shared/out/slurm'\"/$task.code\"\n"
            "exit $code\n");
}

TEST(Slurm, AWorkerOfAQueueHasNoShard) {
  SlurmJob pulling = job();
  pulling.command = {"work", "/shared/queue"};
  EXPECT_TRUE(is_pulling(pulling));
  EXPECT_THAT(render_script(pulling), testing::HasSubstr("\n'/bin/passnet' 'work' '/shared/queue'\ncode=$?\n"));
}

TEST(Slurm, ArraysStayWithinTheLimit) {
  std::vector<std::string> arrays;
  std::vector<int> tasks{1, 2, 3, 7, 999, 1000, 1001, 1002, 2500};
  for (const SlurmArray& array : arrays_of(tasks, 1000))
    arrays.push_back(fmt::format("{}+{}", array.tasks, array.offset));
  EXPECT_THAT(arrays, ElementsAre("1-3,7,999-1000+0", "1-2+1000", "500+2000"));
  EXPECT_THAT(arrays_of({}, 1000), testing::IsEmpty());
  EXPECT_THAT(sbatch_arguments("/x/array.sh", {1000, "1-2"}),
              ElementsAre("sbatch", "--parsable", "--array=1-2", "/x/array.sh", "1000"));
}

TEST(Slurm, TasksWithoutAResultAreThoseThatAreLeft) {
  const ScratchDirectory scratch;
  SlurmJob some = job();
  some.out = scratch.path;
  some.tasks = 5;
  const auto end = [&](int task, const char* code) {
    ASSERT_TRUE(write_file(scratch.path / "slurm" / fmt::format("{}.code", task), std::string_view(code)));
  };
  end(1, "0\n");
  end(2, "1\n");
  end(3, "4\n");
  end(4, "");
  EXPECT_EQ(code_of(some, 3), 4);
  EXPECT_EQ(code_of(some, 5), std::nullopt);
  EXPECT_THAT(unfinished_tasks(some), ElementsAre(3, 4, 5));
}

}  // namespace
}  // namespace passnet::cluster
