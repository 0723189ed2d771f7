// Inputs from metas: fx/replay.h draws them as NumPy does; elements that are not finite are replaced here
// with torch's generator (rule 6 of spec A.3).
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/where.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

#include "fx/meta.h"
#include "fx/replay.h"
#include "runtime/dtype.h"
#include "runtime/session.h"
#include "runtime/share.h"

namespace passnet::runtime {

namespace {

/// Positions of records in the order in which they are drawn: class names in alphabetical order.
std::vector<size_t> draw_order(const std::vector<fx::TensorMeta>& records) {
  std::vector<size_t> order(records.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return records[a].class_name < records[b].class_name; });
  return order;
}

/// Replaces what is not finite. A tensor is drawn for each floating input that was not given literally,
/// needed or not, so that the generator stays in step.
void replace_non_finite(const std::vector<fx::TensorMeta>& records, size_t first,
                        std::vector<at::Tensor>& tensors, at::Generator generator) {
  for (const size_t i : draw_order(records)) {
    at::Tensor& tensor = tensors[first + i];
    if (!tensor.is_floating_point() || records[i].float_data || records[i].int_data) continue;
    const at::Tensor noise = at::randn(tensor.sizes(), generator, tensor.options()).mul_(0.01);
    const at::Tensor finite = at::isfinite(tensor);
    if (!finite.all().item<bool>()) tensor = at::where(finite, tensor, noise).clamp_(-100, 100);
  }
}

}  // namespace

Result<SharedTensors> replay_inputs(const std::string& weight_meta, const std::string& input_meta,
                                    uint32_t seed) {
  const c10::InferenceMode mode;
  PASSNET_TRY(const std::vector<fx::TensorMeta> inputs, fx::parse_meta("input_meta.py", input_meta));
  PASSNET_TRY(const std::vector<fx::TensorMeta> weights, fx::parse_meta("weight_meta.py", weight_meta));
  PASSNET_TRY(std::vector<fx::HostTensor> host, fx::replay(inputs, weights, seed));
  std::vector<at::Tensor> tensors;
  std::vector<std::string> names;
  bool all_finite = true;
  for (fx::HostTensor& tensor : host) {
    names.push_back(tensor.name);
    tensors.push_back(at::from_blob(tensor.bytes.data(), tensor.type.shape,
                                    at::TensorOptions(scalar_type(tensor.type.dtype))));
    if (tensors.back().is_floating_point())
      all_finite = all_finite && at::isfinite(tensors.back()).all().item<bool>();
  }
  if (!all_finite) {
    const at::Generator generator = at::detail::createCPUGenerator(seed);
    replace_non_finite(inputs, 0, tensors, generator);
    replace_non_finite(weights, inputs.size(), tensors, generator);
  }
  return share(names, tensors);
}

}  // namespace passnet::runtime
