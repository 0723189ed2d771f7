// Which node of a graph must come before which: because of data, and because of in-place operators on shared memory.
//
// Which values may share memory is ir/ops/memory.h's answer. Reads of a memory keep their order relative to its writes.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"

namespace passnet::rewrite {

class Order {
 public:
  enum class Why : uint8_t { Data, Memory, Barrier };
  struct Edge {
    ir::NodeId to = ir::kNoNode;
    Why why = Why::Data;
  };

  explicit Order(const ir::Graph& graph);

  /// Returns: the nodes that must come after `id`; a node may be in it more than once.
  std::span<const Edge> successors(ir::NodeId id) const {
    return {edges_.data() + first_[id], first_[id + 1] - first_[id]};
  }
  /// Returns: a number for the memory that the node's result lies in. Two nodes with different numbers share none.
  ir::NodeId memory(ir::NodeId id) const { return memory_[id]; }
  bool is_written(ir::NodeId memory) const { return written_[memory]; }
  /// Returns: the nodes with an input in `memory`, in graph order; empty when the memory is never written.
  std::span<const ir::NodeId> accesses(ir::NodeId memory) const;
  /// As ir::overwritten_input.
  ir::NodeId overwritten(ir::NodeId id) const { return overwritten_[id]; }

 private:
  struct Builder;
  std::vector<ir::NodeId> memory_;
  std::vector<bool> written_;
  std::vector<ir::NodeId> overwritten_;
  std::unordered_map<ir::NodeId, std::vector<ir::NodeId>> accesses_;  // of written memories
  std::vector<uint32_t> first_;
  std::vector<Edge> edges_;
};

}  // namespace passnet::rewrite
