#include "pass/plan/idle.h"

#include <gmock/gmock.h>

namespace passnet::pass {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Launch launch(const char* kernel, std::initializer_list<uint32_t> buffers, uint32_t line) {
  Launch made;
  made.kernel = kernel;
  for (const uint32_t buffer : buffers) made.args.emplace_back(View{buffer, 0, {}});
  made.at.line = line;
  return made;
}

/// Buffer 0 is an input, the others are allocated; the last one is returned.
LaunchList list_of(std::vector<Launch> launches, uint32_t buffers) {
  LaunchList list;
  list.buffers.resize(buffers);
  list.buffers[0].input = 0;
  list.launches = std::move(launches);
  list.outputs = {View{buffers - 1, 0, {}}};
  return list;
}

TEST(IdleParts, AreNoneWhereEachLaunchFeedsTheNext) {
  EXPECT_THAT(idle_parts(list_of({launch("a", {0, 1}, 3), launch("b", {1, 2}, 4)}, 3)), IsEmpty());
}

TEST(IdleParts, AreLaunchesWhoseResultsNobodyTakes) {
  EXPECT_THAT(idle_parts(list_of({launch("dead", {0, 1}, 3), launch("b", {0, 2}, 4)}, 3)),
              ElementsAre("launch 1 of 2, kernel 'dead' (line 3): no output depends on it"));
  EXPECT_THAT(idle_parts(list_of({launch("a", {0, 2}, 3), launch("looks", {0}, 4)}, 3)),
              ElementsAre("launch 2 of 2, kernel 'looks' (line 4): no output depends on it"));
}

TEST(IdleParts, AreListsWithoutALaunch) {
  EXPECT_THAT(idle_parts(list_of({}, 2)), ElementsAre("the plan launches no kernel"));
}

}  // namespace
}  // namespace passnet::pass
