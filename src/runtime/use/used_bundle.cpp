#include "runtime/use/used_bundle.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <torch/version.h>

#include <cerrno>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file/file.h"
#include "base/json/json.h"
#include "bundle/target.h"
#include "pass/plan/launch_list.h"
#include "runtime/tensor/dtype.h"

namespace passnet::runtime {

namespace {

/// The objects of a bundle as files that have no name, by part.
using Objects = std::map<std::string, UniqueFd>;

/// Errors: Io.
Result<std::string> open_object(const bundle::Bundle& bundle, const std::string& part, Objects& objects) {
  UniqueFd& object = objects[part];
  if (!object) {
    object = UniqueFd(::memfd_create("passnet-object", MFD_CLOEXEC));
    if (!object) return io_error("create", "the memory of a kernel", errno);
    PASSNET_TRY_VOID(write_all(object.get(), bundle.bytes(*bundle.find(part)), "the memory of a kernel"));
  }
  return fmt::format("/proc/self/fd/{}", object.get());
}

/// Errors: BadInput: the plan is not understood; Io.
Result<UsedGraph::Source> source_of(const bundle::Bundle& bundle, const bundle::Plan& plan, Objects& objects) {
  UsedGraph::Source source{plan.model, {}, plan.kernels};
  PASSNET_TRY(source.lists, pass::launch_lists_from_json(*plan.lists));
  for (std::vector<pass::KernelFile>& of_list : source.kernels) {
    for (pass::KernelFile& kernel : of_list) {
      PASSNET_TRY(kernel.object, open_object(bundle, kernel.object, objects));
    }
  }
  return source;
}

/// Weights lie in the file, and what a graph writes to them in this process alone. Errors: Io.
Result<std::vector<at::Tensor>> map_weights(const std::filesystem::path& path, const bundle::Bundle& bundle,
                                            const std::vector<std::string>& inputs) {
  std::vector<at::Tensor> weights(inputs.size());
  if (bundle.manifest.weights.empty()) return weights;
  PASSNET_TRY(const UniqueFd file, open_file(path));
  PASSNET_TRY(wire::Mapping mapping, wire::Mapping::map_copy_on_write(file.get(), bundle.file.memory.size_bytes()));
  const auto memory = std::make_shared<wire::Mapping>(std::move(mapping));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const wire::Entry* const part = bundle.find(std::string(bundle::kWeights) + inputs[i]);
    if (part == nullptr) continue;
    weights[i] = at::from_blob(
        memory->data() + part->offset, part->shape, [memory](void*) {}, at::TensorOptions(scalar_type(part->dtype)));
  }
  return weights;
}

}  // namespace

Result<std::unique_ptr<UsedBundle>> UsedBundle::load(const std::filesystem::path& path) {
  PASSNET_TRY(bundle::Bundle bundle, bundle::read(path));
  std::unique_ptr<UsedBundle> made(new UsedBundle());
  PASSNET_TRY(made->plain_, UsedGraph::load({std::string(bundle.bytes(*bundle.find(bundle::kModel))), {}, {}}));
  const std::vector<std::string>& inputs = made->plain_->input_names();
  PASSNET_TRY(made->given_, map_weights(path, bundle, inputs));
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!made->given_[i].defined()) made->names_.push_back(inputs[i]);
  }
  if (const bundle::Plan* const plan = bundle::choose_plan(bundle.manifest, TORCH_VERSION, made->why_)) {
    Objects objects;
    PASSNET_TRY(UsedGraph::Source source, source_of(bundle, *plan, objects));
    PASSNET_TRY(made->fast_, UsedGraph::load(std::move(source)));
  }
  made->manifest_ = std::move(bundle.manifest);
  return made;
}

Result<std::vector<c10::IValue>> UsedBundle::call(std::vector<at::Tensor> inputs) {
  std::vector<at::Tensor> all = given_;
  size_t next = 0;
  for (at::Tensor& one : all) {
    if (!one.defined()) one = std::move(inputs[next++]);
  }
  if (!fast_) return plain_->call(std::move(all));
  Result<std::vector<c10::IValue>> outputs = fast_->call(all);
  if (outputs || outputs.error().failure != "other-shapes") return outputs;
  return plain_->call(std::move(all));
}

}  // namespace passnet::runtime
