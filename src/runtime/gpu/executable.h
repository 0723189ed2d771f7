// A recorded chain of operations, instantiated: as one graph, or as several that follow each other. The host takes about a
// microsecond an operation to launch a graph, and the device begins when all of it was launched. It runs the first of several while
// the host launches the second. Internal to runtime/gpu*.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/gpu/operation.h"

namespace passnet::runtime::gpu {

class Executable {
 public:
  /// Instantiates `recorded`, whose nodes are those of `operations`, in their order. first: how many the first graph has; each
  /// further one has twice as many as that before.
  /// Errors: Unsupported with the driver's words.
  static Result<Executable> make(CUgraph recorded, const std::vector<Operation>& operations, size_t first);

  Executable() = default;
  Executable(Executable&& other) noexcept { parts_.swap(other.parts_); }
  Executable& operator=(Executable&& other) noexcept {
    parts_.swap(other.parts_);
    return *this;
  }
  ~Executable();

  /// Brings all nodes with addresses up to date. REQUIRES: the operations of make(), as in launch().
  void update(std::vector<Operation>& operations);
  /// Launches all on this thread's stream, after it has put `base` (Operation::patch) into what has other addresses; null: as they
  /// are.
  void launch(std::vector<Operation>& operations, const std::vector<uint64_t>* base);

 private:
  struct Part {
    CUgraph graph = nullptr;  // which `nodes` belong to; null: the recorded one
    CUgraphExec executable = nullptr;
    size_t begin = 0;  // of the operations
    std::vector<CUgraphNode> nodes;
  };
  static CUresult make_part(CUgraph recorded, const std::vector<Operation>& operations, size_t count, Part& part);

  std::vector<Part> parts_;
};

}  // namespace passnet::runtime::gpu
