#include "runtime/plan/fused.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/as_strided.h>
#include <fmt/format.h>

#include "base/check.h"
#include "runtime/device/checked_run.h"
#include "runtime/tensor/dtype.h"

namespace passnet::runtime {

namespace {

class FusedStep final : public Step {
 public:
  FusedStep(FusedLibrary& library, size_t index, std::vector<int32_t> inputs, std::vector<int32_t> outs)
      : library_(library),
        index_(index),
        list_(library.list(index).launches),
        inputs_(std::move(inputs)),
        outs_(std::move(outs)) {
    const FusedLibrary::List& loaded = library.list(index);
    if (loaded.can_launch()) launches_ = library.device().make_ready(list_, loaded.kernels, loaded.running);
    tensors_.resize(list_.buffers.size());
    pointers_.resize(list_.buffers.size());
    for (const pass::View& output : list_.outputs) {
      const pass::Buffer& buffer = list_.buffers[output.buffer];
      whole_.push_back(output.offset == 0 && output.type == buffer.type);
    }
  }

  void run(c10::IValue* slots) override {
    for (size_t i = 0; i < list_.buffers.size(); ++i) {
      const pass::Buffer& buffer = list_.buffers[i];
      if (buffer.input >= 0) {
        const at::Tensor& input = slots[inputs_[buffer.input]].toTensor();
        check_input(buffer, input);
        tensors_[i] = input;
      } else {
        tensors_[i] = allocate(buffer);
      }
      pointers_[i] = static_cast<char*>(tensors_[i].data_ptr());
    }
    if (library_.mode != FusedLibrary::Mode::Trace) launch_all();
    for (size_t i = 0; i < outs_.size(); ++i) slots[outs_[i]] = output(i);
    for (at::Tensor& tensor : tensors_) tensor.reset();
  }

 private:
  void check_input(const pass::Buffer& buffer, const at::Tensor& tensor) const {
    const ir::TensorType& type = buffer.type;
    bool same =
        tensor.dim() == static_cast<int64_t>(type.shape.size()) && tensor.scalar_type() == scalar_type(type.dtype);
    for (size_t i = 0; same && i < type.shape.size(); ++i)
      same = tensor.size(i) == type.shape[i] && (type.shape[i] <= 1 || tensor.stride(i) == type.strides[i]);
    PASSNET_CHECK(same, fmt::format("pass '{}': input {} is {}, the launch list was made for {}", list_.pass,
                                    buffer.input, ir::to_string(type_of(tensor)), ir::to_string(type)));
  }

  at::Tensor allocate(const pass::Buffer& buffer) const {
    at::Tensor tensor = library_.device().allocate(buffer.type);
    // A traced kernel writes nothing; zeros are safe for whatever reads its outputs, as an index for example.
    if (library_.mode == FusedLibrary::Mode::Trace) {
      tensor.zero_();
    } else if (buffer.fill) {
      tensor.fill_(*buffer.fill);
    }
    return tensor;
  }

  void launch_all() {
    PASSNET_CHECK(launches_ != nullptr, "a graph that was loaded for tracing is run");
    if (library_.mode == FusedLibrary::Mode::Check) {
      run_checked(library_.device(), list_, *launches_, library_.list(index_).running, tensors_);
      return;
    }
    for (size_t i = 0; i < list_.launches.size(); ++i) {
      if (library_.around_launch)
        library_.around_launch(index_, i, [&] { launches_->run(i, pointers_.data()); });
      else
        launches_->run(i, pointers_.data());
    }
  }

  at::Tensor output(size_t i) const {
    const pass::View& view = list_.outputs[i];
    const at::Tensor& tensor = tensors_[view.buffer];
    if (whole_[i]) return tensor;
    return at::as_strided(tensor, view.type.shape, view.type.strides, tensor.storage_offset() + view.offset);
  }

  FusedLibrary& library_;
  size_t index_;
  const pass::LaunchList& list_;
  std::vector<int32_t> inputs_, outs_;
  std::unique_ptr<ReadyLaunches> launches_;  // null: to be traced only
  std::vector<at::Tensor> tensors_;          // of the call in progress, by buffer
  std::vector<char*> pointers_;
  std::vector<bool> whole_;  // outputs that are a whole buffer
};

RunningLaunch running_launch(const pass::LaunchList& list, size_t list_index, size_t index,
                             const LoadedKernel& kernel) {
  const pass::Launch& launch = list.launches[index];
  return {describe_kernel(list, launch),
          describe_launch(list, launch),
          launch.at,
          list_index,
          index,
          kernel.code_begin,
          kernel.code_end};
}

}  // namespace

Result<std::unique_ptr<FusedLibrary>> FusedLibrary::load(std::vector<pass::LaunchList> lists,
                                                         const std::vector<std::vector<KernelFile>>& kernels,
                                                         Device& device) {
  std::unique_ptr<FusedLibrary> library(new FusedLibrary(device));
  if (!kernels.empty() && kernels.size() != lists.size())
    return bad_input(fmt::format("{} lists of kernels for {} launch lists", kernels.size(), lists.size()));
  for (size_t i = 0; i < lists.size(); ++i) {
    List list{std::move(lists[i]), {}, {}};
    const size_t wanted = kernels.empty() ? 0 : kernels[i].size();
    if (wanted != 0 && wanted != list.launches.launches.size())
      return bad_input(
          fmt::format("launch list {}: {} kernels for {} launches", i, wanted, list.launches.launches.size()));
    for (size_t k = 0; k < wanted; ++k) {
      PASSNET_TRY(auto kernel, device.load_kernel(kernels[i][k], list.launches.launches[k].kernel));
      list.running.push_back(running_launch(list.launches, i, k, *kernel));
      list.kernels.push_back(std::move(kernel));
    }
    library->lists_.push_back(std::move(list));
  }
  return library;
}

Operand lower_fused(Builder& builder, FusedLibrary* library, const std::vector<Operand>& args) {
  if (args.empty() || args[0].kind != Kind::Int || args[0].slot >= 0)
    refuse("passnet.fused: the first argument is not a launch list's index");
  const int64_t index = args[0].value.toInt();
  const size_t lists = library == nullptr ? 0 : library->size();
  if (index < 0 || static_cast<size_t>(index) >= lists)
    refuse(fmt::format("passnet.fused: launch list {} of {}", index, lists));
  const pass::LaunchList& list = library->list(index).launches;
  std::vector<int32_t> inputs;
  for (size_t i = 1; i < args.size(); ++i) {
    if (args[i].kind != Kind::Tensor)
      refuse(fmt::format("passnet.fused: input {} is {}, expected a tensor", i - 1, to_string(args[i].kind)));
    inputs.push_back(args[i].slot);
  }
  for (const pass::Buffer& buffer : list.buffers) {
    if (buffer.input >= static_cast<int32_t>(inputs.size()))
      refuse(fmt::format("passnet.fused: launch list {} takes input {}, {} are given", index, buffer.input,
                         inputs.size()));
  }
  std::vector<int32_t> outs;
  std::vector<Operand> results;
  for (size_t i = 0; i < list.outputs.size(); ++i) {
    outs.push_back(builder.new_slot());
    results.push_back(Operand::in_slot(Kind::Tensor, outs.back()));
  }
  builder.add(std::make_unique<FusedStep>(*library, index, inputs, outs), inputs, outs);
  ++builder.operator_calls;
  return Operand::sequence(Kind::Tuple, std::move(results));
}

}  // namespace passnet::runtime
