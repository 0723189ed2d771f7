// What a model is told of an evaluation: from records to text under a budget of tokens, and the same facts as JSON.
#pragma once

#include <string>
#include <vector>

#include "base/json/json.h"
#include "record/record.h"
#include "rewrite/match.h"

namespace passnet::agent {

/// What records come to.
struct Outcome {
  size_t graphs = 0;
  size_t correct = 0;     // at record::kCorrectT
  size_t abstained = 0;   // no pass applied: the graph is as it was
  size_t unmeasured = 0;  // disturbed, or not evaluated for reasons of the machine: nothing is known of them
  double score = 1;       // 1 is eager; the aggregated score, abstaining counts 1
  bool measured() const { return unmeasured == 0 && graphs > 0; }
  /// Right everywhere and faster.
  bool succeeded() const { return measured() && correct + abstained == graphs && score > 1; }
  bool operator==(const Outcome&) const = default;
};
Outcome outcome_of(const std::vector<record::RunRecord>& records);

/// The one thing to do next.
std::string best_hint(const std::vector<record::RunRecord>& records);

/// What a compiler said, cut to what matters: the errors with the line that each points at, the first few of them.
std::string cut_compiler_output(std::string_view text, size_t max_lines = 24);

/// Score, a line per graph, each problem once with the graphs that have it, and the hint. About max_tokens at most: where
/// it would be more, problems are cut first, then lines of graphs.
std::string render_feedback(const std::vector<record::RunRecord>& records, int64_t max_tokens);

/// Where the time of a call goes, launch by launch, beside what a copy of as many bytes takes, and the first wrong
/// elements. graph: of its name alone; empty: of the worst and of the slowest.
std::string render_explanation(const std::vector<record::RunRecord>& records, const std::string& graph,
                               int64_t max_tokens);

/// {"score", "graphs": [{"graph", "verdict", "ratio", "interval", "problem", "first_wrong"}], "hint"}
Json feedback_facts(const std::vector<record::RunRecord>& records);

/// One pass on one graph.
struct MatchedGraph {
  std::string graph, pass;
  rewrite::MatchReport report;
};
/// How often each pass matches, and the nearest miss of those that do not anywhere.
std::string render_matches(const std::vector<MatchedGraph>& matched, int64_t max_tokens);

/// At most that many tokens: the beginning and the end, with a word of what is left out between them.
std::string shorten_text(const std::string& text, int64_t max_tokens);

}  // namespace passnet::agent
