// Facts about a run as names and values: those that all graphs share are told once, the others with each graph.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "record/record.h"

namespace passnet::report {

using Fact = std::pair<std::string, std::string>;
using Facts = std::vector<Fact>;

/// An object of any depth, one fact per value: {"a": {"b": 1}} is "a.b" = "1". Lists of plain values are one value
/// ("1, 2"), underscores in names become spaces, empty values are left out.
Facts facts_of(const Json& object);

/// What is known of how a graph was evaluated.
Facts facts_of(const record::RunRecord& record);

/// Moves out of the lists what all that name it agree on, when more than one does: graphs that failed early know less.
Facts take_common(std::vector<Facts>& lists);

/// What the machine did meanwhile, in a sentence; "" when the graph was not timed.
std::string load_text(const record::Load& load);

}  // namespace passnet::report
