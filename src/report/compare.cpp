#include "report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/json/json.h"
#include "base/text/columns.h"
#include "report/html_style.h"
#include "report/text.h"

namespace passnet::report {

namespace {

using record::Change;
using record::Comparison;

/// What somebody has to look at comes first.
constexpr std::array<Change, record::kChanges> kOrder = {Change::Wrong,   Change::Slower, Change::BothWrong,
                                                         Change::Unclear, Change::Right,  Change::Faster,
                                                         Change::Same,    Change::OnlyA,  Change::OnlyB};

size_t rank(Change change) {
  return static_cast<size_t>(std::find(kOrder.begin(), kOrder.end(), change) - kOrder.begin());
}

std::vector<const Comparison*> sorted(const record::RunComparison& runs) {
  std::vector<const Comparison*> rows;
  for (const Comparison& one : runs.graphs) rows.push_back(&one);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Comparison* x, const Comparison* y) { return rank(x->change) < rank(y->change); });
  return rows;
}

/// "good", "bad", "doubtful" (the page's classes), "" for what is no news.
std::string tone_of(Change change) {
  switch (change) {
    case Change::Faster:
    case Change::Right: return "good";
    case Change::Slower:
    case Change::Wrong:
    case Change::BothWrong: return "bad";
    case Change::Unclear: return "doubtful";
    default: return "";
  }
}

/// "2.31x (2.28x to 2.35x)"; the verdict where there is no speedup, "-" where there is no record.
std::string side_text(const record::ComparedSide& side) {
  if (side.headline.empty()) return "-";
  if (side.speedup <= 0) return side.headline;
  return fmt::format("{:.2f}x ({:.2f}x to {:.2f}x)", side.speedup, side.interval.low, side.interval.high);
}

std::string factor_text(const Comparison& one) {
  if (one.ratio <= 0) return "-";
  return fmt::format("{:.3f}x ({:.2f}x to {:.2f}x)", one.ratio, one.interval.low, one.interval.high);
}

std::string counts_text(const record::RunComparison& runs) {
  std::string text;
  for (const Change change : kOrder) {
    if (const int count = runs.count(change); count > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, to_string(change));
  }
  return text;
}

bool has_several_samples(const record::RunComparison& runs) {
  std::set<std::string> names;
  for (const Comparison& one : runs.graphs) names.insert(one.sample);
  return names.size() > 1;
}

std::string name_of(const Comparison& one, bool several) {
  return visible_line(several ? one.sample + "/" + one.graph : one.graph);
}

std::string colored(const std::string& text, Change change, bool color) {
  const std::string tone = tone_of(change);
  if (!color || tone.empty()) return text;
  return fmt::format("\x1b[{}m{}\x1b[0m", tone == "good" ? "32" : tone == "bad" ? "31" : "33", text);
}

std::string padded(const std::string& text, size_t width) {
  return text + std::string(width - std::min(width, columns(text)), ' ');
}

Json side_json(const record::ComparedSide& side) {
  if (side.headline.empty()) return nullptr;
  Json json{{"verdict", side.headline}, {"correct", side.correct}, {"noisy", side.noisy}};
  if (side.speedup > 0)
    json.update({{"speedup", side.speedup}, {"low", side.interval.low}, {"high", side.interval.high}});
  return json;
}

constexpr size_t kColumns = 6;
using Cells = std::array<std::string, kColumns>;

Cells cells_of(const Comparison& one, bool several_samples) {
  return {to_string(one.change), name_of(one, several_samples), factor_text(one), side_text(one.a),
          side_text(one.b),      visible_line(one.why)};
}

void add_line(std::string& out, const Cells& cells, const std::array<size_t, kColumns>& widths,
              const std::function<std::string(const std::string&)>& first = {}) {
  for (size_t i = 0; i < kColumns; ++i) {
    const std::string cell = i + 1 < kColumns ? padded(cells[i], widths[i]) : cells[i];
    if (i > 0) out += "  ";
    out += i == 0 && first ? first(cell) : cell;
  }
  out.erase(out.find_last_not_of(' ') + 1);
  out += "\n";
}

}  // namespace

