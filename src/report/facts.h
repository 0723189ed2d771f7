// Facts about a run as names and values, so that those that all graphs share can be told once.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json/json.h"
#include "record/record.h"

namespace passnet::report {

using Fact = std::pair<std::string, std::string>;
using Facts = std::vector<Fact>;

/// An object of any depth, one fact per value: {"a": {"b": 1}} is "a.b" = "1". Lists of plain values are one value
/// ("1, 2"), empty values are left out.
Facts facts_of(const Json& object);

/// What is known of how a graph was evaluated.
Facts facts_of(const record::RunRecord& record);

/// Takes out of the lists every fact that several of them have, with the same value in all that have it; of a single
/// list every fact. Not all need to have it, as graphs that failed early have fewer facts.
/// Returns: the facts taken out.
Facts take_common(std::vector<Facts>& lists);

/// Returns: what the machine did while the graph was timed, in a sentence; "" when it was not timed.
std::string load_text(const record::Load& load);

}  // namespace passnet::report
