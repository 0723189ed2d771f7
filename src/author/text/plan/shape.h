// A kernel in numbers, for each graph that its pass is written for: what its schedule is chosen by.
#pragma once

#include <cstdint>
#include <vector>

#include "author/text/plan/schedule.h"

namespace passnet::author {

struct KernelShape {
  bool shares_rows = false;  // neighbouring lanes and threads share a row; else each has items of its own
  bool packs = false;        // GPU: a thread may move several neighbours at once
  bool tiles = false;        // loads and stores go along different loops
  bool columns = false;      // GPU: threads of a block may share an item
  size_t splits_into = 0;    // kernels, where several share a row; 0: they cannot
  struct Numbers {
    int64_t items = 0;   // rows, where these are shared
    int64_t steps = 0;   // of the longest loop of an item; elements of a row
    int64_t length = 0;  // of what may be split
    int64_t bytes = 0;   // read and written
    bool operator==(const Numbers&) const = default;
  };
  std::vector<Numbers> by_graph;
};

/// The launch that a plan decides for one kernel.
struct Launched {
  int64_t workers = 0;  // GPU: threads with work; CPU: tasks
  int64_t parts = 1;    // that share a row
  int64_t pack = 1;     // GPU: elements that a thread takes at once, of 2 bytes at least
  bool tiles = false;
  bool operator==(const Launched&) const = default;
};
Launched launched(const Schedule& schedule, const KernelShape& kernel, size_t graph, bool on_gpu);

}  // namespace passnet::author
