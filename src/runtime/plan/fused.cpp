#include "runtime/plan/fused.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/as_strided.h>
#include <ATen/ops/empty_strided.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "runtime/device/checked_run.h"
#include "runtime/device/kernel_fault.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/placement.h"

namespace passnet::runtime {

namespace {

constexpr uintptr_t kAlignment = 16;  // bytes

/// The same elements in the same layout, in memory of its own.
at::Tensor aligned_copy(const at::Tensor& tensor) {
  at::Tensor copy = at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options());
  return copy.copy_(tensor);
}

/// The tensor where kernels read it. Numbers of a graph lie on the CPU (lower/tensor.cpp); filling one on a GPU can be recorded,
/// copying it there cannot.
at::Tensor in_reach(const at::Tensor& tensor) {
  if (!tensor.is_cpu() || graph_device().is_cpu() || tensor.numel() != 1) return tensor;
  return at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(graph_device()))
      .fill_(tensor.item());
}

/// Gives `to` the elements of `from`; on the CPU by this thread alone where both lie alike: PyTorch's threads, once they are
/// awake, would hold the processors that kernels are about to run on.
void copy_beside_kernels(const at::Tensor& from, at::Tensor& to) {
  if (from.is_cpu() && to.is_cpu() && from.scalar_type() == to.scalar_type() && from.sizes() == to.sizes() &&
      from.strides() == to.strides() && from.is_non_overlapping_and_dense())
    std::memcpy(to.mutable_data_ptr(), from.const_data_ptr(), static_cast<size_t>(from.nbytes()));
  else
    to.copy_(from);
}

class FusedStep final : public Step {
 public:
  FusedStep(FusedLibrary& library, size_t index, std::vector<int32_t> inputs, std::vector<int32_t> outs)
      : library_(library),
        index_(index),
        list_(library.list(index).launches),
        inputs_(std::move(inputs)),
        outs_(std::move(outs)) {
    tensors_.resize(list_.buffers.size());
    homes_.resize(list_.buffers.size());
    may_write_inputs_ = std::ranges::any_of(list_.buffers, &pass::Buffer::may_be_written);
    pointers_.resize(list_.buffers.size());
    wants_aligned_ = std::ranges::any_of(
        list_.launches, [](const pass::Launch& launch) { return launch.origin == pass::KernelOrigin::Triton; });
    for (const pass::View& output : list_.outputs) {
      const pass::Buffer& buffer = list_.buffers[output.buffer];
      whole_.push_back(output.offset == 0 && output.type == buffer.type);
    }
  }

  bool launches() const override { return true; }

  void run(c10::IValue* slots) override {
    // What is copied here may be what a launch in line still has to write.
    if (may_write_inputs_ && library_.mode == FusedLibrary::Mode::Run) library_.host()->finish();
    for (size_t i = 0; i < list_.buffers.size(); ++i) {
      const pass::Buffer& buffer = list_.buffers[i];
      if (buffer.input >= 0) {
        const at::Tensor& input = slots[inputs_[buffer.input]].toTensor();
        check_input(buffer, input);
        if (library_.mode == FusedLibrary::Mode::Run)
          tensors_[i] = place_input(i, input);
        else
          tensors_[i] = library_.mode == FusedLibrary::Mode::Infer ? input : in_reach(input);
      } else {
        tensors_[i] = allocate(i);
      }
      pointers_[i] = static_cast<char*>(tensors_[i].data_ptr());
    }
    if (!is_without_kernels()) launch_all();
    if (may_write_inputs_) return_home();
    for (size_t i = 0; i < outs_.size(); ++i) slots[outs_[i]] = output(i);
    release();
  }

 private:
  void release() {
    for (size_t i = 0; i < tensors_.size(); ++i) {
      if (library_.deferring && list_.buffers[i].input < 0) library_.held.push_back(std::move(tensors_[i]));
      tensors_[i].reset();
    }
  }

  bool is_without_kernels() const {
    return library_.mode == FusedLibrary::Mode::Trace || library_.mode == FusedLibrary::Mode::Infer;
  }

  /// Where kernels find an input, and may write it if they may: itself, or a copy whose home is noted.
  at::Tensor place_input(size_t index, const at::Tensor& input) {
    const bool written = list_.buffers[index].may_be_written;
    KernelHost& host = *library_.host();
    at::Tensor placed;
    if (written && !host.writes_in_place()) {
      placed = host.allocate(index_, index);
      copy_beside_kernels(input, placed);
    } else {
      placed = host.visible(in_reach(input));
    }
    // Kernels of Triton were compiled for inputs that begin at such addresses. A slice may begin elsewhere.
    if (wants_aligned_ && reinterpret_cast<uintptr_t>(placed.data_ptr()) % kAlignment != 0)
      placed = aligned_copy(placed);
    if (written && placed.data_ptr() != input.data_ptr()) homes_[index] = input;
    return placed;
  }

  /// Gives inputs what kernels wrote to their copies.
  void return_home() {
    for (size_t i = 0; i < homes_.size(); ++i) {
      if (!homes_[i].defined()) continue;
      library_.host()->finish();
      copy_beside_kernels(tensors_[i], homes_[i]);
      tensors_[i] = std::move(homes_[i]);
      homes_[i].reset();
    }
  }

