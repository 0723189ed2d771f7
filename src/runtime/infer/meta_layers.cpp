// Layers: convolution, normalisation, pooling, padding, attention. See meta_kernels.h.
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include "runtime/infer/meta_kernels.h"

namespace passnet::runtime::meta {

namespace {

using at::Tensor;

/// Element i of a list that may have one value for all dimensions. Throws when the list is too short, or when no tensor
/// has a size like the element.
int64_t at_dim(at::IntArrayRef values, size_t i) {
  constexpr int64_t kLargest = int64_t{1} << 31;
  TORCH_CHECK(values.size() == 1 || i < values.size(), "expected a value for each dimension, found ", values.size());
  const int64_t value = values[values.size() == 1 ? 0 : i];
  TORCH_CHECK(value >= -kLargest && value <= kLargest, "found ", value, ", expected at most ", kLargest);
  return value;
}
int64_t at_dim(c10::SymIntArrayRef values, size_t i) { return at_dim(C10_AS_INTARRAYREF_SLOW(values), i); }

/// Positions of a window of `kernel` (dilated) elements that moves by `stride` over `size` elements.
int64_t window_positions(int64_t size, int64_t padding, int64_t dilation, int64_t kernel, int64_t stride,
                         bool ceil = false) {
  TORCH_CHECK(stride > 0 && kernel > 0 && dilation > 0, "a window of ", kernel, " elements, dilated by ", dilation,
              ", that moves by ", stride);
  const int64_t reach = size + 2 * padding - dilation * (kernel - 1) - 1;
  int64_t positions = (reach + (ceil ? stride - 1 : 0)) / stride + 1;
  // A window that would start in the padding on the right is left out.
  if (ceil && (positions - 1) * stride >= size + padding) --positions;
  TORCH_CHECK(reach >= 0 && positions > 0, "a window of ", kernel, " elements, dilated by ", dilation,
              ", does not fit into ", size, " elements padded by ", padding);
  return positions;
}

bool is_channels_last(const Tensor& tensor) {
  const at::MemoryFormat format = tensor.suggest_memory_format();
  return format == at::MemoryFormat::ChannelsLast || format == at::MemoryFormat::ChannelsLast3d;
}

Tensor convolution(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                   c10::SymIntArrayRef stride, c10::SymIntArrayRef padding, c10::SymIntArrayRef dilation,
                   bool transposed, c10::SymIntArrayRef output_padding, c10::SymInt groups) {
  const int64_t group_count = at_dim(c10::SymIntArrayRef(groups), 0);
  TORCH_CHECK(input.dim() == weight.dim(), "convolution: ", weight.dim(), "-dimensional weight, found an input with ",
              input.dim(), " dimensions");
  TORCH_CHECK(input.scalar_type() == weight.scalar_type(), "convolution: input is ", input.scalar_type(),
              ", weight is ", weight.scalar_type());
  const int64_t in_channels = transposed ? weight.size(0) : weight.size(1) * group_count;
  TORCH_CHECK(input.size(1) == in_channels, "convolution: the weight takes ", in_channels, " channels, found ",
              input.size(1));
  std::vector<int64_t> sizes = {input.size(0), transposed ? weight.size(1) * group_count : weight.size(0)};
  TORCH_CHECK(!bias || !bias->defined() || bias->numel() == sizes[1], "convolution: expected a bias of ", sizes[1],
              " elements, found ", bias ? bias->numel() : 0);
  for (size_t i = 0; i + 2 < static_cast<size_t>(input.dim()); ++i) {
    const auto dim = static_cast<int64_t>(i) + 2;
    const int64_t size = input.size(dim), kernel = weight.size(dim);
    if (transposed) {
      sizes.push_back((size - 1) * at_dim(stride, i) - 2 * at_dim(padding, i) + at_dim(dilation, i) * (kernel - 1) +
                      at_dim(output_padding, i) + 1);
      TORCH_CHECK(sizes.back() > 0, "convolution: output of size ", sizes.back());
    } else {
      sizes.push_back(window_positions(size, at_dim(padding, i), at_dim(dilation, i), kernel, at_dim(stride, i)));
    }
  }
  at::MemoryFormat format = at::MemoryFormat::Contiguous;
  if (is_channels_last(input) || is_channels_last(weight)) {
    if (input.dim() == 4) format = at::MemoryFormat::ChannelsLast;
    if (input.dim() == 5) format = at::MemoryFormat::ChannelsLast3d;
  }
  return make(sizes, input.options(), format);
}

/// What cuDNN runs is known without it, on machines that have none too.
Tensor cudnn_convolution(const Tensor& input, const Tensor& weight, c10::SymIntArrayRef padding,
                         c10::SymIntArrayRef stride, c10::SymIntArrayRef dilation, c10::SymInt groups, bool, bool,
                         bool) {
  return convolution(input, weight, std::nullopt, stride, padding, dilation, false, {}, std::move(groups));
}

// --- normalisation ----------------------------------------------------------------------------------------

using Three = std::tuple<Tensor, Tensor, Tensor>;

/// Statistics are those of the batch when training, else empty; float for half types.
Three normalized(const Tensor& input, bool training) {
  const at::ScalarType kept = at::isReducedFloatingType(input.scalar_type()) ? at::kFloat : input.scalar_type();
  const Tensor statistics = make({training ? input.size(1) : 0}, input.options().dtype(kept));
  return {at::empty_like(input, input.suggest_memory_format()), statistics, at::empty_like(statistics)};
}
Three batch_norm(const Tensor& input, const std::optional<Tensor>&, const std::optional<Tensor>&,
                 const std::optional<Tensor>&, const std::optional<Tensor>&, bool training, double, double) {
  return normalized(input, training);
}
Three batch_norm_legit(const Tensor& input, const std::optional<Tensor>&, const std::optional<Tensor>&, Tensor&,
                       Tensor&, bool training, double, double) {
  return normalized(input, training);
}
Three batch_norm_no_statistics(const Tensor& input, const std::optional<Tensor>&, const std::optional<Tensor>&,
                               bool training, double, double) {
  return normalized(input, training);
}
Three layer_norm(const Tensor& input, c10::SymIntArrayRef normalized_shape, const std::optional<Tensor>&,
                 const std::optional<Tensor>&, double) {
  const auto outer = input.dim() - static_cast<int64_t>(normalized_shape.size());
  TORCH_CHECK(outer >= 0, "layer_norm: normalized_shape has ", normalized_shape.size(),
              " dimensions, found an input with ", input.dim());
  std::vector<int64_t> sizes = input.sizes().vec();
  for (size_t i = 0; i < normalized_shape.size(); ++i) {
    const int64_t size = normalized_shape[i].expect_int(), found = sizes[static_cast<size_t>(outer) + i];
    TORCH_CHECK(size == found, "layer_norm: expected size ", size, " from normalized_shape, found ", found);
    sizes[static_cast<size_t>(outer) + i] = 1;
  }
  const Tensor statistics = make(sizes, input.options());
  return {at::empty_like(input, at::MemoryFormat::Contiguous), statistics, at::empty_like(statistics)};
}
Three group_norm(const Tensor& input, const std::optional<Tensor>&, const std::optional<Tensor>&, c10::SymInt batch,
                 c10::SymInt, c10::SymInt, int64_t groups, double) {
  const Tensor statistics = make({batch.expect_int(), groups}, input.options());
  return {at::empty_like(input, input.suggest_memory_format()), statistics, at::empty_like(statistics)};
}
std::tuple<Tensor, Tensor> weight_norm(const Tensor& v, const Tensor& g, int64_t) {
  return {at::empty_like(v, at::MemoryFormat::Contiguous), at::empty_like(g, at::MemoryFormat::Contiguous)};
}

// --- pooling, padding, sampling ---------------------------------------------------------------------------

Tensor adaptive_avg_pool(const Tensor& input, c10::SymIntArrayRef output_size) {
  std::vector<int64_t> sizes = input.sizes().vec();
  TORCH_CHECK(sizes.size() > output_size.size(), "adaptive_avg_pool: expected more than ", output_size.size(),
              " dimensions, found ", sizes.size());
  for (size_t i = 0; i < output_size.size(); ++i)
    sizes[sizes.size() - output_size.size() + i] = output_size[i].expect_int();
  const bool batched = sizes.size() == output_size.size() + 2;
  return make(sizes, input.options(), batched ? input.suggest_memory_format() : at::MemoryFormat::Contiguous);
}
std::tuple<Tensor, Tensor> max_pool3d(const Tensor& input, at::IntArrayRef kernel, at::IntArrayRef stride,
                                      at::IntArrayRef padding, at::IntArrayRef dilation, bool ceil) {
  std::vector<int64_t> sizes = input.sizes().vec();
  for (size_t i = 0; i < 3; ++i) {
    int64_t& size = size_at(sizes, static_cast<int64_t>(i) - 3);
    size = window_positions(size, at_dim(padding, i), at_dim(dilation, i), at_dim(kernel, i),
                            at_dim(stride.empty() ? kernel : stride, i), ceil);
  }
  const at::MemoryFormat format = input.dim() == 5 ? input.suggest_memory_format() : at::MemoryFormat::Contiguous;
  return {make(sizes, input.options(), format), make(sizes, input.options().dtype(at::kLong), format)};
}
Tensor max_unpool2d(const Tensor& input, const Tensor&, c10::SymIntArrayRef output_size) {
  std::vector<int64_t> sizes = input.sizes().vec();
  for (size_t i = 0; i < 2; ++i) size_at(sizes, static_cast<int64_t>(i) - 2) = at_dim(output_size, i);
  return make(sizes, input.options(), input.suggest_memory_format());
}
Tensor reflection_pad2d(const Tensor& input, c10::SymIntArrayRef padding) {
  std::vector<int64_t> sizes = input.sizes().vec();
  for (size_t i = 0; i < 4; ++i) size_at(sizes, i < 2 ? -1 : -2) += at_dim(padding, i);
  return make(sizes, input.options(), input.suggest_memory_format());
}
Tensor im2col(const Tensor& input, at::IntArrayRef kernel, at::IntArrayRef dilation, at::IntArrayRef padding,
              at::IntArrayRef stride) {
  int64_t positions = 1, elements = 1;
  for (size_t i = 0; i < 2; ++i) {
    positions *= window_positions(input.size(static_cast<int64_t>(i) - 2), at_dim(padding, i), at_dim(dilation, i),
                                  at_dim(kernel, i), at_dim(stride, i));
    elements *= at_dim(kernel, i);
  }
  std::vector<int64_t> sizes = {input.size(-3) * elements, positions};
  if (input.dim() == 4) sizes.insert(sizes.begin(), input.size(0));
  return make(sizes, input.options());
}
Tensor col2im(const Tensor& input, c10::SymIntArrayRef output_size, at::IntArrayRef kernel, at::IntArrayRef,
              at::IntArrayRef, at::IntArrayRef) {
  const int64_t elements = at_dim(kernel, 0) * at_dim(kernel, 1);
  TORCH_CHECK(elements > 0, "col2im: a window of ", elements, " elements");
  std::vector<int64_t> sizes = {input.size(-2) / elements, at_dim(output_size, 0), at_dim(output_size, 1)};
  if (input.dim() == 3) sizes.insert(sizes.begin(), input.size(0));
  return make(sizes, input.options());
}
Tensor grid_sampler(const Tensor& input, const Tensor& grid, int64_t, int64_t, bool) {
  std::vector<int64_t> sizes = {input.size(0), input.size(1)};
  for (int64_t i = 1; i + 1 < grid.dim(); ++i) sizes.push_back(grid.size(i));
  return make(sizes, input.options());
}

// --- attention, embeddings --------------------------------------------------------------------------------

/// Layouts as on the CPU: the fused kernel keeps the query's, the others give what matmul does.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const std::optional<Tensor>& mask, double dropout, bool, std::optional<double>,
                                    bool grouped) {
  TORCH_CHECK(query.dim() >= 2 && key.dim() >= 2 && value.dim() >= 2,
              "scaled_dot_product_attention: expected at least 2 dimensions");
  TORCH_CHECK(query.size(-1) == key.size(-1), "scaled_dot_product_attention: the query has ", query.size(-1),
              " features, the key ", key.size(-1));
  TORCH_CHECK(key.size(-2) == value.size(-2), "scaled_dot_product_attention: ", key.size(-2), " keys and ",
              value.size(-2), " values");
  std::vector<int64_t> sizes = query.sizes().vec();
  sizes.back() = value.size(-1);
  if (!grouped && query.dim() == key.dim()) {
    for (int64_t i = 0; i + 2 < query.dim(); ++i) sizes[static_cast<size_t>(i)] = std::max(query.size(i), key.size(i));
  }
  const bool fused = query.dim() == 4 && key.dim() == 4 && value.dim() == 4 && dropout == 0 &&
                     query.size(-1) == value.size(-1) && query.size(0) == key.size(0) && query.numel() > 0 &&
                     key.numel() > 0 && (grouped || query.size(1) == key.size(1)) &&
                     (!mask || !mask->defined() || mask->dim() == 2 || mask->dim() == 4);
  return fused ? at::empty_like(query) : make(sizes, query.options());
}
std::tuple<Tensor, Tensor> multi_head_attention(const Tensor& query, const Tensor& key, const Tensor&, int64_t,
                                                int64_t heads, const Tensor&, const Tensor&, const Tensor&,
                                                const Tensor&, const std::optional<Tensor>&, bool need_weights,
                                                bool average, std::optional<int64_t>) {
  Tensor weights;
  if (need_weights) {
    std::vector<int64_t> sizes = {query.size(0), query.size(1), key.size(1)};
    if (!average) sizes.insert(sizes.begin() + 1, heads);
    weights = make(sizes, query.options());
  }
  return {at::empty_like(query, at::MemoryFormat::Contiguous), weights};
}
std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag(const Tensor& weight, const Tensor& indices,
                                                         const Tensor& offsets, bool, int64_t, bool,
                                                         const std::optional<Tensor>&, bool include_last, int64_t) {
  const int64_t bags = offsets.size(0) - (include_last ? 1 : 0);
  const Tensor per_bag = make({bags}, offsets.options());
  return {make({bags, weight.size(1)}, weight.options()), make({indices.size(0)}, offsets.options()), per_bag,
          at::empty_like(per_bag)};
}

}  // namespace

