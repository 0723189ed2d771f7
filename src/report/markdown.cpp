#include "report/markdown.h"

#include <fmt/format.h>

#include "report/row.h"
#include "report/text.h"

namespace passnet::report {

namespace {

/// Plain text in a cell of a Markdown table: nothing in it is markup, and it cannot leave its cell.
std::string escape_markdown(std::string_view text) {
  std::string out;
  for (char c : escape_html(text)) {
    if (c == '\n')
      out += ' ';
    else if (std::string_view("\\`*_[]|~").find(c) != std::string_view::npos)
      out += fmt::format("\\{}", c);
    else
      out += c;
  }
  return out;
}

std::string times_text(const record::Stats& us, bool timed) { return timed ? fmt::format("{:.1f}", us.median) : "-"; }

}  // namespace

std::string render_markdown(const std::vector<record::RunRecord>& records, const record::Score& score) {
  std::string out =
      fmt::format("{} of {} correct, geometric mean **{}**, aggregated score **{:.3f}** (1 = eager)", score.correct,
                  score.total, ratio_text(score.geomean_speedup.value_or(0)), score.aggregated_linear);
  const std::string how = conditions(records);
  out += how.empty() ? ".\n\n" : fmt::format("; {}.\n\n", escape_markdown(how));
  out +=
      "| graph | verdict | ratio | before us | after us | max error | sites "
      "|\n|---|---|--:|--:|--:|--:|--:|\n";
  for (const Row& row : rows_of(records)) {
    out += fmt::format("| {} | {} | {}{} | {} | {} | {} | {} |\n", escape_markdown(row.name),
                       escape_markdown(row.headline), ratio_text(row.ratio), row.noisy ? " (noisy)" : "",
                       times_text(row.reference_us, row.timed), times_text(row.candidate_us, row.timed),
                       error_text(row), sites_text(row));
  }
  return out;
}

}  // namespace passnet::report
