#include "record/score/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "record/verdict.h"

namespace passnet::record {

namespace {

ComparedSide side_of(const RunRecord& record) {
  const Verdict verdict = judge(record);
  ComparedSide side;
  side.headline = headline(record);
  side.correct = verdict.correct_at(kCorrectT);
  side.noisy = is_noisy(record);
  if (!side.correct) return side;
  side.speedup = verdict.speedup;
  side.interval = speedup_interval(record);
  // A speedup that was not measured but follows (an unchanged graph) is known exactly.
  if (side.speedup > 0 && !side.interval.known()) side.interval = {side.speedup, side.speedup};
  return side;
}

std::string in_which(bool a, bool b) { return a && b ? "both" : a ? "A" : "B"; }

/// Both are right and have a speedup.
void compare_speed(Comparison& compared) {
  const ComparedSide &a = compared.a, &b = compared.b;
  compared.ratio = b.speedup / a.speedup;
  compared.interval = {b.interval.low / a.interval.high, b.interval.high / a.interval.low};
  const Interval& possible = compared.interval;
  if (a.noisy || b.noisy) {
    compared.change = Change::Unclear;
    compared.why =
        fmt::format("noisy in {}, {:.2f}x to {:.2f}x of A", in_which(a.noisy, b.noisy), possible.low, possible.high);
  } else if (possible.low > 1 && compared.ratio > 1 + kLeastChange) {
    compared.change = Change::Faster;
  } else if (possible.high < 1 && compared.ratio < 1 / (1 + kLeastChange)) {
    compared.change = Change::Slower;
  } else if (possible.low > 1 / (1 + kSameWithin) && possible.high < 1 + kSameWithin) {
    compared.change = Change::Same;
  } else {
    compared.change = Change::Unclear;
    compared.why = fmt::format("{:.2f}x to {:.2f}x of A", possible.low, possible.high);
  }
}

ComparedRecord compared_record(const RunRecord& record, SharedProvenances& shared) {
  ComparedRecord found = record::compared_record(record);
  if (!record.provenance) return found;
  for (const auto& [name, hash] : record.provenance->graph)
    found.graph_hashes.push_back(std::hash<std::string>()(hash));
  found.made_of = shared.share(*record.provenance);
  return found;
}

/// Returns the provenance with the fields that differences() reads. REQUIRES: made_of.
Provenance provenance_of(const ComparedRecord& record) {
  Provenance whole = *record.made_of;
  auto hash = record.graph_hashes.begin();
  for (auto& [name, text] : whole.graph) text = fmt::format("{:016x}", *hash++);
  return whole;
}

std::vector<Difference> differences_of(const ComparedRecord& a, const ComparedRecord& b) {
  if (a.graph_hashes == b.graph_hashes && *a.made_of == *b.made_of) return {};
  return differences(provenance_of(a), provenance_of(b));
}

Comparison alone(ComparedRecord record, bool in_a) {
  Comparison compared;
  compared.sample = std::move(record.sample);
  compared.graph = std::move(record.graph);
  compared.change = in_a ? Change::OnlyA : Change::OnlyB;
  (in_a ? compared.a : compared.b) = std::move(record.side);
  return compared;
}

}  // namespace

const char* to_string(Change change) {
  static constexpr const char* kNames[kChanges] = {"FASTER", "SLOWER",     "SAME",      "UNCLEAR",  "RIGHT",
                                                   "WRONG",  "BOTH WRONG", "ONLY IN A", "ONLY IN B"};
  return kNames[static_cast<size_t>(change)];
}

ComparedRecord compared_record(const RunRecord& record) {
  ComparedRecord found;
  found.sample = record.sample;
  found.graph = record.graph;
  found.side = side_of(record);
  if (is_environment_failure(record)) found.environment_failure = record.error_kind;
  found.out = is_unranked(record) || ran_host_code(record);
  found.disturbed = is_unmeasured(record);
  found.below_floor = is_below_floor(record);
  found.uneven = is_uneven(record);
  return found;
}

Comparison compare(ComparedRecord a, ComparedRecord b) {
  Comparison compared;
  compared.sample = std::move(b.sample);
  compared.graph = std::move(b.graph);
  compared.a = std::move(a.side);
  compared.b = std::move(b.side);
  const bool no_result_a = !a.environment_failure.empty(), no_result_b = !b.environment_failure.empty();
  if (no_result_a || no_result_b) {
    compared.why = fmt::format("not evaluated in {}: {}", in_which(no_result_a, no_result_b),
                               no_result_b ? b.environment_failure : a.environment_failure);
  } else if (a.out || b.out) {
    compared.why = fmt::format("unranked in {}", in_which(a.out, b.out));
  } else if (compared.a.correct && compared.b.correct) {
    const bool untimed_a = compared.a.speedup <= 0, untimed_b = compared.b.speedup <= 0;
    if (a.disturbed || b.disturbed)
      compared.why = fmt::format("disturbed in {}", in_which(a.disturbed, b.disturbed));
    else if (a.below_floor || b.below_floor)
      compared.why = fmt::format("below the floor in {}", in_which(a.below_floor, b.below_floor));
    else if (a.uneven || b.uneven)
      compared.why = fmt::format("uneven in {}", in_which(a.uneven, b.uneven));
    else if (untimed_a || untimed_b)
      compared.why = fmt::format("not timed in {}", in_which(untimed_a, untimed_b));
    else
      compare_speed(compared);
  } else if (compared.b.correct) {
    compared.change = Change::Right;
    compared.why = fmt::format("was '{}'", compared.a.headline);
  } else {
    compared.change = compared.a.correct ? Change::Wrong : Change::BothWrong;
    compared.why = fmt::format("is '{}'", compared.b.headline);
  }
  return compared;
}

Comparison compare(const RunRecord& a, const RunRecord& b) { return compare(compared_record(a), compared_record(b)); }

void ComparedRun::add(const RunRecord& record) { add(compared_record(record, shared_)); }

void ComparedRun::add(ComparedRecord compared) {
  auto& graphs = samples_[compared.sample];
  auto known = graphs.extract(compared.graph);
  Entry& place = known ? *known.mapped() : records_.emplace_back();
  place = std::move(compared);
  graphs.emplace(place->graph, &place);
}

std::optional<ComparedRecord> ComparedRun::take_first() {
  while (!records_.empty() && !records_.front()) records_.pop_front();
  if (records_.empty()) return std::nullopt;
  return take(samples_.find(records_.front()->sample), records_.front()->graph);
}

std::optional<ComparedRecord> ComparedRun::take(const ComparedRecord& of, bool by_graph_alone) {
  return take(by_graph_alone ? samples_.begin() : samples_.find(of.sample), of.graph);
}

std::optional<ComparedRecord> ComparedRun::take(Samples::iterator sample, std::string_view graph) {
  if (sample == samples_.end()) return std::nullopt;
  const auto found = sample->second.find(graph);
  if (found == sample->second.end()) return std::nullopt;
  Entry* const entry = found->second;
  sample->second.erase(found);  // its key is the entry's
  return std::exchange(*entry, std::nullopt);
}

int RunComparison::count(Change change) const {
  return static_cast<int>(
      std::count_if(graphs.begin(), graphs.end(), [&](const Comparison& one) { return one.change == change; }));
}

RunComparison compare_runs(ComparedRun a, ComparedRun b) {
  const bool by_graph_alone = a.samples() == 1 && b.samples() == 1;
  RunComparison result;
  const auto note = [&](std::string text) {
    if (std::find(result.differences.begin(), result.differences.end(), text) == result.differences.end())
      result.differences.push_back(std::move(text));
  };
  while (std::optional<ComparedRecord> before = a.take_first()) {
    std::optional<ComparedRecord> after = b.take(*before, by_graph_alone);
    if (!after) {
      result.graphs.push_back(alone(std::move(*before), true));
      continue;
    }
    if (!before->made_of || !after->made_of) {
      note("some records do not say what they were made of");
    } else {
      for (Difference& difference : differences_of(*before, *after)) note(std::move(difference.text));
    }
    result.graphs.push_back(compare(std::move(*before), std::move(*after)));
  }
  while (std::optional<ComparedRecord> one = b.take_first()) result.graphs.push_back(alone(std::move(*one), false));
  return result;
}

RunComparison compare_runs(const std::vector<RunRecord>& a, const std::vector<RunRecord>& b) {
  ComparedRun in_a, in_b;
  for (const RunRecord& record : a) in_a.add(record);
  for (const RunRecord& record : b) in_b.add(record);
  return compare_runs(std::move(in_a), std::move(in_b));
}

Agreement agreement(const RunRecord& recorded, const RunRecord& again) {
  Agreement found;
  const auto remark = [&](bool agrees, std::string text) {
    found.agrees = found.agrees && agrees;
    found.remarks.push_back(std::move(text));
  };
  const Comparison compared = compare(recorded, again);
  const std::string &was = compared.a.headline, &is = compared.b.headline;
  remark(was == is,
         was == is ? fmt::format("verdict: '{}' again", is) : fmt::format("verdict: '{}', was '{}'", is, was));
  if (was != is) return found;
  const int rung_was = judge(recorded).passes_from, rung_is = judge(again).passes_from;
  if (std::max(rung_was, rung_is) > kLastNumericT)
    return found;  // not right at any tolerance: nothing further to compare
  if (rung_was == rung_is)
    remark(true, fmt::format("tolerance: right from t = {} again", rung_is));
  else
    remark(rung_is < rung_was, fmt::format("tolerance: right from t = {}, was {}", rung_is, rung_was));
  if (compared.ratio <= 0) return found;
  const bool differs = compared.change == Change::Faster || compared.change == Change::Slower;
  const auto text_of = [](const ComparedSide& side) {
    return fmt::format("{:.2f}x ({:.2f}x to {:.2f}x{})", side.speedup, side.interval.low, side.interval.high,
                       side.noisy ? ", noisy" : "");
  };
  remark(!differs, fmt::format("speedup: {}, was {}: {}", text_of(compared.b), text_of(compared.a),
                               differs                           ? "apart"
                               : compared.change == Change::Same ? "the same"
                                                                 : "not told apart"));
  return found;
}

}  // namespace passnet::record
