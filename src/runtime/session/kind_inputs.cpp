#include "runtime/session/kind_inputs.h"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "runtime/session/inputs/input_kind.h"
#include "runtime/session/replay.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/placement.h"
#include "runtime/tensor/share.h"

namespace passnet::runtime {

Result<std::shared_ptr<const InputSet>> draw_inputs_of_kind(const graphdir::Metas& metas, uint32_t seed,
                                                            std::string_view input_kind) {
  if (graph_device().is_cpu()) {
    PASSNET_TRY(SharedTensors shared, replay_inputs(metas, seed, input_kind));
    return adopt_input_set(std::move(shared), call_seed_of(seed, input_kind));
  }
  PASSNET_TRY(const SharedTensors shared, replay_inputs(to_replay(metas), seed));
  PASSNET_TRY(const std::vector<at::Tensor> recorded, map_shared(shared));
  auto set = std::make_shared<InputSet>();
  set->call_seed = call_seed_of(seed, input_kind);
  for (const auto* records : {&metas.inputs, &metas.weights}) {
    for (const graphdir::TensorMeta& record : *records) {
      const auto found = std::ranges::find(shared.entries, record.name, &wire::Entry::name);
      set->entries.push_back({record.name, record.dtype, record.shape, 0});
      set->tensors.push_back(
          found != shared.entries.end()
              ? recorded[static_cast<size_t>(found - shared.entries.begin())].to(graph_device())
              : at::empty(record.shape, at::TensorOptions(graph_device()).dtype(scalar_type(record.dtype))));
    }
  }
  PASSNET_TRY_VOID(apply_input_kind(input_kind, metas, set->tensors, seed));
  return set;
}

}  // namespace passnet::runtime