void register_layers(torch::Library& library) {
  library.impl("convolution", convolution);
  library.impl("cudnn_convolution", cudnn_convolution);
  library.impl("native_batch_norm", batch_norm);
  library.impl("_native_batch_norm_legit", batch_norm_legit);
  library.impl("_native_batch_norm_legit.no_stats", batch_norm_no_statistics);
  library.impl("native_layer_norm", layer_norm);
  library.impl("native_group_norm", group_norm);
  library.impl("_weight_norm_interface", weight_norm);
  for (const char* name : {"_adaptive_avg_pool2d", "_adaptive_avg_pool3d"}) library.impl(name, adaptive_avg_pool);
  library.impl("max_pool3d_with_indices", max_pool3d);
  library.impl("max_unpool2d", max_unpool2d);
  library.impl("reflection_pad2d", reflection_pad2d);
  library.impl("im2col", im2col);
  library.impl("col2im", col2im);
  for (const char* name : {"grid_sampler_2d", "grid_sampler_3d"}) library.impl(name, grid_sampler);
  library.impl("scaled_dot_product_attention", scaled_dot_product_attention);
  library.impl("_native_multi_head_attention", multi_head_attention);
  for (const char* name : {"_embedding_bag", "_embedding_bag_forward_only"}) library.impl(name, embedding_bag);
}

}  // namespace passnet::runtime::meta
