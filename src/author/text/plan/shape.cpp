#include "author/text/plan/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "author/text/operations.h"

namespace passnet::author {

Launched launched(const Schedule& schedule, const KernelShape& kernel, size_t graph, bool on_gpu) {
  const auto& [items, steps, length, bytes] = kernel.by_graph[graph];
  const auto rule = [&](const std::string& text) { return evaluate_rules(schedule, text, on_gpu)[0]; };
  Launched made;
  made.tiles = kernel.tiles && schedule.tiles;
  if (kernel.splits_into > 0)
    made.parts = rule(fmt::format("parts_of(x, {}, {}, {})", items, length, kernel.shares_rows ? "False" : "True"));
  if (!on_gpu) {
    made.workers = rule(fmt::format("items_grid(x, {}, {}, 1, 1)[0]", items, steps));
    if (kernel.shares_rows) made.workers = std::min(made.workers, items * made.parts);
    return made;
  }
  made.workers = items * made.parts;
  if (kernel.shares_rows) {
    made.workers *= made.parts > 1 ? kMostThreads : rule(fmt::format("threads_of({}, {})", items, steps));
    return made;
  }
  if (kernel.columns && made.parts == 1) made.workers *= rule(fmt::format("down_of(x, {}, {})", items, length));
  if (kernel.packs) {
    made.pack = rule(fmt::format("pack_of(x, {}, {}, ())", made.workers, schedule.pack_threads));
    made.workers /= made.pack;
  }
  return made;
}

}  // namespace passnet::author
