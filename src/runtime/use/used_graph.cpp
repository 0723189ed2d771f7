#include "runtime/use/used_graph.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/util/ScopeExit.h>

#include <utility>

#include "fx/parser.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cpu/in_process_host.h"
#include "runtime/device/kernel_fault.h"
#include "runtime/lower/lower.h"

namespace passnet::runtime {

Result<std::unique_ptr<UsedGraph>> UsedGraph::load(Source source) {
  std::unique_ptr<UsedGraph> made(new UsedGraph());
  made->device_ = make_cpu_device(make_in_process_host);
  PASSNET_TRY(const ir::Graph graph,
              fx::parse_model("model.py", std::make_shared<const std::string>(std::move(source.model))));
  PASSNET_TRY(made->fused_, FusedLibrary::load(std::move(source.lists), source.kernels, *made->device_));
  const at::AutoDispatchBelowADInplaceOrView below_autograd;  // constants are made here
  PASSNET_TRY(Plan plan, Plan::build(graph, kLowerer, made->fused_.get()));
  made->plan_ = std::make_unique<Plan>(std::move(plan));
  return made;
}

Result<std::vector<c10::IValue>> UsedGraph::call(std::vector<at::Tensor> inputs) {
  const std::scoped_lock lock(mutex_);
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  for (size_t i = 0; i < inputs.size(); ++i) plan_->set_input(i, std::move(inputs[i]));
  // Holds no tensor of the caller's between calls.
  const auto forget = c10::make_scope_exit([&] {
    plan_->release();
    for (size_t i = 0; i < input_names().size(); ++i) plan_->set_input(i, at::Tensor());
  });
  try {
    PASSNET_TRY_VOID(plan_->run());
    return plan_->outputs();
  } catch (const KernelFault& fault) {
    return bad_input(fault.message).with_failure(fault.kind);
  }
}

}  // namespace passnet::runtime
