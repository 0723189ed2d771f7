#include <fmt/format.h>

#include <algorithm>

#include "base/columns.h"
#include "base/visible.h"
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

bool is_told(const TaskStanding& task, bool all_tasks) {
  return all_tasks || !task.reasons.empty() || !task.caught.empty();
}

std::string render_tasks(const ModelStanding& model, bool all_tasks) {
  std::vector<Line> lines{task_headings()};
  for (const TaskStanding& task : model.tasks) {
    if (!is_told(task, all_tasks)) continue;
    lines.push_back(task_row(task));
    lines.back()[0] = shorten_middle(visible_line(task.task), kWidestTask);
  }
  const size_t told = lines.size() - 1;
  std::string out =
      fmt::format("\n{}: {} of {} tasks {}; ranks of tasks beside published: ours {}, upstream's rules {}\n",
                  visible_line(model.model), told, model.tasks.size(),
                  all_tasks ? "shown" : "score other than published, or were caught", correlation_text(model.ours),
                  correlation_text(model.upstream));
  return told == 0 ? out : out + render_table(std::move(lines), task_headings().size() - 2);
}

}  // namespace

std::string render_text(const Leaderboard& board, const std::vector<TaskSet::Unusable>& unusable, bool all_tasks) {
  std::vector<Line> lines{model_headings()};
  for (const ModelStanding& model : board.models) lines.push_back(model_row(model));
  std::string out = render_table(std::move(lines), model_headings().size() - 1);
  out += fmt::format("\nranks of models beside published: ours {}; upstream's rules {}\n", correlation_text(board.ours),
                     correlation_text(board.upstream));
  for (const std::string& note : notes()) out += note + '\n';
  for (const ModelStanding& model : board.models) out += render_tasks(model, all_tasks);
  if (!unusable.empty()) out += fmt::format("\nnot evaluated: {} tasks\n", unusable.size());
  constexpr size_t kMostUnusable = 5;
  for (size_t i = 0; i < std::min(unusable.size(), kMostUnusable); ++i)
    out += fmt::format("  {}: {}\n", visible_line(unusable[i].task), visible_line(unusable[i].why));
  if (unusable.size() > kMostUnusable)
    out += fmt::format("  and {} more, in leaderboard.json\n", unusable.size() - kMostUnusable);
  return out;
}

}  // namespace passnet::leaderboard
