// A kernel as it is written, and what a plan must know to launch it.
#pragma once

#include <string>
#include <vector>

#include "author/text/facts.h"
#include "author/text/plan/schedule.h"

namespace passnet::author {

struct NamedKernel {
  std::string name;
  KernelFacts facts;
  Lanes lanes = Lanes::Items;      // of a GPU's threads, which launches go by
  Lanes cpu_lanes = Lanes::Items;  // the same, but for rows that are read along them and stored across
  std::string cpp, cuda;           // its text, in which its constants are looked for
  /// Kernels that are launched in its place where several blocks or tasks share a row; empty: they never do.
  std::vector<NamedKernel> split = {};
  std::vector<Loop> split_loops = {};  // of a row, the first of which is shared out
  SizeId split_length = 0;             // all of them
  bool over_row = true;                // of one that it is split into: as SplitKernel has it
};
/// How many share a row of that graph of the subject.
int64_t parts_of(const Schedule& schedule, const SizeTable& sizes, const NamedKernel& kernel, bool on_gpu,
                 size_t example);

}  // namespace passnet::author
