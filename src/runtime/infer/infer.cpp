// Types without data: the steps of a plan run on meta tensors, which PyTorch's operators take for their shape
// functions (meta_kernels.cpp adds those that PyTorch has in Python only). Sizes may depend on data: masks as
// indices, `item()`, repeats. So small tensors whose data is known stay CPU tensors, and a step that reads
// nothing else computes as usual.
#include "runtime/infer/infer.h"

#include <ATen/autocast_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <fmt/format.h>

#include <algorithm>

#include "runtime/infer/inputs.h"
#include "runtime/infer/meta_kernels.h"

namespace passnet::runtime {

namespace {

at::Tensor to_meta(const at::Tensor& tensor) {
  const at::TensorOptions options = tensor.options().device(at::kMeta);
  // A batched tensor of a vmap has no storage; empty_like keeps its batch dimensions.
  return tensor.has_storage() ? at::empty_strided(tensor.sizes(), tensor.strides(), options)
                              : at::empty_like(tensor, options);
}

bool is_data(const at::Tensor& tensor) { return tensor.defined() && !tensor.is_meta(); }
bool share_memory(const at::Tensor& a, const at::Tensor& b) {
  return a.has_storage() && b.has_storage() && a.is_alias_of(b);
}

/// Calls `visit(tensor)` for the tensors in a value.
template <class Visit>
void for_each_tensor(const c10::IValue& value, Visit&& visit) {
  if (value.isTensor()) {
    visit(value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) visit(tensor);
  } else if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) for_each_tensor(element, visit);
  }
}

/// The value with meta tensors for its tensors. Numbers that were wrapped as tensors stay: they decide type
/// promotion, and every operator takes them beside meta tensors.
c10::IValue without_data(const c10::IValue& value) {
  const auto convert = [](const at::Tensor& tensor) {
    return is_data(tensor) && !tensor.unsafeGetTensorImpl()->is_wrapped_number() ? to_meta(tensor) : tensor;
  };
  if (value.isTensor()) return convert(value.toTensor());
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(convert(tensor));
    return list;
  }
  return value;
}

class TypeInference {
 public:
  explicit TypeInference(std::vector<c10::IValue>& slots)
      : slots_(slots), untyped_(slots.size()), stand_in_(slots.size()) {}

  /// Why the value of a slot has no type; empty: it has one.
  const std::string& untyped(int32_t slot) const { return untyped_[slot]; }

  /// Why the step cannot run; empty: it can.
  std::string obstacle(const Step& step) const {
    if (at::autocast::is_autocast_enabled(at::kCPU) && reads_meta(step))
      return "autocast is on, and decides types by the device of data";
    for (const int32_t slot : step.reads) {
      if (!untyped_[slot].empty()) return untyped_[slot];
    }
    for (const int32_t slot : step.size_reads) {
      if (!stand_in_[slot].empty()) return stand_in_[slot];
    }
    return {};
  }

  /// Gives up on what the step would compute.
  void give_up(const Step& step, const std::string& reason) {
    for (const int32_t slot : step.writes) untyped_[slot] = reason;
    // It may have been a view or a write: data it could have changed is no longer known.
    for (const int32_t slot : step.reads) forget_data(slot);
  }

  /// Runs the step on types. `source` says where it stands, for reasons. Throws what the operator throws.
  void run(Step& step, const std::string& source) {
    std::string unknown_number;
    for (const int32_t slot : step.reads) {
      if (unknown_number.empty()) unknown_number = stand_in_[slot];
    }
    if (reads_meta(step) || read_elements(step) > 16 * kKnownElements) {
      for (const int32_t slot : step.mutates) forget_data(slot);
      try {
        run_on_meta(step);
      } catch (const c10::Error&) {
        if (!step.gives_number) throw;
        stand_in(step, source);
        return;
      }
    } else {
      step.run(slots_.data());
    }
    if (!unknown_number.empty()) {
      for (const int32_t slot : step.mutates) forget_data(slot);
    }
    for (const int32_t slot : step.writes) {
      if (!unknown_number.empty()) stand_in_[slot] = unknown_number;
      if (!unknown_number.empty() || data_elements(slot) > kKnownElements) slots_[slot] = without_data(slots_[slot]);
    }
  }

 private:
  bool reads_meta(const Step& step) const {
    bool meta = false;
    for (const int32_t slot : step.reads)
      for_each_tensor(slots_[slot], [&](const at::Tensor& tensor) { meta |= tensor.defined() && tensor.is_meta(); });
    return meta;
  }
  int64_t read_elements(const Step& step) const {
    int64_t elements = 0;
    for (const int32_t slot : step.reads) elements += data_elements(slot);
    return elements;
  }
  int64_t data_elements(int32_t slot) const {
    int64_t elements = 0;
    for_each_tensor(slots_[slot], [&](const at::Tensor& tensor) { elements += is_data(tensor) ? tensor.numel() : 0; });
    return elements;
  }

