#include "author/kernel_comment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/text/columns.h"

namespace passnet::author {

namespace {

constexpr size_t kMostNames = 8;  // of values that are passed through
constexpr size_t kWidth = 117;

/// Who computes which of its elements.
std::string who(const KernelFacts& facts, Lanes lanes, Target target) {
  const bool cpu = target == Target::Cpu;
  if (facts.product)
    return cpu ? "A task has tiles of the sums of products, and goes on with each sum before it is stored."
               : "A block has a tile of the sums of products, and goes on with each sum before it is stored.";
  if (lanes == Lanes::Row)
    return cpu ? "A task takes rows; lanes go along a row and are folded at its end."
               : "THREADS threads share a row, each with the elements that are THREADS apart.";
  if (facts.tile)
    return cpu ? "A task reads a square along one dimension and writes it along another."
               : "A block reads a square along one dimension and writes it along another, by way of shared memory.";
  if (cpu) return "A task takes a run of elements, 16 lanes at a time.";
  if (facts.column) return "DOWN threads of a block share what an element goes through.";
  if (facts.band) return "A thread takes BAND elements below each other, whose windows overlap.";
  return facts.packing ? "A thread takes PACK neighbours." : "A thread takes an element.";
}

}  // namespace

std::vector<TensorId> passed_through(const Definitions& definitions, const KernelFacts& facts) {
  std::set<TensorId> met(facts.stored.begin(), facts.stored.end());
  met.insert(facts.loaded.begin(), facts.loaded.end());
  std::vector<TensorId> next = facts.stored, found;
  while (!next.empty()) {
    const TensorId id = next.back();
    next.pop_back();
    for (const TensorId part : definitions.tensors()[id].takes) {
      if (definitions.tensors()[part].is_there() || !met.insert(part).second) continue;
      next.push_back(part);
      if (!definitions.tensors()[part].is_view) found.push_back(part);
    }
  }
  std::ranges::sort(found);
  // An operator's fold has the name of its result.
  std::set<std::string> names;
  for (const TensorId id : facts.stored) names.insert(definitions.tensors()[id].name);
  std::erase_if(found, [&](TensorId id) { return !names.insert(definitions.tensors()[id].name).second; });
  return found;
}

std::vector<std::string> kernel_comment(const Definitions& definitions, const NamedKernel& kernel,
                                        const std::string& computes, Lanes lanes, Target target) {
  std::vector<std::string> through;
  for (const TensorId id : passed_through(definitions, kernel.facts)) through.push_back(definitions.tensors()[id].name);
  std::string what = fmt::format("Computes {}", computes);
  if (through.size() > kMostNames) {
    what += fmt::format(" by way of {} values from {} to {}, which are never stored", through.size(), through.front(),
                        through.back());
  } else if (!through.empty()) {
    what += fmt::format(" by way of {}, which {} never stored", fmt::join(through, ", "),
                        through.size() == 1 ? "is" : "are");
  }
  return wrap(fmt::format("{}.\n{}", what, who(kernel.facts, lanes, target)), kWidth);
}

}  // namespace passnet::author
