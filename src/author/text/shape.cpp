#include "author/text/shape.h"

#include <algorithm>

namespace passnet::author {

namespace {

// GPU: what 16 bytes hold of the smallest floats.
constexpr int64_t kWidestPack = 8;

}  // namespace

Launched launched(const Schedule& schedule, const KernelShape& kernel, size_t graph, bool on_gpu) {
  const KernelShape::Numbers& numbers = kernel.by_graph[graph];
  Launched made;
  made.tiles = kernel.tiles && schedule.tiles;
  if (kernel.splits_into > 0)
    made.parts = parts_of(schedule, on_gpu, numbers.items, numbers.length, !kernel.shares_rows);
  if (!on_gpu) {
    const int64_t work = numbers.items * numbers.steps / std::max<int64_t>(1, schedule.task_work);
    made.workers = std::min(schedule.tasks, std::max<int64_t>(1, work));
    if (kernel.shares_rows) made.workers = std::min(made.workers, numbers.items * made.parts);
    return made;
  }
  if (kernel.shares_rows) {
    made.workers = numbers.items *
                   (made.parts > 1 ? made.parts * kMostThreads : threads_of(schedule, numbers.items, numbers.steps));
    return made;
  }
  made.workers = numbers.items * made.parts;
  if (kernel.columns && made.parts == 1) made.workers *= down_of(schedule, numbers.items, numbers.length);
  if (kernel.packs) {
    made.pack = kWidestPack;
    while (made.pack > 1 && made.workers < made.pack * schedule.pack_threads) made.pack /= 2;
    made.workers /= made.pack;
  }
  return made;
}

}  // namespace passnet::author
