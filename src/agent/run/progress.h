// How far a run of the agent is, as a person who waits wants to know it.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "agent/attempt/attempt.h"

namespace passnet::agent {

/// Told of what happens by one thread at a time.
class RunProgress {
 public:
  /// planned: attempts in all. workers: that many at a time.
  RunProgress(size_t planned, size_t workers) : planned_(planned), workers_(workers) {}

  void begin() { ++running_; }
  void step(const AttemptFacts& facts, const Step& step);
  /// One that has ended, or was interrupted and is to be gone on with.
  void finish(const AttemptResult& attempt);

  size_t failed() const { return failed_; }
  /// "3/12 attempts, 4 running, 1 failed; best 1.84, $0.42, 12 min, about 20 min left". Failed: the model could not
  /// be asked. What is left goes by how long the attempts that are done took.
  std::string text(double elapsed_s) const;

 private:
  double left_s() const;

  size_t planned_, workers_, running_ = 0, done_ = 0, failed_ = 0;
  double best_ = 1;
  Ledger done_spent_;                                    // by attempts that are done
  std::map<std::pair<std::string, int>, Ledger> spent_;  // by those that run, as far as this process saw it
};

}  // namespace passnet::agent
