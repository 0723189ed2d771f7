#include "dataset/official/size_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

namespace passnet::dataset::official {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;
using ir::NodeKind;

bool SizePass::is_needed(const Rule& rule) {
  deciding_ = true;
  bool needed = (std::ranges::find(size_.axes, size_t{0}) != size_.axes.end()) == rule.of_batch;
  if (needed) {
    needed = false;
    for (NodeId id = 0; id < graph().size() && !needed; ++id) needed = (this->*rule.matches)(id);
  }
  deciding_ = false;
  return needed;
}

Result<PassState> SizePass::run(const Rule& rule) {
  for (NodeId id = 0; id < graph().size(); ++id) {
    if ((this->*rule.touches)(id)) {
      PASSNET_TRY_VOID((this->*rule.rewrite)(id));
      continue;
    }
    copy(id);
    if (rule.with_batch_size && id + 1 == graph().placeholder_count()) batch_size_ = size_of(copying_.here(0), 0);
  }
  after_.sized.rewritten = true;
  return std::move(after_);
}

Result<void> SizePass::sizes_from_operand(NodeId id) {
  PASSNET_TRY(const std::vector<int64_t> shape, needed_shape(id));
  std::vector<Arg> made{copying_.argument(args(id)[0])};
  for (const Arg& arg : take_sizes(args(id).subspan(1), made[0], shape)) made.push_back(arg);
  remake(id, made);
  return {};
}

Result<void> SizePass::sizes_in_tuple_from_operand(NodeId id) {
  PASSNET_TRY(const std::vector<int64_t> shape, needed_shape(id));
  const Arg operand = copying_.argument(args(id)[0]);
  const std::vector<Arg> sizes = take_sizes(graph().elements(args(id)[1]), operand, shape);
  remake(id, {operand, after_.sized.graph.make_container(ArgKind::Tuple, sizes)});
  return {};
}

Result<void> SizePass::batch_from_operand(NodeId id) {
  PASSNET_TRY(const std::vector<int64_t> shape, needed_shape(id));
  std::vector<Arg> made = copying_.arguments(id);
  if (!shape.empty() && is_literal(args(id)[1], shape[0])) made[1] = size_of(made[0], 0);
  remake(id, made);
  return {};
}

Result<void> SizePass::sizes_at_their_place(NodeId id) {
  PASSNET_TRY(const std::vector<int64_t> shape, needed_shape(id));
  std::vector<Arg> made = copying_.arguments(id);
  for (size_t i = 0; i < shape.size() && i + 1 < made.size(); ++i) {
    const Arg& size = args(id)[i + 1];
    if (size.kind == ArgKind::Int && size.integer >= 1 && size.integer == shape[i] && (i == 0 || shape[i] > 1))
      made[i + 1] = size_of(made[0], i);
  }
  remake(id, made);
  return {};
}

Result<void> SizePass::batch_first(NodeId id) {
  std::vector<Arg> made = copying_.arguments(id);
  made[1] = batch_size(id);
  remake(id, made);
  return {};
}

Result<void> SizePass::batch_first_in_tuple(NodeId id) {
  const Arg operand = copying_.argument(args(id)[0]);
  std::vector<Arg> sizes{batch_size(id)};
  for (const Arg& size : graph().elements(args(id)[1]).subspan(1)) sizes.push_back(copying_.argument(size));
  remake(id, {operand, after_.sized.graph.make_container(ArgKind::Tuple, sizes)});
  return {};
}

Result<void> SizePass::batch_before(NodeId id) {
  std::vector<Arg> made = copying_.arguments(id);
  made.insert(made.begin() + 1, batch_size(id));
  remake(id, made);
  return {};
}

Result<void> SizePass::batch_of_new_tensor(NodeId id) {
  std::vector<Arg> made = copying_.arguments(id);
  std::vector<Arg> sizes;
  for (const Arg& size : graph().elements(args(id)[0])) sizes.push_back(copying_.argument(size));
  if (is_size(graph().elements(args(id)[0])[0])) sizes[0] = batch_size(id);
  made[0] = after_.sized.graph.make_container(args(id)[0].kind, sizes);
  copying_.copy_with(id, names_.create(std::string(graph().node(id).name)), made);
  note(id, false);
  return {};
}

Result<void> SizePass::sizes_from_latest(NodeId id) {
  if (!latest_) return copied(id);
  std::vector<Arg> made = copying_.arguments(id);
  for (size_t i = 0; i < made.size(); ++i) {
    if (is_size(args(id)[i])) made[i] = latest_size();
  }
  remake(id, made);
  return {};
}

Result<void> SizePass::longer_size_from_latest(NodeId id) {
  if (!latest_) return copied(id);
  remake(id, {one_more(latest_size())});
  return {};
}

Result<void> SizePass::bounds_from_latest(NodeId id) {
  std::vector<Arg> items;
  for (const Arg& item : graph().elements(args(id)[1]))
    items.push_back(latest_ ? bound(item) : copying_.argument(item));
  remake(id, {copying_.argument(args(id)[0]), after_.sized.graph.make_container(ArgKind::Tuple, items)});
  return {};
}

std::optional<std::vector<int64_t>> SizePass::shape_of(const Arg& arg) const {
  if (arg.kind != ArgKind::Node || (deciding_ && before_.fresh[arg.node])) return {};
  return before_.shapes[arg.node];
}

Result<std::vector<int64_t>> SizePass::needed_shape(NodeId id) const {
  const auto shape = shape_of(args(id)[0]);
  if (shape) return *shape;
  return unsupported(fmt::format("the shape of what '{}' is called on is not known", graph().node(id).name));
}

void SizePass::note(NodeId of, bool fresh) {
  after_.shapes.push_back(before_.shapes[of]);
  after_.fresh.push_back(fresh);
  after_.sized.is_size.push_back(before_.sized.is_size[of]);
}

void SizePass::copy(NodeId id) {
  copying_.copy(id, names_.create(std::string(graph().node(id).name)));
  note(id, false);
  const auto& shape = before_.shapes[id];
  for (size_t axis = 1; shape && axis < shape->size(); ++axis) {
    if ((*shape)[axis] != size_.captured) continue;
    latest_ = Latest{id, axis};
    break;
  }
}

Result<void> SizePass::copied(NodeId id) {
  copy(id);
  return {};
}

void SizePass::remake(NodeId id, const std::vector<Arg>& made) {
  copying_.copy_with(id, names_.create(fx::name_of_target(graph().node(id))), made);
  note(id, true);
}

Arg SizePass::add(NodeKind kind, std::string_view target, std::string_view name, std::initializer_list<Arg> args) {
  after_.shapes.emplace_back();
  after_.fresh.push_back(true);
  after_.sized.is_size.push_back(true);
  return copying_.add(kind, target, names_.create(std::string(name)), args);
}

Arg SizePass::size_of(const Arg& value, size_t axis) {
  return add(NodeKind::CallMethod, "size", "size", {value, Arg::of_int(static_cast<int64_t>(axis))});
}

Arg SizePass::batch_size(NodeId id) {
  if (!batch_size_) batch_size_ = size_of(copying_.here(args(id)[0].node), 0);
  return *batch_size_;
}

std::vector<Arg> SizePass::take_sizes(std::span<const Arg> sizes, const Arg& operand,
                                      const std::vector<int64_t>& shape) {
  std::vector<Arg> made;
  for (size_t i = 0; i < sizes.size(); ++i) {
    size_t axis = i == 0 ? 0 : 1;
    if (sizes[i].kind == ArgKind::Int && sizes[i].integer >= 1) {
      while (i > 0 && axis < shape.size() && (shape[axis] != sizes[i].integer || shape[axis] <= 1)) ++axis;
      if (axis < shape.size() && shape[axis] == sizes[i].integer) {
        made.push_back(size_of(operand, axis));
        continue;
      }
    }
    made.push_back(copying_.argument(sizes[i]));
  }
  return made;
}

Result<void> SizePass::tuple_from_latest(NodeId id, int64_t more) {
  if (!latest_) return copied(id);
  std::vector<Arg> sizes;
  for (const Arg& size : graph().elements(args(id)[0])) {
    if (!is_size(size, more))
      sizes.push_back(copying_.argument(size));
    else
      sizes.push_back(more == 0 ? latest_size() : one_more(latest_size()));
  }
  remake(id, {after_.sized.graph.make_container(ArgKind::Tuple, sizes)});
  return {};
}

Arg SizePass::bound(const Arg& item) {
  if (!is_head(item) && !is_tail(item)) return copying_.argument(item);
  const auto bounds = graph().elements(item);
  std::vector<Arg> made{bounds[0], bounds[1], bounds[2]};
  if (is_head(item))
    made[1] = latest_size();
  else
    made[0] = add(NodeKind::Operator, "neg", "neg", {latest_size()});
  return after_.sized.graph.make_container(ArgKind::Slice, made);
}

// Equal sizes are taken from the operand in order; what is left on one side is the product or a square root of what is
// left on the other.
Result<void> SizePass::all_sizes_from_operand(NodeId id) {
  PASSNET_TRY(const std::vector<int64_t> shape, needed_shape(id));
  std::vector<Arg> made = copying_.arguments(id);
  const Arg operand = made[0];
  std::map<int64_t, std::deque<size_t>> axes_of;
  for (size_t axis = 0; axis < shape.size(); ++axis) axes_of[shape[axis]].push_back(axis);
  std::vector<size_t> rest;  // arguments that no axis has
  std::vector<bool> taken(shape.size());
  std::vector<std::pair<size_t, size_t>> common;  // argument and axis
  for (size_t i = 1; i < made.size(); ++i) {
    const Arg& size = args(id)[i];
    const auto found = size.kind == ArgKind::Int ? axes_of.find(size.integer) : axes_of.end();
    if (found == axes_of.end() || found->second.empty()) {
      rest.push_back(i);
      continue;
    }
    common.emplace_back(i, found->second.front());
    taken[found->second.front()] = true;
    found->second.pop_front();
  }
  for (const auto& [i, axis] : common) {
    if (i > 1) made[i] = size_of(operand, axis);
  }
  std::vector<Arg> left;  // sizes of the operand
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (!taken[axis]) left.push_back(size_of(operand, axis));
  }
  if (rest.size() == 1 && left.size() > 1) {
    Arg product = left[0];
    for (size_t i = 1; i < left.size(); ++i) product = add(NodeKind::Operator, "*", "mul", {product, left[i]});
    made[rest[0]] = product;
  } else if (rest.size() == 2 && left.size() == 1 &&
             equal_args(graph(), args(id)[rest[0]], graph(), args(id)[rest[1]])) {
    const Arg power = add(NodeKind::Operator, "**", "pow", {left[0], Arg::of_float(0.5)});
    const Arg root = add(NodeKind::CallFunction, "torch.sym_int", "int", {power});
    made[rest[0]] = made[rest[1]] = root;
  }
  remake(id, made);
  return {};
}

}  // namespace passnet::dataset::official
