#include <fmt/format.h>

#include "leaderboard/render.h"
#include "leaderboard/words.h"
#include "report/html_style.h"
#include "report/text.h"

namespace passnet::leaderboard {

namespace {

std::string render_row(const std::vector<std::string>& cells, const char* tag, size_t first_left_again) {
  std::string out = "<tr>";
  for (size_t i = 0; i < cells.size(); ++i) {
    const char* css = i == 0 ? "name" : i < first_left_again ? "number" : "";
    out += fmt::format("<{0} class=\"{1}\">{2}</{0}>", tag, css, report::escape_html(cells[i]));
  }
  return out + "</tr>\n";
}

/// Of rows that are given as they are asked for: fill(append).
template <class Fill>
std::string render_table(const std::vector<std::string>& headings, size_t first_left_again, Fill&& fill) {
  std::string out =
      "<div class=\"wide\"><table>\n<thead>" + render_row(headings, "th", first_left_again) + "</thead>\n<tbody>\n";
  fill([&](const std::vector<std::string>& cells) { out += render_row(cells, "td", first_left_again); });
  return out + "</tbody></table></div>\n";
}

std::string render_tasks(const ModelStanding& model) {
  return fmt::format("<details><summary>{}: {} tasks; ranks beside published: ours {}, upstream's rules {}</summary>\n",
                     report::escape_html(model.model), model.tasks.size(), correlation_text(model.ours),
                     correlation_text(model.upstream)) +
         render_table(task_headings(), task_headings().size() - 2,
                      [&](auto&& append) {
                        for (const TaskStanding& task : model.tasks) append(task_row(task));
                      }) +
         "</details>\n";
}

}  // namespace

std::string render_html(const Leaderboard& board, const std::vector<TaskSet::Unusable>& unusable) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>PassNet: leaderboard</title>\n"
      "<style>{}</style>\n</head>\n<body>\n<h1>Leaderboard</h1>\n<p class=\"quiet\">Ranks of models beside published: "
      "ours {}; upstream's rules {}</p>\n",
      report::html_style(), correlation_text(board.ours), correlation_text(board.upstream));
  out += render_table(model_headings(), model_headings().size() - 1, [&](auto&& append) {
    for (const ModelStanding& model : board.models) append(model_row(model));
  });
  out += "<h2>Tasks</h2>\n";
  for (const ModelStanding& model : board.models) out += render_tasks(model);
  if (!unusable.empty()) out += fmt::format("<h2>Not evaluated: {} tasks</h2>\n<ul>\n", unusable.size());
  for (const TaskSet::Unusable& one : unusable)
    out += fmt::format("<li>{}: {}</li>\n", report::escape_html(one.task), report::escape_html(one.why));
  if (!unusable.empty()) out += "</ul>\n";
  out += "<footer>";
  for (const std::string& note : notes()) out += fmt::format("<p>{}</p>", report::escape_html(note));
  return out + "</footer>\n</body>\n</html>\n";
}

}  // namespace passnet::leaderboard
