// passnet pass match: where passes match, what came nearest where they do not, and over many graphs which came nearest.
#include "rewrite/match.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/file/paths.h"
#include "base/json/json.h"
#include "command.h"
#include "fx/print.h"
#include "graphdir/sample.h"
#include "options.h"
#include "pass_commands/files.h"

namespace passnet::cli {

namespace {

struct MatchFlags {
  std::string pass;
  std::vector<std::string> graphs;
  rewrite::MatchOptions options;
  bool allow_library = false;
  bool json = false;
};

// One pass on one graph.
struct MatchOutcome {
  std::string graph, pass;
  size_t matches = 0, refused = 0;
  uint32_t fitting = 0, total = 0;  // operators of the pattern; all of them fit at a match
  std::string reason = {};          // of the nearest miss; empty at a match
  bool as_written = false;          // matches without --matching generalize too
  Json report = {};                 // of --json
};

// Matches first, then what was refused, then by the share of operators that fit; equal ones stay in their order.
bool is_nearer(const MatchOutcome& a, const MatchOutcome& b) {
  if ((a.matches > 0) != (b.matches > 0)) return a.matches > 0;
  if ((a.refused > 0) != (b.refused > 0)) return a.refused > 0;
  return uint64_t{a.fitting} * b.total > uint64_t{b.fitting} * a.total;
}

void print_match(const ir::Graph& graph, const rewrite::Match& match) {
  for (const ir::NodeId node : match.nodes) {
    if (node == ir::kNoNode || graph.node(node).kind == ir::NodeKind::Placeholder) continue;
    say("  {}:{}: {}\n", graph.file, graph.locate(graph.node(node)).line, fx::print_node(graph, graph.node(node)));
  }
}

void print_report(const ir::Graph& graph, const MatchOutcome& outcome, const rewrite::MatchReport& report) {
  say("{}: pass '{}': {} match{}\n", outcome.graph, outcome.pass, outcome.matches, outcome.matches == 1 ? "" : "es");
  for (const rewrite::Match& match : report.matches) print_match(graph, match);
  for (const rewrite::NearestMiss& refused : report.refused) say("  {}\n", Lines{rewrite::to_string(refused)});
  // Where something was refused, that is the nearest miss too.
  if (report.miss && report.refused.empty()) say("  {}\n", Lines{rewrite::to_string(*report.miss)});
}

Json place(const SourceLoc& at, const std::string& text) {
  return {{"file", at.file}, {"line", at.line}, {"text", text}};
}

Json to_json(const rewrite::NearestMiss& miss) {
  return {{"fitting", miss.fitting},
          {"total", miss.total},
          {"reason", miss.reason},
          {"pattern", place(miss.pattern_at, miss.pattern_text)},
          {"at", miss.graph_text.empty() ? Json(nullptr) : place(miss.graph_at, miss.graph_text)}};
}

Json to_json(const ir::Graph& graph, const MatchOutcome& outcome, const rewrite::MatchReport& report) {
  Json json{{"graph", outcome.graph},
            {"pass", outcome.pass},
            {"matches", Json::array()},
            {"refused", Json::array()},
            {"fitting", outcome.fitting},
            {"total", outcome.total},
            {"miss", report.miss ? to_json(*report.miss) : Json(nullptr)}};
  for (const rewrite::Match& match : report.matches) {
    Json lines = Json::array();
    for (const ir::NodeId node : match.nodes) {
      if (node != ir::kNoNode && graph.node(node).kind != ir::NodeKind::Placeholder)
        lines.push_back(graph.locate(graph.node(node)).line);
    }
    json["matches"].push_back({{"lines", std::move(lines)}});
  }
  for (const rewrite::NearestMiss& refused : report.refused) json["refused"].push_back(to_json(refused));
  return json;
}

MatchOutcome summarize(const std::string& graph, const pass::Pass& pass, const rewrite::MatchReport& report) {
  MatchOutcome outcome{graph, pass.name, report.matches.size(), report.refused.size()};
  if (!report.miss) {
    const auto stands = [](ir::NodeId node) { return node != ir::kNoNode; };
    const auto& nodes = report.matches.front().nodes;
    const size_t inputs = pass.pattern.placeholder_count();
    outcome.fitting = outcome.total = static_cast<uint32_t>(std::count_if(nodes.begin() + inputs, nodes.end(), stands));
    return outcome;
  }
  outcome.fitting = report.miss->fitting;
  outcome.total = report.miss->total;
  outcome.reason = report.miss->reason;
  return outcome;
}

void print_summary(const std::vector<MatchOutcome>& outcomes) {
  const auto matched =
      std::count_if(outcomes.begin(), outcomes.end(), [](const MatchOutcome& one) { return one.matches > 0; });
  std::string text = fmt::format("\n{} of {} match; the nearest first:\n", matched, outcomes.size());
  for (const MatchOutcome& one : outcomes) {
    const std::string how = one.matches > 0   ? fmt::format("{} match{}", one.matches, one.matches == 1 ? "" : "es")
                            : one.refused > 0 ? std::string("refused")
                                              : fmt::format("{} of {} operators", one.fitting, one.total);
    text +=
        fmt::format("{:<18}  {}  pass '{}'{}\n", how, one.graph, one.pass, one.reason.empty() ? "" : ": " + one.reason);
  }
  print_result(text);
}

// How far each pass reaches, and how far it does as it is written.
void print_reach(const std::vector<MatchOutcome>& outcomes, const std::vector<pass::Pass>& passes) {
  std::string text = "\n";
  for (const pass::Pass& pass : passes) {
    size_t graphs = 0, reached = 0, as_written = 0;
    for (const MatchOutcome& one : outcomes) {
      if (one.pass != pass.name) continue;
      ++graphs;
      reached += one.matches > 0 ? 1 : 0;
      as_written += one.as_written ? 1 : 0;
    }
    text +=
        fmt::format("pass '{}' reaches {} of {} graphs, {} as it is written\n", pass.name, reached, graphs, as_written);
  }
  print_result(text);
}

Result<void> match_graph(const std::filesystem::path& path, const std::vector<pass::Pass>& passes,
                         const MatchFlags& flags, std::vector<MatchOutcome>& outcomes) {
  PASSNET_TRY(graphdir::GraphDir graph, graphdir::load_graph_dir(path));
  rewrite::PreparedGraph prepared(graph.graph, flags.options);
  Budget steps(rewrite::kMatching, {rewrite::kMostMatchTime, &interrupted()});
  std::optional<rewrite::PreparedGraph> as_written;
  if (flags.options.generalize) as_written.emplace(graph.graph);
  for (const pass::Pass& pass : passes) {
    PASSNET_TRY(const rewrite::MatchReport report, rewrite::find_matches(pass.pattern, prepared, steps));
    outcomes.push_back(summarize(path.string(), pass, report));
    if (as_written) {
      PASSNET_TRY(const rewrite::MatchReport literal, rewrite::find_matches(pass.pattern, *as_written, steps));
      outcomes.back().as_written = !literal.matches.empty();
    }
    if (flags.json) {
      outcomes.back().report = to_json(graph.graph, outcomes.back(), report);
      if (as_written) outcomes.back().report["as_written"] = outcomes.back().as_written;
    } else {
      print_report(graph.graph, outcomes.back(), report);
    }
  }
  return {};
}

Result<ExitCode> match_passes(const MatchFlags& flags) {
  PASSNET_TRY(const std::vector<pass::Pass> passes,
              pass::load_passes(flags.pass, {flags.allow_library, &interrupted()}));
  PASSNET_TRY_VOID(check_names(passes));
  std::vector<MatchOutcome> outcomes;
  for (const std::string& root : flags.graphs) {
    const std::vector<std::filesystem::path> found = graphdir::find_graph_dirs(root);
    if (found.empty()) return bad_input(fmt::format("no model.py in or below '{}'", root));
    for (const std::filesystem::path& path : found) {
      if (interrupted()) return resource_error("interrupted");
      PASSNET_TRY_VOID(match_graph(path, passes, flags, outcomes));
    }
  }
  const bool all =
      std::all_of(outcomes.begin(), outcomes.end(), [](const MatchOutcome& one) { return one.matches > 0; });
  std::stable_sort(outcomes.begin(), outcomes.end(), is_nearer);
  if (flags.json) {
    Json results = Json::array();
    for (MatchOutcome& one : outcomes) results.push_back(std::move(one.report));
    print_result(dump(Json{{"tried", outcomes.size()}, {"results", std::move(results)}}) + "\n");
  } else if (outcomes.size() > 1) {
    print_summary(outcomes);
    if (flags.options.generalize) print_reach(outcomes, passes);
  }
  return all ? kOk : kNotAllCorrect;
}

}  // namespace

void add_pass_match(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<MatchFlags>();
  CLI::App* command = group.add_subcommand("match", "show where a pass matches, or the nearest miss");
  command->add_option("PASS", flags->pass, "Name.py, pass_dir, or sample directory")->required();
  command->add_option("GRAPH", flags->graphs,
                      "graph directories, or directories that contain some; default: the graphs of the sample");
  add_matching_option(*command, flags->options.strict, flags->options.generalize);
  add_library_flag(*command, flags->allow_library);
  add_json_flag(*command, flags->json);
  command->footer(
      "With several graphs or passes a summary follows, the nearest first. --matching generalize also counts the "
      "graphs\n"
      "that match as written.\n\n"
      "Example:  passnet pass match samples/vit_add_layer_norm samples/vit_add_layer_norm/graphs");
  command->callback([flags, &exit_code] {
    const bool is_sample = directory_exists(std::filesystem::path(flags->pass) / "pass_dir");
    if (flags->graphs.empty() && !is_sample) throw CLI::RequiredError("GRAPH");
    if (flags->graphs.empty()) flags->graphs = {flags->pass};
    catch_interrupts();
    exit_code = finish(match_passes(*flags));
  });
}

}  // namespace passnet::cli
