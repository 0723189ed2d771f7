#include "record/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
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

/// Right or wrong, it counts for nothing.
bool is_out(const RunRecord& record) { return is_unranked(record) || ran_host_code(record); }

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

using Key = std::pair<std::string, std::string>;

struct Keyed {
  std::vector<Key> order;
  std::map<Key, const RunRecord*> records;
};

Keyed keyed(const std::vector<RunRecord>& records, bool by_graph_alone) {
  Keyed found;
  for (const RunRecord& record : records) {
    const Key key{by_graph_alone ? "" : record.sample, record.graph};
    if (found.records.insert_or_assign(key, &record).second) found.order.push_back(key);
  }
  return found;
}

size_t samples_in(const std::vector<RunRecord>& records) {
  std::set<std::string> names;
  for (const RunRecord& record : records) names.insert(record.sample);
  return names.size();
}

Comparison alone(const RunRecord& record, bool in_a) {
  Comparison compared;
  compared.sample = record.sample;
  compared.graph = record.graph;
  compared.change = in_a ? Change::OnlyA : Change::OnlyB;
  (in_a ? compared.a : compared.b) = side_of(record);
  return compared;
}

}  // namespace

const char* to_string(Change change) {
  static constexpr const char* kNames[kChanges] = {"FASTER", "SLOWER",     "SAME",      "UNCLEAR",  "RIGHT",
                                                   "WRONG",  "BOTH WRONG", "ONLY IN A", "ONLY IN B"};
  return kNames[static_cast<size_t>(change)];
}

Comparison compare(const RunRecord& a, const RunRecord& b) {
  Comparison compared;
  compared.sample = b.sample;
  compared.graph = b.graph;
  compared.a = side_of(a);
  compared.b = side_of(b);
  const bool no_result_a = is_environment_failure(a), no_result_b = is_environment_failure(b);
  if (no_result_a || no_result_b) {
    compared.why = fmt::format("not evaluated in {}: {}", in_which(no_result_a, no_result_b),
                               no_result_b ? b.error_kind : a.error_kind);
  } else if (is_out(a) || is_out(b)) {
    compared.why = fmt::format("unranked in {}", in_which(is_out(a), is_out(b)));
  } else if (compared.a.correct && compared.b.correct) {
    const bool untimed_a = compared.a.speedup <= 0, untimed_b = compared.b.speedup <= 0;
    const bool below_a = is_below_floor(a), below_b = is_below_floor(b);
    const bool uneven_a = is_uneven(a), uneven_b = is_uneven(b);
    const bool disturbed_a = is_unmeasured(a), disturbed_b = is_unmeasured(b);
    if (disturbed_a || disturbed_b)
      compared.why = fmt::format("disturbed in {}", in_which(disturbed_a, disturbed_b));
    else if (below_a || below_b)
      compared.why = fmt::format("below the floor in {}", in_which(below_a, below_b));
    else if (uneven_a || uneven_b)
      compared.why = fmt::format("uneven in {}", in_which(uneven_a, uneven_b));
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

int RunComparison::count(Change change) const {
  return static_cast<int>(
      std::count_if(graphs.begin(), graphs.end(), [&](const Comparison& one) { return one.change == change; }));
}

RunComparison compare_runs(const std::vector<RunRecord>& a, const std::vector<RunRecord>& b) {
  const bool by_graph_alone = samples_in(a) == 1 && samples_in(b) == 1;
  const Keyed in_a = keyed(a, by_graph_alone), in_b = keyed(b, by_graph_alone);
  RunComparison result;
  const auto note = [&](std::string text) {
    if (std::find(result.differences.begin(), result.differences.end(), text) == result.differences.end())
      result.differences.push_back(std::move(text));
  };
  for (const Key& key : in_a.order) {
    const RunRecord& before = *in_a.records.at(key);
    const auto found = in_b.records.find(key);
    if (found == in_b.records.end()) {
      result.graphs.push_back(alone(before, true));
      continue;
    }
    const RunRecord& after = *found->second;
    result.graphs.push_back(compare(before, after));
    if (!before.provenance || !after.provenance) {
      note("some records do not say what they were made of");
      continue;
    }
    for (Difference& difference : differences(*before.provenance, *after.provenance)) note(std::move(difference.text));
  }
  for (const Key& key : in_b.order) {
    if (!in_a.records.contains(key)) result.graphs.push_back(alone(*in_b.records.at(key), false));
  }
  return result;
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
