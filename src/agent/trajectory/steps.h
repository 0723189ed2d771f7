// What an attempt did, step by step: the lines of completions.jsonl, from which the conversation and the trajectory are
// put together again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/chat/conversation.h"
#include "agent/feedback/feedback.h"
#include "agent/trajectory/ledger.h"
#include "base/result.h"

namespace passnet::agent {

/// What one evaluation came to.
struct Evaluation {
  std::string name;       // of its records: "step_7_1"
  std::string pass_hash;  // of the passes that were evaluated
  Outcome outcome;
  bool operator==(const Evaluation&) const = default;
};

struct Step {
  int number = 0;                 // 0: the prompt; then one per answer
  std::vector<Message> messages;  // the answer, then what tools gave; none: what stood there at the end was evaluated
  Ledger spent;
  std::vector<Evaluation> evaluations;
  bool done = false;  // the model submitted
};

/// How an attempt is made; the same when it is gone on with.
struct AttemptFacts {
  std::string sample;
  int attempt = 0;                // from 0
  std::string model, api, tools;  // tools: native | text
  double temperature = -1;        // below 0: the server's own
  std::string prompt_hash;
  int max_steps = 0;
  int64_t token_limit = 0;  // 0: none
  double time_limit_s = 0;  // 0: none
  double cost_limit = 0;    // 0: none
  bool operator==(const AttemptFacts&) const = default;
};

/// A line of completions.jsonl; the first one tells the facts too.
std::string completion_line(const Step& step, const AttemptFacts* facts);

struct Completions {
  std::optional<AttemptFacts> facts;  // none: nothing was written yet
  std::vector<Step> steps;
};
/// text: whole lines. file: as messages name it. Errors: BadInput with its line.
Result<Completions> completions_from_text(const std::string& file, std::string_view text);

/// By all of them.
Ledger spent_in(const std::vector<Step>& steps);

Conversation conversation_of(const std::vector<Step>& steps);

/// The evaluation that counts: of those that are measured and above 1 the one with the highest score.
const Evaluation* best_of(const std::vector<Step>& steps);

}  // namespace passnet::agent
