// The names that torch.fx and torch.compile give to the nodes of a graph while it is made. Internal to fx/ and to what
// rebuilds upstream's files.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/graph.h"

namespace passnet::fx {

/// What becomes of a name with a number, "x_8", that was handed out before.
enum class Numbering : uint8_t {
  FromItself,  // the next free number behind 8: older versions of PyTorch
  FromOne,     // the first free number from 1: PyTorch 2.11
};

/// torch.fx's _Namespace: hands out names, each once.
class Namespace {
 public:
  explicit Namespace(Numbering numbering) : numbering_(numbering) {}
  /// Returns: the candidate, or with the next free number behind it, when it was handed out or is a word of Python.
  std::string create(std::string candidate);

 private:
  Numbering numbering_;
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, uint64_t> counts_;
};

/// Returns: what torch.fx calls a node after: the last part of the target, in snake case.
std::string name_of_target(const ir::Node& node);

/// The names of a graph's nodes when the text of the graph is traced once more. Names of placeholders are taken from the
/// beginning.
class TraceNames {
 public:
  TraceNames(const ir::Graph& graph, Numbering numbering);

  /// The name of node `id`: what it calls, then the variable that it is stored in; either gives way to one that was taken
  /// before. A scalar keeps the name of what it calls. To be asked node after node.
  /// keeps_call_name: so does this one, as a call that gives several values does.
  std::string next(ir::NodeId id, bool keeps_call_name = false);
  /// For a node that the trace adds.
  std::string create(std::string candidate) { return names_.create(std::move(candidate)); }

 private:
  bool gives_scalar(const ir::Node& node) const;

  const ir::Graph& graph_;
  std::vector<bool> is_scalar_;  // by node id
  Namespace names_;
};

}  // namespace passnet::fx
