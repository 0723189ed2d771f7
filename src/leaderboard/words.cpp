#include "leaderboard/words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/strings.h"
#include "report/row.h"

namespace passnet::leaderboard {

namespace {

std::string score_text(std::optional<double> score) { return score ? fmt::format("{:.3f}", *score) : "-"; }

std::string percent(const record::Summary& summary, int graphs) {
  return summary.total == 0 ? "-" : fmt::format("{:.1f} %", 100 * summary.share(graphs));
}

/// "61.5 %", and where plans called PyTorch how many of these: "61.5 %, library 12.0 %".
std::string correct_text(const record::Summary& summary) {
  std::string text = percent(summary, summary.correct);
  if (summary.reach && summary.reach->library)
    text += fmt::format(", library {}", percent(summary, summary.reach->library->correct));
  return text;
}

/// "12, 3 untimed, 1 uncompared"; what each set of rules leaves out.
std::string left_out_text(const LeftOutCounts& counts) {
  std::vector<std::string> parts;
  const auto add = [&](size_t count, const char* word) {
    if (count > 0) parts.push_back(fmt::format("{} {}", count, word));
  };
  add(counts.unevaluated, "not evaluated");
  add(counts.ours, "not ranked");
  add(counts.untimed, "untimed");
  add(counts.uncompared, "uncompared");
  return parts.empty() ? "0" : join(parts, ", ");
}

std::string reasons_text(const TaskStanding& task) {
  std::vector<std::string> parts = task.reasons;
  for (const auto& [word, count] : task.caught) parts.push_back(fmt::format("caught {}: {}", count, word));
  return join(parts, "; ");
}

/// Takes out columns [first, first + count) where nothing was published.
std::vector<std::string> without_published(std::vector<std::string> cells, size_t first, size_t count, bool keep) {
  const auto begin = cells.begin() + static_cast<ptrdiff_t>(first);
  if (!keep) cells.erase(begin, begin + static_cast<ptrdiff_t>(count));
  return cells;
}

constexpr size_t kModelPublished = 11, kTaskPublished = 6;  // the first of these columns

std::string correlation_text(const std::optional<RankCorrelation>& found) {
  return found ? fmt::format("Spearman {:.2f}, Kendall {:.2f}", found->spearman, found->kendall) : "none";
}

}  // namespace

std::vector<std::string> model_headings(bool beside_published) {
  return without_published({"model", "samples", "graphs", "coverage", "correct", "fast_1", "where applied", "abstained",
                            "AS ours", "unforgiven", "AS PassBench", "published", "headline", "left out"},
                           kModelPublished, 2, beside_published);
}

std::vector<std::string> model_row(const ModelStanding& model, bool beside_published) {
  const record::Summary& summary = model.summary;
  const record::Reach reach = summary.reach.value_or(record::Reach{});
  return without_published(
      {model.model, fmt::format("{}", model.tasks.size()), fmt::format("{}", summary.total),
       percent(summary, reach.applied), correct_text(summary), percent(summary, summary.fast),
       report::ratio_text(reach.speedup_applied.value_or(0)), fmt::format("{}", reach.declined + reach.unmatched),
       score_text(model.scores.ours), score_text(model.scores.unforgiven), score_text(model.scores.upstream),
       score_text(model.scores.published), score_text(model.published_table), left_out_text(model.left_out)},
      kModelPublished, 2, beside_published);
}

std::vector<std::string> task_headings(bool beside_published) {
  return without_published(
      {"sample", "graphs", "coverage", "correct", "AS ours", "AS PassBench", "published", "left out", "why"},
      kTaskPublished, 1, beside_published);
}

std::vector<std::string> task_row(const TaskStanding& task, bool beside_published) {
  return without_published({task.task, fmt::format("{}", task.graphs),
                            percent(task.summary, task.summary.reach ? task.summary.reach->applied : 0),
                            correct_text(task.summary), score_text(task.scores.ours), score_text(task.scores.upstream),
                            score_text(task.scores.published), left_out_text(task.left_out), reasons_text(task)},
                           kTaskPublished, 1, beside_published);
}

bool has_published(const Leaderboard& board) {
  return std::ranges::any_of(
      board.models, [](const ModelStanding& model) { return model.scores.published || model.published_table; });
}

std::string ranks_text(const char* of, const std::optional<RankCorrelation>& ours,
                       const std::optional<RankCorrelation>& upstream) {
  if (!ours && !upstream) return {};
  return fmt::format("ranks of {} beside published: ours {}; PassBench's rules {}", of, correlation_text(ours),
                     correlation_text(upstream));
}

std::vector<std::string> notes(bool beside_published) {
  std::vector<std::string> all{
      "AS ours: our verdicts, the geometric mean over samples of PassBench's aggregated score; unforgiven: the same, "
      "no failure ever forgiven.",
      "AS PassBench: the same runs by PassBench's rules.",
      "where applied: geometric mean of the speedup over correct graphs in which a pass replaced something. "
      "abstained: nothing replaced.",
      "correct, library: of all graphs those that are right with calls of PyTorch in a plan (--allow-library).",
      "left out: not evaluated (the machine's fault), not ranked (our rules), untimed and uncompared (PassBench's "
      "rules cannot tell)."};
  if (beside_published)
    all.push_back("published: score.txt of the same samples; headline: the published table, over 200 samples.");
  return all;
}

}  // namespace passnet::leaderboard
