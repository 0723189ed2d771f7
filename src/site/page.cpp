#include "site/page.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text/strings.h"
#include "report/row.h"
#include "report/text.h"

namespace passnet::site {

using report::escape_html;

namespace {

std::string link_html(const Frame& frame, const char* path, const char* text) {
  const char* current = frame.path == path ? " aria-current=\"page\"" : "";
  return fmt::format("<a href=\"{}{}\"{}>{}</a>\n", root_of(frame.path), path, current, text);
}

}  // namespace

std::string root_of(const std::string& path) { return path.find('/') == std::string::npos ? "" : "../"; }

std::string render_page(const Frame& frame, const std::string& body) {
  const std::string root = root_of(frame.path);
  std::string nav = link_html(frame, "index.html", "Leaderboard") + link_html(frame, "tasks.html", "Tasks") +
                    link_html(frame, "compare.html", "Compare");
  if (frame.history) nav += link_html(frame, "history.html", "History");
  if (frame.attacks) nav += link_html(frame, "attacks.html", "Attacks");
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}: PassNet</title>\n"
      "<link rel=\"stylesheet\" href=\"{1}style.css\">\n<script src=\"{1}site.js\" "
      "defer></script>\n</head>\n<body{4}>\n"
      "<nav aria-label=\"pages\">{2}</nav>\n<main>\n{3}</main>\n</body>\n</html>\n",
      escape_html(frame.title), root, nav, body,
      frame.version == 0 ? "" : fmt::format(" data-events=\"{}events?since={}\"", root, frame.version));
}

const char* css_of(double ratio, const record::Interval& interval) {
  if (!interval.known()) return ratio > 1 ? "faster" : "slower";
  return interval.contains(1) ? "same" : ratio > 1 ? "faster" : "slower";
}

std::string ratio_html(double ratio, const record::Interval& interval) {
  if (ratio <= 0) return "-";
  std::string out = fmt::format("<b class=\"{}\">{}</b>", css_of(ratio, interval), report::ratio_text(ratio));
  if (interval.known()) out += fmt::format("<small>{:.2f} to {:.2f}</small>", interval.low, interval.high);
  return out;
}

std::string percent_text(double share) { return share > 0 ? fmt::format("{:.0f} %", 100 * share) : "-"; }

std::string limit_html(double share, record::Bound bound) {
  return fmt::format("{}<small>{}</small>", percent_text(share), to_string(bound));
}

std::string microseconds_text(double us) { return us > 0 ? fmt::format("{:.4g}", us) : "-"; }

std::string render_head(const std::vector<Heading>& headings) {
  std::string out = "<thead><tr>";
  for (const Heading& heading : headings) {
    const std::string title = *heading.title == 0 ? "" : fmt::format(" title=\"{}\"", escape_html(heading.title));
    if (*heading.text == 0)
      out += "<td></td>";
    else
      out += fmt::format("<th scope=\"col\" class=\"{0}\" data-sort=\"{0}\"{1}>{2}</th>",
                         heading.is_number ? "number" : "text", title, heading.text);
  }
  return out + "</tr></thead>\n";
}

std::string number_cell(double key, bool present, const std::string& html) {
  const bool shown = present && std::isfinite(key);
  return fmt::format("<td class=\"number\" data-k=\"{}\">{}</td>", shown ? fmt::format("{:.6g}", key) : "",
                     present ? html : "-");
}

std::string text_cell(const std::string& html, std::string_view css) {
  return css.empty() ? fmt::format("<td>{}</td>", html) : fmt::format("<td class=\"{}\">{}</td>", css, html);
}

std::string script_json(const char* id, const Json& json) {
  std::string text;
  for (const char c : compact(json)) {
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  }
  return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", id, text);
}

std::string counted_entries(const Board& board) {
  return fmt::format("{} {}", board.entries.size(), board.entries.size() == 1 ? "entry" : "entries");
}

report::Speed speed_of(const record::Interval& interval) {
  if (interval.contains(1)) return report::Speed::Same;
  return interval.low > 1 ? report::Speed::Faster : report::Speed::Slower;
}

std::string render_search(const std::string& what, size_t count) {
  return fmt::format(
      "<form class=\"filters\" hidden><label>Search <input type=\"search\" name=\"text\"></label>"
      "<output aria-live=\"polite\">{}</output></form>\n",
      counted(count, what));
}

}  // namespace passnet::site
