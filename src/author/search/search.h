// Other schedules of the passes that stay, measured where they would decide otherwise.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "author/forms/forms.h"
#include "author/report/report.h"
#include "author/search/propose.h"
#include "base/result.h"
#include "graphdir/sample.h"

namespace passnet::author {

/// The directory below sample.path where a pass with another schedule is written.
inline constexpr const char* kSchedules = "schedules";

struct SearchedSchedules {
  std::map<std::string, Schedule> better;  // by pass, where another one than the default is faster beyond the noise
  std::vector<MeasuredSchedule> measured;  // in this call; what is known of this machine is not measured again
};

/// Measures each pass that stays, alone, on the graph of each dtype that takes it the longest: the default, then what
/// is proposed for the longest of these graphs. What is faster beyond the noise in one of them and slower in none
/// counts; what was found is kept for later calls (known.h). Files stand below sample.path until it is done.
/// best: that was judged. options: that it was written with. is_spent: asked before each evaluation.
/// Errors: Io; of `evaluate`.
Result<SearchedSchedules> search_schedules(const graphdir::Sample& sample, const JudgedForm& best,
                                           const WriteOptions& options, const Write& write, const Evaluate& evaluate,
                                           const Machine& machine, const IsSpent& is_spent);

}  // namespace passnet::author
