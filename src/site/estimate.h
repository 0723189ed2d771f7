// One ratio for many graphs, with its uncertainty: tasks are what a benchmark draws, so tasks are what counts.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "record/score/interval.h"

namespace passnet::site {

struct Estimate {
  double ratio = 0;           // geometric mean over tasks of the geometric means of their graphs; 0: of nothing
  record::Interval interval;  // 95 %, by Student's t over the logarithms of the tasks; not known for one task
  size_t tasks = 0, graphs = 0;
  bool differs() const { return interval.known() && !interval.contains(1); }
};

/// Ratios of graphs by task. REQUIRES: all are above 0.
using Ratios = std::map<std::string, std::vector<double>>;
Estimate estimate(const Ratios& ratios);

/// The quantile 0.975 of Student's t. REQUIRES: freedom >= 1.
double student_quantile(size_t freedom);

}  // namespace passnet::site