  void check_input(const pass::Buffer& buffer, const at::Tensor& tensor) const {
    const ir::TensorType& type = buffer.type;
    bool same =
        tensor.dim() == static_cast<int64_t>(type.shape.size()) && tensor.scalar_type() == scalar_type(type.dtype);
    for (size_t i = 0; same && i < type.shape.size(); ++i)
      same = tensor.size(i) == type.shape[i] && (type.shape[i] <= 1 || tensor.stride(i) == type.strides[i]);
    if (same) return;
    throw KernelFault{"other-shapes",
                      fmt::format("pass '{}': input {} is {}, the launch list was made for {}", list_.pass,
                                  buffer.input, ir::to_string(type_of(tensor)), ir::to_string(type)),
                      {}};
  }

  at::Tensor allocate(size_t index) const {
    const pass::Buffer& buffer = list_.buffers[index];
    if (library_.mode == FusedLibrary::Mode::Infer)
      return at::empty_strided(buffer.type.shape, buffer.type.strides,
                               at::TensorOptions(at::kMeta).dtype(scalar_type(buffer.type.dtype)));
    const bool traced = library_.mode == FusedLibrary::Mode::Trace;
    PASSNET_CHECK(traced || library_.host() != nullptr, "a graph that was loaded for tracing is run");
    at::Tensor tensor = traced ? library_.device().allocate(buffer.type) : library_.host()->allocate(index_, index);
    // A traced kernel writes nothing.
    if (traced) {
      tensor.fill_(library_.traced_element);
    } else if (buffer.fill) {
      tensor.fill_(*buffer.fill);
    }
    return tensor;
  }

  void launch_all() {
    KernelHost& host = *library_.host();
    if (library_.mode == FusedLibrary::Mode::Check) {
      run_checked(library_.device(), host, library_.list(index_), index_, tensors_);
      return;
    }
    for (size_t i = 0; i < list_.launches.size(); ++i) {
      const auto launch = [&] { host.launch(index_, i, pointers_.data()); };
      if (!library_.around_launch) {
        launch();
        continue;
      }
      library_.around_launch(index_, i, [&] {
        launch();
        host.finish();
      });
    }
    if (!library_.deferring && !next_launches) host.finish();
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
  std::vector<at::Tensor> tensors_;  // of the call in progress, by buffer
  std::vector<at::Tensor> homes_;  // inputs that get what kernels write to the copies in tensors_; undefined: in place
  std::vector<char*> pointers_;
  std::vector<bool> whole_;  // outputs that are a whole buffer
  bool wants_aligned_ = false, may_write_inputs_ = false;
};

/// A step that may copy what it is given, or only move it.
class UnlessCopying final : public Step {
 public:
  UnlessCopying(std::unique_ptr<Step> step, FusedLibrary& library) : library_(library), slot_(step->reads.front()) {
    Step::operator=(*step);
    step_ = std::move(step);
  }

  void run(c10::IValue* slots) override {
    if (library_.mode == FusedLibrary::Mode::Run && library_.host() != nullptr &&
        moving.copies(slots[slot_].toTensor(), slots))
      library_.host()->finish();
    step_->run(slots);
  }

 private:
  FusedLibrary& library_;
  int32_t slot_;
  std::unique_ptr<Step> step_;
};

}  // namespace

std::unique_ptr<Step> make_unless_copying(std::unique_ptr<Step> step, FusedLibrary& library) {
  return std::make_unique<UnlessCopying>(std::move(step), library);
}

Result<std::unique_ptr<FusedLibrary>> FusedLibrary::load(std::vector<pass::LaunchList> lists,
                                                         const std::vector<std::vector<pass::KernelFile>>& kernels,
                                                         Device& device) {
  std::unique_ptr<FusedLibrary> library(new FusedLibrary(device));
  if (!kernels.empty() && kernels.size() != lists.size())
    return bad_input(fmt::format("{} lists of kernels for {} launch lists", kernels.size(), lists.size()));
  for (size_t i = 0; i < lists.size(); ++i) {
    FusedList list{std::move(lists[i]), {}, {}};
    if (!kernels.empty()) list.kernels = kernels[i];
    if (!list.kernels.empty() && !list.can_launch()) {
      return bad_input(fmt::format("launch list {}: {} kernels for {} launches", i, list.kernels.size(),
                                   list.launches.launches.size()));
    }
    for (const pass::Launch& launch : list.launches.launches)
      list.running.push_back(
          {describe_kernel(list.launches, launch), describe_launch(list.launches, launch), launch.at});
    library->lists_.push_back(std::move(list));
  }
  const bool can_launch = !kernels.empty() && std::ranges::all_of(library->lists_, &FusedList::can_launch);
  if (can_launch) {
    PASSNET_TRY(library->host_, device.host(library->lists_));
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
  const std::vector<int32_t> inputs = tensor_inputs("passnet.fused", args);
  for (const pass::Buffer& buffer : list.buffers) {
    if (buffer.input >= static_cast<int32_t>(inputs.size()))
      refuse(fmt::format("passnet.fused: launch list {} takes input {}, {} are given", index, buffer.input,
                         inputs.size()));
  }
  std::vector<int32_t> outs;
  Operand results = builder.new_results(list.outputs.size(), outs);
  builder.add(std::make_unique<FusedStep>(*library, index, inputs, outs), inputs, outs);
  ++builder.operator_calls;
  return results;
}

}  // namespace passnet::runtime
