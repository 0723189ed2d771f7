#include "author/written_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "author/fuse/for_target.h"
#include "author/fuse/split.h"
#include "author/kernel_comment.h"
#include "author/kernel_text.h"

namespace passnet::author {

namespace {

KernelShape shape_of(Definitions& definitions, const NamedKernel& kernel, size_t splits_into, size_t examples) {
  const KernelFacts& facts = kernel.facts;
  KernelShape shape{kernel.lanes == Lanes::Row,
                    facts.packing.has_value(),
                    facts.tile.has_value(),
                    facts.column.has_value(),
                    splits_into,
                    {}};
  for (size_t i = 0; i < examples; ++i) {
    const auto of = [&](SizeId size) { return definitions.sizes().values(size)[i]; };
    shape.by_graph.push_back({of(kernel.facts.items), of(kernel.facts.steps),
                              splits_into > 0 ? of(kernel.split_length) : 1, bytes_of(definitions, kernel.facts, i)});
  }
  return shape;
}

/// The kernel as a target has it, and what it may be split into.
struct TargetKernel {
  FusedKernel kernel;
  std::optional<SplitRow> split;
};

TargetKernel target_kernel(Definitions& definitions, const FusedKernel& kernel, Target target) {
  FusedKernel own = for_target(definitions, kernel, target);
  std::optional<SplitRow> split = split_of(definitions, own);
  return {std::move(own), std::move(split)};
}

/// Facts per target. Both targets have the same parameter list.
struct FactsByTarget {
  KernelFacts cpu, cuda;
};

FactsByTarget with_same_parameters(KernelFacts cpu, KernelFacts cuda) {
  const auto unite = [](auto& own, auto& other) {
    for (const auto& one : other) {
      if (std::ranges::find(own, one) == own.end()) own.push_back(one);
    }
    other = own;
  };
  unite(cpu.loaded, cuda.loaded);
  unite(cpu.stored, cuda.stored);
  unite(cpu.shares_taken, cuda.shares_taken);
  unite(cpu.shares_given, cuda.shares_given);
  unite(cpu.parameters, cuda.parameters);
  return {std::move(cpu), std::move(cuda)};
}

/// Adds what is launched in its place where a row is shared, if any of the graphs has such rows. Returns: how many kernels that
/// is, added or not; 0: its rows cannot be shared.
size_t split_rows(Definitions& definitions, const TargetKernel& cpu, const TargetKernel& cuda, const Schedule& schedule,
                  size_t examples, NamedKernel& named) {
  const std::optional<SplitRow>&split = cpu.split, &on_gpu = cuda.split;
  if (!split || !on_gpu || on_gpu->kernels.size() != split->kernels.size()) return 0;
  named.split_loops = split->loops;
  named.split_length = split->length;
  for (size_t i = 0; i < split->kernels.size(); ++i) {
    const SplitKernel& part = split->kernels[i];
    NamedKernel one;
    one.name = fmt::format("{}_{}", named.name, part.reductions.empty() ? "end" : fmt::format("part_{}", i + 1));
    const FactsByTarget facts = with_same_parameters(facts_of_part(definitions, cpu.kernel, *split, i),
                                                     facts_of_part(definitions, cuda.kernel, *on_gpu, i));
    one.facts = facts.cuda;
    one.lanes = cuda.kernel.lanes;
    one.cpu_lanes = cpu.kernel.lanes;
    one.over_row = part.over_row;
    std::vector<std::string> made;
    for (const TensorId tensor : one.facts.shares_given)
      made.push_back(fmt::format("parts of {}", definitions.tensors()[tensor].name));
    for (const TensorId tensor : one.facts.stored) made.push_back(definitions.tensors()[tensor].name);
    const auto comment = [&](Lanes lanes, Target target) {
      std::vector<std::string> lines =
          kernel_comment(definitions, one, fmt::format("{}", fmt::join(made, ", ")), lanes, target);
      lines.push_back(target == Target::Cpu ? "PARTS tasks share a row, as there are few and these are long."
                                            : "PARTS blocks share a row, as there are few and these are long.");
      return lines;
    };
    one.cpp = kernel_text(definitions, cpu.kernel, *split, i, facts.cpu, one.name, comment(one.cpu_lanes, Target::Cpu),
                          Target::Cpu);
    one.cuda = kernel_text(definitions, cuda.kernel, *on_gpu, i, facts.cuda, one.name, comment(one.lanes, Target::Cuda),
                           Target::Cuda);
    named.split.push_back(std::move(one));
  }
  for (size_t i = 0; i < examples; ++i) {
    for (const Target target : {Target::Cpu, Target::Cuda}) {
      if (parts_of(schedule, definitions.sizes(), named, target == Target::Cuda, i) > 1) return split->kernels.size();
    }
  }
  named.split.clear();
  return split->kernels.size();
}

}  // namespace

WrittenKernel write_kernel(Definitions& definitions, const FusedKernel& kernel, const Schedule& schedule,
                           const std::string& name, size_t examples) {
  NamedKernel one;
  one.name = name;
  const TargetKernel cpu = target_kernel(definitions, kernel, Target::Cpu),
                     cuda = target_kernel(definitions, kernel, Target::Cuda);
  const auto facts_for = [&](const TargetKernel& own) {
    return facts_of(definitions, own.kernel, own.split, schedule.tiles);
  };
  const FactsByTarget facts = with_same_parameters(facts_for(cpu), facts_for(cuda));
  one.facts = facts.cuda;
  one.lanes = cuda.kernel.lanes;
  one.cpu_lanes = cpu.kernel.lanes;
  std::vector<std::string> stored;
  for (const TensorId tensor : one.facts.stored) stored.push_back(definitions.tensors()[tensor].name);
  const auto comment = [&](Lanes lanes, Target target) {
    return kernel_comment(definitions, one, fmt::format("{}", fmt::join(stored, ", ")), lanes, target);
  };
  one.cpp = kernel_text(definitions, cpu.kernel, facts.cpu, one.name, comment(one.cpu_lanes, Target::Cpu), Target::Cpu);
  one.cuda =
      kernel_text(definitions, cuda.kernel, facts.cuda, one.name, comment(one.lanes, Target::Cuda), Target::Cuda);
  const size_t splits_into = one.facts.product ? 0 : split_rows(definitions, cpu, cuda, schedule, examples, one);
  const KernelShape shape = shape_of(definitions, one, splits_into, examples);
  return {std::move(one), shape};
}

int64_t bytes_of(Definitions& definitions, TensorId id, size_t example) {
  const Tensor& tensor = definitions.tensors()[id];
  int64_t bytes = static_cast<int64_t>(ir::size_bytes(definitions.elements()[tensor.element].by_example[example]));
  for (const SizeId size : tensor.shape) bytes *= definitions.sizes().values(size)[example];
  return bytes;
}

int64_t bytes_of(Definitions& definitions, const KernelFacts& facts, size_t example) {
  int64_t bytes = 0;
  for (const auto* tensors : {&facts.loaded, &facts.stored}) {
    for (const TensorId tensor : *tensors) bytes += bytes_of(definitions, tensor, example);
  }
  return bytes;
}

}  // namespace passnet::author
