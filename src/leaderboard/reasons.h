// Why a task's published score is not what upstream's rules give here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/record.h"

namespace passnet::leaderboard {

/// upstream:  the score of the records by upstream's rules; none: of no record.
/// published: of the same passes on the same task, elsewhere.
/// Returns:   phrases, the weightiest first; empty where the two are the same, or one is missing.
std::vector<std::string> reasons_of(const std::vector<record::RunRecord>& records, std::optional<double> upstream,
                                    std::optional<double> published);

}  // namespace passnet::leaderboard
