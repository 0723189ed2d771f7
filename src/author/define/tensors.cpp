#include "author/define/tensors.h"

namespace passnet::author {

ExprId Scope::element(TensorId tensor, const std::vector<IndexId>& place) {
  const Tensor& of = tensors_[tensor];
  if (of.is_there() || in_memory_(tensor)) return exprs.load(tensor, place, of.element, elements_[of.element].compute);
  return definition(tensor, place);
}

ExprId Scope::definition(TensorId tensor, const std::vector<IndexId>& place) {
  const auto key = std::pair(tensor, place);
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  const ExprId made = tensors_[tensor].at(*this, place);
  known_.emplace(key, made);
  exprs.call_after(made, tensor);
  return made;
}

std::vector<VariableId> Scope::variables(const std::vector<SizeId>& extents, const std::vector<IndexId>& place) {
  std::set<VariableId> taken;
  for (const IndexId index : place) {
    indices.variables_in(index, taken);
    std::vector<ExprId> elements;
    indices.elements_in(index, elements);
    for (const ExprId element : elements) {
      const std::set<VariableId>& free = exprs.free_variables(element);
      taken.insert(free.begin(), free.end());
    }
  }
  std::vector<VariableId> made;
  for (const SizeId extent : extents) {
    std::vector<VariableId>& all = shared_[extent];
    auto fits = std::ranges::find_if(all, [&](VariableId variable) {
      return !taken.contains(variable) && std::ranges::find(made, variable) == made.end();
    });
    if (fits == all.end()) {
      all.push_back(indices.new_variable(extent));
      fits = all.end() - 1;
    }
    made.push_back(*fits);
  }
  return made;
}

ExprId Scope::folded(Fold fold, TensorId own, std::vector<VariableId> variables, ExprId element, SumOrder order) {
  std::erase_if(variables, [this](VariableId one) { return sizes.is_one(indices.extent(one)); });
  return variables.empty() ? element : exprs.reduce(fold, own, std::move(variables), element, order);
}

}  // namespace passnet::author
