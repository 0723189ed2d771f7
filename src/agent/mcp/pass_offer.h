// What `passnet mcp` offers: the agent's tools on a workspace per task, the tasks and the documentation to read, and a
// prompt to begin with.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "agent/mcp/protocol.h"
#include "agent/tools/tool.h"
#include "base/budget.h"
#include "graphdir/sample.h"

namespace passnet::agent {

struct PassOfferSetup {
  std::vector<graphdir::Sample> samples;  // of names that differ
  std::filesystem::path directory;        // gets a workspace per task; what is in one stays
  std::string version;                    // of PassNet
  bool on_gpu = false, allow_library = false;
  Ends ends = {};  // of pass_match
  /// Called by several threads. afresh: in processes that have seen nothing else. is_spent: as of Evaluator::evaluate.
  /// Errors: Resource.
  std::function<Result<Records>(const graphdir::Sample& task, bool profile, bool afresh,
                                const std::function<bool()>& is_spent)>
      evaluate;
};

/// The offer, which holds what it needs. Errors: of make_prompt(); Io; Resource: another
/// process works in the directory.
Result<McpOffer> offer_passes(PassOfferSetup setup);

}  // namespace passnet::agent
