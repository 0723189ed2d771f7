#include "agent/training/export.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agent/chat/api.h"
#include "agent/chat/text_tools.h"
#include "agent/reward/answer_files.h"

namespace passnet::agent {

namespace {

std::string line_of(const Json& json) { return compact(json); }

bool had_tools_of_its_own(const TrainingAttempt& attempt) { return attempt.facts.tools != "text"; }

/// As the model saw it.
Conversation seen(const TrainingAttempt& attempt) {
  return had_tools_of_its_own(attempt) ? attempt.conversation : without_tools(attempt.conversation);
}

/// {"messages", "tools"} as the API is asked.
Json as_asked(const Conversation& conversation, const std::vector<ToolSpec>& tools) {
  Request request;
  request.tools = tools;
  const Json asked = try_parse_json(kOpenAi.request(conversation, request));
  return {{"messages", asked.at("messages")}, {"tools", asked.value("tools", Json::array())}};
}

Json as_trl(const Conversation& conversation, const std::vector<ToolSpec>& tools) {
  Json json = as_asked(conversation, tools);
  for (size_t i = 0; i < conversation.size(); ++i) {
    Json& message = json["messages"][i];
    if (message["content"].is_null()) message["content"] = "";
    if (!conversation[i].reasoning.empty()) message["reasoning_content"] = conversation[i].reasoning;
    if (conversation[i].role == Role::Tool) message["name"] = conversation[i].tool;
    if (!message.contains("tool_calls")) continue;
    for (Json& call : message["tool_calls"]) {
      Json& arguments = call["function"]["arguments"];
      Json read = try_parse_json(arguments.get<std::string>());
      arguments = read.is_object() ? std::move(read) : Json{{"text", arguments}};
    }
  }
  return json;
}

Json as_share_gpt(const Conversation& conversation, const std::vector<ToolSpec>& tools) {
  Json turns = Json::array();
  const auto say = [&](const char* from, const std::string& value) {
    turns.push_back({{"from", from}, {"value", valid_utf8(value)}});
  };
  for (const Message& message : conversation) {
    if (message.role == Role::Assistant) {
      if (!message.text.empty() || message.calls.empty()) say("gpt", message.text);
      for (const ToolCall& call : message.calls) {
        const Json arguments = try_parse_json(call.arguments);
        say("function_call",
            line_of({{"name", call.name}, {"arguments", arguments.is_discarded() ? Json(call.arguments) : arguments}}));
      }
      continue;
    }
    say(message.role == Role::System ? "system" : message.role == Role::User ? "human" : "observation", message.text);
  }
  Json described = Json::array();
  for (const ToolSpec& tool : tools)
    described.push_back(
        {{"name", tool.name}, {"description", tool.description}, {"parameters", try_parse_json(tool.schema)}});
  return {{"conversations", std::move(turns)}, {"tools", line_of(described)}};
}

}  // namespace

Conversation without_failed_turns(const Conversation& conversation) {
  Conversation kept;
  for (size_t i = 0; i < conversation.size();) {
    size_t end = i + 1;
    if (conversation[i].role == Role::Assistant) {
      while (end < conversation.size() && conversation[end].role == Role::Tool) ++end;
    }
    const auto results = std::span(conversation).subspan(i + 1, end - i - 1);
    const bool failed = !results.empty() && std::ranges::all_of(results, &Message::is_error);
    if (!failed)
      kept.insert(kept.end(), conversation.begin() + std::ptrdiff_t(i), conversation.begin() + std::ptrdiff_t(end));
    i = end;
  }
  return kept;
}

std::string training_line(const TrainingAttempt& attempt, const std::vector<ToolSpec>& tools, TrainingFormat format) {
  const std::vector<ToolSpec> told = had_tools_of_its_own(attempt) ? tools : std::vector<ToolSpec>();
  const Conversation conversation = seen(attempt);
  switch (format) {
    case TrainingFormat::OpenAi: return line_of(as_asked(conversation, told));
    case TrainingFormat::ShareGpt: return line_of(as_share_gpt(conversation, told));
    case TrainingFormat::Trl: break;
  }
  return line_of(as_trl(conversation, told));
}

std::optional<std::string> preference_line(const TrainingAttempt& chosen, const TrainingAttempt& rejected,
                                           const std::vector<ToolSpec>& tools) {
  const std::vector<ToolSpec> told = had_tools_of_its_own(chosen) ? tools : std::vector<ToolSpec>();
  const Json better = as_trl(seen(chosen), told), worse = as_trl(seen(rejected), told);
  const Json &of_better = better["messages"], &of_worse = worse["messages"];
  size_t same = 0;
  while (same < std::min(of_better.size(), of_worse.size()) && of_better[same] == of_worse[same]) ++same;
  // What is learnt from begins with an answer of the model.
  if (same >= of_better.size() || same >= of_worse.size()) return std::nullopt;
  if (of_better[same]["role"] != "assistant" || of_worse[same]["role"] != "assistant") return std::nullopt;
  const auto part = [&](const Json& messages, size_t first, size_t last) {
    return Json(Json::array_t(messages.begin() + std::ptrdiff_t(first), messages.begin() + std::ptrdiff_t(last)));
  };
  return line_of({{"prompt", part(of_better, 0, same)},
                  {"chosen", part(of_better, same, of_better.size())},
                  {"rejected", part(of_worse, same, of_worse.size())},
                  {"tools", better["tools"]},
                  {"task", chosen.facts.sample},
                  {"chosen_score", chosen.score},
                  {"rejected_score", rejected.score}});
}

std::string reward_line(const TrainingAttempt& attempt, const std::map<std::string, std::string>& files) {
  return line_of({{"task", attempt.facts.sample},
                  {"attempt", attempt.facts.attempt},
                  {"model", attempt.facts.model},
                  {"reward", attempt.score},
                  {"exit_reason", attempt.exit_reason},
                  {"text", answer_with(files)}});
}

std::vector<size_t> select_attempts(const std::vector<TrainingAttempt>& attempts, const ExportRules& rules) {
  std::map<std::string, size_t> best;  // by task
  for (size_t i = 0; i < attempts.size(); ++i) {
    const auto known = best.try_emplace(attempts[i].facts.sample, i).first;
    if (attempts[i].score > attempts[known->second].score) known->second = i;
  }
  std::vector<size_t> selected;
  for (size_t i = 0; i < attempts.size(); ++i) {
    const bool is_left = rules.best_per_sample && best[attempts[i].facts.sample] != i;
    if (attempts[i].score >= rules.min_score && !is_left) selected.push_back(i);
  }
  return selected;
}

}  // namespace passnet::agent
