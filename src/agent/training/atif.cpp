#include "agent/training/atif.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/version.h"

namespace passnet::agent {

namespace {

Json arguments_of(const ToolCall& call) {
  Json arguments = try_parse_json(call.arguments);
  return arguments.is_object() ? std::move(arguments) : Json{{"text", valid_utf8(call.arguments)}};
}

Json definitions_of(const std::vector<ToolSpec>& tools) {
  Json definitions = Json::array();
  for (const ToolSpec& tool : tools)
    definitions.push_back(
        {{"type", "function"},
         {"function",
          {{"name", tool.name}, {"description", tool.description}, {"parameters", try_parse_json(tool.schema)}}}});
  return definitions;
}

Json metrics_of(const Ledger& spent) {
  return {{"prompt_tokens", spent.usage.input},
          {"completion_tokens", spent.usage.output},
          {"cached_tokens", spent.usage.cached},
          {"cost_usd", spent.cost}};
}

Json evaluations_of(const Step& step) {
  Json evaluations = Json::array();
  for (const Evaluation& one : step.evaluations)
    evaluations.push_back({{"name", one.name}, {"score", one.outcome.score}, {"correct", one.outcome.correct}});
  return {{"evaluations", std::move(evaluations)}};
}

/// An answer of the model, without results.
Json answer_step(const Message& message, const Step& step) {
  Json json{{"source", "agent"}, {"message", valid_utf8(message.text)}};
  if (!message.reasoning.empty()) json["reasoning_content"] = valid_utf8(message.reasoning);
  for (const ToolCall& call : message.calls)
    json["tool_calls"].push_back(
        {{"tool_call_id", call.id}, {"function_name", call.name}, {"arguments", arguments_of(call)}});
  json["metrics"] = metrics_of(step.spent);
  json["llm_call_count"] = 1;
  if (!step.evaluations.empty()) json["extra"] = evaluations_of(step);
  return json;
}

/// Adds a result to the answer that called. A result of no call of it has no `source_call_id`.
void add_result(const Message& message, Json& answer) {
  Json result = Json::object();
  const Json calls = answer.value("tool_calls", Json::array());
  if (std::ranges::any_of(calls, [&](const Json& call) { return call["tool_call_id"] == message.call_id; }))
    result["source_call_id"] = message.call_id;
  result["content"] = valid_utf8(message.text);
  if (message.is_error) result["extra"] = {{"is_error", true}};
  answer["observation"]["results"].push_back(std::move(result));
}

Json steps_of(const std::vector<Step>& steps) {
  Json all = Json::array();
  for (const Step& step : steps) {
    for (const Message& message : step.messages) {
      if (message.role == Role::Tool && !all.empty() && all.back()["source"] == "agent") {
        add_result(message, all.back());
        continue;
      }
      Json json = message.role == Role::Assistant ? answer_step(message, step)
                                                  : Json{{"source", message.role == Role::System ? "system" : "user"},
                                                         {"message", valid_utf8(message.text)}};
      Json numbered{{"step_id", all.size() + 1}};
      numbered.update(json);
      all.push_back(std::move(numbered));
    }
  }
  return all;
}

}  // namespace

std::string atif_line(const TrainingAttempt& attempt, const std::vector<ToolSpec>& tools) {
  const AttemptFacts& facts = attempt.facts;
  const Ledger spent = spent_in(attempt.steps);
  Json steps = steps_of(attempt.steps);
  const Json totals{{"total_prompt_tokens", spent.usage.input},
                    {"total_completion_tokens", spent.usage.output},
                    {"total_cached_tokens", spent.usage.cached},
                    {"total_cost_usd", spent.cost},
                    {"total_steps", steps.size()},
                    {"extra", {{"score", attempt.score}, {"exit_reason", attempt.exit_reason}}}};
  return compact({{"schema_version", "ATIF-v1.8"},
                  {"session_id", fmt::format("{}/{}", facts.sample, facts.attempt)},
                  {"agent",
                   {{"name", "passnet"},
                    {"version", kVersion},
                    {"model_name", facts.model},
                    {"tool_definitions", definitions_of(tools)}}},
                  {"steps", std::move(steps)},
                  {"final_metrics", totals},
                  {"extra", {{"task", facts.sample}, {"attempt", facts.attempt}}}});
}

}  // namespace passnet::agent
