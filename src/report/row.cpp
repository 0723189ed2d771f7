#include "report/row.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/text/strings.h"
#include "base/text/visible.h"
#include "record/input_kinds.h"
#include "record/library_calls.h"
#include "record/score/score.h"
#include "record/tolerance.h"

namespace passnet::report {

namespace {

std::string type_text(const std::string& dtype, const std::vector<int64_t>& shape) {
  return fmt::format("{} [{}]", dtype, fmt::join(shape, ", "));
}

/// Lines about which elements are wrong, and how.
std::string mismatch_text(const record::OutputCheck& output) {
  const record::Mismatch& mismatch = *output.mismatch;
  int64_t elements = 1;
  for (const int64_t size : output.expected_shape) elements *= size;
  std::string text = fmt::format("\n  {} of {} elements are beyond t={}: {}", mismatch.beyond, elements,
                                 record::kCorrectT, mismatch.where);
  if (mismatch.different != mismatch.beyond) text += fmt::format(" ({} differ at all)", mismatch.different);
  if (!mismatch.expected.empty()) {
    text += fmt::format("\n  the first at [{}]: expected {}, found {}", fmt::join(mismatch.first, ", "),
                        mismatch.expected, mismatch.found);
  }
  const auto add_counts = [&](const char* what, int64_t expected, int64_t found) {
    if (expected > 0 || found > 0) text += fmt::format("\n  {}: {} expected, {} found", what, expected, found);
  };
  add_counts("nan", mismatch.expected_nan, mismatch.found_nan);
  add_counts("infinite", mismatch.expected_inf, mismatch.found_inf);
  return text;
}

bool layouts_differ(const record::OutputCheck& output) {
  return output.expected_layout && output.found_layout && *output.expected_layout != *output.found_layout;
}

/// "strides [8, 1]", "strides [8, 1] at offset 4 in memory of input x".
std::string layout_text(const record::Layout& layout) {
  std::string text = fmt::format("strides [{}]", fmt::join(layout.strides, ", "));
  if (layout.offset != 0) text += fmt::format(" at offset {}", layout.offset);
  return layout.shares.empty() ? text : text + " in memory of " + layout.shares;
}

std::string output_problem(const record::OutputCheck& output) {
  const std::string expected = type_text(output.expected_dtype, output.expected_shape);
  const std::string found = type_text(output.found_dtype, output.found_shape);
  if (output.found_dtype.empty()) return "is missing, expected " + expected;
  if (output.expected_dtype.empty()) return fmt::format("was not expected, found {}", found);
  if (expected != found) return fmt::format("expected {}, found {}", expected, found);
  if (layouts_differ(output))
    return fmt::format("expected {} with {}, found {}", expected, layout_text(*output.expected_layout),
                       layout_text(*output.found_layout));
  const std::string differences =
      fmt::format("{} differs by up to {:.3g}, on average {:.3g}", expected, output.max_abs_diff, output.mean_abs_diff);
  const std::string how = output.mismatch ? mismatch_text(output) : "";
  if (output.passes_from > record::kLastNumericT) return differences + "\n  right at no tolerance" + how;
  const record::Tolerance pair = record::tolerance(output.expected_dtype, output.passes_from);
  return fmt::format("{}\n  right from t={} (atol {:.2e}, rtol {:.2e}), expected at t={}{}", differences,
                     output.passes_from, pair.atol, pair.rtol, record::kCorrectT, how);
}

std::string timing_problem(const record::Timing& timing, const char* side) {
  if (timing.trials_us.empty()) return fmt::format("the {} graph has no trial times\n", side);
  for (double us : timing.trials_us) {
    if (std::isfinite(us) && us >= record::kShortestCallUs) continue;
    return fmt::format("a trial of the {} graph took {} us, expected at least {} us\n", side, us,
                       record::kShortestCallUs);
  }
  return {};
}

/// Which errors are larger than they may be, and on which values.
std::string budget_text(const record::ErrorBudget& budget) {
  const record::Errors &found = budget.found, &allowed = budget.allowed;
  std::string text =
      budget.input_kind == record::kTimedCalls ? "in a timed call" : fmt::format("on '{}' values", budget.input_kind);
  text = "beyond its error budget " + text;
  const auto add = [&](const char* what, double is, double may_be) {
    if (!(is <= may_be)) text += fmt::format("\n  {}: {:.3g}, allowed {:.3g}", what, is, may_be);
  };
  add("relative norm of the error", found.norm, allowed.norm);
  add("largest error in a row, of the row's largest value", found.row, allowed.row);
  add("99.9th percentile of the error in units in the last place", found.ulp, allowed.ulp);
  add("elements that are 0 and must not be", static_cast<double>(found.zeros), static_cast<double>(allowed.zeros));
  add("elements that are another value, nan or infinity", static_cast<double>(found.misplaced),
      static_cast<double>(allowed.misplaced));
  return text;
}

std::string check_problem(const record::OutputCheck& check) {
  const bool beyond = check.budget && !check.budget->kept();
  if (!beyond) return output_problem(check);
  // How elements differ was told on the recorded values, which may be fine.
  const bool told = check.passes_from <= record::kCorrectT;
  return told ? budget_text(*check.budget) : output_problem(check) + "\n  " + budget_text(*check.budget);
}

bool is_fine(const record::OutputCheck& check) {
  const bool same_type = check.expected_dtype == check.found_dtype && check.expected_shape == check.found_shape;
  return same_type && !layouts_differ(check) &&
         (check.budget ? check.budget->kept() : check.passes_from <= record::kCorrectT);
}

/// What the numbers say went wrong, where nobody wrote a message.
std::string measured_problem(const record::RunRecord& record, const record::Verdict& verdict) {
  std::string text;
  for (size_t i = 0; i < record.outputs.size(); ++i) {
    const record::OutputCheck& output = record.outputs[i];
    if (!is_fine(output))
      text += fmt::format("output {} of {}: {}\n", i + 1, record.outputs.size(), check_problem(output));
  }
  for (const record::InputCheck& input : record.inputs) {
    if (!is_fine(input.check))
      text += fmt::format("input '{}' after the call: {}\n", input.name, check_problem(input.check));
  }
  if (!record.deterministic) text += "outputs of timed calls differ from those of the checked call\n";
  if (record.outputs.empty() && record.stage >= record::Stage::Compare) text += "the graph has no outputs to compare\n";
  if (text.empty() && verdict.status == record::Status::RuntimeFail && record.stage == record::Stage::Done) {
    text = timing_problem(record.reference, "original") + timing_problem(record.candidate, "rewritten");
  }
  return text;
}

std::string below_floor_problem(const record::RunRecord& record) {
  return fmt::format(
      "the median of {:.4g} us is below the floor of {:.4g} us: every call must move {} bytes, and this machine was "
      "measured to copy {:.4g} GB/s at best",
      record::summarize(record.candidate.trials_us).median, record.floor->us, record.floor->bytes,
      record.floor->gb_per_s);
}

std::string host_code_problem(const record::RunRecord& record) {
  if (record.why_python.empty()) return "right; host code of the passes ran in Python, as asked for";
  return fmt::format("right; host code of the passes ran in Python, since our reader stopped: {}", record.why_python);
}

std::string problem_of(const record::RunRecord& record, const record::Verdict& verdict) {
  if (record::is_unranked(record)) {
    return record.null_models.empty()
               ? fmt::format(
                     "the outputs depend on an input that was never drawn anew, so a kernel may have it built in: {}",
                     fmt::join(record.fixed_inputs, ", "))
               : fmt::format("answers that take no work pass on this graph: {}", fmt::join(record.null_models, ", "));
  }
  if (record::ran_host_code(record) && verdict.correct_at(record::kCorrectT)) return host_code_problem(record);
  if (record::left_out(record) == record::LeftOut::BelowFloor) return below_floor_problem(record);
  if (record::left_out(record) == record::LeftOut::Uneven)
    return fmt::format(
        "calls on outliers, or on values as wide as the record says, take {:.2g} times as long, beside what eager "
        "takes longer; expected: at most {:.2g} times, and what the times scatter",
        record::unevenness(record), record::kMostUneven);
  if (verdict.correct_at(record::kCorrectT)) return {};
  std::string text = record.error.empty() ? measured_problem(record, verdict) : record.error;
  for (const record::PassOutcome& pass : record.passes) {
    for (const std::string& part : pass.idle)
      text += fmt::format("{}pass '{}': {}", text.empty() || text.back() == '\n' ? "" : "\n", pass.pass, part);
  }
  for (const record::PassOutcome& pass : record.passes) {
    if (pass.diagnosis.empty() || text.find(pass.diagnosis) != std::string::npos) continue;
    text += fmt::format("{}pass '{}': {}", text.empty() || text.back() == '\n' ? "" : "\n", pass.pass, pass.diagnosis);
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

double largest_difference(const std::vector<record::OutputCheck>& outputs) {
  double largest = 0;
  for (const record::OutputCheck& output : outputs) {
    if (std::isnan(output.max_abs_diff)) return std::numeric_limits<double>::quiet_NaN();
    largest = std::max(largest, output.max_abs_diff);
  }
  return largest;
}

std::vector<Row::OtherRatio> other_ratios(const record::RunRecord& record) {
  std::vector<Row::OtherRatio> ratios;
  for (const record::TrackTimes& reference : record.reference.others) {
    for (const record::TrackTimes& candidate : record.candidate.others) {
      if (candidate.track != reference.track) continue;
      const double a = record::summarize(reference.trials_us).median, b = record::summarize(candidate.trials_us).median;
      if (a > 0 && b > 0) ratios.push_back({reference.track, a / b});
    }
  }
  return ratios;
}

Row row_of(const record::RunRecord& record, bool several_samples) {
  Row row;
  row.sample = record.sample;
  row.graph = record.graph;
  row.name = several_samples ? record.sample + "/" + record.graph : record.graph;
  row.headline = record::headline(record);
  row.verdict = record::judge(record);
  row.below_floor = record::left_out(record) == record::LeftOut::BelowFloor;
  row.uneven = record::left_out(record) == record::LeftOut::Uneven;
  row.host_code = record::ran_host_code(record);
  row.unranked = record::left_out(record) == record::LeftOut::Unconfined;
  const bool correct = row.verdict.correct_at(record::kCorrectT) && !row.below_floor && !row.uneven;
  const bool declined = record::is_declined(record);
  const bool doubtful = row.headline == "inexact" || row.headline == "unranked";
  row.tone = declined ? Tone::Neutral : doubtful ? Tone::Doubtful : correct ? Tone::Good : Tone::Bad;
  row.timed = record::times_valid(record.reference) && record::times_valid(record.candidate);
  if (row.timed) {
    row.reference_us = record::summarize(record.reference.trials_us);
    row.candidate_us = record::summarize(record.candidate.trials_us);
    if (correct && !declined) {
      row.ratio = row.reference_us.median / row.candidate_us.median;
      row.interval = record::ratio_interval(record.reference, record.candidate);
      row.others = other_ratios(record);
    }
    row.noise = std::max(row.reference_us.noise(), row.candidate_us.noise());
  }
  row.no_work = record::is_unranked(record);
  if (row.host_code) row.others.clear();
  if (row.no_work || row.host_code) row.timed = false, row.ratio = 0, row.interval = {};
  row.disturbed = record.disturbed;
  if (row.disturbed) row.timed = false, row.ratio = 0, row.interval = {};
  row.control = record.control;
  row.surplus = record.surplus;
  row.profile = record.profile;
  row.second_candidate = record.second_candidate;
  row.noisy = !record.disturbed && !row.host_code && record::is_noisy(record);
  row.compared = record.outputs_counted && !record.outputs.empty();
  row.max_abs_diff = largest_difference(record.outputs);
  for (const record::PassOutcome& pass : record.passes) {
    row.sites += pass.matches;
    row.declined += pass.declined;
    for (const record::LibraryCall& call : pass.library_calls) {
      if (std::ranges::find(row.library_calls, call.name) == row.library_calls.end())
        row.library_calls.push_back(call.name);
    }
  }
  row.replay = record::is_replay(record);
  row.problem = problem_of(record, row.verdict);
  return row;
}

}  // namespace

bool has_several_samples(const std::vector<record::RunRecord>& records) {
  return std::any_of(records.begin(), records.end(),
                     [&](const record::RunRecord& record) { return record.sample != records[0].sample; });
}

std::vector<Row> rows_of(const std::vector<record::RunRecord>& records) {
  const bool several = has_several_samples(records);
  std::vector<Row> rows;
  for (const record::RunRecord& record : records) rows.push_back(row_of(record, several));
  return rows;
}

std::string conditions(const std::vector<record::RunRecord>& records) {
  if (records.empty()) return {};
  const auto timed = std::find_if(records.begin(), records.end(),
                                  [](const record::RunRecord& record) { return !record.reference.trials_us.empty(); });
  const record::RunRecord& record = timed == records.end() ? records.front() : *timed;
  std::string text = fmt::format("{} on {}", record.compiler, record.device);
  if (record.reference.baseline == "python") text += " against PyTorch eager from Python";
  if (!record.hardware.empty()) text += ", " + record.hardware;
  if (timed != records.end()) {
    // Against another baseline the calls that were compared are not those that were timed.
    const auto compared = record.reference.baseline.empty() ? static_cast<size_t>(record.calls_compared) : 0;
    text += fmt::format(", {} warm-up and {} timed calls", record.reference.warmup,
                        std::max<size_t>(record.reference.trials_us.size(), compared));
  }
  const auto level = record.provenance ? record.provenance->isolation_level : std::nullopt;
  if (level && *level < record::kHighestIsolation) text += ", " + record::describe(*level);
  const bool same = std::ranges::all_of(records, [&](const record::RunRecord& one) { return one.seed == record.seed; });
  return text + (same ? fmt::format(", seed {}", record.seed) : ", several seeds");
}

namespace {

std::string words_for(bool disturbed, const record::Interval& interval, double ratio) {
  if (disturbed) return "disturbed";
  if (interval.contains(1)) return "no difference";
  return ratio_text(ratio);
}

}  // namespace

std::string speedup_text(const Row& row) { return words_for(row.disturbed, row.interval, row.ratio); }

std::string second_text(const Row& row) {
  if (!row.second_candidate) return "-";
  const record::SecondCandidate& second = *row.second_candidate;
  if (!second.problem.empty()) return "failed";
  if (second.passes_from > record::kCorrectT) return "wrong";
  const auto interval = record::ratio_interval(second.reference, second.candidate);
  return words_for(second.disturbed, interval, record::median_ratio(second.reference, second.candidate));
}

std::string interval_text(const Row& row) {
  return row.interval.known() ? fmt::format("{:.2f} to {:.2f}", row.interval.low, row.interval.high) : "-";
}

std::string controls_text(const std::vector<Row>& rows) {
  std::vector<double> ratios;
  std::string only;
  for (const Row& row : rows) {
    if (!row.control) continue;
    const auto interval = row.control->disturbed
                              ? record::Interval{}
                              : record::ratio_interval(row.control->reference, row.control->candidate);
    if (!interval.known()) {
      only = "disturbed";
      continue;
    }
    ratios.push_back(record::median_ratio(row.control->reference, row.control->candidate));
    only = fmt::format("{} ({:.2f} to {:.2f})", ratio_text(ratios.back()), interval.low, interval.high);
  }
  if (ratios.size() < 2) return only;
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  return fmt::format("{} to {} over {} samples", ratio_text(*least), ratio_text(*most), ratios.size());
}

std::string surplus_text(const std::vector<Row>& rows) {
  std::string text;
  std::set<std::string> told;
  for (const Row& row : rows) {
    if (!told.insert(row.sample).second) continue;
    for (size_t i = 0; i < row.surplus.size();) {
      std::vector<std::string> names;
      const std::string& reason = row.surplus[i].reason;
      for (; i < row.surplus.size() && row.surplus[i].reason == reason; ++i)
        names.push_back(visible_line(row.surplus[i].pass));
      text += fmt::format("{}{} of {} ({})", text.empty() ? "" : "; ", join(names, ", "), visible_line(row.sample),
                          visible_line(reason));
    }
  }
  return text;
}

std::string library_text(const std::vector<Row>& rows) {
  constexpr size_t kMostNames = 6;
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;  // what was called, and the graphs
  for (const Row& row : rows) {
    if (row.library_calls.empty()) continue;
    std::string called = visible_line(join(row.library_calls, ", "));
    if (row.replay) called += " alone, without a kernel of its own,";
    const auto known = std::ranges::find(groups, called, &decltype(groups)::value_type::first);
    if (known == groups.end())
      groups.push_back({std::move(called), {visible_line(row.name)}});
    else
      known->second.push_back(visible_line(row.name));
  }
  std::string text;
  for (auto& [called, graphs] : groups) {
    const size_t more = graphs.size() - std::min(graphs.size(), kMostNames);
    graphs.resize(graphs.size() - more);
    text += fmt::format("{}{} in {}", text.empty() ? "" : "; ", called, join(graphs, ", "));
    if (more > 0) text += fmt::format(" and {} more", more);
  }
  return text;
}

std::string ratio_text(double ratio) {
  if (!(ratio > 0)) return "-";
  return ratio < 1000 ? fmt::format("{:.2f}x", ratio) : fmt::format("{:.3g}x", ratio);
}

std::string rung_text(const Row& row) {
  const bool passes = row.verdict.status == record::Status::Correct && row.verdict.passes_from <= record::kLastNumericT;
  return passes ? fmt::format("{}", row.verdict.passes_from) : "-";
}

std::string error_text(const Row& row) {
  if (!row.compared) return "-";
  return row.max_abs_diff == 0 ? "0" : fmt::format("{:.2g}", row.max_abs_diff);
}

std::string sites_text(const Row& row) {
  return row.declined > 0 ? fmt::format("{}/{}", row.sites, row.sites + row.declined) : fmt::format("{}", row.sites);
}

}  // namespace passnet::report
