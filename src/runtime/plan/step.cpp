#include "runtime/plan/step.h"

#include <ATen/core/stack.h>

namespace passnet::runtime {

namespace {

class BoxedCall final : public Step {
 public:
  BoxedCall(const Overload& overload, std::vector<ArgSource> sources, std::vector<int32_t> outs)
      : handle_(overload.handle), sources_(std::move(sources)), outs_(std::move(outs)) {}

  void run(c10::IValue* slots) override {
    stack_.clear();
    for (const ArgSource& source : sources_) stack_.push_back(source.box(slots));
    handle_.callBoxed(stack_);
    for (size_t i = 0; i < outs_.size(); ++i) {
      if (outs_[i] >= 0) slots[outs_[i]] = std::move(stack_[i]);
    }
    stack_.clear();
  }

 private:
  c10::OperatorHandle handle_;
  std::vector<ArgSource> sources_;
  std::vector<int32_t> outs_;
  torch::jit::Stack stack_;
};

class HostCall final : public Step {
 public:
  HostCall(HostFunction fn, std::vector<ArgSource> sources, int32_t out)
      : fn_(fn), sources_(std::move(sources)), out_(out) {}

  void run(c10::IValue* slots) override {
    inputs_.clear();
    for (const ArgSource& source : sources_) inputs_.push_back(source.box(slots));
    c10::IValue result = fn_(inputs_);
    inputs_.clear();
    if (out_ >= 0) slots[out_] = std::move(result);
  }

 private:
  HostFunction fn_;
  std::vector<ArgSource> sources_;
  int32_t out_;
  std::vector<c10::IValue> inputs_;
};

}  // namespace

std::unique_ptr<Step> make_boxed_call(const Overload& overload, std::vector<ArgSource> sources,
                                      std::vector<int32_t> outs) {
  return std::make_unique<BoxedCall>(overload, std::move(sources), std::move(outs));
}

std::unique_ptr<Step> make_host_call(HostFunction fn, std::vector<ArgSource> sources, int32_t out) {
  return std::make_unique<HostCall>(fn, std::move(sources), out);
}

}  // namespace passnet::runtime
