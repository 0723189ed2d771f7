// Calls of PyTorch's operators in a plan (`--allow-library`). Such a call is no launch: it becomes a node of the
// rewritten graph between the launches before it and those behind it (segments.h), and runs as any operator does.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "ir/value.h"
#include "pass/plan/launch_list.h"

namespace passnet::pass {

inline constexpr size_t kMostLibraryCalls = 1024;    // of one plan
inline constexpr size_t kMostLibraryTensors = 8192;  // that they are given in all

struct LibraryCall {
  ir::Graph graph;                // a placeholder per tensor that it is given, then the call; no output
  std::vector<View> inputs;       // what the placeholders stand for
  std::vector<uint32_t> results;  // the buffers of the tensors that it gives
  bool gives_several = false;     // they are the items of a tuple
  size_t launches = 0;            // of the list, that stand before it
  std::string name;               // "torch.nn.functional.conv2d", "Tensor.sum", "+"
  SourceLoc at;                   // in Name.py

  ir::NodeId node() const { return graph.size() - 1; }
};

/// What is known of a call's result. Errors: those of whoever is asked.
using LibraryTypes = std::function<Result<ir::Value>(const LibraryCall&)>;

/// What follows a refusal of such calls.
inline constexpr std::string_view kLibraryHint =
    "compute it in a kernel, or give '--allow-library', which lets PyTorch compute it and says so in the record";

/// Whether the operator table has it, so that a plan may call it where that is allowed.
bool is_library_call(ir::NodeKind kind, std::string_view target);

}  // namespace passnet::pass
