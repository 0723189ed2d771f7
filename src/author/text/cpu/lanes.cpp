#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "author/text/cpu/kernel.h"
#include "author/text/operations.h"

namespace passnet::author {

namespace {

using Kind = Expr::Kind;

// Lanes hold floats and choices.
bool fits_lanes(const Expr& expr) { return expr.compute == Compute::Float || expr.compute == Compute::Bool; }

}  // namespace

bool CpuKernel::can_be_vectors() {
  std::set<ExprId> met;
  return lane_ && !sums_go_on() && std::ranges::all_of(kernel_.stores, [&](const Store& store) {
           return fits_lanes(exprs_.at(store.value)) && folds_in_lanes(store.value, met);
         });
}

/// Tells whether lanes can fold all that is folded in it, but for what is folded once for a row.
bool CpuKernel::folds_in_lanes(ExprId id, std::set<ExprId>& met) {
  if (!met.insert(id).second) return true;
  const Expr& expr = exprs_.at(id);
  if (expr.kind == Kind::Reduce && !is_folded_by_lanes(expr))
    return kernel_.lanes == Lanes::Row && !is_row(kernel_, expr.variables) && !moves_with_lane(id);
  bool all = true;
  exprs_.for_each_part(id, [&](ExprId part) { all = all && folds_in_lanes(part, met); });
  return all;
}

bool CpuKernel::is_folded_by_lanes(const Expr& reduction) {
  return reduction.compute == Compute::Float && reduction.fold != Fold::Product;
}

bool CpuKernel::moves_with_lane(ExprId id) { return lane_ && exprs_.free_variables(id).contains(lane_->variable); }

bool CpuKernel::is_vector(ExprId id) { return vectors_ && moves_with_lane(id) && fits_lanes(exprs_.at(id)); }

/// Tells whether a vector has to be put together lane by lane.
bool CpuKernel::is_by_lane(ExprId id) {
  const Expr& expr = exprs_.at(id);
  if (expr.kind == Kind::Guard) return !chooses_for_all_lanes(expr) && !edge_of(id) && !parts_of(id) && !turns_of(id);
  if (expr.kind == Kind::Apply && expr.formula.is_by_lane()) return true;
  if (gathered(expr)) return false;
  bool found = false;
  exprs_.for_each_part(id,
                       [&](ExprId part) { found = found || (moves_with_lane(part) && !fits_lanes(exprs_.at(part))); });
  return found;
}

/// Tells whether a Guard is a branch that all lanes take together.
bool CpuKernel::chooses_for_all_lanes(const Expr& expr) {
  return expr.kind == Kind::Guard && !moves_with_lane(expr.parts[0]);
}

std::optional<Edge> CpuKernel::edge_of(ExprId id) {
  return lane_ ? author::edge_of(exprs_, id, lane_->variable) : std::nullopt;
}

std::optional<Parts> CpuKernel::parts_of(ExprId id) {
  return lane_ ? author::parts_of(exprs_, id, lane_->variable) : std::nullopt;
}

std::string CpuKernel::guarded(ExprId id) {
  if (const std::optional<std::string> padded = padded_text(id)) {
    const std::string name = name_for(id);
    line(fmt::format("const vec {} = {};", name, *padded));
    return name;
  }
  if (const std::optional<Parts> parts = is_vector(id) ? parts_of(id) : std::nullopt) return one_of_parts(id, *parts);
  if (const std::optional<Turns> turns = is_vector(id) ? turns_of(id) : std::nullopt) return by_turns(*turns);
  const std::optional<Edge> edge = is_vector(id) ? edge_of(id) : std::nullopt;
  if (!edge) return KernelWriter::guarded(id);
  const Expr expr = exprs_.at(id);
  std::vector<std::string> others;
  for (const ExprId other : edge->others) others.push_back(value(other));
  const std::string name = name_for(id), at = fresh("index");
  line(fmt::format("{} {};", type_of(id), name));
  if (!others.empty()) open(fmt::format("if ({})", fmt::join(others, " && ")));
  {
    const Scoped scope(*this);
    line(fmt::format("const int64_t {} = {};", at, index_text(edge->inside.index)));
    if (const std::optional<std::string> row = row_load(expr, *edge, at)) {
      line(fmt::format("{} = {};", name, *row));
    } else {
      write_at_edge(id, *edge, name, at);
    }
  }
  if (others.empty()) return name;
  close();
  open("else");
  {
    const Scoped scope(*this);
    line(fmt::format("{} = {};", name, value(expr.parts[2])));
  }
  close();
  return name;
}

/// Loads without lanes at the edge, where nothing is done with the value. `at`: the name of the first lane's place.
std::optional<std::string> CpuKernel::row_load(const Expr& guard, const Edge& edge, const std::string& at) {
  const Expr load = exprs_.at(guard.parts[1]), otherwise = exprs_.at(guard.parts[2]);
  if (load.kind != Kind::Load || otherwise.kind != Kind::Number || guard.compute != Compute::Float ||
      !sizes_.is_one(edge.step))
    return std::nullopt;
  const Access from = access_in(definitions_, load.tensor, load.places);
  if (!moves_by_one(sizes_, from, lane_->variable)) return std::nullopt;
  return fmt::format("load_inside({} + {}, {}, {}, lanes, {})", name_of(load.tensor), offset_text(from, "i"), at,
                     sizes_.kernel_text(edge.inside.extent), number_text(otherwise));
}

void CpuKernel::write_else_by_lane(ExprId id, const std::string& name) {
  open("else");
  {
    const Scoped scope(*this);
    line(fmt::format("{} = {};", name, by_lane(id)));
  }
  close();
}

/// Uses vectors where all lanes are inside, and numbers elsewhere.
void CpuKernel::write_at_edge(ExprId id, const Edge& edge, const std::string& name, const std::string& at) {
  const std::string step = sizes_.is_one(edge.step) ? "" : " * " + sizes_.kernel_text(edge.step);
  open(fmt::format("if ({0} >= 0 && {0} + (lanes - 1){1} < {2})", at, step, sizes_.kernel_text(edge.inside.extent)));
  {
    const Scoped scope(*this);
    line(fmt::format("{} = {};", name, value(exprs_.at(id).parts[1])));
  }
  close();
  write_else_by_lane(id, name);
}

/// Uses vectors where all lanes are in one of the parts, and numbers elsewhere.
std::string CpuKernel::one_of_parts(ExprId id, const Parts& parts) {
  const std::string name = name_for(id), from = fresh("from"), to = fresh("to");
  const std::string step = sizes_.is_one(parts.step) ? "" : " * " + sizes_.kernel_text(parts.step);
  line(fmt::format("{} {};", type_of(id), name));
  line(fmt::format("const int64_t {} = {}, {} = {} + (lanes - 1){};", from, index_text(parts.index), to, from, step));
  for (size_t i = 0; i < parts.values.size(); ++i) {
    std::vector<std::string> conditions;
    if (i > 0) conditions.push_back(fmt::format("{} >= {}", from, sizes_.kernel_text(parts.ends[i - 1])));
    if (i < parts.ends.size()) conditions.push_back(fmt::format("{} < {}", to, sizes_.kernel_text(parts.ends[i])));
    open(fmt::format("{}if ({})", i == 0 ? "" : "else ", fmt::join(conditions, " && ")));
    const Scoped scope(*this);
    line(fmt::format("{} = {};", name, lanes_text(parts.values[i])));
    close();
  }
  write_else_by_lane(id, name);
  return name;
}

/// A value, the same for all lanes where it does not move with them.
std::string CpuKernel::lanes_text(ExprId id) {
  const std::string text = value(id);
  if (is_vector(id)) return text;
  return exprs_.at(id).compute == Compute::Bool ? fmt::format("(vec({} ? 1.0f : 0.0f) != 0.0f)", text)
                                                : fmt::format("vec({})", text);
}

std::optional<std::string> CpuKernel::vector_text(ExprId id) {
  if (is_by_lane(id)) return by_lane(id);
  if (const std::optional<std::string> turned = turned_text(id)) return turned;
  if (const std::optional<std::string> plane = plane_text(id)) return plane;
  const Expr expr = exprs_.at(id);
  if (expr.kind == Kind::Load) return load_vector(expr);
  if (expr.kind == Kind::Apply) {
    std::vector<std::string> parts;
    for (const ExprId one : expr.parts) {
      // A choice by one bool between vectors.
      parts.push_back(exprs_.at(one).compute == Compute::Bool ? lanes_text(one) : value(one));
    }
    return formula_text(id, parts, true);
  }
  if (expr.kind != Kind::Convert) return std::nullopt;
  const std::string of = value(expr.parts[0]);
  return expr.compute == Compute::Bool ? fmt::format("({} != 0.0f)", of) : fmt::format("select({}, 1.0f, 0.0f)", of);
}

std::string CpuKernel::load_vector(const Expr& expr) {
  const Access from = access_in(definitions_, expr.tensor, expr.places);
  const std::string& name = name_of(expr.tensor);
  std::string text;
  if (const std::optional<Gathered> gather = gathered(expr))
    text = fmt::format("gather({} + {}, {}, {} + i, lanes)", name, offset_text(gather->row, ""),
                       sizes_.kernel_text(gather->length), gather->places);
  else if (moves_by_one(sizes_, from, lane_->variable))
    text = fmt::format("load({} + {}, lanes)", name, offset_text(from, "i"));
  else if (moves_by(sizes_, from, lane_->variable, 2))
    text = fmt::format("load_every_other({} + {}, lanes)", name, offset_text(from, "i"));
  else if (moves_by(sizes_, from, lane_->variable, 4))
    text = fmt::format("load_every_fourth({} + {}, lanes)", name, offset_text(from, "i"));
  else if (const std::optional<Piece> piece = piece_of(from))
    text = load_in_piece(expr, from, *piece);
  else
    text = load_apart(expr, from);
  return element(expr.tensor).compute == Compute::Bool ? fmt::format("({} != 0.0f)", text) : text;
}

std::string CpuKernel::load_apart(const Expr& expr, const Access& from) {
  const std::string apart = fresh("apart");
  line(fmt::format("float {}[kLanes] = {{}};", apart));
  line(fmt::format("for (int lane = 0; lane < lanes; ++lane) {}[lane] = to_float({}[{}]);", apart, name_of(expr.tensor),
                   offset_of_lane(from)));
  return fmt::format("load({})", apart);
}

/// nullopt: the loop of the lanes is not cut into pieces, or into some of several lengths.
std::optional<CpuKernel::Piece> CpuKernel::piece_of(const Access& from) {
  if (from.steps.contains(lane_->variable)) return std::nullopt;
  std::optional<SizeId> length;
  bool moves = false;
  for (const auto& [index, factor] : from.rest) {
    const Index node = indices_.at(index);
    const bool is_place = node.kind == Index::Kind::Remainder && node.a == indices_.variable(lane_->variable);
    if (is_place) {
      if (moves || !sizes_.is_one(factor) || length.value_or(node.size) != node.size) return std::nullopt;
      moves = true;
      length = node.size;
    } else if (!is_same_in_piece(index, length)) {
      return std::nullopt;
    }
  }
  return length ? std::optional(Piece{*length, moves}) : std::nullopt;
}

/// Tells whether lanes have a part in it by the number of their piece alone.
bool CpuKernel::is_same_in_piece(IndexId id, std::optional<SizeId>& length) {
  const Index node = indices_.at(id);
  switch (node.kind) {
    case Index::Kind::Constant:
    case Index::Kind::Size: return true;
    case Index::Kind::Variable: return node.variable != lane_->variable;
    case Index::Kind::Element: return !moves_with_lane(node.element);
    case Index::Kind::Add:
    case Index::Kind::Subtract: return is_same_in_piece(node.a, length) && is_same_in_piece(node.b, length);
    case Index::Kind::Divide:
      if (node.a == indices_.variable(lane_->variable)) {
        const bool is_it = length.value_or(node.size) == node.size;
        length = node.size;
        return is_it;
      }
      [[fallthrough]];
    case Index::Kind::Scale:
    case Index::Kind::Remainder: return is_same_in_piece(node.a, length);
  }
  return false;
}

/// Returns a condition that the compiler decides, true where blocks of lanes begin and end where pieces do:
/// "WIDTH % kLanes == 0 || ". Tasks begin at multiples of them.
std::string CpuKernel::in_one_piece(const Piece& piece) {
  const auto is_even = [](int64_t length) { return length % kLanes == 0; };
  if (facts_.product || std::ranges::none_of(sizes_.values(piece.length), is_even)) return "";
  const std::string length = sizes_.kernel_text(piece.length), extent = extent_text(*lane_);
  if (extent == length) return fmt::format("{} % kLanes == 0 || ", length);
  return fmt::format("({} % kLanes == 0 && {} % kLanes == 0) || ", length, extent);
}

/// Loads neighbours, or one element, where all lanes are in one piece, and lane by lane elsewhere.
std::string CpuKernel::load_in_piece(const Expr& expr, const Access& from, const Piece& piece) {
  if (const std::optional<std::string> groups = load_for_groups(expr, from, piece)) return *groups;
  if (sizes_.largest(piece.length) < kLanes) return load_apart(expr, from);  // no piece has room for all lanes
  const std::string whole = fresh(name_of(expr.tensor) + "_piece"), length = sizes_.kernel_text(piece.length),
                    offset = offset_text(from, "i");
  const std::string& name = name_of(expr.tensor);
  line(fmt::format("vec {};", whole));
  open(fmt::format("if ({1}i / {0} == (i + lanes - 1) / {0})", length, in_one_piece(piece)));
  line(piece.moves ? fmt::format("{} = load({} + {}, lanes);", whole, name, offset)
                   : fmt::format("{} = vec(to_float({}[{}]));", whole, name, offset));
  close();
  open("else");
  {
    const Scoped scope(*this);
    line(fmt::format("{} = {};", whole, load_apart(expr, from)));
  }
  close();
  return whole;
}

/// Returns the part of the rest of an index that moves with the lane, and its factor. nullopt: nothing does, or several
/// parts.
std::optional<std::pair<IndexId, SizeId>> CpuKernel::rest_of_lane(const Access& access) {
  std::optional<std::pair<IndexId, SizeId>> found;
  for (const auto& part : access.rest) {
    if (!access_of(exprs_, {part.first}, {sizes_.one()}).moves_with(lane_->variable)) continue;
    if (found) return std::nullopt;
    found = part;
  }
  return found;
}

/// Returns the offset of one of the lanes: the rest of its index may be the lane's own.
std::string CpuKernel::offset_of_lane(const Access& access) {
  const std::string own = std::exchange(variables_[lane_->variable], "(i + lane)");
  std::string offset = offset_text(access, "(i + lane)");
  variables_[lane_->variable] = own;
  return offset;
}

std::string CpuKernel::by_lane(ExprId id) {
  const bool is_bool = exprs_.at(id).compute == Compute::Bool;
  const std::string apart = fresh("apart");
  line(fmt::format("float {}[kLanes] = {{}};", apart));
  {
    const Scoped scope(*this);
    // Vectors that are there already are looked at lane by lane.
    for (auto& [known, name] : names_) {
      if (is_vector(known) && exprs_.at(known).compute == Compute::Float) name += "[lane]";
    }
    std::erase_if(
        names_, [&](const auto& one) { return is_vector(one.first) && exprs_.at(one.first).compute == Compute::Bool; });
    const std::string own = std::exchange(variables_[lane_->variable], "(i + lane)");
    const bool keeps = std::exchange(keeps_, false);
    vectors_ = false;
    open("for (int lane = 0; lane < lanes; ++lane)");
    const std::string text = value(id);
    line(fmt::format("{}[lane] = {};", apart, is_bool ? text + " ? 1.0f : 0.0f" : text));
    close();
    vectors_ = true;
    keeps_ = keeps;
    variables_[lane_->variable] = own;
  }
  return is_bool ? fmt::format("(load({}) != 0.0f)", apart) : fmt::format("load({})", apart);
}

void CpuKernel::store(const Store& store) {
  const ElementId element = definitions_.tensors()[store.tensor].element;
  if (vectors_ && moves_by_one(sizes_, access_to(store), lane_->variable) && only_moves(store.value, element))
    move(store, store.value);
  else
    KernelWriter::store({store.tensor, without_rounding(store.value, element), store.place});
}

/// The relu of what was rounded, and is looked at by nobody else: storing rounds it too.
ExprId CpuKernel::without_rounding(ExprId id, ElementId stored) {
  const Expr expr = exprs_.at(id);
  if (!expr.is_apply_of(kRelu) || expr.compute != Compute::Float || names_.contains(id)) return id;
  const Expr rounded = exprs_.at(expr.parts[0]);
  if (rounded.kind != Kind::Round || rounded.rounds_on != RoundsOn::Both || rounded.element != stored ||
      names_.contains(expr.parts[0]) || uses(id) > 1 || uses(expr.parts[0]) > 1)
    return id;
  const Formula relu(Op::ReluBeforeRounding, stored, {formula::A});
  return exprs_.called_like(id, exprs_.apply(relu, {rounded.parts[0]}));
}

/// Tells whether it is loaded as it is to be stored, and nothing else is done with it.
bool CpuKernel::only_moves(ExprId id, ElementId element) {
  const Expr& expr = exprs_.at(id);
  if (names_.contains(id) || keeps_) return false;
  if (chooses_for_all_lanes(expr)) return only_moves(expr.parts[1], element) && only_moves(expr.parts[2], element);
  return expr.kind == Kind::Load && expr.element == element &&
         moves_by_one(sizes_, access_in(definitions_, expr.tensor, expr.places), lane_->variable);
}

void CpuKernel::move(const Store& store, ExprId id) {
  const Expr expr = exprs_.at(id);
  if (expr.kind == Kind::Guard) {
    branches(value(expr.parts[0]), expr, [&](ExprId branch) { move(store, branch); });
    return;
  }
  const Access from = access_in(definitions_, expr.tensor, expr.places);
  line(fmt::format("copy({} + {}, {} + {}, lanes);", name_of(store.tensor), offset_text(access_to(store), "i"),
                   name_of(expr.tensor), offset_text(from, "i")));
}

void CpuKernel::store_text(const Store& store, const Access& to, ExprId value, std::string text) {
  if (planes_) {
    line(fmt::format("store({} + {} * lanes, {}, lanes);", planes_->stored.at(store.tensor),
                     step_number(planes_->inner), is_vector(value) ? text : fmt::format("vec({})", text)));
    return;
  }
  if (!vectors_ || !to.moves_with(lane_->variable)) {
    KernelWriter::store_text(store, to, value, std::move(text));
    return;
  }
  const bool is_bool = exprs_.at(value).compute == Compute::Bool;
  if (!is_vector(value))
    text = is_bool ? fmt::format("vec({} ? 1.0f : 0.0f)", text) : fmt::format("vec({})", text);
  else if (is_bool)
    text = fmt::format("select({}, 1.0f, 0.0f)", text);
  const std::string& name = name_of(store.tensor);
  const auto step = to.steps.find(lane_->variable);
  if (step != to.steps.end() && sizes_.is_one(step->second) && to.irregular.empty()) {
    line(fmt::format("store({} + {}, {}, lanes);", name, offset_text(to, "i"), text));
    return;
  }
  const std::string whole = fresh(name_of(store.tensor) + "_lanes");
  line(fmt::format("const vec {} = {};", whole, text));
  line(fmt::format("for (int lane = 0; lane < lanes; ++lane) {}[{}] = from_float<{}>({}[lane]);", name,
                   offset_of_lane(to), element(store.tensor).kernel, whole));
}

}  // namespace passnet::author
