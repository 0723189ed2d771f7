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
    const char* css = i == 0 ? "name" : i < first_left_again ? "number" : "words";
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

std::string render_tasks(const ModelStanding& model, bool beside_published) {
  const std::string ranks = ranks_text("samples", model.ours, model.upstream);
  const std::vector<std::string> headings = task_headings(beside_published);
  return fmt::format("<details><summary>{}: {} samples{}{}</summary>\n", report::escape_html(model.model),
                     model.tasks.size(), ranks.empty() ? "" : "; ", ranks) +
         render_table(headings, headings.size() - 2,
                      [&](auto&& append) {
                        for (const TaskStanding& task : model.tasks) append(task_row(task, beside_published));
                      }) +
         "</details>\n";
}

}  // namespace

std::string render_html(const Leaderboard& board, const std::vector<TaskSet::Unusable>& unusable) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>PassNet: leaderboard</title>\n"
      "<style>{}</style>\n</head>\n<body>\n<h1>Leaderboard</h1>\n",
      report::html_style());
  const bool beside_published = has_published(board);
  if (const std::string ranks = ranks_text("models", board.ours, board.upstream); !ranks.empty())
    out += fmt::format("<p class=\"quiet\">{}</p>\n", ranks);
  const std::vector<std::string> headings = model_headings(beside_published);
  out += render_table(headings, headings.size() - 1, [&](auto&& append) {
    for (const ModelStanding& model : board.models) append(model_row(model, beside_published));
  });
  out += "<h2>Samples</h2>\n";
  for (const ModelStanding& model : board.models) out += render_tasks(model, beside_published);
  if (!unusable.empty()) out += fmt::format("<h2>Not evaluated: {} samples</h2>\n<ul>\n", unusable.size());
  for (const TaskSet::Unusable& one : unusable)
    out += fmt::format("<li>{}: {}</li>\n", report::escape_html(one.task), report::escape_html(one.why));
  if (!unusable.empty()) out += "</ul>\n";
  out += "<footer>";
  for (const std::string& note : notes(beside_published)) out += fmt::format("<p>{}</p>", report::escape_html(note));
  return out + "</footer>\n</body>\n</html>\n";
}

}  // namespace passnet::leaderboard
