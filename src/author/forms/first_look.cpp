#include "author/forms/first_look.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "ir/dtype.h"

namespace passnet::author {

std::vector<std::string> first_look(const std::vector<Example>& examples) {
  std::map<ir::DType, std::vector<std::pair<int64_t, const Example*>>> by_type;  // with the elements of inputs
  for (const Example& example : examples) {
    std::optional<ir::DType> type;
    int64_t elements = 0;
    for (ir::NodeId id = 0; id < example.graph.placeholder_count(); ++id) {
      const ValueType& input = example.types[id];
      if (!input.is_tensor()) continue;
      elements += input.tensor.numel();
      if (!type && ir::is_floating(input.tensor.dtype)) type = input.tensor.dtype;
    }
    by_type[type.value_or(ir::DType::Int64)].emplace_back(elements, &example);
  }
  std::vector<std::string> looked_at;
  for (auto& [type, graphs] : by_type) {
    std::ranges::stable_sort(graphs, {}, [](const auto& one) { return one.first; });
    looked_at.push_back(graphs[graphs.size() / 2].second->name);
  }
  if (2 * looked_at.size() > examples.size()) looked_at.clear();
  return looked_at;
}

}  // namespace passnet::author
