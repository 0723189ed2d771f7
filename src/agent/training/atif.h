// Attempts as trajectories of the Agent Trajectory Interchange Format (ATIF), which Harbor and its readers take.
// Source: harbor's rfcs/0001-trajectory-format.md, version 1.8.
#pragma once

#include <string>
#include <vector>

#include "agent/training/export.h"

namespace passnet::agent {

/// One trajectory, a line without its end: a step per message of the system and the user, and per answer of the model with
/// the results of its calls. `extra` has evaluations, the score and the exit reason. tools: as in training_line().
std::string atif_line(const TrainingAttempt& attempt, const std::vector<ToolSpec>& tools);

}  // namespace passnet::agent
