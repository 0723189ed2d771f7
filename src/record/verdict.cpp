#include "record/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "record/input_kinds.h"
#include "record/stats.h"

namespace passnet::record {

namespace {

constexpr int kNeverPasses = kLastNumericT + 1;

bool any_output(const RunRecord& record, bool (*differs)(const OutputCheck&)) {
  return std::any_of(record.outputs.begin(), record.outputs.end(), differs);
}
bool shape_differs(const OutputCheck& output) { return output.expected_shape != output.found_shape; }
bool layout_differs(const OutputCheck& output) { return output.expected_layout != output.found_layout; }
bool dtype_differs(const OutputCheck& output) { return output.expected_dtype != output.found_dtype; }

bool count_differs(const RunRecord& record) {
  return record.expected_outputs != record.found_outputs ||
         static_cast<int>(record.outputs.size()) != record.expected_outputs;
}

/// Calls that were told from the checked one by their bits alone, as records before calls_compared have it.
bool is_unstable(const RunRecord& record) { return !record.deterministic && record.calls_compared == 0; }

/// Everything but numbers: what a record is that cannot be called correct at any tolerance.
Status structural_status(const RunRecord& record) {
  if (record.error_kind == "no-match" || record.stage <= Stage::Reference) return Status::EagerFail;
  if (record.stage <= Stage::Load) return Status::CompileFail;
  if (record.stage == Stage::Run || !record.outputs_counted) return Status::RuntimeFail;
  if (count_differs(record) || any_output(record, shape_differs)) return Status::ShapeMismatch;
  if (any_output(record, dtype_differs)) return Status::TypeMismatch;
  if (any_output(record, layout_differs)) return Status::ShapeMismatch;
  const bool failed_later = record.stage == Stage::Time || !record.error_kind.empty();
  if (failed_later || record.outputs.empty() || is_unstable(record)) return Status::RuntimeFail;
  return Status::Correct;
}

int rung_of(const OutputCheck& output) {
  if (!output.budget) return output.passes_from;
  return output.budget->kept() ? std::min(output.passes_from, kCorrectT) : kNeverPasses;
}

int worst_rung(const RunRecord& record) {
  int worst = kFirstT;
  for (const OutputCheck& output : record.outputs) worst = std::max(worst, rung_of(output));
  for (const InputCheck& input : record.inputs) worst = std::max(worst, rung_of(input.check));
  return std::min(worst, kNeverPasses);
}

/// Beyond an error budget on the recorded values alone, and near to what is right: more than half of the digits of a
/// short type.
bool is_imprecise(const RunRecord& record) {
  const auto within_ladder = [](const OutputCheck& output) {
    const bool near = !output.budget || output.budget->kept() ||
                      (output.budget->input_kind == kRecordedKind && output.budget->found.row < 1.0 / 32);
    return near && output.passes_from <= kCorrectT + kNearRungs;
  };
  return std::ranges::all_of(record.outputs, within_ladder) &&
         std::ranges::all_of(record.inputs, within_ladder, &InputCheck::check);
}

/// 0 when either side has no believable times, or they were disturbed.
double measured_speedup(const RunRecord& record) {
  return record.disturbed || is_quarantined(record) ? 0 : median_ratio(record.reference, record.candidate);
}

}  // namespace

const char* to_string(Status status) {
  switch (status) {
    case Status::Correct: return "correct";
    case Status::EagerFail: return "eager_fail";
    case Status::CompileFail: return "compile_fail";
    case Status::RuntimeFail: return "runtime_fail";
    case Status::ShapeMismatch: return "shape_mismatch";
    case Status::TypeMismatch: return "type_mismatch";
  }
  return "unknown";
}

bool times_valid(const Timing& timing) {
  return !timing.trials_us.empty() && std::all_of(timing.trials_us.begin(), timing.trials_us.end(),
                                                  [](double us) { return std::isfinite(us) && us >= kShortestCallUs; });
}

double median_ratio(const Timing& reference, const Timing& candidate) {
  if (!times_valid(reference) || !times_valid(candidate)) return 0;
  const double ratio = summarize(reference.trials_us).median / summarize(candidate.trials_us).median;
  return std::isfinite(ratio) ? ratio : 0;
}

bool is_unmeasured(const RunRecord& record) { return record.disturbed && judge(record).correct_at(kLastNumericT); }

bool ran_host_code(const RunRecord& record) { return !record.host_code.empty(); }

bool is_unranked(const RunRecord& record) {
  return (!record.null_models.empty() || !record.fixed_inputs.empty()) && judge(record).correct_at(kCorrectT);
}

bool is_below_floor(const RunRecord& record) {
  return !record.disturbed && record.floor && times_valid(record.candidate) &&
         summarize(record.candidate.trials_us).median < record.floor->us;
}

namespace {
/// Calls of one side on inputs that a kernel may take longer for, and on the usual ones.
struct SideTimes {
  Stats usual, planted;
  double longer() const { return planted.median / usual.median; }
  /// Compares the fastest of these calls: other work of the machine makes calls slower, and no call faster.
  double at_least_longer() const { return planted.min / usual.median; }
  double noise() const { return usual.noise() + planted.noise(); }
};

/// inputs: kPlanted or kWider.
std::optional<SideTimes> side_on(const Timing& timing, std::string_view inputs) {
  const auto planted =
      std::ranges::find_if(timing.others, [&](const TrackTimes& one) { return one.track.inputs == inputs; });
  if (planted == timing.others.end() || planted->trials_us.empty() || !times_valid(timing)) return std::nullopt;
  const SideTimes times{summarize(timing.trials_us), summarize(planted->trials_us)};
  return std::isfinite(times.longer()) ? std::optional(times) : std::nullopt;
}

struct BothSides {
  SideTimes reference, candidate;
  double unevenness() const { return candidate.at_least_longer() / std::max(1.0, reference.longer()); }
  double noise() const { return reference.noise() + candidate.noise(); }
};

/// Times of both sides on kPlanted and on kWider inputs, where there are any.
std::vector<BothSides> times_on_others(const Timing& reference, const Timing& candidate) {
  std::vector<BothSides> all;
  for (const char* inputs : {kPlanted, kWider}) {
    const auto a = side_on(reference, inputs), b = side_on(candidate, inputs);
    if (a && b) all.push_back({*a, *b});
  }
  return all;
}
}  // namespace

double unevenness(const RunRecord& record) {
  double most = 0;
  if (record.disturbed) return most;
  for (const BothSides& times : times_on_others(record.reference, record.candidate))
    most = std::max(most, times.unevenness());
  return most;
}

bool is_uneven(const Timing& reference, const Timing& candidate) {
  return std::ranges::any_of(times_on_others(reference, candidate), [](const BothSides& times) {
    return times.unevenness() > kMostUneven * (1 + times.noise());
  });
}

bool is_uneven(const RunRecord& record) { return !record.disturbed && is_uneven(record.reference, record.candidate); }

bool is_quarantined(const RunRecord& record) { return is_below_floor(record) || is_uneven(record); }

bool is_noisy(const RunRecord& record) {
  if (!times_valid(record.reference) || !times_valid(record.candidate)) return false;
  return summarize(record.reference.trials_us).noise() > kNoisy ||
         summarize(record.candidate.trials_us).noise() > kNoisy;
}

bool is_declined(const RunRecord& record) {
  int sites = 0, declined = 0;
  for (const PassOutcome& pass : record.passes) {
    sites += pass.matches;
    declined += pass.declined;
  }
  // A list that names none: of its files there is the list alone.
  const auto is_pass = [](const auto& file) { return file.first.ends_with(".py"); };
  const bool abstained = record.compiler == "passes" && record.passes.empty() && record.provenance &&
                         std::ranges::none_of(record.provenance->passes, is_pass);
  return record.stage == Stage::Done && record.error_kind.empty() && sites == 0 && (declined > 0 || abstained);
}

Verdict judge(const RunRecord& record) {
  if (is_declined(record)) return {Status::Correct, kFirstT, 1};
  const Status status = structural_status(record);
  if (status != Status::Correct) return {status, kNeverPasses, 0};
  const int passes_from = worst_rung(record);
  const double speedup = measured_speedup(record);
  if (speedup > 0) return {Status::Correct, passes_from, speedup};
  const bool untimed = record.reference.trials_us.empty() && record.candidate.trials_us.empty();
  if (untimed || record.disturbed || is_quarantined(record) || passes_from == kNeverPasses)
    return {Status::Correct, passes_from, 0};
  return {Status::RuntimeFail, kNeverPasses, 0};
}

namespace {

/// The kind of a failure: of the first row that fits its stage and its error_kind. docs/verdicts.md explains each kind.
struct Cause {
  Stage first, last;
  std::string_view error_kind;  // kAny: every other
  std::string_view kind;
};
constexpr std::string_view kAny = "*";
constexpr std::array kCauses = {
    Cause{Stage::Parse, Stage::Time, "internal", "internal error"},
    Cause{Stage::Parse, Stage::Time, "nonsense", "internal error"},
    Cause{Stage::Parse, Stage::Time, "io", "no resources"},
    Cause{Stage::Parse, Stage::Time, "resource", "no resources"},
    Cause{Stage::Parse, Stage::Time, "killed", "killed"},
    Cause{Stage::Parse, Stage::Time, "crash", "crashed"},
    Cause{Stage::Parse, Stage::Time, "timeout", "timed out"},
    Cause{Stage::Parse, Stage::Time, "no-match", "no site"},
    Cause{Stage::Parse, Stage::Time, "out-of-bounds", "out of bounds"},
    Cause{Stage::Match, Stage::Time, "memory", "out of memory"},
    Cause{Stage::Parse, Stage::Time, "unwritten-output", "unwritten"},
    Cause{Stage::Parse, Stage::Time, "input-changed", "input changed"},
    Cause{Stage::Parse, Stage::Time, "not-at-rest", "not at rest"},
    Cause{Stage::Parse, Stage::Reference, "unsupported", "unsupported"},
    Cause{Stage::Match, Stage::Match, "library-call", "library call"},
    Cause{Stage::Match, Stage::Match, "bad-pass", "bad pass"},
    Cause{Stage::Match, Stage::Match, "bad-input", "bad pass"},
    Cause{Stage::Match, Stage::Match, "bad-rewrite", "bad pass"},
    Cause{Stage::Match, Stage::Match, "unsupported", "bad pass"},
    Cause{Stage::Time, Stage::Time, "clock", "bad times"},
    Cause{Stage::Parse, Stage::Time, kAny, "failed"},
};

/// Verdicts without a stage.
constexpr std::string_view kPlainWords[] = {"correct",     "declined",    "unranked",     "inexact",   "wrong",
                                            "wrong shape", "wrong dtype", "wrong layout", "bad record"};

/// Words of versions before 0.2 that are gone, with the verdict or kind that says the same now.
struct FormerWord {
  std::string_view was, is;
};
constexpr FormerWord kFormerWords[] = {
    {"bad graph", "parse: failed"},         {"bad inputs", "inputs: failed"},
    {"bad pass list", "match: bad pass"},   {"bad reply", "internal error"},
    {"bad rewrite", "match: bad pass"},     {"below floor", "unranked"},
    {"build failed", "build: failed"},      {"build stopped", "build: no resources"},
    {"clocks differ", "time: bad times"},   {"compare crash", "compare: crashed"},
    {"compare failed", "compare: failed"},  {"compare hang", "compare: timed out"},
    {"eager crash", "reference: crashed"},  {"eager failed", "reference: failed"},
    {"eager hang", "reference: timed out"}, {"inputs crash", "inputs: crashed"},
    {"inputs hang", "inputs: timed out"},   {"io error", "no resources"},
    {"load crash", "load: crashed"},        {"load failed", "load: failed"},
    {"load hang", "load: timed out"},       {"match failed", "match: failed"},
    {"no match", "match: no site"},         {"no outputs", "compare: failed"},
    {"not compared", "bad record"},         {"our bug", "internal error"},
    {"parse crash", "parse: crashed"},      {"parse hang", "parse: timed out"},
    {"pass conflict", "match: bad pass"},   {"run failed", "run: failed"},
    {"timing crash", "time: crashed"},      {"timing failed", "time: failed"},
    {"timing hang", "time: timed out"},     {"trace crash", "match: crashed"},
    {"trace hang", "match: timed out"},     {"uneven", "unranked"},
    {"unstable", "time: failed"},           {"wrong aliasing", "wrong layout"},
    {"wrong count", "wrong shape"},         {"wrong strides", "wrong layout"},
};

std::string at_stage(Stage stage, std::string_view kind) {
  return std::string(to_string(stage)).append(": ").append(kind);
}

/// REQUIRES: record.stage is not Done.
std::string_view kind_of_failure(const RunRecord& record) {
  return std::ranges::find_if(kCauses,
                              [&](const Cause& cause) {
                                const bool fits = cause.error_kind == kAny || cause.error_kind == record.error_kind;
                                return fits && record.stage >= cause.first && record.stage <= cause.last;
                              })
      ->kind;
}

}  // namespace

std::string headline(const RunRecord& record) {
  if (is_declined(record)) return "declined";
  if (is_unranked(record)) return "unranked";
  const Verdict verdict = judge(record);
  if (ran_host_code(record) && verdict.correct_at(kCorrectT)) return "unranked";
  switch (verdict.status) {
    case Status::Correct:
      if (is_quarantined(record) && verdict.correct_at(kLastNumericT)) return "unranked";
      return verdict.correct_at(kCorrectT)                ? "correct"
             : verdict.correct_at(kCorrectT + kNearRungs) ? "inexact"
             : is_imprecise(record)                       ? "inexact"
                                                          : "wrong";
    case Status::ShapeMismatch:
      return count_differs(record) || any_output(record, shape_differs) ? "wrong shape" : "wrong layout";
    case Status::TypeMismatch: return "wrong dtype";
    default: break;
  }
  if (record.stage != Stage::Done) return at_stage(record.stage, kind_of_failure(record));
  if (!record.error_kind.empty() || !record.outputs_counted) return "bad record";
  if (record.outputs.empty()) return at_stage(Stage::Compare, "failed");
  return at_stage(Stage::Time, is_unstable(record) ? "failed" : "bad times");
}

std::vector<std::string> verdict_words() {
  std::vector<std::string> words(std::begin(kPlainWords), std::end(kPlainWords));
  for (const Cause& cause : kCauses) {
    if (std::ranges::find(words, cause.kind) == words.end()) words.emplace_back(cause.kind);
  }
  return words;
}

std::optional<std::string> verdict_named(std::string_view word) {
  if (const auto former = std::ranges::find(kFormerWords, word, &FormerWord::was); former != std::end(kFormerWords))
    return std::string(former->is);
  if (std::ranges::find(kPlainWords, word) != std::end(kPlainWords)) return std::string(word);
  for (const Cause& cause : kCauses) {
    if (word == cause.kind) return std::string(word);
    for (int stage = static_cast<int>(cause.first); stage <= static_cast<int>(cause.last); ++stage) {
      if (word == at_stage(static_cast<Stage>(stage), cause.kind)) return std::string(word);
    }
  }
  return std::nullopt;
}

bool is_named(std::string_view headline, std::string_view word) {
  return headline == word || headline.ends_with(std::string(": ").append(word));
}

}  // namespace passnet::record
