#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "author/text/cuda/kernel.h"
#include "author/text/operations.h"

namespace passnet::author {

namespace {

using Kind = Expr::Kind;

/// Floats that a thread reads of a row before it needs the first of them.
constexpr int64_t kMostAhead = 64;

}  // namespace

/// Neighbouring elements that a thread takes: loads of all of them, a loop over them, stores of all. elements: what the
/// loop needs besides the stores; also: the rest of its body.
void CudaKernel::by_pack(const std::vector<ExprId>& elements, const std::vector<const Store*>& stores,
                         const std::function<void()>& also) {
  const Scoped scope(*this);
  load_packs(elements, stores);
  for (const Store* store : stores) {
    if (!is_packed(access_to(*store), store->tensor)) continue;
    packed_stores_[store->tensor] = fresh(name_of(store->tensor) + "_pack");
    line(fmt::format("floats<PACK> {};", packed_stores_[store->tensor]));
  }
  open_lanes();
  if (also) also();
  store_all(stores);
  close_lanes();
  for (const Store* store : stores) {
    if (packed_stores_.contains(store->tensor))
      line(fmt::format("store({} + {}, {});", name_of(store->tensor), pack_offset(access_to(*store)),
                       packed_stores_[store->tensor]));
  }
  packs_.clear();
  packed_stores_.clear();
}

void CudaKernel::open_lanes() {
  line("#pragma unroll");
  open("for (int lane = 0; lane < PACK; ++lane)");
  if (across_rows())
    decode(kernel_.items, "item + lane");
  else
    variables_[lane_->variable] = "(i + lane)";
}

void CudaKernel::close_lanes() {
  if (!across_rows()) variables_[lane_->variable] = "i";
  close();
}

/// Returns the variables in which the elements that a thread takes at once differ.
std::set<VariableId> CudaKernel::variables_of_pack() const {
  return across_rows() ? variables_of(kernel_.items) : std::set{lane_->variable};
}

void CudaKernel::load_packs(const std::vector<ExprId>& elements, const std::vector<const Store*>& stores) {
  for (const ExprId id : packs_in(elements, stores)) {
    if (packs_.contains(id)) continue;
    packs_[id] = array_name(id, "pack");
    if (exprs_.at(id).kind == Kind::Load) {
      line(fmt::format("const floats<PACK> {} = {};", packs_[id], pack_text(id)));
    } else {
      line(fmt::format("floats<PACK> {};", packs_[id]));
      write_pack(packs_[id], id);
    }
  }
}

/// All that a loop over parts of a row reads, before it needs the first of it: no read waits behind a branch.
void CudaKernel::read_ahead(const Stage& stage) {
  const std::vector<ExprId> ids = packs_in(stage.elements, stage.stores);
  const int64_t by_thread = sizes_.largest(kernel_.row.back().extent) / kMostThreads + 1;
  if (ids.empty() || static_cast<int64_t>(ids.size()) * by_thread > kMostAhead) return;
  for (const ExprId id : ids) {
    const std::string packs = array_name(id, "packs");
    line(fmt::format("floats<PACK> {}[parts];", packs));
    packs_[id] = packs + "[part]";
  }
  line("#pragma unroll");
  open("for (int part = 0; part < parts; ++part)");
  line(part_of_thread());
  open(fmt::format("if (i < {})", extent_text(*lane_)));
  for (const ExprId id : ids) write_pack(packs_[id], id);
  close();
  close();
}

/// Returns the packs that values read whatever else is chosen.
std::vector<ExprId> CudaKernel::packs_in(std::vector<ExprId> values, const std::vector<const Store*>& stores) {
  for (const Store* store : stores) values.push_back(store->value);
  const auto is_it = [&](ExprId id) { return is_pack(id); };
  std::vector<ExprId> packs = loads_of(values, false, is_it);
  std::erase_if(packs, [&](ExprId id) { return !is_it(id); });
  return packs;
}

/// A load of neighbours, or one of two by a condition that is the same for all of them; of items the other one may be
/// anything.
bool CudaKernel::is_pack(ExprId id) {
  const Expr expr = exprs_.at(id);
  if (expr.kind == Kind::Load) return is_packed(access_in(definitions_, expr.tensor, expr.places), expr.tensor);
  if (expr.kind != Kind::Guard || moves_with(expr.parts[0], variables_of_pack()) || exprs_.has_reduction(id))
    return false;
  const bool first = is_pack(expr.parts[1]), second = is_pack(expr.parts[2]);
  return kernel_.lanes == Lanes::Items ? first || second : first && second;
}

void CudaKernel::write_pack(const std::string& to, ExprId id) {
  const Expr expr = exprs_.at(id);
  if (!is_pack(id)) {
    const Scoped scope(*this);
    const std::map<ExprId, std::string> outer = packs_;
    load_packs({id}, {});
    open_lanes();
    line(fmt::format("{}[lane] = {};", to, value(id)));
    close_lanes();
    packs_ = outer;
  } else if (expr.kind == Kind::Load) {
    line(fmt::format("{} = {};", to, pack_text(id)));
  } else {
    branches(value(expr.parts[0]), expr, [&](ExprId branch) { write_pack(to, branch); });
  }
}

std::string CudaKernel::guarded(ExprId id) {
  const auto packed = packs_.find(id);
  if (packed != packs_.end()) return packed->second + "[lane]";
  return across_rows() ? chosen(id) : KernelWriter::guarded(id);
}

/// Both values, of which each reads only where it is the one. Without a branch, behind which the next elements would wait.
std::string CudaKernel::chosen(ExprId id) {
  const Expr expr = exprs_.at(id);
  const std::string condition = value(expr.parts[0]), outer = reads_where_;
  const auto value_where = [&](const std::string& it_is, ExprId part) {
    const std::map<ExprId, std::string> before = names_;
    reads_where_ = outer.empty() ? it_is : fmt::format("{} && {}", outer, it_is);
    const std::string text = value(part);
    forget_reads_since(before);
    return text;
  };
  const std::string first = value_where(condition, expr.parts[1]), second = value_where("!" + condition, expr.parts[2]);
  reads_where_ = outer;
  const std::string name = name_for(id);
  line(fmt::format("const {} {} = {} ? {} : {};", type_of(id), name, condition, first, second));
  return name;
}

/// Drops values that were read under a condition: elsewhere they are read anew, by other names in the same block.
void CudaKernel::forget_reads_since(const std::map<ExprId, std::string>& before) {
  std::erase_if(names_, [&](const auto& one) {
    const bool forgotten = !before.contains(one.first) && exprs_.has_load(one.first);
    if (forgotten) forget_name(one.first);
    return forgotten;
  });
}

/// Reads the only elements of tensors, which all elements look at and which are there whatever conditions say.
void CudaKernel::read_only_elements() {
  for (const ExprId load : loads_in(exprs_, kernel_)) {
    const auto is_one = [&](SizeId extent) { return sizes_.is_one(extent); };
    const bool is_only = std::ranges::all_of(definitions_.tensors()[exprs_.at(load).tensor].shape, is_one);
    // A picture of one element with an edge around it is looked at beside that too.
    if (is_only && !moves_with(load, variables_of_pack())) value(load);
  }
}

std::string CudaKernel::pack_text(ExprId load) {
  const Expr& expr = exprs_.at(load);
  const Access from = access_in(definitions_, expr.tensor, expr.places);
  return fmt::format("load<PACK>({} + {})", name_of(expr.tensor), pack_offset(from));
}

/// Returns the place of the first of several elements.
std::string CudaKernel::pack_offset(const Access& access) { return across_rows() ? "item" : offset_text(access, "i"); }

bool CudaKernel::is_packed(const Access& access, TensorId tensor) {
  return facts_.packing && steps_to(definitions_, kernel_, *facts_.packing, access, tensor).has_value();
}

void CudaKernel::store_text(const Store& store, const Access& to, ExprId value, std::string text) {
  const auto packed = packed_stores_.find(store.tensor);
  if (packed == packed_stores_.end()) {
    KernelWriter::store_text(store, to, value, std::move(text));
    return;
  }
  if (exprs_.at(value).compute == Compute::Bool) text = fmt::format("({} ? 1.0f : 0.0f)", text);
  line(fmt::format("{}[lane] = {};", packed->second, text));
}

}  // namespace passnet::author
