#include "runtime/infer/inputs.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>

#include <map>

#include "graphdir/inputs/replay.h"
#include "runtime/tensor/dtype.h"

namespace passnet::runtime {

namespace {

/// The replay rule draws no numbers for it. (Integers without a record of their values become 0.)
bool is_known(const graphdir::TensorMeta& meta) {
  if (ir::contiguous(meta.dtype, meta.shape).numel() > kKnownElements) return false;
  return meta.int_data || meta.float_data || meta.stddev == 0.0;
}

/// The records that replay has to see. Ranges are drawn before all else, one after the other, so either all of
/// them are drawn or, when they are many, none.
std::vector<graphdir::TensorMeta> known_records(const std::vector<graphdir::TensorMeta>& records, bool with_ranges) {
  std::vector<graphdir::TensorMeta> known;
  for (const graphdir::TensorMeta& meta : records) {
    if (graphdir::is_ranged(meta) ? with_ranges : is_known(meta)) known.push_back(meta);
  }
  return known;
}

int64_t ranged_elements(const std::vector<graphdir::TensorMeta>& records) {
  int64_t elements = 0;
  for (const graphdir::TensorMeta& meta : records)
    elements += graphdir::is_ranged(meta) ? ir::contiguous(meta.dtype, meta.shape).numel() : 0;
  return elements;
}

}  // namespace

Result<std::vector<at::Tensor>> inferable_inputs(const graphdir::Metas& metas, const std::vector<std::string>& names) {
  const auto& [weights, inputs] = metas;
  std::map<std::string_view, at::Tensor> by_name;
  for (const auto* records : {&inputs, &weights}) {
    for (const graphdir::TensorMeta& meta : *records)
      by_name[meta.name] = at::empty(meta.shape, at::TensorOptions(scalar_type(meta.dtype)).device(at::kMeta));
  }
  const bool with_ranges = ranged_elements(inputs) + ranged_elements(weights) <= 16 * kKnownElements;
  PASSNET_TRY(std::vector<graphdir::HostTensor> known,
              graphdir::replay(known_records(inputs, with_ranges), known_records(weights, with_ranges)));
  for (graphdir::HostTensor& tensor : known) {
    if (tensor.type.numel() > kKnownElements) continue;
    const auto options = at::TensorOptions(scalar_type(tensor.type.dtype));
    by_name.at(tensor.name) = at::from_blob(tensor.bytes.data(), tensor.type.shape, options).clone();
  }
  std::vector<at::Tensor> tensors;
  for (const std::string& name : names) {
    const auto found = by_name.find(name);
    if (found == by_name.end())
      return bad_input(fmt::format("no record for argument '{}' of forward", name))
          .with_hint("every argument needs a class in weight_meta.py or input_meta.py");
    tensors.push_back(found->second);
  }
  return tensors;
}

}  // namespace passnet::runtime
