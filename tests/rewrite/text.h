// Graphs and patterns from text, and what a rewrite gives as text.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/text/strings.h"
#include "fx/print.h"
#include "fx/syntax/parser.h"
#include "ir/verify.h"
#include "rewrite/match.h"
#include "rewrite/rewrite.h"

namespace passnet::rewrite {

struct Case {
  const char* name;
  const char* pattern;
  const char* graph;
  const char* expected;
};

inline void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

inline constexpr const char* kExpSin = "def pattern(x): return x.exp().sin()";

/// "def f(a): b = a.exp(); return b" with a line per statement; other texts as they are.
inline std::string in_lines(const std::string& text) {
  const size_t colon = text.find("): ");
  if (text.find('\n') != std::string::npos || colon == std::string::npos) return text;
  std::string lines = text.substr(0, colon + 2);
  for (const std::string_view statement : split(std::string_view(text).substr(colon + 3), ';'))
    lines += fmt::format("\n    {}", trim(statement));
  return lines + "\n";
}

/// A function `def NAME(…): …`, in one line or several, whose first line is line 1 of `file`.
inline ir::Graph parse(const std::string& file, const std::string& text) {
  size_t end = 0;
  auto graph = fx::parse_function(file, std::make_shared<const std::string>(in_lines(text)), 0, &end);
  if (!graph) {
    ADD_FAILURE() << to_string(graph.error());
    return {};
  }
  return std::move(*graph);
}

inline MatchReport find(const std::string& pattern, ir::Graph& graph, const MatchOptions& options = {}) {
  auto report = find_matches(parse("Pass.py", pattern), graph, options);
  if (!report) {
    ADD_FAILURE() << to_string(report.error());
    return {};
  }
  return std::move(*report);
}

/// What the match's inputs and outputs are: "x=a, y=2 -> c".
inline std::string describe(const ir::Graph& pattern, const ir::Graph& graph, const Match& match) {
  std::string text;
  for (size_t i = 0; i < match.inputs.size(); ++i)
    text += fmt::format("{}{}={}", i == 0 ? "" : ", ", pattern.node(static_cast<ir::NodeId>(i)).name,
                        fx::print_arg(graph, match.inputs[i]));
  text += " -> ";
  for (size_t i = 0; i < match.outputs.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", graph.node(match.outputs[i]).name);
  return text;
}

/// All matches, one per line; without any, the reason of the nearest miss.
inline std::string outcome(const std::string& pattern_text, const std::string& graph_text,
                           const MatchOptions& options = {}) {
  const ir::Graph pattern = parse("Pass.py", pattern_text);
  ir::Graph graph = parse("model.py", graph_text);
  auto report = find_matches(pattern, graph, options);
  if (!report) return to_string(report.error());
  if (report->matches.empty())
    return fmt::format("{}/{} {}", report->miss->matched, report->miss->total, report->miss->reason);
  std::string text;
  for (const Match& match : report->matches) text += (text.empty() ? "" : "\n") + describe(pattern, graph, match);
  return text;
}

/// The sites of all matches; the kernels get the inputs that are nodes, in order.
inline std::vector<Site> sites_of(const MatchReport& report) {
  std::vector<Site> sites;
  for (const Match& match : report.matches) {
    Site site{match, static_cast<int64_t>(sites.size()), {}};
    for (const ir::Arg& input : match.inputs) {
      if (input.kind == ir::ArgKind::Node) site.inputs.push_back(input.node);
    }
    sites.push_back(std::move(site));
  }
  return sites;
}

/// The body of a graph, one statement per line, without the signature.
inline std::string body(const ir::Graph& graph) {
  std::string text;
  for (ir::NodeId id = graph.placeholder_count(); id < graph.size(); ++id)
    text += fx::print_node(graph, graph.node(id)) + "\n";
  return text;
}

}  // namespace passnet::rewrite
