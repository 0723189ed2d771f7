// How what an attempt came to stands in JSON, wherever it does. Include it in .cpp files only.
#pragma once

#include "agent/feedback/feedback.h"
#include "agent/trajectory/ledger.h"
#include "base/json_object.h"

namespace passnet {

template <>
struct JsonFields<agent::Usage> {
  static constexpr std::string_view kName = "usage";
  static void visit(auto& field, auto& usage) {
    field("input", usage.input);
    field("cached", usage.cached);
    field("output", usage.output);
    field("reasoning", usage.reasoning);
  }
};

template <>
struct JsonFields<agent::Ledger> {
  static constexpr std::string_view kName = "ledger";
  static void visit(auto& field, auto& ledger) {
    field("usage", ledger.usage);
    field("cost", ledger.cost);
    field("llm_seconds", ledger.llm_seconds);
    field("tool_seconds", ledger.tool_seconds);
    field.may_lack("device_seconds", ledger.device_seconds);
  }
};

template <>
struct JsonFields<agent::Outcome> {
  static constexpr std::string_view kName = "outcome";
  static void visit(auto& field, auto& outcome) {
    field("score", outcome.score);
    field("graphs", outcome.graphs);
    field("correct", outcome.correct);
    field("abstained", outcome.abstained);
    field("unmeasured", outcome.unmeasured);
  }
};

}  // namespace passnet