// The cells are made twice: a run may have so many graphs that those of all do not fit into memory.
std::string render_comparison(const record::RunComparison& runs, const RunNames& names, bool color) {
  const bool several = has_several_samples(runs);
  const Cells title = {"", "graph", "B / A", "speedup in A", "speedup in B", ""};
  const std::vector<const Comparison*> rows = sorted(runs);
  std::array<size_t, kColumns> widths{};
  const auto widen = [&](const Cells& cells) {
    for (size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], columns(cells[i]));
  };
  widen(title);
  for (const Comparison* one : rows) widen(cells_of(*one, several));
  std::string out = fmt::format("A: {}\nB: {}\n\n", visible_line(names.a), visible_line(names.b));
  add_line(out, title, widths);
  for (const Comparison* one : rows)
    add_line(out, cells_of(*one, several), widths,
             [&](const std::string& cell) { return colored(cell, one->change, color); });
  out += "\n" + counts_text(runs) + "\n";
  if (!runs.differences.empty()) out += "B is made of other things than A:\n";
  for (const std::string& difference : runs.differences) out += "  " + visible_line(difference) + "\n";
  return out;
}

std::string render_comparison_json(const record::RunComparison& runs, const RunNames& names) {
  Json counts = Json::object(), graphs = Json::array(), differences = Json::array();
  for (const Change change : kOrder) counts[to_string(change)] = runs.count(change);
  for (const std::string& difference : runs.differences) differences.push_back(valid_utf8(difference));
  for (const Comparison& one : runs.graphs) {
    Json json{{"sample", valid_utf8(one.sample)},
              {"graph", valid_utf8(one.graph)},
              {"change", to_string(one.change)},
              {"a", side_json(one.a)},
              {"b", side_json(one.b)}};
    if (one.ratio > 0) json.update({{"ratio", one.ratio}, {"low", one.interval.low}, {"high", one.interval.high}});
    if (!one.why.empty()) json["why"] = valid_utf8(one.why);
    graphs.push_back(std::move(json));
  }
  const Json json{{"a", valid_utf8(names.a)}, {"b", valid_utf8(names.b)},   {"worse", runs.worse()},
                  {"counts", counts},         {"differences", differences}, {"graphs", graphs}};
  return dump(json, 2) + "\n";
}

std::string render_comparison_table(const record::RunComparison& runs, size_t most) {
  const bool several = has_several_samples(runs);
  std::string out =
      "<div class=\"wide\"><table>\n<thead><tr><th></th><th>graph</th><th class=\"number\">B / A</th>"
      "<th class=\"number\">speedup in A</th><th class=\"number\">speedup in B</th><th></th></tr></thead>\n<tbody>\n";
  std::vector<const Comparison*> rows = sorted(runs);
  rows.resize(std::min(rows.size(), most));
  for (const Comparison* one : rows) {
    out += fmt::format(
        "<tr><td class=\"verdict {}\">{}</td><td class=\"name\">{}</td><td class=\"number\">{}</td>"
        "<td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"words\">{}</td></tr>\n",
        tone_of(one->change), to_string(one->change), breakable(name_of(*one, several)), factor_text(*one),
        escape_html(side_text(one->a)), escape_html(side_text(one->b)), escape_html(one->why));
  }
  return out + "</tbody></table></div>\n";
}

std::string render_comparison_html(const record::RunComparison& runs, const RunNames& names) {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>PassNet: two runs "
      "compared</title>\n";
  out += fmt::format("<style>{}</style>\n</head>\n<body>\n<h1>{}</h1>\n<p class=\"quiet\">A: {}<br>B: {}</p>\n",
                     html_style(), counts_text(runs), escape_html(names.a), escape_html(names.b));
  if (!runs.differences.empty()) {
    out += "<p>B is made of other things than A:</p>\n<ul>\n";
    for (const std::string& difference : runs.differences) out += fmt::format("<li>{}</li>\n", escape_html(difference));
    out += "</ul>\n";
  }
  return out + render_comparison_table(runs, runs.graphs.size()) +
         "<footer><p>Speedups are medians of the reference over medians of the candidate, in "
         "brackets their "
         "95 % intervals. FASTER and SLOWER: the intervals do not overlap. SAME: the change is below 10 % whatever is "
         "true within "
         "them. UNCLEAR: neither.</p></footer>\n</body>\n</html>\n";
}

}  // namespace passnet::report
