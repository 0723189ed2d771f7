// One of upstream's passes at work on a graph for one size: which calls it is about, and what it does with them.
// Internal to dataset/official.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dataset/official/size_passes.h"
#include "fx/trace_names.h"
#include "ir/copy.h"

namespace passnet::dataset::official {

/// A graph between two passes.
struct PassState {
  SizedGraph sized;
  std::vector<std::optional<std::vector<int64_t>>> shapes;  // as captured, by node id; none: not a tensor
  std::vector<bool> fresh;  // made by the pass before: its shape is not known when a pass decides whether to run
};

/// One pass at work on a graph for one size.
class SizePass {
 public:
  SizePass(const PassState& before, const ChangingSize& size)
      : before_(before), size_(size), copying_(graph(), after_.sized.graph) {
    after_.sized.graph.file = graph().file;
  }

  struct Rule {
    std::string_view name;
    bool of_batch;                                  // looks at sizes that inputs have on axis 0; else at the others
    bool (SizePass::*matches)(ir::NodeId) const;    // which calls make it run
    Result<void> (SizePass::*rewrite)(ir::NodeId);  // what it does with a call of `touches`
    bool (SizePass::*touches)(ir::NodeId) const;
    bool with_batch_size = false;  // it takes the batch from the first argument of the graph
  };

  /// Whether the rule has something to do here.
  bool is_needed(const Rule& rule);
  /// Returns: the graph after the pass. Errors: Unsupported: the shape of what it should look at is not known.
  Result<PassState> run(const Rule& rule);

  // --- Which calls a rule is about ---

  bool is_view(ir::NodeId id) const { return is_method(id, "view"); }
  bool is_reshape(ir::NodeId id) const { return is_method(id, "reshape"); }
  bool is_expand(ir::NodeId id) const { return is_method(id, "expand"); }
  bool is_view_of_batch(ir::NodeId id) const { return is_view(id) && has_literal(id, 1) && is_size(args(id)[1]); }
  bool is_view_to_tuple(ir::NodeId id) const;
  bool is_expand_of_one(ir::NodeId id) const;
  bool is_reshape_to_one(ir::NodeId id) const;
  bool is_view_without_batch(ir::NodeId id) const;
  bool is_new_tensor(ir::NodeId id) const;
  bool is_new_tensor_of_size(ir::NodeId id) const { return is_new_tensor(id) && is_made_of(id, 0); }
  bool is_expand_to_size(ir::NodeId id) const;
  bool is_range(ir::NodeId id) const;
  bool is_longer_range(ir::NodeId id) const;
  // Upstream looks for a triangle of that size before it looks for ranges.
  bool is_longer_range_beside_triangle(ir::NodeId id) const;
  bool is_full(ir::NodeId id) const {
    return is_function(id, "torch.full") && args(id).size() == 1 && is_made_of(id, 0);
  }
  bool is_zeros(ir::NodeId id) const {
    return is_function(id, "torch.zeros") && args(id).size() == 1 && is_made_of(id, 0);
  }
  bool is_full_for_triangle(ir::NodeId id) const;
  bool is_slice_of_size(ir::NodeId id) const;
  bool is_view_to_numbers(ir::NodeId id) const;

  // --- What is done with them ---

  Result<void> sizes_from_operand(ir::NodeId id);
  Result<void> sizes_in_tuple_from_operand(ir::NodeId id);
  Result<void> batch_from_operand(ir::NodeId id);
  Result<void> sizes_at_their_place(ir::NodeId id);
  Result<void> batch_first(ir::NodeId id);
  Result<void> batch_first_in_tuple(ir::NodeId id);
  Result<void> batch_before(ir::NodeId id);
  // Changes the call in its place, which keeps its name.
  Result<void> batch_of_new_tensor(ir::NodeId id);
  Result<void> sizes_from_latest(ir::NodeId id);
  Result<void> longer_size_from_latest(ir::NodeId id);
  Result<void> sizes_in_tuple_from_latest(ir::NodeId id) { return tuple_from_latest(id, 0); }
  Result<void> longer_sizes_in_tuple_from_latest(ir::NodeId id) { return tuple_from_latest(id, 1); }
  Result<void> bounds_from_latest(ir::NodeId id);
  Result<void> all_sizes_from_operand(ir::NodeId id);

 private:
  const ir::Graph& graph() const { return before_.sized.graph; }
  std::span<const ir::Arg> args(ir::NodeId id) const { return graph().args(id); }
  bool is_method(ir::NodeId id, std::string_view target) const;
  bool is_function(ir::NodeId id, std::string_view target) const;
  static bool is_literal(const ir::Arg& arg, int64_t value) {
    return arg.kind == ir::ArgKind::Int && arg.integer == value;
  }
  bool has_literal(ir::NodeId id, size_t i) const { return args(id)[i].kind == ir::ArgKind::Int; }
  bool is_size(const ir::Arg& arg, int64_t more = 0) const { return is_literal(arg, size_.captured + more); }
  bool holds_size(const ir::Arg& container, int64_t more = 0) const;
  bool is_made_of(ir::NodeId id, int64_t more) const;
  static bool is_first(const ir::Arg& arg) { return arg.kind == ir::ArgKind::None || is_literal(arg, 0); }
  static bool is_dense(const ir::Arg& arg) { return arg.kind == ir::ArgKind::None || is_literal(arg, 1); }
  // ":size" and "-size:".
  bool is_head(const ir::Arg& item) const;
  bool is_tail(const ir::Arg& item) const;
  std::optional<std::vector<int64_t>> shape_of(const ir::Arg& arg) const;
  Result<std::vector<int64_t>> needed_shape(ir::NodeId id) const;

  // What is known of the node that was made last.
  void note(ir::NodeId of, bool fresh);
  void copy(ir::NodeId id);
  Result<void> copied(ir::NodeId id);
  void remake(ir::NodeId id, const std::vector<ir::Arg>& made);
  ir::Arg add(ir::NodeKind kind, std::string_view target, std::string_view name, std::initializer_list<ir::Arg> args);
  ir::Arg size_of(const ir::Arg& value, size_t axis);
  ir::Arg one_more(const ir::Arg& size) { return add(ir::NodeKind::Operator, "+", "add", {size, ir::Arg::of_int(1)}); }
  ir::Arg latest_size() { return size_of(copying_.here(latest_->node), latest_->axis); }
  ir::Arg batch_size(ir::NodeId id);

  // The first size for the first axis, others for the first other axis that has it, which is more than 1.
  std::vector<ir::Arg> take_sizes(std::span<const ir::Arg> sizes, const ir::Arg& operand,
                                  const std::vector<int64_t>& shape);

  Result<void> tuple_from_latest(ir::NodeId id, int64_t more);

  ir::Arg bound(const ir::Arg& item);

  struct Latest {
    ir::NodeId node;  // of the graph before
    size_t axis;
  };
  const PassState& before_;
  const ChangingSize& size_;
  PassState after_;
  ir::GraphCopy copying_;  // into `after_`
  fx::Namespace names_{fx::Numbering::FromOne};
  std::optional<Latest> latest_;       // the value that had the size on another axis than the first most recently
  std::optional<ir::Arg> batch_size_;  // in the graph that is made
  bool deciding_ = false;
};

}  // namespace passnet::dataset::official
