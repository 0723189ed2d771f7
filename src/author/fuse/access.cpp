#include "author/fuse/access.h"

#include <algorithm>

namespace passnet::author {

namespace {

class Linear {
 public:
  explicit Linear(ExprTable& exprs) : exprs_(exprs), indices_(exprs.indices()), sizes_(exprs.indices().sizes()) {}

  void add(IndexId id, SizeId factor) {
    const Index node = indices_.at(id);
    switch (node.kind) {
      case Index::Kind::Constant:
        if (node.value != 0) access_.rest.emplace_back(id, factor);
        return;
      case Index::Kind::Variable: {
        const auto [known, is_new] = access_.steps.emplace(node.variable, factor);
        if (!is_new) known->second = sizes_.sum(known->second, factor);
        return;
      }
      case Index::Kind::Add:
        add(node.a, factor);
        add(node.b, factor);
        return;
      case Index::Kind::Scale: add(node.a, sizes_.product(node.size, factor)); return;
      case Index::Kind::Subtract: {
        std::set<VariableId> variables;
        indices_.variables_in(node.b, variables);
        if (!variables.empty()) break;
        add(node.a, factor);
        access_.rest.emplace_back(indices_.subtract(indices_.zero(), node.b), factor);
        return;
      }
      default: break;
    }
    access_.rest.emplace_back(id, factor);
    exprs_.variables_in(id, access_.irregular);
  }
  Access take() {
    while (join()) {
    }
    return std::move(access_);
  }

 private:
  // x / n steps of n s and x % n steps of s are x steps of s.
  bool join() {
    auto& rest = access_.rest;
    for (size_t i = 0; i < rest.size(); ++i) {
      const Index quotient = indices_.at(rest[i].first);
      if (quotient.kind != Index::Kind::Divide) continue;
      for (size_t j = 0; j < rest.size(); ++j) {
        const Index remainder = indices_.at(rest[j].first);
        if (remainder.kind != Index::Kind::Remainder || remainder.a != quotient.a || remainder.size != quotient.size)
          continue;
        const SizeId step = rest[j].second;
        if (sizes_.values(sizes_.product(quotient.size, step)) != sizes_.values(rest[i].second)) continue;
        rest.erase(rest.begin() + static_cast<ptrdiff_t>(std::max(i, j)));
        rest.erase(rest.begin() + static_cast<ptrdiff_t>(std::min(i, j)));
        access_.irregular.clear();
        const auto others = std::exchange(rest, {});
        add(quotient.a, step);
        for (const auto& [index, factor] : others) add(index, factor);
        return true;
      }
    }
    return false;
  }

  ExprTable& exprs_;
  IndexTable& indices_;
  SizeTable& sizes_;
  Access access_;
};

}  // namespace

bool moves_by(const SizeTable& sizes, const Access& access, VariableId variable, int64_t elements) {
  const auto step = access.steps.find(variable);
  return step != access.steps.end() && sizes.is_constant(step->second, elements) &&
         !access.irregular.contains(variable);
}

bool moves_by_one(const SizeTable& sizes, const Access& access, VariableId variable) {
  return moves_by(sizes, access, variable, 1);
}

bool jumps(const SizeTable& sizes, const Access& access, VariableId variable) {
  const auto step = access.steps.find(variable);
  return step != access.steps.end() && !sizes.is_constant(step->second, 0) && !sizes.is_one(step->second);
}

Access access_of(ExprTable& exprs, const std::vector<IndexId>& place, const std::vector<SizeId>& strides) {
  Linear linear(exprs);
  for (size_t i = 0; i < place.size(); ++i) linear.add(place[i], strides[i]);
  return linear.take();
}

}  // namespace passnet::author
