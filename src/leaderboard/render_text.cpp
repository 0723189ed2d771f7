#include <fmt/format.h>

#include <algorithm>

#include "base/text/columns.h"
#include "base/text/visible.h"
#include "leaderboard/render.h"
#include "leaderboard/words.h"

namespace passnet::leaderboard {

namespace {

using Line = std::vector<std::string>;

constexpr size_t kWidestTask = 20;

/// The first column and the last of `left` are flushed left, figures right.
std::string render_table(std::vector<Line> lines, size_t first_left_again) {
  std::vector<size_t> widths(lines[0].size());
  for (Line& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      line[i] = visible_line(line[i]);
      widths[i] = std::max(widths[i], columns(line[i]));
    }
  }
  std::string out;
  for (const Line& line : lines) {
    std::string text;
    for (size_t i = 0; i < line.size(); ++i) {
      const std::string space(widths[i] - columns(line[i]), ' ');
      const bool left = i == 0 || i >= first_left_again;
      text += (i == 0 ? "" : "  ") + (left ? line[i] + space : space + line[i]);
    }
    out += text.erase(text.find_last_not_of(' ') + 1) + '\n';
  }
  return out;
}

bool is_told(const TaskStanding& task) { return !task.reasons.empty() || !task.caught.empty(); }

std::string list_tasks(const ModelStanding& model, bool beside_published) {
  std::vector<Line> lines{task_headings(beside_published)};
  for (const TaskStanding& task : model.tasks) {
    if (!is_told(task)) continue;
    lines.push_back(task_row(task, beside_published));
    lines.back()[0] = shorten_middle(visible_line(task.task), kWidestTask);
  }
  const size_t told = lines.size() - 1;
  const std::string ranks = ranks_text("samples", model.ours, model.upstream);
  std::string out = fmt::format("\n{}: {} of {} samples {}{}{}\n", visible_line(model.model), told, model.tasks.size(),
                                beside_published ? "score other than published, or were caught" : "were caught",
                                ranks.empty() ? "" : "; ", ranks);
  return told == 0 ? out : out + render_table(std::move(lines), task_headings(beside_published).size() - 2);
}

}  // namespace

std::string render_text(const Leaderboard& board, const std::vector<TaskSet::Unusable>& unusable) {
  const bool beside_published = has_published(board);
  std::vector<Line> lines{model_headings(beside_published)};
  for (const ModelStanding& model : board.models) lines.push_back(model_row(model, beside_published));
  std::string out = render_table(std::move(lines), model_headings(beside_published).size() - 1) + '\n';
  if (const std::string ranks = ranks_text("models", board.ours, board.upstream); !ranks.empty()) out += ranks + '\n';
  for (const std::string& note : notes(beside_published)) out += note + '\n';
  for (const ModelStanding& model : board.models) out += list_tasks(model, beside_published);
  if (!unusable.empty()) out += fmt::format("\nnot evaluated: {} samples\n", unusable.size());
  constexpr size_t kMostUnusable = 5;
  for (size_t i = 0; i < std::min(unusable.size(), kMostUnusable); ++i)
    out += fmt::format("  {}: {}\n", visible_line(unusable[i].task), visible_line(unusable[i].why));
  if (unusable.size() > kMostUnusable)
    out += fmt::format("  and {} more, in leaderboard.json\n", unusable.size() - kMostUnusable);
  return out;
}

}  // namespace passnet::leaderboard
