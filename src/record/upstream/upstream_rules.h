// What PassBench's rules would have said of a record: of outputs only their number, shapes, types and closeness count,
// and of failures only how far they got. Error budgets, other input kinds, aliasing, strides, inputs after the
// call, null models, floors and clocks do not. Source: docs/leaderboard.md, "PassBench's rules".
#pragma once

#include <optional>

#include "record/record.h"
#include "record/score/score.h"
#include "record/verdict.h"

namespace passnet::record {

/// Why PassBench's rules say nothing of a record.
enum class NotJudged {
  No,
  MachineFailed,  // is_environment_failure
  Uncompared,     // a check that upstream lacks ended it before its outputs were compared
  Untimed,        // right, and never timed
};

struct UpstreamVerdict {
  std::optional<Verdict> verdict;  // none: `why`
  NotJudged why = NotJudged::No;
};

/// No match, a pass that cannot be read and a kernel that cannot be built or loaded are EagerFail, as upstream's runner
/// logs them; a declined graph too, since upstream's passes cannot decline.
UpstreamVerdict judge_by_upstream(const RunRecord& record);

/// How upstream scores a task: its extended reading, in which EagerFail is never forgiven.
inline constexpr ScoreOptions kUpstreamScore{.interpretation = Interpretation::MismatchExtended};

}  // namespace passnet::record
