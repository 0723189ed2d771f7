// Compiles what the launch lists of a rewritten graph launch, and makes of each launch one that a device can make.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "pass/kernel/build.h"
#include "pass/plan/launch_list.h"
#include "pass/source.h"
#include "run/apply/passes.h"

namespace passnet::run {

/// The launches that run, with their compiled kernels, by launch list.
struct BuiltLists {
  /// Which launch of the plan this is one way to make, and which of its configurations (@triton.autotune).
  struct Way {
    size_t launch = 0;
    size_t choice = 0;
    bool operator==(const Way&) const = default;
  };
  std::vector<pass::LaunchList> lists;
  std::vector<std::vector<pass::BuiltKernel>> kernels;  // one per launch
  std::vector<std::vector<Way>> ways;                   // one per launch; the ways to make a launch follow one another

  /// Whether some launch can be made in several ways, of which one is still to be chosen.
  bool has_choices() const;
};

/// Builds every kernel the launch lists need: each distinct one once, several at a time. A configuration that does not
/// compile is no way to make its launch, as long as there is another.
/// architecture: "sm_90" to build for that GPU, "x86-64-v3" for such processors, empty for this machine's.
/// Errors: of pass::build_kernel, pass::build_triton_kernels and pass::check_launch; BadPass when a pass has no Name.cpp
/// (Name.cu).
Result<BuiltLists> build_kernels(const Rewritten& rewritten, const std::vector<pass::Pass>& passes,
                                 const pass::BuildOptions& options, const std::string& architecture = "");

/// Keeps one way of each launch: the one of the smallest time, the first of equal ones.
/// us: by list and launch of `built`.
BuiltLists keep_fastest(const BuiltLists& built, const std::vector<std::vector<double>>& us);

}  // namespace passnet::run
