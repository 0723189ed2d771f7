#include "author/loops/index.h"

#include <algorithm>

namespace passnet::author {

using IndexKind = Index::Kind;

IndexId IndexTable::intern(const Index& node) {
  const auto [known, is_new] = known_.emplace(node, static_cast<IndexId>(nodes_.size()));
  if (is_new) nodes_.push_back(node);
  return known->second;
}

VariableId IndexTable::new_variable(SizeId extent) {
  extents_.push_back(extent);
  return static_cast<VariableId>(extents_.size() - 1);
}

IndexId IndexTable::constant(int64_t value) { return intern({.value = value}); }

IndexId IndexTable::variable(VariableId variable) {
  if (sizes_.is_one(extents_[variable])) return zero();
  return intern({.kind = IndexKind::Variable, .variable = variable});
}

IndexId IndexTable::size(SizeId size) { return intern({.kind = IndexKind::Size, .size = size}); }

IndexId IndexTable::element(ExprId element) { return intern({.kind = IndexKind::Element, .element = element}); }

IndexId IndexTable::add(IndexId a, IndexId b) {
  if (a == zero()) return b;
  if (b == zero()) return a;
  if (nodes_[a].kind == IndexKind::Constant && nodes_[b].kind == IndexKind::Constant)
    return constant(nodes_[a].value + nodes_[b].value);
  // i / n * n + i % n
  const Index &x = nodes_[a], &y = nodes_[b];
  if (x.kind == IndexKind::Scale && y.kind == IndexKind::Remainder && x.size == y.size &&
      nodes_[x.a].kind == IndexKind::Divide && nodes_[x.a].size == x.size && nodes_[x.a].a == y.a)
    return y.a;
  return intern({.kind = IndexKind::Add, .a = a, .b = b});
}

IndexId IndexTable::subtract(IndexId a, IndexId b) {
  if (b == zero()) return a;
  if (a == b) return zero();
  if (nodes_[a].kind == IndexKind::Constant && nodes_[b].kind == IndexKind::Constant)
    return constant(nodes_[a].value - nodes_[b].value);
  return intern({.kind = IndexKind::Subtract, .a = a, .b = b});
}

// Factors stay apart and are not multiplied out: so what was merged can be split again.
IndexId IndexTable::scale(IndexId a, SizeId by) {
  if (a == zero() || sizes_.is_one(by)) return a;
  return intern({.kind = IndexKind::Scale, .a = a, .size = by});
}

bool IndexTable::equal_product(SizeId a, SizeId b, SizeId product) const {
  const ByExample &x = sizes_.values(a), &y = sizes_.values(b), &z = sizes_.values(product);
  for (size_t i = 0; i < z.size(); ++i) {
    if (x[i] * y[i] != z[i]) return false;
  }
  return true;
}

// Sizes that are equal in all graphs are one, so comparing ids is enough.
bool IndexTable::is_below(IndexId id, SizeId bound) const {
  const Index& node = nodes_[id];
  switch (node.kind) {
    case IndexKind::Constant: return node.value == 0;
    case IndexKind::Variable: return extents_[node.variable] == bound;
    case IndexKind::Remainder: return node.size == bound;
    case IndexKind::Add: {
      // u * n + v with u below m, v below n and m * n the bound.
      const Index& x = nodes_[node.a];
      if (x.kind != IndexKind::Scale || !is_below(node.b, x.size)) return false;
      for (SizeId candidate : {x.a < nodes_.size() && nodes_[x.a].kind == IndexKind::Variable
                                   ? extents_[nodes_[x.a].variable]
                                   : (nodes_[x.a].kind == IndexKind::Remainder ? nodes_[x.a].size : SizeId{0})}) {
        if (is_below(x.a, candidate) && equal_product(candidate, x.size, bound)) return true;
      }
      return false;
    }
    default: return false;
  }
}

IndexId IndexTable::divide(IndexId a, SizeId by) {
  if (sizes_.is_one(by)) return a;
  if (is_below(a, by)) return zero();
  const Index node_a = nodes_[a];
  if (node_a.kind == IndexKind::Scale && node_a.size == by) return node_a.a;
  if (node_a.kind == IndexKind::Add) {
    const Index x = nodes_[node_a.a];
    if (x.kind == IndexKind::Scale && x.size == by && is_below(node_a.b, by)) return x.a;
  }
  return intern({.kind = IndexKind::Divide, .a = a, .size = by});
}

IndexId IndexTable::remainder(IndexId a, SizeId by) {
  if (sizes_.is_one(by)) return zero();
  if (is_below(a, by)) return a;
  const Index node_a = nodes_[a];
  if (node_a.kind == IndexKind::Scale && node_a.size == by) return zero();
  if (node_a.kind == IndexKind::Add) {
    const Index x = nodes_[node_a.a];
    if (x.kind == IndexKind::Scale && x.size == by) return remainder(node_a.b, by);
  }
  return intern({.kind = IndexKind::Remainder, .a = a, .size = by});
}

IndexId IndexTable::linear(const std::vector<IndexId>& place, const std::vector<SizeId>& shape) {
  IndexId all = zero();
  for (size_t i = 0; i < shape.size(); ++i) all = add(scale(all, shape[i]), place[i]);
  return all;
}

std::vector<IndexId> IndexTable::place(IndexId linear, const std::vector<SizeId>& shape) {
  std::vector<IndexId> place(shape.size(), zero());
  for (size_t i = shape.size(); i-- > 0;) {
    if (sizes_.is_one(shape[i])) continue;
    const bool first = std::ranges::all_of(shape.begin(), shape.begin() + static_cast<ptrdiff_t>(i),
                                           [&](SizeId size) { return sizes_.is_one(size); });
    place[i] = first ? linear : remainder(linear, shape[i]);
    linear = first ? zero() : divide(linear, shape[i]);
  }
  return place;
}

std::vector<IndexTable::Run> IndexTable::runs(const std::vector<SizeId>& to, const std::vector<SizeId>& from) const {
  std::vector<Run> runs;
  const size_t examples = sizes_.values(sizes_.one()).size();
  size_t i = 0, j = 0;
  while (i < to.size() || j < from.size()) {
    const size_t first_to = i, first_from = j;
    ByExample left(examples, 1), right(examples, 1);
    const auto grow = [&](ByExample& product, SizeId by) {
      for (size_t e = 0; e < examples; ++e) product[e] *= sizes_.values(by)[e];
    };
    const auto less = [&](const ByExample& a, const ByExample& b) {
      for (size_t e = 0; e < examples; ++e) {
        if (a[e] < b[e]) return true;
      }
      return false;
    };
    if (i < to.size()) grow(left, to[i++]);
    if (j < from.size()) grow(right, from[j++]);
    while (left != right && (i < to.size() || j < from.size())) {
      if ((less(left, right) || j == from.size()) && i < to.size())
        grow(left, to[i++]);
      else
        grow(right, from[j++]);
    }
    runs.push_back({first_to, i, first_from, j});
  }
  return runs;
}

std::vector<IndexId> IndexTable::reshape(const std::vector<IndexId>& place, const std::vector<SizeId>& to,
                                         const std::vector<SizeId>& from) {
  std::vector<IndexId> result;
  const auto part = [](const auto& all, size_t first, size_t end) {
    return std::vector(all.begin() + static_cast<ptrdiff_t>(first), all.begin() + static_cast<ptrdiff_t>(end));
  };
  for (const Run& run : runs(to, from)) {
    const IndexId number = linear(part(place, run.first_to, run.end_to), part(to, run.first_to, run.end_to));
    for (const IndexId index : this->place(number, part(from, run.first_from, run.end_from))) result.push_back(index);
  }
  return result;
}

IndexId IndexTable::with(IndexId id, const std::map<VariableId, IndexId>& places,
                         const std::function<ExprId(ExprId)>& element) {
  const Index node = nodes_[id];
  const auto part = [&](IndexId one) { return with(one, places, element); };
  switch (node.kind) {
    case IndexKind::Constant:
    case IndexKind::Size: return id;
    case IndexKind::Variable: {
      const auto place = places.find(node.variable);
      return place == places.end() ? id : place->second;
    }
    case IndexKind::Add: return add(part(node.a), part(node.b));
    case IndexKind::Subtract: return subtract(part(node.a), part(node.b));
    case IndexKind::Scale: return scale(part(node.a), node.size);
    case IndexKind::Divide: return divide(part(node.a), node.size);
    case IndexKind::Remainder: return remainder(part(node.a), node.size);
    case IndexKind::Element: return this->element(element(node.element));
  }
  return id;
}

void IndexTable::elements_in(IndexId id, std::vector<ExprId>& found) const {
  const Index& node = nodes_[id];
  if (node.kind == IndexKind::Element) found.push_back(node.element);
  if (node.kind == IndexKind::Add || node.kind == IndexKind::Subtract) elements_in(node.b, found);
  if (node.kind != IndexKind::Constant && node.kind != IndexKind::Variable && node.kind != IndexKind::Size &&
      node.kind != IndexKind::Element)
    elements_in(node.a, found);
}

void IndexTable::variables_in(IndexId id, std::set<VariableId>& found) const {
  const Index& node = nodes_[id];
  switch (node.kind) {
    case IndexKind::Variable: found.insert(node.variable); return;
    case IndexKind::Add:
    case IndexKind::Subtract: variables_in(node.b, found); [[fallthrough]];
    case IndexKind::Scale:
    case IndexKind::Divide:
    case IndexKind::Remainder: variables_in(node.a, found); return;
    default: return;
  }
}

}  // namespace passnet::author
