#include "agent/feedback/feedback.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agent/chat/conversation.h"
#include "base/file/replace.h"
#include "base/json/json_fields.h"
#include "base/text/strings.h"
#include "record/floor.h"
#include "report/row.h"

namespace passnet::agent {

using record::RunRecord;

namespace {

struct Problem {
  std::string key;   // the text, whichever graph it is of
  std::string text;  // of the first graph that has it
  std::vector<std::string> graphs;
};

std::string diagnosis_of(const RunRecord& one) {
  std::string text;
  for (const record::PassOutcome& pass : one.passes) {
    if (pass.matches == 0 && !pass.diagnosis.empty()) text += fmt::format("pass '{}': {}\n", pass.pass, pass.diagnosis);
  }
  return text;
}

// What is wrong, each with its graphs: graphs of a sample mostly fail alike.
std::vector<Problem> problems_of(const std::vector<RunRecord>& records, const std::vector<report::Row>& rows) {
  std::vector<Problem> problems;
  for (size_t i = 0; i < rows.size(); ++i) {
    std::string text = rows[i].problem;
    if (records[i].stage == record::Stage::Build) text = cut_compiler_output(text);
    // Where nothing matched at all, the error holds what came nearest.
    if (rows[i].problem.empty()) text = diagnosis_of(records[i]);
    if (text.empty()) continue;
    std::string key = replace_all(text, rows[i].graph, "");
    const auto known = std::ranges::find(problems, key, &Problem::key);
    if (known == problems.end())
      problems.push_back({std::move(key), std::move(text), {rows[i].graph}});
    else
      known->graphs.push_back(rows[i].graph);
  }
  return problems;
}

std::string named(const std::vector<std::string>& graphs) {
  constexpr size_t kNamed = 4;
  std::string text = join(std::span(graphs.data(), std::min(graphs.size(), kNamed)), ", ");
  if (graphs.size() > kNamed) text += fmt::format(" and {} more", graphs.size() - kNamed);
  return text;
}

std::string line_of(const report::Row& row) {
  std::string line = fmt::format("{}: {}", row.graph, row.headline);
  if (row.ratio > 0)
    line += fmt::format(", {} (95 %: {}), {:.1f} us -> {:.1f} us", report::speedup_text(row),
                        report::interval_text(row), row.reference_us.median, row.candidate_us.median);
  line += fmt::format(", sites {}", report::sites_text(row));
  return line + "\n";
}

std::string head_of(const Outcome& outcome) {
  std::string text =
      fmt::format("score {:.3f} (1 = eager); {} of {} graphs correct", outcome.score, outcome.correct, outcome.graphs);
  if (outcome.abstained > 0) text += fmt::format(", {} left as they are", outcome.abstained);
  if (outcome.unmeasured > 0)
    text += fmt::format(", {} not measured (the machine was busy: evaluate again)", outcome.unmeasured);
  return text + "\n";
}

}  // namespace

std::string render_feedback(const std::vector<RunRecord>& records, int64_t max_tokens) {
  const std::vector<report::Row> rows = report::rows_of(records);
  const std::string head = head_of(outcome_of(records));
  const std::string hint = fmt::format("\nnext: {}", best_hint(records));
  int64_t left = max_tokens - estimate_tokens(head) - estimate_tokens(hint);
  // At most half for the lines of graphs, so that something is left for why.
  std::string lines;
  size_t shown = 0;
  for (; shown < rows.size(); ++shown) {
    const std::string line = line_of(rows[shown]);
    if (estimate_tokens(lines + line) > left / 2) break;
    lines += line;
  }
  if (shown < rows.size()) lines += fmt::format("[and {} more graphs]\n", rows.size() - shown);
  left -= estimate_tokens(lines);
  const std::vector<Problem> problems = problems_of(records, rows);
  std::string why;
  for (size_t i = 0; i < problems.size(); ++i) {
    const int64_t share = (left - estimate_tokens(why)) / static_cast<int64_t>(problems.size() - i);
    if (share < 24) {
      why += fmt::format("\n[and {} more problems]\n", problems.size() - i);
      break;
    }
    why += fmt::format("\n{}:\n{}\n", named(problems[i].graphs), shorten_text(problems[i].text, share - 12));
  }
  return head + lines + why + hint;
}

Json feedback_facts(const std::vector<RunRecord>& records) {
  const Outcome outcome = outcome_of(records);
  const std::vector<report::Row> rows = report::rows_of(records);
  Json graphs = Json::array();
  for (size_t i = 0; i < rows.size(); ++i) {
    const report::Row& row = rows[i];
    Json graph{{"graph", row.graph},
               {"verdict", row.headline},
               {"ratio", row.ratio > 0 ? number_json(row.ratio) : Json()},
               {"interval", nullptr},
               {"before_us", row.timed ? number_json(row.reference_us.median) : Json()},
               {"after_us", row.timed ? number_json(row.candidate_us.median) : Json()},
               {"bound_us", nullptr},
               {"sites", row.sites},
               {"declined", row.declined},
               {"problem", valid_utf8(row.problem)},
               {"first_wrong", nullptr}};
    if (row.interval.known()) graph["interval"] = {number_json(row.interval.low), number_json(row.interval.high)};
    if (records[i].floor) graph["bound_us"] = number_json(records[i].floor->us / record::kFloorShare);
    for (size_t output = 0; output < records[i].outputs.size(); ++output) {
      const auto& mismatch = records[i].outputs[output].mismatch;
      if (!mismatch || mismatch->beyond == 0 || mismatch->expected.empty()) continue;
      graph["first_wrong"] = {
          {"output", output}, {"index", mismatch->first}, {"expected", mismatch->expected}, {"found", mismatch->found}};
      break;
    }
    graphs.push_back(std::move(graph));
  }
  return {{"score", number_json(outcome.score)}, {"correct", outcome.correct},  {"abstained", outcome.abstained},
          {"unmeasured", outcome.unmeasured},    {"graphs", std::move(graphs)}, {"hint", best_hint(records)}};
}

}  // namespace passnet::agent
