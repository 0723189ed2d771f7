#include "dataset/kernel_count.h"

#include <algorithm>
#include <string_view>

#include "dataset/op_name.h"
#include "ir/op_table.h"

namespace passnet::dataset {

using ir::NodeId;

namespace {

// clang-format off
constexpr std::string_view kLibrary[] = {
    "addbmm",        "addmm",        "argsort",      "baddbmm",       "bilinear",      "bmm",        "bucketize",
    "cdist",         "cholesky",     "conv1d",       "conv2d",        "conv3d",        "conv_transpose1d",
    "conv_transpose2d", "conv_transpose3d", "cumprod", "einsum",      "embedding_bag", "fft",        "fft2",
    "fftn",          "grid_sample",  "gru",          "histc",         "ifft",          "ifft2",      "ifftn",
    "inv",           "irfft",        "kthvalue",     "linear",        "lstm",          "masked_select", "matmul",
    "mm",            "msort",        "multi_head_attention_forward",  "multinomial",   "mv",         "nms",
    "nonzero",       "outer",        "pinv",         "qr",            "rfft",          "roi_align",  "scaled_dot_product_attention",
    "searchsorted",  "sort",         "stft",         "svd",           "tensordot",     "topk",       "unique"};
constexpr std::string_view kReductions[] = {
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "all",  "amax",  "amin",     "aminmax",
    "any",       "argmax",     "argmin",        "cosine_similarity", "count_nonzero", "cross_entropy", "cummax", "cummin",
    "cumsum",    "group_norm", "instance_norm", "l1_loss",  "layer_norm", "log_softmax", "logcumsumexp", "logsumexp",
    "max",       "mean",       "median",        "min",      "mse_loss",   "nanmean",     "nansum",     "nll_loss",
    "norm",      "normalize",  "prod",          "rms_norm", "smooth_l1_loss", "softmax", "softmin",    "std",
    "std_mean",  "sum",        "var",           "var_mean", "vector_norm"};
constexpr std::string_view kStencils[] = {"adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d", "avg_pool1d",
                                          "avg_pool2d",          "avg_pool3d",          "fold",                "interpolate",
                                          "max_pool1d",          "max_pool2d",          "max_pool3d",          "unfold"};
/// Beside those that the operator table calls views.
constexpr std::string_view kFree[] = {"_assert",   "_assert_async", "_assert_scalar", "_check_is_size", "_log_api_usage_once",
                                      "detach",    "dim",           "getattr",        "is_floating_point", "item",
                                      "numel",     "set_grad_enabled", "size",        "sym_int",        "sym_size", "sym_sum"};
/// Views by the table, as they may return their input, that copy as a rule.
constexpr std::string_view kCopies[] = {"bfloat16", "bool", "contiguous", "double", "float", "half", "int", "long", "to", "type", "type_as"};
// clang-format on

static_assert(std::ranges::is_sorted(kLibrary) && std::ranges::is_sorted(kReductions) && std::ranges::is_sorted(kStencils) &&
              std::ranges::is_sorted(kFree) && std::ranges::is_sorted(kCopies));

bool is_in(std::span<const std::string_view> sorted, std::string_view name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

/// max(x, y) and min(x, y) of two tensors are pointwise.
bool has_two_tensors(const ir::Graph& graph, const ir::Node& node) {
  return node.arg_count > 1 && graph.args(node)[1].kind == ir::ArgKind::Node;
}

/// A body's kernels so far: groups of nodes that one kernel does. A group joined to another stands for
/// nothing any more.
class Kernels {
 public:
  explicit Kernels(std::span<const int64_t> elements) : elements_(elements) {}

  struct Group {
    bool library = false;
    int64_t read = -1,
            written = -1;        // elements that a loop of it goes over: of its input, of its result; -1: any
    std::vector<size_t> before;  // groups that must be done first, directly
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
      if (std::find(inputs.begin(), inputs.end(), base_[input]) == inputs.end())
        inputs.push_back(base_[input]);
    });
    if (cost == KernelClass::Free) {
      if (!inputs.empty()) base_[id] = inputs.front();
      return;
    }
    Kernels::Group group;
    group.library = cost == KernelClass::Library;
    group.written = kernels_.elements(id);
    group.read =
        cost == KernelClass::Reduction && !inputs.empty() ? kernels_.elements(inputs.front()) : group.written;
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
    if (op_name(graph_.node(id)).starts_with("conv"))
      maker_[id] = kernels_.add({false, loop, loop, {mine}, {}});
    if (cost == KernelClass::Library || cost == KernelClass::Stencil) return;
    for (const size_t maker : makers) mine = join_if_possible(mine, kernels_.find(maker), loop);
    if (makers.empty()) join_a_reader_of_the_same(mine, loop);
  }
  int count() const { return kernels_.count(); }

 private:
  static constexpr size_t kNone = ~size_t{0};

  size_t join_if_possible(size_t mine, size_t other, int64_t loop) {
    if (mine == other || !fits(kernels_[other], loop)) return mine;
    if (kernels_.depends_through_another(mine, other) || kernels_.depends_through_another(other, mine))
      return mine;
    kernels_.join(mine, other);
    return other;
  }
  // Two loops over the same values from memory are one.
  void join_a_reader_of_the_same(size_t mine, int64_t loop) {
    for (size_t other = 0; other < kernels_.size(); ++other) {
      if (other == mine || !kernels_.is_live(other)) continue;
      const auto reads = [&](NodeId source) {
        const auto& sources = kernels_[other].sources;
        return kernels_.elements(source) > 1 &&
               std::find(sources.begin(), sources.end(), source) != sources.end();
      };
      const auto& sources = kernels_[mine].sources;
      if (std::any_of(sources.begin(), sources.end(), reads) && join_if_possible(mine, other, loop) == other)
        return;
    }
  }

  const ir::Graph& graph_;
  Kernels kernels_;
  std::vector<size_t> maker_;  // by node: the group that makes its value
  std::vector<NodeId> base_;   // by node: itself, or the value that it is a view of
};

}  // namespace

KernelClass kernel_class(const ir::Graph& graph, NodeId id) {
  const ir::Node& node = graph.node(id);
  const std::string own = canonical_op_name(node);
  std::string_view name = own;
  if (name.starts_with("Tensor.")) name.remove_prefix(7);
  if (is_in(kFree, name)) return KernelClass::Free;
  if (is_in(kLibrary, name)) return KernelClass::Library;
  if (is_in(kStencils, name)) return KernelClass::Stencil;
  if ((name == "max" || name == "min") && has_two_tensors(graph, node)) return KernelClass::Pointwise;
  if (is_in(kReductions, name)) return KernelClass::Reduction;
  if (is_in(kCopies, name)) return KernelClass::Pointwise;
  const ir::OpSignature* signature = ir::find_signature(node);
  if (name == "getitem" && node.arg_count > 1) {
    // An index that is a tensor gathers; integers and slices do not.
    bool gathers = false;
    for_each_node(graph, graph.args(node)[1], [&](NodeId) { gathers = true; });
    return gathers ? KernelClass::Pointwise : KernelClass::Free;
  }
  if (signature != nullptr && signature->view) return KernelClass::Free;
  return KernelClass::Pointwise;
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

}  // namespace passnet::dataset
