#include "author/text/cuda/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "author/text/operations.h"

namespace passnet::author {

namespace {

/// Elements of a row that a thread keeps in registers.
constexpr int64_t kMostKeptByThread = 64;

}  // namespace

/// A GPU divides 32 bits much faster than 64, and makes floats of them: what a loop's variable is below says which they are.
std::string CudaKernel::divided_text(const Index& index) {
  const char* part = index.kind == Index::Kind::Divide ? "quotient" : "remainder";
  Index from = indices_.at(index.a);
  while (from.kind == Index::Kind::Divide || from.kind == Index::Kind::Remainder) from = indices_.at(from.a);
  const std::string below =
      from.kind == Index::Kind::Variable ? ", " + sizes_.kernel_text(indices_.extent(from.variable)) : "";
  return fmt::format("Divided<{}{}>({}).{}", sizes_.kernel_text(index.size), below, index_text(index.a), part);
}

std::string CudaKernel::kept_load(const Kept& kept) {
  return fmt::format("{}[part]{}", kept.name, facts_.packing ? "[lane]" : "");
}

std::string CudaKernel::kept_store(const Kept& kept, const std::string& value) {
  return fmt::format("{}[part]{} = {};", kept.name, facts_.packing ? "[lane]" : "", value);
}

std::string CudaKernel::load_text(ExprId id) {
  if (const auto packed = packs_.find(id); packed != packs_.end()) return packed->second + "[lane]";
  if (const auto step = steps_.find(id); step != steps_.end()) return converted(exprs_.at(id).tensor, step->second);
  const TensorId tensor = exprs_.at(id).tensor;
  if (const auto tiled = tiles_.find(id); tiled != tiles_.end()) return converted(tensor, tiled->second);
  // A thread goes through many sums or elements of its row: what it reads for one need not wait until others are stored, where
  // none of them goes there.
  const bool stays = std::ranges::find(facts_.loaded, tensor) != facts_.loaded.end();
  const bool is_one_of_many = facts_.product || (kernel_.lanes == Lanes::Row && !facts_.packing);
  if (is_one_of_many && stays && element(tensor).compute == Compute::Float)
    return fmt::format("load<1>({} + {})[0]", name_of(tensor),
                       offset_text(access_in(definitions_, tensor, exprs_.at(id).places), lane_name()));
  const std::string text = KernelWriter::load_text(id);
  return reads_where_.empty() ? text : fmt::format("{} ? {} : 0", reads_where_, text);
}

/// Tells whether a thread divides all of its elements by it, which then is inverted once.
bool CudaKernel::divides_all(const Expr& expr) const {
  if (expr.formula != kQuotient || expr.compute != Compute::Float || !facts_.packing) return false;
  const Expr& by = exprs_.at(expr.parts[1]);
  int exponent = 0;
  if (by.kind == Expr::Kind::Number && std::frexp(by.real(), &exponent) == 0.5) return false;  // multiplied in any case
  return moves_with(expr.parts[0], variables_of_pack()) && !moves_with(expr.parts[1], variables_of_pack());
}

std::string CudaKernel::apply_text(ExprId id) {
  const Expr expr = exprs_.at(id);
  const char* const function = expr.formula == kInside ? "inside" : divides_all(expr) ? "divide" : nullptr;
  if (function == nullptr) return KernelWriter::apply_text(id);
  const std::string a = value(expr.parts[0]), b = value(expr.parts[1]);
  return fmt::format("{}({}, {})", function, bare(a), bare(b));
}

void CudaKernel::decode(const std::vector<Loop>& loops, const std::string& item) {
  std::string rest = item, below = loops.size() < 2 ? "" : ", " + (across_rows() ? "count" : product_text(loops));
  for (size_t i = loops.size(); i-- > 0;) {
    const std::string& name = variables_[loops[i].variable];
    if (i == 0) {
      if (rest != name) line(fmt::format("const int64_t {} = {};", name, rest));
      continue;
    }
    const std::string apart = fresh("divided");
    line(fmt::format("const Divided<{}{}> {}({});", extent_of_items(loops[i]), below, apart, rest));
    line(fmt::format("const int64_t {} = {}.remainder;", name, apart));
    rest = apart + ".quotient";
    below.clear();
  }
}

// ---- items

void CudaKernel::write_items() {
  if (facts_.product) {
    write_product();
    return;
  }
  if (facts_.tile) {
    write_tiles();
    return;
  }
  if (facts_.column) {
    open_columns();
    if (!part_.is_split()) hoist_loads(variables_of(kernel_.row));
    item_body();
    return;
  }
  if (part_.own.over_row) {
    line(fmt::format("const Divided<{}> place(global_index());", item_count()));
    line("const int64_t part = place.quotient, item = place.remainder;");
    line("if (part >= PARTS) return;");
    open_share();
    decode(kernel_.items, "item");
    item_body();
    return;
  }
  if (kernel_.items.empty()) {
    line("if (global_index() > 0) return;");
    number_ = "0";
    item_body();
    return;
  }
  if (facts_.band) {
    write_bands();
    return;
  }
  line(fmt::format("const int64_t item = global_index(){};", facts_.packing ? " * PACK" : ""));
  if (across_rows()) line(fmt::format("constexpr int64_t count = {};", item_count()));
  line(fmt::format("if (item >= {}) return;", across_rows() ? "count" : item_count()));
  if (!across_rows()) decode(kernel_.items, "item");
  if (!facts_.packing) {
    hoist_loads(variables_of(kernel_.row));
    item_body();
    return;
  }
  if (across_rows()) read_only_elements();
  hoist_loads(variables_of_pack());
  load_packs({}, part_.stores);
  hoist(variables_of_pack());
  by_pack({}, part_.stores);
}

// ---- rows

void CudaKernel::write_rows() {
  if (part_.own.over_row) {
    // A block for each part: all of its threads take part in every fold.
    line("const Divided<PARTS> place(task_index());");
    line(fmt::format("if (place.quotient >= {}) return;", item_count()));
    line("const int64_t item = place.quotient, part = place.remainder;");
    line("const int thread = thread_index();");
    open_share();
  } else {
    line("const int64_t item = int64_t(task_index()) * (thread_count / THREADS) + thread_index() / THREADS;");
    line(fmt::format("if (item >= {}) return;", item_count()));
    line("const int thread = thread_index() % THREADS;");
  }
  decode(kernel_.items, "item");
  std::vector<Stage> stages = stages_of(definitions_, part_);
  const Loop& row = kernel_.row.back();
  in_parts_ = !part_.is_split() && !sums_go_on() && kernel_.row.size() == 1 &&
              sizes_.largest(row.extent) <= kMostKeptByThread * kMostThreads;
  // Registers are nearer than any cache.
  if (in_parts_) choose_kept(stages, true);
  if (in_parts_ && facts_.order != SumOrder::Any) keep_for_moments(stages);
  if (!kept_.empty()) stages = stages_of(definitions_, part_, kept_ids());
  const bool packs = facts_.packing.has_value();
  if (in_parts_)
    line(fmt::format("constexpr int parts = ceil_div(int({}), int(THREADS{}));", extent_text(row),
                     packs ? " * PACK" : ""));
  for (const auto& [id, kept] : kept_) line(fmt::format("float {}[parts]{};", kept.name, packs ? "[PACK]" : ""));
  fold_given();
  hoist_loads(variables_of(kernel_.row));
  hoist(variables_of(kernel_.row));
  for (const Stage& stage : stages) {
    if (stage.reduction && names_.contains(*stage.reduction)) continue;  // with the moments
    write_what_is_known();
    sums_go_on() ? write_running_sums(stage) : write_stage(stage);
    after_stage();
  }
  write_what_is_known();
  const std::vector<ExprId>& totals = part_.own.reductions;
  if (totals.empty() && all_lie_in_row()) return;
  open("if (thread == 0)");
  for (const ExprId id : totals) store_share(id, names_[id]);
  store_outside_of_row();
  close();
}

void CudaKernel::write_stage(const Stage& stage) {
  const std::vector<Loop> loops = stage.reduction ? loops_of(exprs_.at(*stage.reduction)) : kernel_.row;
  const auto moments = stage.reduction ? moments_.find(*stage.reduction) : moments_.end();
  const bool are_moments = moments != moments_.end();
  const std::string total = are_moments ? std::string() : declare_total(stage);
  {
    const OtherLoops other(*this);
    const Scoped scope(*this);
    keeps_ = !stage.reduction || is_row(kernel_, exprs_.at(*stage.reduction).variables);
    enter_row(loops);
    open_loops({loops.begin(), loops.end() - 1});
    open_threads(stage, keeps_ && in_parts_);
    const auto add = [&] {
      if (!are_moments) return fold_one_more(stage, total);
      value(moments->second.element);
    };
    if (facts_.packing) {
      by_pack(stage.elements, stage.stores, add);
    } else {
      add();
      store_all(stage.stores);
    }
    close_all(loops);
    keeps_ = false;
  }
  if (are_moments) return write_moments(*stage.reduction, moments->second);
  if (!stage.reduction) return;
  fold_over_threads(exprs_.at(*stage.reduction), total);
  names_[*stage.reduction] = total;
}

/// A loop over the row by as many elements as threads share it: a sum is that of its threads up to this one, and what the row
/// had before.
void CudaKernel::write_running_sums(const Stage& stage) {
  const std::string total = declare_total(stage);
  const std::vector<std::string> before = declare_sums("before");
  {
    const OtherLoops other(*this);
    const Scoped scope(*this);
    enter_row(kernel_.row);
    const std::string next = fresh("from"), is_there = fresh("is_there");
    open(fmt::format("for (int64_t {0} = 0; {0} < {1}; {0} += THREADS)", next, extent_text(*lane_)));
    line(fmt::format("const int64_t i = {} + thread;", next));
    line(fmt::format("const bool {} = i < {};", is_there, extent_text(*lane_)));
    // Reads that are possible do not wait for the sums.
    reads_where_ = is_there;
    for (const ExprId load : loads_of(values_of_row(stage), false)) {
      if (!exprs_.has_running_sum(load)) value(load);
    }
    reads_where_.clear();
    for (size_t i = 0; i < before.size(); ++i) {
      const ExprId id = kernel_.running[i];
      const std::string sum = name_for(id), own = fresh(sum + "_own");
      line(fmt::format("{} {} = 0;", type_of(id), own));
      open(fmt::format("if ({})", is_there));
      {
        const Scoped there(*this);
        line(fmt::format("{} = {};", own, value(exprs_.at(id).parts[0])));
      }
      close();
      line(fmt::format("const {} {} = row_running_sum<THREADS>({}, {});", type_of(id), sum, own, before[i]));
      names_[id] = sum;
    }
    open(fmt::format("if ({})", is_there));
    fold_one_more(stage, total);
    store_all(stage.stores);
    close();
    close();
  }
  if (!stage.reduction) return;
  fold_over_threads(exprs_.at(*stage.reduction), total);
  names_[*stage.reduction] = total;
}

/// The loop of a thread over its elements of a row.
void CudaKernel::open_threads(const Stage& stage, bool in_parts) {
  if (in_parts) {
    if (facts_.packing) read_ahead(stage);
    line("#pragma unroll");
    open("for (int part = 0; part < parts; ++part)");
    line(part_of_thread());
    line(fmt::format("if (i >= {}) break;", extent_text(*lane_)));
    return;
  }
  // A thread has a few steps of a share, or elements of a row, whose reads then do not wait for each other.
  if (part_.is_split() || !facts_.packing) line("#pragma unroll 4");
  open(fmt::format("for (int64_t i = {0}thread{1}; i < {2}; i += THREADS{1})", part_.shares(*lane_) ? "begin + " : "",
                   facts_.packing ? " * PACK" : "", end_of(*lane_)));
}

std::string CudaKernel::part_of_thread() const {
  return fmt::format("const int64_t i = (part * THREADS + thread){};", facts_.packing ? " * PACK" : "");
}

std::string CudaKernel::folded_with(const Expr& reduction, const std::string& total, const std::string& x) {
  const bool is_largest = reduction.fold == Fold::Largest && reduction.compute == Compute::Float;
  return is_largest ? fmt::format("maximum({}, {})", total, x) : KernelWriter::folded_with(reduction, total, x);
}

// ---- threads that share a row

void CudaKernel::open_parts(const std::string& part) {
  if (kernel_.lanes == Lanes::Row || facts_.column)
    open(fmt::format("for (int64_t {0} = thread; {0} < PARTS; {0} += {1})", part, facts_.column ? "DOWN" : "THREADS"));
  else
    KernelWriter::open_parts(part);
}

void CudaKernel::fold_over_threads(const Expr& reduction, const std::string& total) {
  if (kernel_.lanes == Lanes::Row) fold_over("row", "THREADS", reduction, total);
  if (facts_.column) fold_over("column", "DOWN", reduction, total);
}

/// of: what they share.
void CudaKernel::fold_over(const char* of, const char* threads, const Expr& reduction, const std::string& total) {
  const auto fold = [&](const char* sign, const char* name) {
    line(fmt::format("{0} = {1}{2}_{3}<{4}>({1}{0});", total, sign, of, name, threads));
  };
  switch (reduction.fold) {
    case Fold::Sum: fold("", "sum"); break;
    case Fold::Smallest: reduction.compute == Compute::Int ? fold("", "min") : fold("-", "max"); break;
    case Fold::Any:
    case Fold::Largest: fold("", "max"); break;
    case Fold::All: fold("!", "max"); break;
    case Fold::Product: break;
  }
}

}  // namespace passnet::author
