// Why a pass is what it is: where it begins and ends, what becomes of its values, and how its kernels run.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "author/subject/part.h"
#include "author/text/plan/python_text.h"

namespace passnet::author {

/// An operator that is left out, and why.
struct Outside {
  std::string statement;  // "tmp_3 = torch.conv2d(…)"
  std::string why;
  bool refused = false;  // no kernel can be written for it
};

/// The place of a value that the pass computes.
struct ValuePlace {
  enum class Place : uint8_t {
    Stored,      // in memory, by a kernel
    Registers,   // in one kernel, and never stored
    Recomputed,  // in several kernels, and never stored
    Called,      // in memory, by a call of PyTorch
  };
  std::string value;
  Place place = Place::Stored;
  std::vector<std::string> kernels;  // that store or compute it
};
const char* to_string(ValuePlace::Place place);

/// Sums of products, in tiles.
struct ProductRun {
  int64_t steps = 0;                           // of each sum
  int64_t rows = 0, columns = 0, cluster = 1;  // of the tile that a block of a GPU has, or so many of them
};

/// How a kernel runs, in numbers of the first graph.
struct KernelRun {
  std::string kernel;
  std::vector<std::string> stores;
  int64_t items = 0, row = 0;  // how many, and elements of each
  bool shares_rows = false;    // neighbouring lanes and threads share a row; else each takes items of its own
  bool turns_rows = false;     // CUDA: threads share a row; on a CPU each lane takes one, and these are turned
  int64_t threads = 1;         // CUDA: that share a row
  bool packs = false;          // CUDA: a thread may move several neighbours at once
  bool tiles = false;          // it goes through tiles of two loops
  bool bands = false;          // a thread of a GPU may take several places one below the other
  std::optional<ProductRun> product = {};  // what it computes in tiles
  int64_t cpu_parts = 1, gpu_parts = 1;    // tasks, and blocks (or threads, of a column), that share a row
};

/// A call of PyTorch in the plan.
struct CalledOperator {
  std::string statement;  // "conv2d = torch.conv2d(x, weight, None)"
  std::string why;        // no kernel computes it
  bool without_bias = false, measured = false, channels_last = false;
};

struct Explained {
  std::vector<std::string> operators;    // as statements, in the order of the graph
  std::optional<Outside> before, after;  // the nearest operator that it stops at; none: it goes to the end of the graph
  std::vector<ValuePlace> values;
  std::vector<KernelRun> kernels;
  std::vector<CalledOperator> called;
};

/// named: the kernels as they were written. why_outside: of an operator that is not in the part, why it is not.
Explained explain(const Subject& subject, Definitions& definitions, const GraphPart& part,
                  const std::vector<NamedKernel>& named, const Schedule& schedule,
                  const std::function<Outside(ir::NodeId)>& why_outside);

/// Plain sentences: what is fused and why it may be, what is stored, what that saves, and which schedule on each device.
struct Saving {
  size_t launches_before = 0, launches_after = 0;  // calls of PyTorch among them
  int64_t bytes_before = 0, bytes_after = 0;
};
std::vector<std::string> sentences(const Explained& explained, const Saving& saving);
/// Returns those of these sentences that say why it pays: what is never stored, and what that saves.
std::vector<std::string> reasons(const Explained& explained, const Saving& saving);

}  // namespace passnet::author
