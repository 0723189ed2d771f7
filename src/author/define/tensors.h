// The values of a graph as definitions: what each element of each of them is, by the elements of others.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "author/loops/expression.h"
#include "ir/graph.h"

namespace passnet::author {

/// An element type: one for all graphs, or that of an input, which then is a constant of the kernels.
struct Element {
  std::vector<ir::DType> by_example;
  std::string plan;    // "torch.float32", "x.dtype"
  std::string kernel;  // "float", "T"
  Compute compute = Compute::Float;
  bool varies = false;
  bool has_float32() const { return std::ranges::find(by_example, ir::DType::Float32) != by_example.end(); }
  /// Tells whether elements are stored in the type they are computed in: float, double, int64_t or bool.
  bool is_exact() const {
    return compute == Compute::Double || compute == Compute::Bool ||
           kernel == (compute == Compute::Int ? "int64_t" : "float");
  }
};

/// A call of PyTorch in the plan: of the operator as the graph has it, and with what is another there.
struct Call {
  ir::NodeId node = 0;
  bool without_bias = false;              // a kernel adds it
  bool measured = false;                  // on a GPU the fastest of cuDNN's algorithms is found by measuring
  std::string why;                        // no kernel computes it
  std::optional<std::string> input = {};  // what it takes in place of its input: the same, channels last
};

/// Gives elements while a kernel is being written: loaded where they lie in memory, else computed.
class Scope;
/// An index for each dimension.
using Place = std::vector<IndexId>;
/// Gives the element of a tensor at a place.
using At = std::function<ExprId(Scope&, const Place&)>;

struct Tensor {
  std::string name;  // in the plan
  std::vector<SizeId> shape;
  ElementId element = 0;
  std::vector<SizeId> strides;     // where it lies in memory, once it is given or to be stored
  std::vector<size_t> order;       // its dimensions as they lie in memory, the slowest first; empty: as they are
  std::optional<ir::NodeId> node;  // none: a value that PyTorch does not store
  bool is_given = false;           // an input of the pass
  std::optional<Call> call = {};   // made by PyTorch, of `takes` as they lie in memory
  std::optional<TensorId> overwrites = {};                  // an input of the pass in whose memory it is stored
  std::optional<TensorId> shares = {};                      // a value in whose memory it lies where they have one type
  bool channels_last = false;                               // lies so, wherever PyTorch has its channels
  bool is_view = false;                                     // of other elements, unchanged
  std::optional<std::pair<int64_t, IndexId>> part_of = {};  // what split gave: along which dimension, and from where
  bool looks_up = false;                                    // rows of a table in the order of an index
  bool folds = false;                                       // a reduction is in its own definition, or all that is
  std::optional<TensorId> stored_as = {};                   // of a fold: what is made of it alone, stored in its place
  bool overlaps = false;                                    // a convolution whose windows overlap or hang over an edge
  bool tiled = false;                                       // a product of many steps, which kernels compute in tiles
  std::optional<SizeId> channels = {};                      // that a convolution in tiles adds up
  std::optional<SizeId> blocks = {};                        // of such channels, as tiles of a GPU have them
  bool reorders = false;                                    // stored for tiles, which read it in that order
  int work = 0;                                             // operations of an element, beyond those of what it takes
  std::vector<TensorId> takes;                              // what it is defined by
  /// Loops that make it up, where these may be others than its dimensions: groups of channels apart, rows of a picture that was made
  /// flat. Empty: its dimensions.
  std::vector<SizeId> loops;
  At at;
  /// Tells whether it is in memory before any kernel that looks at it: no kernel stores it.
  bool is_there() const { return is_given || call; }
};

class Scope {
 public:
  /// in_memory: whether an element is loaded; asked for each tensor that is not given.
  Scope(const std::vector<Tensor>& tensors, const std::vector<Element>& elements, ExprTable& given,
        std::function<bool(TensorId)> in_memory)
      : exprs(given),
        indices(given.indices()),
        sizes(indices.sizes()),
        tensors_(tensors),
        elements_(elements),
        in_memory_(std::move(in_memory)) {}

  ExprTable& exprs;
  IndexTable& indices;
  SizeTable& sizes;

  ExprId element(TensorId tensor, const Place& place);
  /// The definition, also of a tensor that lies in memory.
  ExprId definition(TensorId tensor, const Place& place);
  /// Variables for loops of that extents. Reductions over the same extents share them, unless they stand in `place`:
  /// then what they compute of an element is computed once.
  std::vector<VariableId> variables(const std::vector<SizeId>& extents, const Place& place);
  /// Folds `element` over those of the variables that have several values. own: the tensor whose element that gives.
  ExprId folded(Fold fold, TensorId own, std::vector<VariableId> variables, ExprId element,
                SumOrder order = SumOrder::Any);

 private:
  const std::vector<Tensor>& tensors_;
  const std::vector<Element>& elements_;
  std::function<bool(TensorId)> in_memory_;
  std::map<std::pair<TensorId, Place>, ExprId> known_;
  std::map<SizeId, std::vector<VariableId>> shared_;
};

}  // namespace passnet::author
