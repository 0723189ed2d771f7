#include "author/text/cpu/kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "author/text/operations.h"

namespace passnet::author {

namespace {

using Kind = Expr::Kind;

/// Elements of a row that a kernel keeps on the stack, of each value; of all together where the row has loops of its own, whose
/// elements take longer to find than others.
constexpr int64_t kMostKept = 8192, kMostKeptOfLoops = 32768;
/// Elements of what all items share, and items that make it worth keeping, for each of at most 16 tasks.
constexpr int64_t kMostShared = 2048, kLeastSharing = 64;

/// The beginning of a call that goes over lanes.
std::string over_lanes(const std::string& call, const std::string& range, const char* given = "int64_t i, int lanes") {
  return fmt::format("{}({}, [&]({}) __attribute__((always_inline))", call, range, given);
}

}  // namespace

CpuKernel::CpuKernel(Definitions& definitions, const KernelPart& part, const KernelFacts& facts)
    : KernelWriter(definitions, part, facts) {
  vectors_ = can_be_vectors();
}

std::string CpuKernel::divided_text(const Index& index) {
  const char* sign = index.kind == Index::Kind::Divide ? "/" : "%";
  return fmt::format("({} {} {})", index_text(index.a), sign, sizes_.kernel_text(index.size));
}

std::string CpuKernel::kept_load(const Kept& kept) {
  if (kept.by_step) return fmt::format("load({} + {} * kLanes)", kept.name, variables_[kernel_.row.back().variable]);
  return vectors_ ? fmt::format("load({} + {}, lanes)", kept.name, place_in_row())
                  : fmt::format("{}[{}]", kept.name, place_in_row());
}

std::string CpuKernel::kept_store(const Kept& kept, const std::string& value) {
  if (kept.by_step)
    return fmt::format("store({} + {} * kLanes, {});", kept.name, variables_[kernel_.row.back().variable], value);
  return vectors_ ? fmt::format("store({} + {}, {}, lanes);", kept.name, place_in_row(), value)
                  : fmt::format("{}[{}] = {};", kept.name, place_in_row(), value);
}

std::string CpuKernel::place_in_row() {
  if (is_flat_ || kernel_.row.size() < 2) return "i";
  const std::vector<Loop> outer(kernel_.row.begin(), kernel_.row.end() - 1);
  return fmt::format("{} * {} + i", step_number(outer), extent_text(kernel_.row.back()));
}

void CpuKernel::after_steps(const Expr& /*reduction*/, const std::string& /*total*/) {
  if (kernel_.lanes == Lanes::Items) after_stage();
}

void CpuKernel::decode(const std::vector<Loop>& loops, const std::string& item) {
  SizeId inner = sizes_.one();
  std::vector<std::string> lines;
  for (size_t i = loops.size(); i-- > 0;) {
    std::string text = item;
    if (!sizes_.is_one(inner)) text = fmt::format("{} / {}", text, sizes_.kernel_text(inner));
    if (i > 0) text = fmt::format("{} % {}", text, extent_text(loops[i]));
    if (text != variables_[loops[i].variable])
      lines.push_back(fmt::format("const int64_t {} = {};", variables_[loops[i].variable], text));
    inner = sizes_.product(inner, loops[i].extent);
  }
  for (auto one = lines.rbegin(); one != lines.rend(); ++one) line(*one);
}

// ---- items

void CpuKernel::write_items() {
  if (kernel_.items.empty()) {
    write_one_item();
    return;
  }
  if (facts_.product) {
    write_product();
    return;
  }
  if (facts_.tile) {
    write_tiles();
    return;
  }
  if (std::optional<Planes> planes = planes_of()) {
    write_planes(std::move(*planes));
    return;
  }
  const bool shared = part_.own.over_row;
  const std::vector<Loop> outer(kernel_.items.begin(), kernel_.items.end() - 1);
  const std::string width = extent_text(*lane_);
  std::set<VariableId> inside = variables_of(kernel_.row);
  inside.insert(lane_->variable);
  number_ = outer.empty() ? "i" : fmt::format("item * {} + i", width);
  // Items that are turned together take long: few of them are a task.
  const char* const granule = loads_to_turn().empty() ? "" : ", kLanes";
  if (outer.empty() && !shared) {
    line(fmt::format("const auto [first, last] = chunk({}{});", bare(width), granule));
    hoist(inside);
    block("first", "last");
    return;
  }
  line(fmt::format("const auto [first, last] = chunk({}{});", shared ? "PARTS * " + item_count() : bare(item_count()),
                   granule));
  if (!shared) {
    keep_places(outer);
    keep_what_items_share(outer);
    declare_padded();
  }
  open("for (int64_t next = first; next < last;)");
  line(fmt::format("const int64_t {1} = next / {0}, start = next % {0};", width, shared ? "run" : "item"));
  line(fmt::format("const int64_t stop = {0} - start < last - next ? {0} : start + last - next;", width));
  line("next += stop - start;");
  if (shared) {
    const std::string runs = product_text(outer);
    line(fmt::format("const int64_t part = run / {0}{1};", runs,
                     outer.empty() ? "" : fmt::format(", item = run % {}", runs)));
    open_share();
  }
  decode(outer, "item");
  hoist(inside);
  copy_padded();
  keeps_ = !kept_.empty();
  block("start", "stop");
  keeps_ = false;
  close();
}

void CpuKernel::write_one_item() {
  number_ = "0";
  if (!part_.own.over_row) {
    line("if (task_index() > 0) return;");
    item_body();
    return;
  }
  line("const auto [first, last] = chunk(PARTS, 1);");
  open("for (int64_t part = first; part < last; ++part)");
  open_share();
  item_body();
  close();
}

/// Items that differ in the lane's variable alone.
void CpuKernel::block(const std::string& from, const std::string& to) {
  const Scoped scope(*this);
  if (!vectors_) {
    open(fmt::format("for (int64_t i = {}; i < {}; ++i)", from, to));
    item_body();
    close();
    return;
  }
  const bool in_strips = folds_columns(), keeps = keeps_;
  const std::string call = fmt::format("{}_{}", overwrites() ? "for" : "cover", in_strips ? "strips" : "blocks");
  const std::string range = fmt::format("{}, {}", from, to);
  open(in_strips ? over_lanes(call, range, "int64_t strip, int lanes, auto blocks") : over_lanes(call, range));
  if (!in_strips) {
    turn_items();
    keep_what_steps_share();
  }
  in_strips ? strip_body() : item_body();
  turned_.clear();
  keeps_ = keeps;
  close("});");
}

/// Tells whether what follows the lane alone is worth computing before a loop over items. outer: all loops but the
/// lanes'.
bool CpuKernel::pays_to_share(const std::vector<Loop>& outer) {
  return vectors_ && sizes_.smallest(loop_steps(sizes_, outer)) >= kLeastSharing &&
         sizes_.largest(lane_->extent) <= kMostShared;
}

/// Computes values that follow the lane alone and take long, such as the scale of a channel, before the loop over the
/// items where that pays for every task.
void CpuKernel::keep_what_items_share(const std::vector<Loop>& outer) {
  if (!pays_to_share(outer)) return;
  std::set<ExprId> met;
  std::vector<ExprId> shared;
  for (const Store* store : part_.stores) collect_shared(store->value, met, shared);
  if (shared.empty()) return;
  const std::string width = extent_text(*lane_);
  line("// The same for all items.");
  for (const ExprId id : shared) {
    kept_[id] = {array_name(id, "kept"), false};
    declare_array(kept_[id].name, {*lane_}, false);
  }
  const Scoped scope(*this);
  keeps_ = true;
  open(over_lanes("for_blocks", fmt::format("0, {}", width)));
  for (const ExprId id : shared) value(id);
  close("});");
  keeps_ = false;
  after_stage();
}

/// Keeps values of each step that several of an item's loops need: the first one computes them.
void CpuKernel::keep_what_steps_share() {
  if (part_.is_split() || kernel_.row.size() != 1) return;
  std::set<ExprId> worth = worth_keeping(definitions_, kernel_, stages_of(definitions_, part_), false);
  std::erase_if(worth, [&](ExprId id) { return !is_vector(id); });
  const Loop& row = kernel_.row.back();
  const auto arrays = static_cast<int64_t>(worth.size() + turned_.size());
  if (worth.empty() || arrays * sizes_.largest(row.extent) > kMostInLanes) return;
  for (const ExprId id : worth) {
    kept_[id] = {.name = array_name(id, "kept"), .by_step = true};
    declare_array(kept_[id].name, {row}, true);
  }
  keeps_ = true;
}

/// An array on the stack: an element for each step of the loops, or for each of their steps and lanes.
void CpuKernel::declare_array(const std::string& name, const std::vector<Loop>& loops, bool by_lane) {
  line(fmt::format("float {}[{}{}];", name, by_lane ? "kLanes * " : "", product_text(loops)));
  require_room(loops, by_lane ? kMostInArray / kLanes : kMostInArray);
}

/// The plan declines graphs for which an array would not fit on the stack: the sample's are far smaller.
void CpuKernel::require_room(const std::vector<Loop>& loops, int64_t most) {
  require_room(loop_steps(sizes_, loops), most);
}

void CpuKernel::require_room(SizeId elements, int64_t most) {
  sizes_.require_at_most(elements, sizes_.literal(most), "What kernels keep must fit on a stack.");
}

void CpuKernel::collect_shared(ExprId id, std::set<ExprId>& met, std::vector<ExprId>& shared) {
  if (!met.insert(id).second || places_.contains(id)) return;
  const Expr& expr = exprs_.at(id);
  if (expr.kind == Kind::Guard) {
    collect_shared(expr.parts[0], met, shared);  // the others are looked at where it holds
    return;
  }
  if (expr.compute == Compute::Float && exprs_.free_variables(id) == std::set<VariableId>{lane_->variable} &&
      !exprs_.has_reduction(id) && takes_long(id)) {
    shared.push_back(id);
    return;
  }
  exprs_.for_each_part(id, [&](ExprId part) { collect_shared(part, met, shared); });
}

/// Tells whether a division or a function of the lane is in it.
bool CpuKernel::takes_long(ExprId id) {
  const Expr& expr = exprs_.at(id);
  if (!moves_with_lane(id)) return false;
  if (expr.kind == Kind::Apply && expr.formula.divides_or_calls()) return true;
  bool found = false;
  exprs_.for_each_part(id, [&](ExprId part) { found = found || takes_long(part); });
  return found;
}

// Cache lines that a tile reads are still at hand when the next line of the result needs them.
void CpuKernel::write_tiles() {
  const Loop& across = facts_.tile->across;
  const std::string own = variables_[across.variable], side = std::to_string(kTile);
  const std::string width = extent_text(*lane_), height = extent_text(across);
  line(fmt::format("constexpr int64_t along = {}, across = {};", tiles_along(*lane_, side), tiles_along(across, side)));
  line(fmt::format("const auto [first, last] = chunk(along * across * {}, 1);", product_text(facts_.tile->outer)));
  open("for (int64_t tile = first; tile < last; ++tile)");
  line("const int64_t item = tile / (along * across);");
  line(fmt::format("const int64_t start = tile % along * {}, top = tile / along % across * {};", kTile, kTile));
  line(fmt::format("const int64_t stop = start + {0} < {1} ? start + {0} : {1};", kTile, width));
  line(fmt::format("const int64_t bottom = top + {0} < {1} ? top + {0} : {1};", kTile, height));
  decode(facts_.tile->outer, "item");
  hoist({across.variable, lane_->variable});
  turn_tile();
  open(fmt::format("for (int64_t {0} = top; {0} < bottom; ++{0})", own));
  const Scoped scope(*this);
  hoist({lane_->variable});
  block("start", "stop");
  close();
  close();
}

// ---- rows

void CpuKernel::write_rows() {
  const bool shared = part_.own.over_row;
  line(
      fmt::format("const auto [first, last] = chunk({}, 1);", shared ? "PARTS * " + item_count() : bare(item_count())));
  if (shared) {
    open("for (int64_t next = first; next < last; ++next)");
    line("const int64_t item = next / PARTS, part = next % PARTS;");
    open_share();
    decode(kernel_.items, "item");
  } else if (const std::vector<ExprId> apart = loads_to_turn(); !apart.empty()) {
    open_turned_rows(apart);
  } else {
    std::vector<Loop> outer = kernel_.items;
    outer.insert(outer.end(), kernel_.row.begin(), kernel_.row.end() - 1);
    keep_places(outer);
    open("for (int64_t item = first; item < last; ++item)");
    decode(kernel_.items, "item");
  }
  if (sums_go_on()) {
    item_body();
    close();
    return;
  }
  const std::vector<Stage> stages = stages_of(definitions_, part_);
  if (!part_.is_split()) choose_kept(stages, false);
  const int64_t elements = sizes_.largest(loop_steps(sizes_, kernel_.row));
  const auto arrays = static_cast<int64_t>(kept_.size());
  if (kernel_.row.size() == 1 ? elements > kMostKept : arrays * elements > kMostKeptOfLoops) kept_.clear();
  for (const auto& [id, kept] : kept_) declare_array(kept.name, kernel_.row, false);
  scalar([&] { fold_given(); });
  hoist(variables_of(kernel_.row));
  for (const Stage& stage : stages) {
    write_what_is_known();
    stage.reduction ? reduce(stage) : store_row(stage);
    after_stage();
  }
  for (const ExprId id : part_.own.reductions) scalar([&] { store_share(id, names_[id]); });
  write_what_is_known();
  scalar([&] { store_outside_of_row(); });
  if (!turned_.empty()) close();
  close();
}

void CpuKernel::reduce(const Stage& stage) {
  const ExprId id = *stage.reduction;
  const Expr expr = exprs_.at(id);
  const std::string total = name_for(id);
  const std::vector<Loop> loops = loops_of(expr);
  {
    const OtherLoops other(*this);
    enter_row(loops);
    keeps_ = is_row(kernel_, expr.variables);
    if (vectors_ && is_folded_by_lanes(expr)) {
      is_flat_ = keeps_ && loops.size() > 1 && stage.stores.empty() && follows_from_kept(expr.parts[0]);
      is_flat_ ? fold_lanes(stage, loops, total) : reduce_lanes(stage, loops, total);
      is_flat_ = false;
    } else {
      scalar([&] {
        line(fmt::format("{} {} = {};", type_of(id), total, neutral(expr.fold, expr.compute)));
        const Scoped scope(*this);
        open_loops(loops);
        fold_one_more(stage, total);
        store_all(stage.stores);
        close_all(loops);
      });
    }
    keeps_ = false;
  }
  names_[id] = total;
}

/// Tells whether its elements follow from what earlier loops kept of them alone.
bool CpuKernel::follows_from_kept(ExprId id) {
  if (!moves_with_row(exprs_, kernel_, id)) return true;
  if (const auto kept = kept_.find(id); kept != kept_.end()) return kept->second.is_there;
  const Expr& expr = exprs_.at(id);
  bool follows = expr.kind == Kind::Apply || expr.kind == Kind::Round;
  exprs_.for_each_part(id, [&](ExprId part) { follows = follows && follows_from_kept(part); });
  return follows;
}

/// Folds elements along the lanes to `name`: of the lanes' loop, or of several that are one.
void CpuKernel::fold_lanes(const Stage& stage, const std::vector<Loop>& loops, const std::string& name) {
  const Expr expr = exprs_.at(*stage.reduction);
  const char* fold = expr.fold == Fold::Sum ? "sum_of" : "max_of";
  const char* sign = expr.fold == Fold::Smallest ? "-" : "";
  const Scoped scope(*this);
  const bool shared = part_.shares(*lane_);
  open(over_lanes(fmt::format("const float {} = {}{}", name, sign, fold),
                  shared ? "end - begin" : bare(product_text(loops)),
                  shared ? "int64_t at, int lanes" : "int64_t i, int lanes"));
  if (shared) line("const int64_t i = begin + at;");
  std::string part = value(expr.parts[0]);
  if (!is_vector(expr.parts[0])) part = fmt::format("vec({})", part);
  store_all(stage.stores);
  line(fmt::format("return {}{};", sign, part));
  close("});");
}

void CpuKernel::reduce_lanes(const Stage& stage, const std::vector<Loop>& loops, const std::string& total) {
  const Expr expr = exprs_.at(*stage.reduction);
  const std::vector<Loop> outer(loops.begin(), loops.end() - 1);
  if (outer.empty()) {
    fold_lanes(stage, loops, total);
    return;
  }
  line(fmt::format("float {} = {};", total, neutral(expr.fold, expr.compute)));
  open_loops(outer);
  const std::string part = fresh(total + "_part");
  fold_lanes(stage, {loops.back()}, part);
  line(fmt::format("{} = {};", total, combined(expr.fold, expr.compute, total, part, false)));
  close_all(outer);
}

void CpuKernel::store_row(const Stage& stage) {
  const std::vector<Loop> outer(kernel_.row.begin(), kernel_.row.end() - 1);
  const Loop& row = kernel_.row.back();
  const Scoped scope(*this);
  keeps_ = true;
  open_loops(outer);
  if (vectors_)
    open(over_lanes(kept_.empty() && !overwrites() ? "cover_blocks" : "for_blocks",
                    fmt::format("{}, {}", begin_of(row), end_of(row))));
  else
    open(fmt::format("for (int64_t i = {}; i < {}; ++i)", begin_of(row), end_of(row)));
  store_all(stage.stores);
  close(vectors_ ? "});" : "}");
  close_all(outer);
  keeps_ = false;
}

}  // namespace passnet::author
