#include <fmt/format.h>

#include <algorithm>

#include "agent/chat/conversation.h"
#include "agent/feedback/feedback.h"
#include "base/text/strings.h"
#include "record/floor.h"
#include "report/row.h"

namespace passnet::agent {

using record::RunRecord;

namespace {

std::string times_of(const RunRecord& one, const report::Row& row) {
  if (!row.timed) return "";
  std::string text =
      fmt::format("a call takes {:.1f} us, without passes {:.1f} us", row.candidate_us.median, row.reference_us.median);
  if (one.floor)
    text += fmt::format("; it must move {}, which a copy does in {:.1f} us",
                        bytes_text(static_cast<double>(one.floor->bytes)), one.floor->us / record::kFloorShare);
  return text + "\n";
}

std::string profile_of(const record::Profile& profile) {
  std::string text = fmt::format("by part, of {:.1f} us with the clocks in it:\n", profile.call_us);
  for (const record::Profile::Launch& launch : profile.launches)
    text += fmt::format("  {:.1f} us  kernel {} ({}.py:{}); it gets {}, a copy of that takes {:.1f} us\n", launch.us,
                        launch.kernel, launch.pass, launch.line, bytes_text(static_cast<double>(launch.bytes)),
                        launch.bound_us);
  for (const record::Profile::Other& other : profile.others)
    text += fmt::format("  {:.1f} us  outside of passes: {}\n", other.us, other.statement);
  return text;
}

std::string explain(const RunRecord& one, const report::Row& row) {
  std::string text = fmt::format("{}: {}, sites {}\n", row.graph, row.headline, report::sites_text(row));
  if (!row.problem.empty()) text += row.problem + "\n";
  text += times_of(one, row);
  if (one.profile) text += profile_of(*one.profile);
  for (const record::PassOutcome& pass : one.passes) {
    if (!pass.diagnosis.empty()) text += fmt::format("pass '{}': {}\n", pass.pass, pass.diagnosis);
    for (const std::string& idle : pass.idle)
      text += fmt::format("pass '{}' does what nobody needs: {}\n", pass.pass, idle);
  }
  return text;
}

}  // namespace

std::string render_explanation(const std::vector<RunRecord>& records, const std::string& graph, int64_t max_tokens) {
  const std::vector<report::Row> rows = report::rows_of(records);
  std::vector<size_t> order;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (graph.empty() || rows[i].graph == graph) order.push_back(i);
  }
  // What fails first, then the slowest.
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return std::pair(rows[a].tone != report::Tone::Bad, rows[a].ratio) <
           std::pair(rows[b].tone != report::Tone::Bad, rows[b].ratio);
  });
  std::string text;
  const size_t wanted = graph.empty() ? 2 : 1;
  for (size_t i = 0; i < std::min(order.size(), wanted); ++i)
    text += shorten_text(explain(records[order[i]], rows[order[i]]), max_tokens / static_cast<int64_t>(wanted)) + "\n";
  if (order.size() > wanted) text += fmt::format("[{} other graphs: name one as 'graph']\n", order.size() - wanted);
  return text + "next: " + best_hint(records);
}

}  // namespace passnet::agent
