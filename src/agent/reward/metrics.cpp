#include "agent/reward/metrics.h"

#include <fmt/format.h>

namespace passnet::agent {

namespace {

/// Lines of the text format; a name's type stands before its first value.
class Metrics {
 public:
  template <class Value>
  void add(const char* type, const char* name, Value value, const std::string& label = {}) {
    if (name != last_) text_ += fmt::format("# TYPE passnet_reward_{} {}\n", name, type);
    last_ = name;
    text_ += fmt::format("passnet_reward_{}{} {}\n", name, label.empty() ? "" : "{" + label + "}", value);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_, last_;
};

}  // namespace

std::string render_reward_metrics(const JobCounts& jobs, const RewardsJudged& judged, int slots) {
  Metrics metrics;
  metrics.add("gauge", "slots", slots);
  metrics.add("gauge", "jobs_queued", jobs.queued);
  metrics.add("gauge", "jobs_running", jobs.running);
  metrics.add("gauge", "clients_queued", jobs.clients);
  metrics.add("gauge", "queued_bytes", jobs.bytes);
  metrics.add("counter", "jobs_added_total", jobs.added);
  metrics.add("counter", "jobs_refused_total", jobs.refused);
  metrics.add("counter", "jobs_ended_total", jobs.done, "state=\"done\"");
  metrics.add("counter", "jobs_ended_total", jobs.failed, "state=\"failed\"");
  metrics.add("counter", "jobs_ended_total", jobs.cancelled, "state=\"cancelled\"");
  metrics.add("counter", "busy_seconds_total", judged.busy_s);
  metrics.add("counter", "graphs_total", judged.graphs);
  for (const auto& [verdict, count] : judged.verdicts)
    metrics.add("counter", "verdicts_total", count, fmt::format("verdict=\"{}\"", verdict));
  return metrics.text();
}

}  // namespace passnet::agent
