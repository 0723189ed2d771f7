// Figures of the reward service, for Prometheus.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "agent/reward/jobs.h"

namespace passnet::agent {

/// Counts of evaluations since the service started.
struct RewardsJudged {
  std::map<std::string, uint64_t> verdicts;  // jobs by verdict
  uint64_t graphs = 0;
  double busy_s = 0;  // of all slots
};

/// Prometheus' text format, version 0.0.4. slots: evaluations at a time.
std::string render_reward_metrics(const JobCounts& jobs, const RewardsJudged& judged, int slots);

}  // namespace passnet::agent
