// Hardware counters of GPU kernels, read from what NVIDIA Nsight Compute (`ncu`) prints, and what they say in a few lines.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace passnet::report {

/// A launch of a kernel.
struct KernelCounters {
  std::string kernel, grid, block, device;             // as ncu prints them: "scale(float *)", "(64, 1, 1)"
  std::map<std::string, double, std::less<>> metrics;  // in base units, by ncu's names; one without data is left out
};

/// Returns the counters that the texts use, as `ncu --metrics` takes them.
std::string counter_names();

/// text:    of `ncu --csv --page raw --print-units base`: messages, a line of names, a line of units, a line per launch.
/// Errors:  Resource: ncu reports an error, as that it may not read counters; or it saw no kernel.
/// Source:  Nsight Compute 2025.3, "Nsight Compute CLI", 4.7; tests/data/ncu.
Result<std::vector<KernelCounters>> parse_counters(std::string_view text);

/// About 20 lines: the kernel with the most time, what bounds it and what to do, then its figures; a line for each other
/// kernel. Empty: there are none.
std::string counters_text(const std::vector<KernelCounters>& launches);

}  // namespace passnet::report
