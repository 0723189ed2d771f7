// One operation of a recorded call as the driver describes it, with the places in it that hold addresses. Internal to
// runtime/gpu*.
#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.h"

namespace passnet::runtime::gpu {

/// A range of device memory that is elsewhere in each call: an input or the memory of an output.
struct MovingRange {
  uint64_t first = 0;  // address in the recording
  uint64_t size = 0;
};

class Operation {
 public:
  /// What `node` of a captured graph does. Errors: Unsupported for what cannot be repeated elsewhere.
  static Result<Operation> read(CUgraphNode node);

  CUgraphNode node() const { return node_; }
  bool must_stay_in_graph() const { return must_stay_in_graph_; }
  /// Has addresses in moving ranges.
  bool moves() const { return !addresses_.empty(); }

  /// Compares with the same operation of a second recording, whose moving ranges lie elsewhere, and learns which words
  /// are addresses in a moving range. Words that differ otherwise are addresses of temporaries, or parts of a parameter
  /// that nobody sets or reads (unused dimensions); whether that is so shows when the call is tried (capture.cpp).
  /// False: they are not the same operation.
  bool learn_addresses(const Operation& other, const std::vector<MovingRange>& here,
                       const std::vector<MovingRange>& there);

  /// Puts in addresses: base[i] is where moving range i begins now. True when some address is another than before.
  bool patch(const std::vector<uint64_t>& base);
  /// Puts it in line on the stream.
  CUresult launch(CUstream stream);
  /// Updates `node`, its own or that of a clone, in a graph that was instantiated.
  CUresult update(CUgraphExec graph, CUgraphNode node);

 private:
  struct Address {
    size_t word;      // index in words_
    size_t range;     // of the moving ranges
    uint64_t offset;  // bytes from its beginning
  };
  Result<void> read_kernel();
  Result<void> read_parameter_block();
  Result<void> read_copy();
  Result<void> read_fill();
  void store_words();

  CUgraphNode node_ = nullptr;
  CUgraphNodeType kind_ = CU_GRAPH_NODE_TYPE_EMPTY;
  bool must_stay_in_graph_ = false;
  CUDA_KERNEL_NODE_PARAMS kernel_{};
  CUDA_MEMCPY3D copy_{};
  CUDA_MEMSET_NODE_PARAMS fill_{};
  std::vector<uint64_t> words_;    // kernel: its parameters, one after the other; copy: source, target; fill: target
  std::vector<size_t> starts_;     // kernel: the first word of each parameter
  std::vector<void*> parameters_;  // kernel: pointers into words_
  size_t block_size_ = 0;          // kernel: bytes of parameters that are one block; 0: they are not
  std::array<void*, 5> block_options_{};
  std::vector<Address> addresses_;
};

}  // namespace passnet::runtime::gpu
