#include "author/text/plan/named_kernel.h"

#include <fmt/format.h>

#include <algorithm>

namespace passnet::author {

int64_t parts_of(const Schedule& schedule, const SizeTable& sizes, const NamedKernel& kernel, bool on_gpu,
                 size_t example) {
  if (kernel.split.empty()) return 1;
  const auto of = [&](SizeId size) { return sizes.values(size)[example]; };
  const std::string rule = fmt::format("parts_of(x, {}, {}, {})", of(kernel.facts.items), of(kernel.split_length),
                                       kernel.lanes == Lanes::Items ? "True" : "False");
  const int64_t parts = evaluate_rules(schedule, rule, on_gpu)[0];
  return kernel.split_loops.size() == 1 ? parts
                                        : std::max<int64_t>(1, std::min(parts, of(kernel.split_loops[0].extent)));
}

}  // namespace passnet::author
