#include "runtime/plan/package.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include "base/text/strings.h"
#include "runtime/device/kernel_fault.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/placement.h"

namespace passnet::runtime {

struct Package::Loader {
  /// Calls come from one thread alone: without locks and events between them a GPU's can be recorded too.
  explicit Loader(const std::string& path)
      : package(path, "model", true, 1, graph_device().is_cpu() ? c10::DeviceIndex(-1) : graph_device().index()) {}
  torch::inductor::AOTIModelPackageLoader package;
};

namespace {

bool is_of_type(const at::Tensor& tensor, const ir::TensorType& type) {
  if (tensor.dim() != static_cast<int64_t>(type.shape.size()) || tensor.scalar_type() != scalar_type(type.dtype))
    return false;
  for (size_t i = 0; i < type.shape.size(); ++i) {
    const auto d = static_cast<int64_t>(i);
    if (tensor.size(d) != type.shape[i] || (type.shape[i] > 1 && tensor.stride(d) != type.strides[i])) return false;
  }
  return true;
}

class PackageStep final : public Step {
 public:
  PackageStep(Package& package, std::vector<int32_t> inputs, std::vector<int32_t> outs)
      : package_(package), inputs_(std::move(inputs)), outs_(std::move(outs)) {}

  void run(c10::IValue* slots) override {
    std::vector<at::Tensor> tensors;
    tensors.reserve(inputs_.size());
    for (const int32_t slot : inputs_) tensors.push_back(slots[slot].toTensor());
    std::vector<at::Tensor> values = package_.call(tensors);
    TORCH_CHECK(values.size() == outs_.size(), "the package returned ", values.size(), " values, expected ",
                outs_.size());
    for (size_t i = 0; i < outs_.size(); ++i) slots[outs_[i]] = std::move(values[i]);
  }

 private:
  Package& package_;
  std::vector<int32_t> inputs_, outs_;
};

}  // namespace

Package::Package(PackageFile file, std::unique_ptr<Loader> loader)
    : file_(std::move(file)), loader_(std::move(loader)) {}
Package::~Package() = default;

Result<std::unique_ptr<Package>> Package::open(PackageFile file) {
  const auto refused = [&](std::string_view why) {
    return bad_input(fmt::format("the package {} does not load: {}", quoted(file.path.string(), 300), first_line(why)))
        .with_hint("it was made for another PyTorch or another machine, or is damaged: delete it, and it is made anew");
  };
  try {
    auto loader = std::make_unique<Loader>(file.path.string());
    return std::unique_ptr<Package>(new Package(std::move(file), std::move(loader)));
  } catch (const c10::Error& error) {
    return refused(error.what_without_backtrace());
  } catch (const std::exception& error) {
    return refused(error.what());
  }
}

std::vector<at::Tensor> Package::call(const std::vector<at::Tensor>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (is_of_type(inputs[i], file_.inputs[i])) continue;
    throw KernelFault{"other-shapes",
                      fmt::format("argument {} is {}, the package was made for {}", i,
                                  ir::to_string(type_of(inputs[i])), ir::to_string(file_.inputs[i])),
                      {}};
  }
  return loader_->package.run(inputs);
}

Operand lower_package(Builder& builder, Package* package, const std::vector<Operand>& args) {
  if (package == nullptr) refuse("passnet.package: the graph came without a package");
  if (args.empty() || args[0].kind != Kind::Int || args[0].slot >= 0)
    refuse("passnet.package: the first argument is not a number of values");
  const size_t wanted = package->file().inputs.size();
  if (args.size() - 1 != wanted)
    refuse(fmt::format("passnet.package: {} inputs are given, the package takes {}", args.size() - 1, wanted));
  if (args[0].value.toInt() != static_cast<int64_t>(package->file().outputs))
    refuse(fmt::format("passnet.package: {} values are wanted, the package gives {}", args[0].value.toInt(),
                       package->file().outputs));
  const std::vector<int32_t> inputs = tensor_inputs("passnet.package", args);
  std::vector<int32_t> outs;
  Operand results = builder.new_results(package->file().outputs, outs);
  builder.add(std::make_unique<PackageStep>(*package, inputs, outs), inputs, outs);
  ++builder.operator_calls;
  return results;
}

}  // namespace passnet::runtime
