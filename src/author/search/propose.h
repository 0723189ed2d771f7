// Proposes other schedules of a pass that are worth measuring, by what they decide otherwise and by a simple model.
#pragma once

#include <string>
#include <vector>

#include "author/report/roofline.h"
#include "author/text/plan/shape.h"

namespace passnet::author {

/// The inputs of the model.
struct Machine {
  bool on_gpu = false;
  int threads = 1;     // CPU: that work at the same time
  MachineSpeed speed;  // what was not measured counts as on a usual machine
};

/// us that the kernels of a pass take in one graph: bytes at the speed of a copy of as many, by the share of the machine that
/// has work; steps of a thread, one after the other; launches.
double estimated_us(const std::vector<KernelShape>& kernels, const Schedule& schedule, size_t graph,
                    const Machine& machine);

struct Proposal {
  std::string label;  // "rows are not split"
  Schedule schedule;
  double estimated_us = 0;
};

/// At most three, the most promising first: those that decide otherwise than the default in that graph, and are not a good deal
/// slower by the model.
std::vector<Proposal> proposals(const std::vector<KernelShape>& kernels, size_t graph, const Machine& machine);

}  // namespace passnet::author
