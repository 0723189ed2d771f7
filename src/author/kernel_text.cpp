#include "author/kernel_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "author/text/cpu/kernel.h"
#include "author/text/cuda/kernel.h"
#include "author/text/operations.h"

namespace passnet::author {

namespace {

std::vector<std::string> parameters_of(const Definitions& definitions, const KernelFacts& facts) {
  std::vector<std::string> parameters;
  const auto add = [&](TensorId id, const char* constant) {
    const Tensor& tensor = definitions.tensors()[id];
    parameters.push_back(fmt::format("{}{}* {}", constant, definitions.elements()[tensor.element].kernel, tensor.name));
  };
  for (const TensorId tensor : facts.loaded) add(tensor, "const ");
  for (const TensorId tensor : facts.stored) add(tensor, "");
  for (const TensorId of : facts.shares_taken)
    parameters.push_back(fmt::format("const float* {}", share_name(definitions, of)));
  for (const TensorId of : facts.shares_given)
    parameters.push_back(fmt::format("float* {}", share_name(definitions, of)));
  for (const auto& [name, compute] : facts.parameters)
    parameters.push_back(fmt::format("{} {}", type_name(compute), name));
  return parameters;
}

std::string function_text(Definitions& definitions, const KernelPart& part, const KernelFacts& facts,
                          const std::string& name, const std::vector<std::string>& comment, Target target) {
  const std::string body =
      target == Target::Cpu ? CpuKernel(definitions, part, facts).run() : CudaKernel(definitions, part, facts).run();
  return fmt::format("// {}\nPASSNET_KERNEL {}({}) {{\n{}}}\n", fmt::join(comment, "\n// "), name,
                     fmt::join(parameters_of(definitions, facts), ", "), body);
}

}  // namespace

std::string kernel_text(Definitions& definitions, const FusedKernel& kernel, const KernelFacts& facts,
                        const std::string& name, const std::vector<std::string>& comment, Target target) {
  const KernelPart whole = part_of(definitions.exprs(), kernel, whole_of(kernel));
  return function_text(definitions, whole, facts, name, comment, target);
}

std::string kernel_text(Definitions& definitions, const FusedKernel& kernel, const SplitRow& split, size_t at,
                        const KernelFacts& facts, const std::string& name, const std::vector<std::string>& comment,
                        Target target) {
  const KernelPart part = part_of(definitions.exprs(), kernel, split.kernels[at], &split);
  return function_text(definitions, part, facts, name, comment, target);
}

}  // namespace passnet::author
