// What a step, an attempt, a task or a run took.
#pragma once

#include "agent/chat/conversation.h"

namespace passnet::agent {

struct Ledger {
  Usage usage;
  double cost = 0;            // dollars
  double llm_seconds = 0;     // waiting for the model
  double tool_seconds = 0;    // with tools, waiting for a turn to evaluate among them
  double device_seconds = 0;  // of these: evaluations, while they had the device or a part in it

  Ledger& operator+=(const Ledger& other) {
    usage += other.usage;
    cost += other.cost;
    llm_seconds += other.llm_seconds;
    tool_seconds += other.tool_seconds;
    device_seconds += other.device_seconds;
    return *this;
  }
  int64_t tokens() const { return usage.input + usage.output; }
  double seconds() const { return llm_seconds + tool_seconds; }
};

}  // namespace passnet::agent
