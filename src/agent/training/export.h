// Attempts as training data: what they said and did as lines of JSON in the forms that trainers read.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/chat/conversation.h"
#include "agent/trajectory/steps.h"

namespace passnet::agent {

enum class TrainingFormat {
  OpenAi,    // {"messages": […], "tools": […]}: hosted fine-tuning; arguments of calls are text
  ShareGpt,  // {"conversations": [{"from", "value"}], "tools": text}: LLaMA-Factory and the like
  Trl,       // as OpenAi, but arguments are objects, as chat templates want them, and reasoning is kept
};

/// An attempt that has ended, as training looks at it.
struct TrainingAttempt {
  AttemptFacts facts;
  Conversation conversation;
  double score = 1;  // of what counts; 1 where nothing does
  std::string exit_reason;
  std::vector<Step> steps = {};  // what `conversation` is made of
};

/// Without the answers all of whose calls were wrong, and what was said to them.
Conversation without_failed_turns(const Conversation& conversation);

/// A line, without its end. tools: those that the model had; of an attempt whose calls stood in its text none are told, as
/// the model saw none.
std::string training_line(const TrainingAttempt& attempt, const std::vector<ToolSpec>& tools, TrainingFormat format);

/// {"prompt", "chosen", "rejected", "tools", "task", "chosen_score", "rejected_score"}: two attempts at one task, from
/// where they part. Messages are as in TrainingFormat::Trl. nullopt: they say the same.
std::optional<std::string> preference_line(const TrainingAttempt& chosen, const TrainingAttempt& rejected,
                                           const std::vector<ToolSpec>& tools);

/// {"task", "attempt", "model", "reward", "exit_reason", "text"}: what the attempt was worth, with its files as fenced blocks.
std::string reward_line(const TrainingAttempt& attempt, const std::map<std::string, std::string>& files);

/// Which attempts are exported.
struct ExportRules {
  double min_score = 1;          // those at least as good
  bool best_per_sample = false;  // one of each sample: the best, of equals the first
};
/// In the order that they are given in.
std::vector<size_t> select_attempts(const std::vector<TrainingAttempt>& attempts, const ExportRules& rules);

}  // namespace passnet::agent
