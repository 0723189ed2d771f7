#include "runtime/use/used_graph.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/util/ScopeExit.h>
#include <fmt/format.h>

#include <algorithm>

#include "fx/syntax/parser.h"
#include "pass/plan/memories.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cpu/in_process_host.h"
#include "runtime/device/kernel_fault.h"
#include "runtime/gpu/on_gpu.h"
#include "runtime/lower/lower.h"
#include "runtime/tensor/allocator.h"

namespace passnet::runtime {

Result<std::unique_ptr<UsedGraph>> UsedGraph::load(Source source) {
  std::unique_ptr<UsedGraph> made(new UsedGraph());
  if (!source.gpu) {
    made->device_ = make_cpu_device(make_in_process_host);
    PASSNET_TRY_VOID(made->build(std::move(source)));
    return made;
  }
  PASSNET_TRY(made->device_, use_gpu(*source.gpu));
  made->place_ = c10::Device(c10::DeviceType::CUDA, *source.gpu);
  const OnGpu on(*source.gpu, OnGpu::Stream::Own);  // constants of the plan are there for all streams at its end
  PASSNET_TRY_VOID(made->build(std::move(source)));
  return made;
}

UsedGraph::~UsedGraph() {
  plan_.reset();
  if (!gpu_calls_) drop_blocks();
}

Result<void> UsedGraph::build(Source source) {
  PASSNET_TRY(const ir::Graph graph,
              fx::parse_model("model.py", std::make_shared<const std::string>(std::move(source.model))));
  may_write_ = pass::inputs_that_may_be_written(graph, source.lists);
  PASSNET_TRY(fused_, FusedLibrary::load(std::move(source.lists), source.kernels, *device_));
  const at::AutoDispatchBelowADInplaceOrView below_autograd;  // constants are made here
  PASSNET_TRY(Plan plan, Plan::build(graph, kLowerer, fused_.get()));
  plan_ = std::make_unique<Plan>(std::move(plan));
  if (!source.gpu) return {};
  gpu_calls_ = std::make_unique<GpuCalls>(
      *source.gpu, *device_, [this](const std::vector<at::Tensor>& inputs, bool keep) { return run(inputs, keep); },
      may_write_);
  return {};
}

Result<std::vector<c10::IValue>> UsedGraph::run(const std::vector<at::Tensor>& inputs, bool keep) {
  plan_->release();
  for (size_t i = 0; i < inputs.size(); ++i) plan_->set_input(i, inputs[i]);
  PASSNET_TRY_VOID(plan_->run(keep));
  return plan_->outputs();
}

void UsedGraph::release() {
  plan_->release();
  for (size_t i = 0; i < input_names().size(); ++i) plan_->set_input(i, at::Tensor());
}

void UsedGraph::note_versions(const std::vector<at::Tensor>& inputs, const std::vector<c10::IValue>& outputs) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (may_write_[i] && !inputs[i].is_inference()) inputs[i].unsafeGetTensorImpl()->bump_version();
  }
  for (const c10::IValue& output : outputs) {
    if (!output.isTensor() || output.toTensor().is_inference()) continue;
    at::TensorImpl& view = *output.toTensor().unsafeGetTensorImpl();
    const auto base = std::ranges::find_if(
        inputs, [&](const at::Tensor& input) { return input.is_alias_of(output.toTensor()) && !input.is_inference(); });
    if (base != inputs.end() && base->unsafeGetTensorImpl() != &view)
      view.set_version_counter(base->unsafeGetTensorImpl()->version_counter());
  }
}

Result<std::vector<c10::IValue>> UsedGraph::call(std::vector<at::Tensor> inputs) {
  const std::scoped_lock lock(mutex_);
  if (place_.is_cuda()) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].device() != place_)
        return bad_input(fmt::format("input '{}' lies on {}, expected {}", input_names()[i], inputs[i].device().str(),
                                     place_.str()));
    }
  }
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  // Holds no tensor of the caller's between calls.
  const auto forget = c10::make_scope_exit([&] { release(); });
  try {
    std::optional<FromCache> reused;  // malloc gives memory to the system after a call, and asks for it at the next
    if (!gpu_calls_) reused.emplace();
    PASSNET_TRY(std::vector<c10::IValue> outputs, gpu_calls_ ? gpu_calls_->call(inputs) : run(inputs, false));
    note_versions(inputs, outputs);
    return outputs;
  } catch (const KernelFault& fault) {
    return bad_input(fault.message).with_failure(fault.kind);
  }
}

std::pair<std::string, std::string> UsedGraph::mode() const {
  const std::scoped_lock lock(mutex_);
  if (!gpu_calls_) return {"operators", ""};
  return {gpu_calls_->mode(), gpu_calls_->why_not_recorded()};
}

}  // namespace passnet::runtime
