// Whole numbers that calls are given, as sizes and places: the same in all graphs, or inputs of the pattern, which kernels
// know as they know dimensions.
#include <fmt/format.h>

#include <algorithm>

#include "author/define/context.h"

namespace passnet::author {

using ir::Arg;
using ir::ArgKind;

Result<Number> Context::number(const Arg& arg) const {
  PASSNET_TRY(std::vector<Number> all, numbers(arg));
  const bool is_one = arg.kind == ArgKind::Int || arg.kind == ArgKind::Node;
  if (!is_one || all.size() != 1) return unsupported("an argument is not one whole number");
  return all[0];
}

Result<std::vector<Number>> Context::numbers(const Arg& arg) const {
  const size_t examples = subject.types.size();
  std::vector<Number> all;
  if (arg.kind == ArgKind::Int) {
    all.push_back({ByExample(examples, arg.integer)});
    return all;
  }
  if (is_sequence(arg)) {
    for (const Arg& element : graph.elements(arg)) {
      PASSNET_TRY(all.emplace_back(), number(element));
    }
    return all;
  }
  if (arg.kind != ArgKind::Node) return unsupported("an argument is no whole number");
  const std::vector<ValueType> types = subject.types_of(arg.node);
  const std::string name(graph.node(arg.node).name);
  const size_t count = types[0].integers.size();
  for (const ValueType& type : types) {
    if (type.integers.size() != count || count == 0) return unsupported("a whole number that the graph computes");
  }
  for (size_t i = 0; i < count; ++i) {
    Number one;
    for (const ValueType& type : types) one.values.push_back(type.integers[i]);
    one.text = types[0].constant == ArgKind::Int ? name : fmt::format("{}[{}]", name, i);
    all.push_back(std::move(one));
  }
  for (const Number& one : all) {
    // A place is counted from the same end in all graphs.
    for (const int64_t value : one.values) {
      if ((value < 0) != one.is_negative()) return unsupported("a number that is below 0 in one of the graphs alone");
    }
  }
  return all;
}

Result<std::vector<Number>> Context::numbers_for(const Arg& arg, size_t dimensions) const {
  PASSNET_TRY(std::vector<Number> all, numbers(arg));
  if (all.size() == 1) all.resize(dimensions, Number(all[0]));
  if (all.size() != dimensions) return unsupported("numbers for other dimensions");
  return all;
}

SizeId Context::magnitude(const Number& number) {
  if (number.is_literal()) return sizes.literal(std::abs(number.values[0]));
  if (!number.is_negative()) {
    sizes.require(fmt::format("{} >= 0", number.text));
    return sizes.given(number.values, number.text);
  }
  ByExample values;
  for (const int64_t value : number.values) values.push_back(-value);
  sizes.require(fmt::format("{} < 0", number.text));
  return sizes.given(std::move(values), "-" + number.text);
}

SizeId Context::as_size(const Number& number) {
  return number.is_literal() ? sizes.constant(number.values[0]) : magnitude(number);
}

void Context::know_sizes(const Arg& arg) {
  if (is_sequence(arg)) {
    for (const Arg& element : graph.elements(arg)) know_sizes(element);
    return;
  }
  const Result<std::vector<Number>> all = numbers(arg);
  if (!all) return;
  for (const Number& one : *all) {
    if (!one.is_negative()) as_size(one);
  }
}

IndexId Context::counted(const Number& at, SizeId length) {
  const IndexId distance = at.is_literal() ? indices.constant(std::abs(at.values[0])) : indices.size(magnitude(at));
  return at.is_negative() ? indices.subtract(indices.size(length), distance) : distance;
}

// Python's rules, where they come to the same in all graphs: which bound is counted from the end, and which lies behind it.
Result<Context::Cut> Context::cut_by(const Arg& start, const Arg& end, int64_t step, SizeId length) {
  const ByExample lengths = sizes.values(length);
  /// Tells whether the bound lies within; if not, it is as none.
  const auto lies_within = [&](const Number& bound) -> Result<bool> {
    const SizeId distance = magnitude(bound);
    const ByExample distances = sizes.values(distance);
    size_t within = 0;
    for (size_t e = 0; e < lengths.size(); ++e) within += distances[e] <= lengths[e] ? 1 : 0;
    if (within == lengths.size()) {
      sizes.require_at_most(distance, length);
      return true;
    }
    if (within > 0) return unsupported("a slice that reaches beyond its operand in some of the graphs");
    sizes.require_at_most(length, distance);
    return false;
  };
  std::optional<Number> from, to;
  if (start.kind != ArgKind::None && !(start.kind == ArgKind::Int && start.integer == 0)) {
    PASSNET_TRY(from, number(start));
    PASSNET_TRY(const bool within, lies_within(*from));
    if (!within && !from->is_negative()) return unsupported("a slice without elements");
    if (!within) from.reset();
  }
  if (end.kind != ArgKind::None) {
    PASSNET_TRY(to, number(end));
    PASSNET_TRY(const bool within, lies_within(*to));
    if (!within && to->is_negative()) return unsupported("a slice without elements");
    if (!within) to.reset();
  }
  Cut made;
  made.start = from ? counted(*from, length) : indices.zero();
  made.count = length;
  if (from && to && from->is_literal() && to->is_literal() && from->is_negative() == to->is_negative()) {
    if (to->values[0] <= from->values[0]) return unsupported("a slice without elements");
    made.count = sizes.constant(to->values[0] - from->values[0]);
  } else if (from && !to && from->is_negative()) {
    made.count = from->is_literal() ? sizes.constant(-from->values[0]) : magnitude(*from);
  } else {
    // From the beginning to its end, less what lies before its start.
    if (to) made.count = to->is_negative() ? sizes.difference(length, magnitude(*to)) : as_size(*to);
    if (from && from->is_negative())
      made.count = sizes.difference(sizes.sum(made.count, magnitude(*from)), length);
    else if (from)
      made.count = sizes.difference(made.count, magnitude(*from));
  }
  if (sizes.smallest(made.count) <= 0) return unsupported("a slice without elements");
  if (step == 1) return made;
  const SizeId by = sizes.literal(step);
  const ByExample counts = sizes.values(made.count);
  const bool divides = std::ranges::all_of(counts, [step](int64_t count) { return count % step == 0; });
  if (divides) {
    PASSNET_TRY(made.count, sizes.quotient(made.count, by));
  } else {
    made.count = sizes.whole_quotient(sizes.sum(made.count, sizes.literal(step - 1)), by);
  }
  return made;
}

}  // namespace passnet::author
