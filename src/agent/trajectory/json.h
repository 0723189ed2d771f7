// How what an attempt came to stands in JSON, wherever it does. Include it in .cpp files only.
#pragma once

#include "agent/feedback/feedback.h"
#include "agent/trajectory/ledger.h"
#include "base/json/json_object.h"

namespace passnet {

PASSNET_JSON_FIELDS(agent::Usage, "usage", PASSNET_FIELDS(input, cached, output, reasoning))

PASSNET_JSON_FIELDS(agent::Ledger, "ledger", PASSNET_FIELDS(usage, cost, llm_seconds, tool_seconds, device_seconds))

PASSNET_JSON_FIELDS(agent::Outcome, "outcome", PASSNET_FIELDS(score, graphs, correct, abstained, unmeasured))

}  // namespace passnet
