#include "dataset/pieces/fusible.h"

#include <algorithm>
#include <map>

namespace passnet::dataset {

namespace {

// Consecutive nodes of equal count, one after the other.
std::vector<analysis::Range> runs_of(std::span<const int> counts) {
  std::vector<analysis::Range> runs;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (i > 0 && counts[i] == counts[i - 1]) {
      ++runs.back().end;
    } else {
      runs.push_back({i, i + 1});
    }
  }
  return runs;
}

// By node: the least count whose first and last run enclose the node's run. A rise that falls back is
// levelled.
std::vector<int> levelled(std::span<const int> kernels) {
  const std::vector<analysis::Range> runs = runs_of(kernels);
  std::map<int, analysis::Range> spans;  // of runs, by count; ends are inclusive
  for (size_t run = 0; run < runs.size(); ++run) {
    const auto [place, is_first] = spans.try_emplace(kernels[runs[run].start], analysis::Range{run, run});
    place->second.end = run;
  }
  std::vector<int> level;
  for (size_t run = 0; run < runs.size(); ++run) {
    const auto covers = [&](const auto& span) { return span.second.start <= run && run <= span.second.end; };
    const auto least = std::find_if(spans.begin(), spans.end(), covers);
    level.insert(level.end(), runs[run].size(), least->first);
  }
  return level;
}

// Whether, looked at from the end, the first change of the count is a fall, if there is one.
bool ends_without_rise(std::span<const int> counts) {
  for (size_t i = counts.size() - 1; i > 0; --i) {
    if (counts[i] != counts[i - 1]) return counts[i] < counts[i - 1];
  }
  return true;
}

}  // namespace

std::vector<analysis::Range> fusible_ranges(std::span<const int> kernels) {
  std::vector<analysis::Range> groups = runs_of(levelled(kernels));
  // Neighbours merge where the count does not rise between them.
  for (size_t i = 0; i + 1 < groups.size();) {
    if (kernels[groups[i].end - 1] >= kernels[groups[i + 1].start]) {
      groups[i].end = groups[i + 1].end;
      groups.erase(groups.begin() + static_cast<ptrdiff_t>(i) + 1);
      i = 0;
    } else {
      ++i;
    }
  }
  std::erase_if(groups, [&](const analysis::Range& group) {
    const auto counts = kernels.subspan(group.start, group.size());
    return counts.size() < 2 || counts.front() < counts.back() || !ends_without_rise(counts);
  });
  return groups;
}

}  // namespace passnet::dataset