  /// A number that is read from a tensor without data: 1 in the type of the tensor. Whoever computes a size
  /// from it has no type; who only computes with it has.
  void stand_in(const Step& step, const std::string& source) {
    bool integral = true, boolean = true;
    for (const int32_t slot : step.reads) {
      for_each_tensor(slots_[slot], [&](const at::Tensor& tensor) {
        integral &= at::isIntegralType(tensor.scalar_type(), true);
        boolean &= tensor.scalar_type() == at::kBool;
      });
    }
    for (const int32_t slot : step.writes) {
      slots_[slot] = boolean ? c10::IValue(true) : integral ? c10::IValue(int64_t{1}) : c10::IValue(1.0);
      stand_in_[slot] = fmt::format("depends on the data that {} reads", source);
    }
  }

  /// With all tensors meta, or where the operator must see data (a mask as an index) with those meta that are.
  void run_on_meta(Step& step) {
    std::vector<std::pair<int32_t, c10::IValue>> kept;
    for (const int32_t slot : step.reads) {
      kept.emplace_back(slot, slots_[slot]);
      slots_[slot] = without_data(slots_[slot]);
    }
    const auto restore = [&] {
      for (auto& [slot, value] : kept) {
        if (std::ranges::find(step.writes, slot) == step.writes.end()) slots_[slot] = value;
      }
    };
    try {
      step.run(slots_.data());
      restore();
    } catch (const c10::Error&) {
      restore();
      step.run(slots_.data());
    }
  }

  /// Every tensor that shares memory with the slot's becomes a meta tensor.
  void forget_data(int32_t slot) {
    for_each_tensor(slots_[slot], [&](const at::Tensor& changed) {
      if (!is_data(changed)) return;
      const at::Tensor target = changed;  // the loop replaces what `changed` refers to
      for (c10::IValue& value : slots_) {
        bool shares = false;
        for_each_tensor(value,
                        [&](const at::Tensor& tensor) { shares |= is_data(tensor) && share_memory(tensor, target); });
        if (shares) value = without_data(value);
      }
    });
  }

  std::vector<c10::IValue>& slots_;
  std::vector<std::string> untyped_;
  std::vector<std::string> stand_in_;  // why the number in a slot is not the real one; empty: it is
};

/// What a refusal on meta tensors means to a reader.
std::string shorten(const std::string& message) {
  static constexpr std::string_view kNoKernel = ": attempted to run this operator with Meta tensors";
  const size_t found = message.find(kNoKernel);
  if (found == std::string::npos) return message;
  return message.substr(0, found) + " gives a size that depends on data, or has no shape function";
}

}  // namespace

void infer_types(Plan& plan, const TypeVisitor& visit) {
  meta::register_kernels();
  const std::vector<std::vector<ir::NodeId>> ready = plan.nodes_by_step();
  TypeInference inference(plan.slots_);
  const auto reason_of = [&](const Operand& operand, const auto& recurse) -> std::string {
    if (operand.slot >= 0) return inference.untyped(operand.slot);
    for (const Operand& element : operand.elements) {
      if (std::string reason = recurse(element, recurse); !reason.empty()) return reason;
    }
    return {};
  };
  const auto visit_all = [&](const std::vector<ir::NodeId>& nodes) {
    for (const ir::NodeId id : nodes) {
      const std::string reason = reason_of(plan.node_operands_[id], reason_of);
      if (!reason.empty()) {
        visit(plan.graph_.node(id), nullptr, reason);
        continue;
      }
      const c10::IValue value = plan.value_of(plan.node_operands_[id]);
      visit(plan.graph_.node(id), &value, reason);
    }
  };
  visit_all(ready[0]);
  for (size_t i = 0; i < plan.steps_.size(); ++i) {
    Step& step = *plan.steps_[i];
    const ir::Node& node = plan.graph_.node(step.node);
    if (const std::string obstacle = inference.obstacle(step); !obstacle.empty()) {
      inference.give_up(step, obstacle);
    } else {
      try {
        inference.run(step, fmt::format("'{}' in line {}", node.target, plan.graph_.locate(node).line));
      } catch (...) {
        inference.give_up(step, shorten(plan.refusal(step).message));
      }
    }
    visit_all(ready[i + 1]);
  }
  plan.abandon();
}

}  // namespace passnet::runtime
