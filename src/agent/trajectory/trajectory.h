// A trajectory as other agents' tools read it: one object with upstream's names.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/trajectory/steps.h"
#include "base/json/json.h"

namespace passnet::agent {

/// Why an attempt ended, by upstream's words where it has one.
namespace exit_reason {
inline constexpr const char* kAgent = "agent";  // it submitted
inline constexpr const char* kMaxSteps = "max_step_limit";
inline constexpr const char* kTokens = "token_limit";
inline constexpr const char* kTime = "traj_time_limit";
inline constexpr const char* kCost = "cost_limit";
inline constexpr const char* kModel = "llm_query_error";
inline constexpr const char* kNoCalls = "no_tool_call";  // several answers in a row called nothing
inline constexpr const char* kInterrupted = "interrupted";
}  // namespace exit_reason

/// Files by name, as a patch that makes them: `git apply` takes it.
std::string patch_of(const std::map<std::string, std::string>& files);
/// The files that such a patch makes. Errors: BadInput: it changes or removes files, or is no patch.
Result<std::map<std::string, std::string>> files_of_patch(std::string_view patch);

/// reward: the score of what counts, 1 where nothing does. error: of llm_query_error; may be empty.
Json trajectory_json(const AttemptFacts& facts, const std::vector<Step>& steps, const std::string& exit_reason,
                     double reward, const std::string& output_patch, const std::string& error);

/// Errors: BadInput: it is no trajectory.
Result<void> check_trajectory(const Json& json);

/// A trajectory for the terminal, step by step. max_tokens: of each message. Errors: BadInput: it is none.
Result<std::string> render_trajectory(const Json& trajectory, int64_t max_tokens);

}  // namespace passnet::agent
