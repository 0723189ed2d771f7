#include "analysis/kernel_count.h"

#include <algorithm>
#include <string_view>

#include "analysis/op_name.h"
#include "ir/ops/memory.h"

namespace passnet::analysis {

using ir::NodeId;

namespace {

/// Of operators that the table does not know, by the last part of their names; the rest of those are pointwise.
struct UnknownOperator {
  std::string_view name;
  KernelClass kernel;
};
constexpr UnknownOperator kUnknownOperators[] = {
    {"_assert", KernelClass::Free},      {"_assert_async", KernelClass::Free},
    {"cholesky", KernelClass::Library},  {"cummin", KernelClass::Reduction},
    {"gru", KernelClass::Library},       {"inv", KernelClass::Library},
    {"irfftn", KernelClass::Library},    {"logcumsumexp", KernelClass::Reduction},
    {"lstm", KernelClass::Library},      {"msort", KernelClass::Library},
    {"nms", KernelClass::Library},       {"pinv", KernelClass::Library},
    {"qr", KernelClass::Library},        {"rfftn", KernelClass::Library},
    {"roi_align", KernelClass::Library}, {"set_grad_enabled", KernelClass::Free},
    {"stft", KernelClass::Library},      {"svd", KernelClass::Library},
};
static_assert(std::ranges::is_sorted(kUnknownOperators, {}, &UnknownOperator::name));

KernelClass class_of_unknown(const ir::Node& node) {
  if (node.kind == ir::NodeKind::Attribute) return KernelClass::Free;
  const std::string own = op_name(node);
  std::string_view name = own;
  for (const std::string_view prefix : {"Tensor.", "linalg_", "fft_"}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  const auto* found = std::ranges::lower_bound(kUnknownOperators, name, {}, &UnknownOperator::name);
  return found != std::end(kUnknownOperators) && found->name == name ? found->kernel : KernelClass::Pointwise;
}

/// max(x, y) and min(x, y) of two tensors are pointwise.
bool has_two_tensors(const ir::Graph& graph, NodeId id) {
  const ir::Arg* second = ir::find_argument(graph, id, "other");
  return second != nullptr && second->kind == ir::ArgKind::Node;
}

/// A body's kernels so far: groups of nodes that one kernel does. A group joined to another stands for
/// nothing any more.
class Kernels {
 public:
  explicit Kernels(std::span<const int64_t> elements) : elements_(elements) {}

  struct Group {
    bool library = false;
    int64_t read = -1,
            written = -1;         // elements that a loop of it goes over: of its input, of its result; -1: any
    std::vector<size_t> before;   // groups that must be done first, directly
    std::vector<NodeId> sources;  // values from memory that it reads
  };

  int count() const { return live_; }

  size_t add(Group group) {
    groups_.push_back(std::move(group));
    joined_.push_back(joined_.size());
    ++live_;
    return joined_.size() - 1;
  }
  size_t find(size_t group) const {
    while (joined_[group] != group) group = joined_[group];
    return group;
  }
  Group& operator[](size_t group) { return groups_[find(group)]; }

  /// Whether `group` needs what `other` makes, through a third group: then the two cannot be one kernel.
  bool depends_through_another(size_t group, size_t other) const {
    for (const size_t before : groups_[group].before) {
      const size_t direct = find(before);
      if (direct != other && direct != group && reaches(direct, other)) return true;
    }
    return false;
  }
  void join(size_t group, size_t into) {
    Group& from = groups_[group];
    Group& to = groups_[into];
    to.before.insert(to.before.end(), from.before.begin(), from.before.end());
    to.sources.insert(to.sources.end(), from.sources.begin(), from.sources.end());
    to.read = std::max(to.read, from.read);
    to.written = std::max(to.written, from.written);
    joined_[group] = into;
    std::erase_if(to.before, [&](size_t before) { return find(before) == into; });
    --live_;
  }
  size_t size() const { return groups_.size(); }
  bool is_live(size_t group) const { return joined_[group] == group; }
  int64_t elements(NodeId id) const { return id < elements_.size() ? elements_[id] : -1; }

 private:
  bool reaches(size_t from, size_t to) const {
    std::vector<bool> seen(groups_.size());
    std::vector<size_t> open{from};
    while (!open.empty()) {
      const size_t group = open.back();
      open.pop_back();
      if (group == to) return true;
      if (seen[group]) continue;
      seen[group] = true;
      for (const size_t before : groups_[group].before) open.push_back(find(before));
    }
    return false;
  }
  std::span<const int64_t> elements_;
  std::vector<Group> groups_;
  std::vector<size_t> joined_;
  int live_ = 0;
};

bool same_loop(int64_t a, int64_t b) { return a < 0 || b < 0 || a == b; }

/// Whether a loop over `elements` can be part of a group's.
bool fits(const Kernels::Group& group, int64_t elements) {
  return !group.library && (same_loop(group.read, elements) || same_loop(group.written, elements));
}

class Counting {
 public:
  Counting(const ir::Graph& graph, std::span<const int64_t> elements)
      : graph_(graph), kernels_(elements), maker_(graph.size(), kNone), base_(graph.size()) {
    for (NodeId id = 0; id < graph.size(); ++id) base_[id] = id;
  }

  void add(NodeId id) {
    const KernelClass cost = kernel_class(graph_, id);
    std::vector<NodeId> inputs;
    for_each_input(graph_, graph_.node(id), [&](NodeId input) {
      const NodeId base = base_[input];
      if (base != ir::kNoNode && std::find(inputs.begin(), inputs.end(), base) == inputs.end()) inputs.push_back(base);
    });
    if (cost == KernelClass::Free) {
      base_[id] = ir::kNoNode;
      ir::for_each_aliased_input(graph_, id, [&](NodeId input) {
        if (base_[id] == ir::kNoNode) base_[id] = base_[input];
      });
      return;
    }
    Kernels::Group group;
    group.library = cost == KernelClass::Library;
    group.written = kernels_.elements(id);
    group.read = cost == KernelClass::Reduction && !inputs.empty() ? kernels_.elements(inputs.front()) : group.written;
    for (const NodeId input : inputs) {
      if (maker_[input] == kNone)
        group.sources.push_back(input);
      else
        group.before.push_back(kernels_.find(maker_[input]));
    }
    const int64_t loop = group.read;
    const std::vector<size_t> makers = group.before;
    size_t mine = kernels_.add(std::move(group));
    maker_[id] = mine;
    // What a convolution gives is brought into the graph's layout by a loop of the compiler's own.
    if (op_name(graph_.node(id)).starts_with("conv")) maker_[id] = kernels_.add({false, loop, loop, {mine}, {}});
    if (cost == KernelClass::Library || cost == KernelClass::Stencil) return;
    for (const size_t maker : makers) mine = join_if_possible(mine, kernels_.find(maker), loop);
    if (makers.empty()) join_a_reader_of_the_same(mine, loop);
  }
  int count() const { return kernels_.count(); }

 private:
  static constexpr size_t kNone = ~size_t{0};

  size_t join_if_possible(size_t mine, size_t other, int64_t loop) {
    if (mine == other || !fits(kernels_[other], loop)) return mine;
    if (kernels_.depends_through_another(mine, other) || kernels_.depends_through_another(other, mine)) return mine;
    kernels_.join(mine, other);
    return other;
  }
  // Two loops over the same values from memory are one.
  void join_a_reader_of_the_same(size_t mine, int64_t loop) {
    for (size_t other = 0; other < kernels_.size(); ++other) {
      if (other == mine || !kernels_.is_live(other)) continue;
      const auto reads = [&](NodeId source) {
        const auto& sources = kernels_[other].sources;
        return kernels_.elements(source) > 1 && std::find(sources.begin(), sources.end(), source) != sources.end();
      };
      const auto& sources = kernels_[mine].sources;
      if (std::any_of(sources.begin(), sources.end(), reads) && join_if_possible(mine, other, loop) == other) return;
    }
  }

  const ir::Graph& graph_;
  Kernels kernels_;
  std::vector<size_t> maker_;  // by node: the group that makes its value
  std::vector<NodeId> base_;   // by node: itself, or the value that it is a view of; none for sizes and types
};

}  // namespace

KernelClass kernel_class(const ir::Graph& graph, NodeId id) {
  const ir::Node& node = graph.node(id);
  const ir::OpSignature* signature = ir::find_signature(node);
  if (signature == nullptr) return class_of_unknown(node);
  const std::string_view name = signature->name;
  if ((name == "max" || name == "min") && has_two_tensors(graph, id)) return KernelClass::Pointwise;
  if (name == "getitem" && node.arg_count > 1) {
    // An index that is a tensor gathers; integers and slices do not.
    bool gathers = false;
    for_each_node(graph, graph.args(node)[1], [&](NodeId) { gathers = true; });
    return gathers ? KernelClass::Pointwise : KernelClass::Free;
  }
  return signature->kernel;
}

std::vector<int> kernel_counts(const ir::Graph& graph, std::span<const int64_t> elements) {
  Counting counting(graph, elements);
  std::vector<int> counts;
  for (size_t i = 0; i < body_size(graph); ++i) {
    counting.add(body_node(graph, i));
    counts.push_back(counting.count());
  }
  return counts;
}

}  // namespace passnet::analysis
