// What torch.vmap leaves in a captured graph: entering and leaving a batch level, and tensors that carry a
// hidden batch dimension. They run on libtorch's own vmap, so every operator in between is batched by its
// rules. Source: torch/csrc/functorch/init.cpp of PyTorch 2.11 (behaviour of the Python bindings).
#include <ATen/core/Tensor.h>
#include <ATen/functorch/BatchedTensorImpl.h>
#include <ATen/functorch/DynamicLayer.h>
#include <ATen/ops/movedim.h>

#include "runtime/lower/lower.h"

namespace passnet::runtime {

namespace {

namespace functorch = at::functorch;

c10::IValue enter(std::vector<c10::IValue>& inputs) {
  const std::string& randomness = inputs[1].toStringRef();
  const auto kind = randomness == "same"        ? functorch::RandomnessType::Same
                    : randomness == "different" ? functorch::RandomnessType::Different
                                                : functorch::RandomnessType::Error;
  return functorch::initAndPushDynamicLayer(functorch::TransformType::Vmap, c10::SymInt(inputs[0].toScalar().toLong()),
                                            kind);
}

c10::IValue leave(std::vector<c10::IValue>&) { return functorch::popDynamicLayerAndDeleteMetadata().layerId(); }

c10::IValue add_dim(std::vector<c10::IValue>& inputs) {
  const at::Tensor& tensor = inputs[0].toTensor();
  const int64_t dim = inputs[1].toInt();
  return functorch::addBatchDim(tensor, dim < 0 ? dim + tensor.dim() : dim, inputs[2].toInt());
}

c10::IValue remove_dim(std::vector<c10::IValue>& inputs) {
  const at::Tensor& tensor = inputs[0].toTensor();
  const int64_t level = inputs[1].toInt(), size = inputs[2].toScalar().toLong(), out = inputs[3].toInt();
  const auto* batched = functorch::maybeGetBatchedImpl(tensor);
  if (batched == nullptr || batched->level() != level) {
    // The result does not depend on this level: it is the same for every element of the batch.
    std::vector<int64_t> sizes = tensor.sizes().vec();
    sizes.insert(sizes.begin() + (out < 0 ? out + tensor.dim() + 1 : out), size);
    return tensor.unsqueeze(out).expand(sizes);
  }
  return at::movedim(batched->value(), batched->bdim(), out);
}

Operand no_operand(Builder&, const Bound&) { return Operand::none(); }

const Rule kVmapRules[] = {
    {"torch._functorch.predispatch.lazy_load_decompositions torch._functorch.vmap.lazy_load_decompositions",
     no_operand},
    {"torch._functorch.predispatch._vmap_increment_nesting torch._C._functorch._vmap_increment_nesting",
     host_call<enter, Kind::Opaque>},
    {"torch._functorch.predispatch._vmap_decrement_nesting torch._C._functorch._vmap_decrement_nesting",
     host_call<leave, Kind::Opaque>},
    {"torch._functorch.predispatch._add_batch_dim torch._C._functorch._add_batch_dim",
     host_call<add_dim, Kind::Tensor>},
    {"torch._functorch.predispatch._remove_batch_dim torch._C._functorch._remove_batch_dim",
     host_call<remove_dim, Kind::Tensor>},
};

}  // namespace

std::span<const Rule> vmap_rules() { return kVmapRules; }

void leave_vmap() {
  while (functorch::maybeCurrentDynamicLayer()) functorch::popDynamicLayerAndDeleteMetadata();
}

}  // namespace passnet::runtime
