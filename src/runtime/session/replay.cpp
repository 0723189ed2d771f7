// Inputs from metas: graphdir/inputs/replay.h draws them as NumPy does; elements that are not finite are replaced here
// with torch's generator (docs/graphs.md, "How inputs are made from records", rule 6).
#include "runtime/session/replay.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/where.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

#include "base/hash.h"
#include "base/memory.h"
#include "graphdir/inputs/replay.h"
#include "runtime/session/inputs/input_kind.h"
#include "runtime/session/process.h"
#include "runtime/tensor/placement.h"
#include "runtime/tensor/share.h"

namespace passnet::runtime {

namespace {

/// Positions of records in the order in which they are drawn: class names in alphabetical order.
std::vector<size_t> draw_order(const std::vector<graphdir::TensorMeta>& records) {
  std::vector<size_t> order(records.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return records[a].class_name < records[b].class_name; });
  return order;
}

/// Replaces what is not finite. A tensor is drawn for each floating input that was not given literally,
/// needed or not, so that the generator stays in step.
void replace_non_finite(const std::vector<graphdir::TensorMeta>& records, size_t first,
                        const std::vector<at::Tensor>& tensors, at::Generator generator) {
  for (const size_t i : draw_order(records)) {
    const at::Tensor& tensor = tensors[first + i];
    if (!tensor.is_floating_point() || records[i].float_data || records[i].int_data) continue;
    const at::Tensor noise = at::randn(tensor.sizes(), generator, tensor.options()).mul_(0.01);
    const at::Tensor finite = at::isfinite(tensor);
    if (!finite.all().item<bool>()) tensor.copy_(at::where(finite, tensor, noise).clamp_(-100, 100));
  }
}

/// Entries of some of the records. entries: those of all.
std::vector<wire::Entry> entries_of(const graphdir::Metas& some, const std::vector<wire::Entry>& entries) {
  std::vector<wire::Entry> wanted;
  for (const auto* records : {&some.inputs, &some.weights}) {
    for (const graphdir::TensorMeta& record : *records)
      wanted.push_back(*std::ranges::find(entries, record.name, &wire::Entry::name));
  }
  return wanted;
}

}  // namespace

uint64_t call_seed_of(uint32_t seed, std::string_view input_kind) {
  const bool is_public = seed == graphdir::kReplaySeed && input_kind == record::kRecordedKind;
  return is_public ? kCallSeed : fast_hash(input_kind.data(), input_kind.size(), seed);
}

Result<SharedTensors> replay_inputs(const graphdir::Metas& metas, uint32_t seed, std::string_view input_kind) {
  const c10::InferenceMode mode;
  const auto& [weights, inputs] = metas;
  PASSNET_TRY_VOID(require_memory("the inputs", graphdir::input_bytes(inputs) + graphdir::input_bytes(weights)));
  SharedTensors shared;
  for (const auto* records : {&inputs, &weights}) {
    for (const graphdir::TensorMeta& record : *records)
      shared.entries.push_back({record.name, record.dtype, record.shape, 0});
  }
  const int64_t size = wire::lay_out(shared.entries);
  PASSNET_TRY(shared.memory, wire::create_memory("the inputs", size));
  {
    PASSNET_TRY(const wire::Mapping mapping, wire::Mapping::map(shared.memory.get(), size, true));
    // Not the values that an input kind puts others in place of: making them takes most of the time.
    const graphdir::Metas wanted = input_kind == record::kRecordedKind ? metas : to_replay(metas);
    const std::vector<wire::Entry> entries = entries_of(wanted, shared.entries);
    std::vector<std::byte*> memory;
    for (const wire::Entry& entry : entries) memory.push_back(mapping.data() + entry.offset);
    const OnProcessors drawing = on_all_processors();
    PASSNET_TRY(const std::vector<int64_t> non_finite,
                graphdir::replay(wanted.inputs, wanted.weights, memory, seed, thread_count()));
    if (std::any_of(non_finite.begin(), non_finite.end(), [](int64_t count) { return count > 0; })) {
      const at::Generator generator = at::detail::createCPUGenerator(seed);
      const std::vector<at::Tensor> tensors = view_shared(entries, mapping);
      replace_non_finite(wanted.inputs, 0, tensors, generator);
      replace_non_finite(wanted.weights, wanted.inputs.size(), tensors, generator);
    }
    if (input_kind != record::kRecordedKind)
      PASSNET_TRY_VOID(apply_input_kind(input_kind, metas, view_shared(shared.entries, mapping), seed));
  }
  PASSNET_TRY_VOID(wire::seal(shared.memory.get()));
  return shared;
}

}  // namespace passnet::runtime
