// pass_evaluator, pass_match and pass_explain: what becomes of the passes in the workspace.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agent/feedback/feedback.h"
#include "agent/tools/arguments.h"
#include "agent/tools/tool.h"
#include "base/file/replace.h"
#include "base/text/strings.h"
#include "graphdir/sample.h"
#include "pass/source.h"
#include "rewrite/match.h"

namespace passnet::agent {

namespace {

constexpr const char* kNoArguments = R"({"type": "object", "properties": {}})";
constexpr const char* kOneGraph =
    R"({"type": "object", "properties": {"graph": {"type": "string", "description": "the name of one graph"}}})";

// Paths as the model knows them: the attempt's directory is nobody's business.
std::string as_seen(std::string text, const Workspace& workspace) {
  return replace_all(std::move(text), workspace.root().string() + "/", "");
}

Result<std::string> one_graph(const Json& arguments, const graphdir::Sample& task) {
  PASSNET_TRY(const std::optional<std::string> name, text_argument(arguments, "graph"));
  if (!name || name->empty()) return std::string();
  if (std::ranges::find(task.graph_names, *name) != task.graph_names.end()) return *name;
  const std::vector<std::string_view> names(task.graph_names.begin(), task.graph_names.end());
  const std::string_view near = nearest_name(*name, names);
  return bad_input(fmt::format("argument 'graph': expected the name of a graph, found {}", quoted(*name)))
      .with_hint(fmt::format("for example '{}'", near.empty() ? task.graph_names.front() : std::string(near)));
}

Result<ToolResult> evaluate(const Json&, ToolContext& context) {
  ToolResult result;
  PASSNET_TRY(result.records, context.evaluate(false));
  result.text = as_seen(render_feedback(result.records, context.feedback_tokens), context.workspace);
  return result;
}

Result<ToolResult> explain(const Json& arguments, ToolContext& context) {
  PASSNET_TRY(const std::string graph, one_graph(arguments, context.task));
  ToolResult result;
  PASSNET_TRY(result.records, context.evaluate(true));
  result.text = as_seen(render_explanation(result.records, graph, context.feedback_tokens), context.workspace);
  return result;
}

/// Shows the model an error of its pass; passes on an error of the machine.
Result<ToolResult> wrong_pass(const Error& error, const ToolContext& context) {
  if (error.kind == Error::Kind::Resource) return error;
  return ToolResult{as_seen(to_string(error), context.workspace), true};
}

Result<ToolResult> match(const Json& arguments, ToolContext& context) {
  PASSNET_TRY(const std::string wanted, one_graph(arguments, context.task));
  Result<std::vector<pass::Pass>> passes =
      pass::load_passes(context.task.pass_dir, {context.allow_library, context.ends.interrupted});
  if (!passes) return wrong_pass(passes.error(), context);
  // One for all graphs: other calls wait for this one.
  Budget steps(rewrite::kMatching, context.ends);
  std::vector<MatchedGraph> matched;
  for (size_t i = 0; i < context.task.graph_paths.size(); ++i) {
    const std::string& name = context.task.graph_names[i];
    if (!wanted.empty() && name != wanted) continue;
    PASSNET_TRY(graphdir::GraphDir graph, graphdir::load_graph_dir(context.task.graph_paths[i]));
    rewrite::PreparedGraph prepared(graph.graph, {});
    for (const pass::Pass& pass : *passes) {
      Result<rewrite::MatchReport> report = rewrite::find_matches(pass.pattern, prepared, steps);
      if (!report) return wrong_pass(report.error(), context);
      matched.push_back({name, pass.name, std::move(*report)});
    }
  }
  return ToolResult{as_seen(render_matches(matched, context.feedback_tokens), context.workspace)};
}

}  // namespace

Tool pass_evaluator() {
  return {{"pass_evaluator",
           "Evaluates the passes in pass_dir on every graph: matched, compiled, checked against PyTorch and timed. "
           "Gives the "
           "score, a verdict and a ratio per graph, and what to do next. Takes seconds.",
           kNoArguments},
          evaluate};
}

Tool pass_match() {
  return {
      {"pass_match",
       "Shows where the passes in pass_dir match, and the nearest miss where they do not. Takes milliseconds: use it "
       "before pass_evaluator.",
       kOneGraph},
      match};
}

Tool pass_explain() {
  return {
      {"pass_explain",
       "Evaluates with a profile: why a graph is wrong (first wrong element), or where the time of a call goes, launch "
       "by launch, beside what this machine needs to move the bytes.",
       kOneGraph},
      explain};
}

}  // namespace passnet::agent
