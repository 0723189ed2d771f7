// What a call of the candidate gave, held against the same graph at float64. Internal to runtime/ (includes torch).
#pragma once

#include <string>

#include "base/result.h"
#include "protocol/messages.h"
#include "runtime/session/loaded_graph.h"
#include "runtime/session/outputs.h"

namespace passnet::runtime {

/// graph:    the reference's, whose last run was on the inputs that are set.
/// float64:  the same graph at float64; null: there is none.
/// found:    what the candidate's run on the same inputs gave, and the inputs that it changed; of large ones it may be the
///           rows of kMostJudged elements that rows_seed draws.
/// The graph keeps what the comparison of timed calls, and the null models of the next input kind, go by.
Result<protocol::Judge::Reply> judge_call(LoadedGraph& graph, LoadedGraph* float64, const CallResult& found,
                                          uint64_t rows_seed, const std::string& input_kind);

}  // namespace passnet::runtime
