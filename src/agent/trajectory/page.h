// Trajectories as one self-contained page.
#pragma once

#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace passnet::agent {

/// One section per trajectory, one line per step that opens. All text is escaped. max_tokens: of each text.
/// Errors: BadInput: it is no trajectory.
Result<std::string> render_trajectory_page(const std::vector<Json>& trajectories, int64_t max_tokens);

}  // namespace passnet::agent
