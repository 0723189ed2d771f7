#include "agent/trajectory/steps.h"

#include <nlohmann/json.hpp>

#include "agent/trajectory/json.h"
#include "base/text/strings.h"

namespace passnet {

template <>
struct JsonForm<agent::Message> {
  static constexpr std::string_view kExpected = "a message", kSeveral = "messages";
  static Json write(const agent::Message& message) { return agent::to_json(message); }
  static bool read(const Json& json, agent::Message& out) {
    Result<agent::Message> message = agent::message_from_json(json);
    if (message) out = std::move(*message);
    return message.has_value();
  }
};

PASSNET_JSON_FIELDS(agent::Evaluation, "evaluation", PASSNET_FIELDS(name, pass_hash, outcome))

PASSNET_JSON_FIELDS(agent::AttemptFacts, "attempt",
                    PASSNET_FIELDS(sample, attempt, model, api, tools, temperature, prompt_hash, max_steps, token_limit,
                                   time_limit_s, cost_limit))

PASSNET_JSON_FIELDS(agent::Step, "step",
                    PASSNET_FIELD_AS("step", number) PASSNET_FIELDS(messages) PASSNET_FIELDS_OF(spent)
                        PASSNET_FIELDS(evaluations, done))

}  // namespace passnet

namespace passnet::agent {

std::string completion_line(const Step& step, const AttemptFacts* facts) {
  Json json = to_json_object(step);
  if (facts != nullptr) json["facts"] = to_json_object(*facts);
  return compact(json);
}

Result<Completions> completions_from_text(const std::string& file, std::string_view text) {
  Completions completions;
  uint32_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    const auto here = [&](Error error) {
      error.at = SourceLoc{file, number, 1};
      return error;
    };
    Result<Json> json = parse_json(line, file);
    if (!json) return here(json.error());
    Result<Step> step = from_json_object<Step>(*json);
    if (!step) return here(step.error());
    if (json->contains("facts")) {
      Result<AttemptFacts> facts = from_json_object<AttemptFacts>((*json)["facts"]);
      if (!facts) return here(facts.error());
      completions.facts = std::move(*facts);
    }
    completions.steps.push_back(std::move(*step));
  }
  return completions;
}

Ledger spent_in(const std::vector<Step>& steps) {
  Ledger spent;
  for (const Step& step : steps) spent += step.spent;
  return spent;
}

Conversation conversation_of(const std::vector<Step>& steps) {
  Conversation conversation;
  for (const Step& step : steps) conversation.insert(conversation.end(), step.messages.begin(), step.messages.end());
  return conversation;
}

const Evaluation* best_of(const std::vector<Step>& steps) {
  const Evaluation* best = nullptr;
  for (const Step& step : steps) {
    for (const Evaluation& one : step.evaluations) {
      if (!one.outcome.measured() || one.outcome.score <= 1) continue;
      if (best == nullptr || one.outcome.score > best->outcome.score) best = &one;
    }
  }
  return best;
}

}  // namespace passnet::agent
