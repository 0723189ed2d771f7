
#include "agent/feedback/feedback.h"
#include "record/score/summary.h"
#include "record/verdict.h"

namespace passnet::agent {

using record::RunRecord;

namespace {

bool abstained(const RunRecord& one) { return record::is_declined(one) || record::is_unmatched(one); }

// Nothing is known of it: who asks again may get an answer.
bool unmeasured(const RunRecord& one) {
  const record::LeftOut why = record::left_out(one);
  return why == record::LeftOut::Disturbed || why == record::LeftOut::MachineFailed;
}

// Where every answer passes there is nothing to score, and nothing wrong either.
bool is_right(const RunRecord& one) {
  const record::LeftOut why = record::left_out(one);
  if (why != record::LeftOut::No && why != record::LeftOut::NoWork) return false;
  return record::judge(one).correct_at(record::kCorrectT);
}

}  // namespace

Outcome outcome_of(const std::vector<RunRecord>& records) {
  Outcome outcome;
  outcome.graphs = records.size();
  for (const RunRecord& one : records) {
    if (abstained(one))
      ++outcome.abstained;
    else if (unmeasured(one))
      ++outcome.unmeasured;
    else if (is_right(one))
      ++outcome.correct;
  }
  outcome.score = record::abstaining_score(records);
  return outcome;
}

}  // namespace passnet::agent
