#include <fmt/format.h>

#include <algorithm>

#include "agent/feedback/feedback.h"
#include "record/score/interval.h"
#include "record/score/summary.h"
#include "record/stats.h"
#include "record/verdict.h"

namespace passnet::agent {

using record::RunRecord;
using record::Stage;

namespace {

// What to do about one graph; the smallest rank is the most urgent.
struct Advice {
  int rank = 0;
  std::string text;
};

Advice of_failure(const RunRecord& one) {
  if (record::is_unmatched(one) && one.passes.empty())
    return {1,
            "no pass is listed: write pass_dir/sorted_output_pass_rule_names.json, a JSON list of the names of your "
            "passes"};
  if (record::is_unmatched(one))
    return {4,
            "the pattern is not in this graph: mend what the nearest miss names, then try pass_match, which takes "
            "milliseconds"};
  switch (one.stage) {
    case Stage::Parse:
    case Stage::Inputs:
    case Stage::Reference: return {9, "this graph fails without any pass: leave it alone"};
    case Stage::Match: return {2, "the pass cannot be used as it is written: mend the place that the error names"};
    case Stage::Build: return {3, "the kernel does not compile: mend the first error, the others may follow from it"};
    case Stage::Load:
    case Stage::Run:
      return {3, "the kernel fails when it runs: check its bounds and that every element of each output is written"};
    default: return {3, "the evaluation ended early: the error says why"};
  }
}

// How a right graph can become faster.
Advice of_speed(const RunRecord& one, double ratio) {
  const double found = record::summarize(one.candidate.trials_us).median;
  const double floor = one.floor ? one.floor->us / record::kFloorShare : 0;  // a copy of what must be moved
  const std::string distance =
      floor > 0 ? fmt::format(" ({:.1f} us a call, a copy of the bytes it must move takes {:.1f} us)", found, floor)
                : "";
  if (ratio < 1)
    return {
        6, fmt::format("it is slower than eager{}: pass_explain says where the time goes; return NotImplemented in the "
                       "plan where it does not pay",
                       distance)};
  if (floor > 0 && found > 2 * floor) return {8, fmt::format("all is right; there is time left to win{}", distance)};
  return {10, fmt::format("all is right and near what this machine can do{}: submit, unless you know more", distance)};
}

Advice advice_of(const RunRecord& one) {
  const record::Verdict verdict = record::judge(one);
  if (record::is_declined(one))
    return {7, "the plan declines every site: loosen its conditions where the kernel can do it"};
  if (verdict.status == record::Status::ShapeMismatch || verdict.status == record::Status::TypeMismatch)
    return {4, "outputs have another shape or dtype: the plan must allocate what the pattern returns"};
  if (one.stage != Stage::Done || verdict.status != record::Status::Correct) return of_failure(one);
  if (!verdict.correct_at(record::kCorrectT))
    return {5,
            "results are wrong: look at the first wrong element; float16 and bfloat16 need sums in float32, and a "
            "rounding after each operator that PyTorch rounds after"};
  if (record::is_unmeasured(one)) return {9, "other processes disturbed the timing: evaluate again"};
  return of_speed(one, verdict.speedup);
}

}  // namespace

std::string best_hint(const std::vector<RunRecord>& records) {
  const RunRecord* worst = nullptr;
  Advice best;
  for (const RunRecord& one : records) {
    Advice advice = advice_of(one);
    if (worst != nullptr && advice.rank >= best.rank) continue;
    worst = &one;
    best = std::move(advice);
  }
  if (worst == nullptr) return "there is no graph to evaluate";
  return fmt::format("{}: {}", worst->graph, best.text);
}

}  // namespace passnet::agent
