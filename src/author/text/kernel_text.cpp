#include "author/text/kernel_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "fx/print.h"

namespace passnet::author {

namespace {

using Kind = Expr::Kind;

/// Elements of a row that a kernel keeps: on the stack of the CPU, in registers of a GPU's thread.
constexpr int64_t kMostKept = 8192;
constexpr int64_t kMostKeptByThread = 32;
/// CPU: elements of a value that all items share, and items that make it worth keeping, for each of at most 16 tasks.
constexpr int64_t kMostShared = 2048;
constexpr int64_t kLeastSharing = 64;
/// CUDA: floats that a thread reads of a row before it needs the first of them.
constexpr int64_t kMostAhead = 64;
// Numbers that are added up before their sum is added to that of others.
constexpr int64_t kBlock = 16;

std::string real_text(double value, Compute compute) {
  const char* suffix = compute == Compute::Float ? "f" : "";
  // Arithmetic that both compilers do at compile time: their names for these differ.
  if (std::isnan(value)) return fmt::format("(0.0{0} / 0.0{0})", suffix);
  const double largest =
      compute == Compute::Float ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  if (std::abs(value) > largest) return fmt::format("({}1.0{} / 0.0{})", value < 0 ? "-" : "", suffix, suffix);
  std::string text = fx::print_float(value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return value < 0 ? fmt::format("({}{})", text, suffix) : text + suffix;
}

/// The end of what stands between brackets that open at `at`; commas that are its own.
struct Brackets {
  size_t end = 0;
  std::vector<size_t> commas;
};
Brackets brackets_at(std::string_view text, size_t at) {
  Brackets found;
  int depth = 0;
  for (size_t i = at; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ',' && depth == 1) found.commas.push_back(i);
    if (text[i] == ')' && --depth == 0) {
      found.end = i;
      break;
    }
  }
  return found;
}

/// ?(c, a, b) as the target has it.
std::string choices(const std::string& text, bool vectors) {
  const size_t at = text.find("?(");
  if (at == std::string::npos) return text;
  const Brackets brackets = brackets_at(text, at + 1);
  const auto part = [&](size_t from, size_t to) { return choices(text.substr(from, to - from), vectors); };
  const std::string condition = part(at + 2, brackets.commas[0]);
  const std::string then = part(brackets.commas[0] + 2, brackets.commas[1]);
  const std::string otherwise = part(brackets.commas[1] + 2, brackets.end);
  const std::string made = vectors ? fmt::format("select({}, {}, {})", condition, then, otherwise)
                                   : fmt::format("({} ? {} : {})", condition, then, otherwise);
  return text.substr(0, at) + made + choices(text.substr(brackets.end + 1), vectors);
}

/// Of an expression's text: what takes a processor many cycles.
bool divides_or_calls(std::string_view text) {
  const auto is_call = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 && c != 'f'; };
  return text.find('/') != std::string_view::npos || std::ranges::any_of(text, is_call);
}

/// What the steps of an access must be multiples of where neighbours are moved together; none: they cannot be.
std::optional<std::vector<SizeId>> steps_of(Definitions& definitions, const FusedKernel& kernel, const Loop& lane,
                                            const Access& access, TensorId tensor) {
  SizeTable& sizes = definitions.sizes();
  if (definitions.elements()[definitions.tensors()[tensor].element].compute != Compute::Float ||
      !moves_by_one(sizes, access, lane.variable))
    return std::nullopt;
  std::vector<SizeId> steps;
  for (const auto& [variable, step] : access.steps) {
    // Others were merged into these.
    const auto is_it = [&](const Loop& loop) { return loop.variable == variable; };
    const bool loops = std::ranges::any_of(kernel.items, is_it) || std::ranges::any_of(kernel.row, is_it);
    if (loops && variable != lane.variable && !sizes.is_constant(step, 0)) steps.push_back(step);
  }
  const IndexTable& indices = definitions.exprs().indices();
  for (const auto& [index, factor] : access.rest) {
    const Index& node = indices.at(index);
    if (!sizes.is_one(factor)) {
      steps.push_back(factor);
    } else if (node.kind == Index::Kind::Constant) {
      steps.push_back(sizes.literal(node.value));
    } else if (node.kind == Index::Kind::Size || node.kind == Index::Kind::Scale) {
      steps.push_back(node.size);
    } else {
      return std::nullopt;
    }
  }
  return steps;
}

class KernelWriter {
 public:
  /// split, at: one of the kernels that a kernel over long rows was split into; nullptr: the kernel as a whole.
  KernelWriter(Definitions& definitions, const FusedKernel& kernel, const KernelFacts& facts, Target target,
               const SplitRow* split, size_t at)
      : definitions_(definitions),
        exprs_(definitions.exprs()),
        indices_(exprs_.indices()),
        sizes_(definitions.sizes()),
        kernel_(kernel),
        facts_(facts),
        target_(target),
        split_(split),
        own_(split == nullptr ? nullptr : &split->kernels[at]) {
    if (own_ == nullptr) {
      for (const Store& store : kernel.stores) stores_.push_back(&store);
    } else {
      for (const size_t i : own_->stores) stores_.push_back(&kernel.stores[i]);
      for (const ExprId reduction : own_->reductions) roots_.push_back(exprs_.at(reduction).parts[0]);
    }
    for (const Store* store : stores_) roots_.push_back(store->value);
    const std::vector<Loop>& lanes = kernel.lanes == Lanes::Row ? kernel.row : kernel.items;
    if (!lanes.empty()) lane_ = lanes.back();
    for (const Store& store : kernel.stores) count_uses(store.value);
    for (const auto* tensors : {&facts.loaded, &facts.stored}) {
      for (const TensorId tensor : *tensors) taken_.insert(definitions.tensors()[tensor].name);
    }
    for (const auto& [name, compute] : facts.parameters) taken_.insert(name);
    vectors_ = target == Target::Cpu && lane_ && can_be_vectors();
  }

  std::string run() {
    name_loops();
    if (target_ == Target::Cpu) {
      kernel_.lanes == Lanes::Row ? cpu_rows() : cpu_items();
    } else {
      kernel_.lanes == Lanes::Row ? cuda_rows() : cuda_items();
    }
    return std::move(out_);
  }

 private:
  // ---- what is looked at before anything is written

  void count_uses(ExprId id) {
    if (uses_[id]++ > 0) return;
    exprs_.for_each_part(id, [&](ExprId part) { count_uses(part); });
  }

  bool moves_with_lane(ExprId id) { return lane_ && exprs_.free_variables(id).contains(lane_->variable); }

  // Lanes hold floats and choices.
  static bool fits_lanes(const Expr& expr) { return expr.compute == Compute::Float || expr.compute == Compute::Bool; }

  bool can_be_vectors() {
    for (const Store& store : kernel_.stores) {
      if (!fits_lanes(exprs_.at(store.value))) return false;
    }
    for (const auto& [id, uses] : uses_) {
      const Expr& expr = exprs_.at(id);
      if (expr.kind != Kind::Reduce) continue;
      if (expr.compute != Compute::Float || expr.fold == Fold::Product) return false;
    }
    return true;
  }

  /// Whether a vector has to be put together lane by lane.
  bool is_by_lane(ExprId id) {
    const Expr& expr = exprs_.at(id);
    if (expr.kind == Kind::Guard) return true;
    if (expr.kind == Kind::Apply && expr.text.find('#') != std::string::npos) return true;
    bool found = false;
    exprs_.for_each_part(
        id, [&](ExprId part) { found = found || (moves_with_lane(part) && !fits_lanes(exprs_.at(part))); });
    return found;
  }

  bool is_vector(ExprId id) { return vectors_ && moves_with_lane(id) && fits_lanes(exprs_.at(id)); }

  void name_loops() {
    std::set<std::string> taken = taken_;
    const auto name = [&](const Loop& loop, std::string own) {
      const std::string stem = own;
      for (int i = 2; !taken.insert(own).second; ++i) own = fmt::format("{}_{}", stem, i);
      variables_[loop.variable] = own;
    };
    if (lane_) name(*lane_, "i");
    for (const auto* loops : {&kernel_.items, &kernel_.row}) {
      for (const Loop& loop : *loops) {
        if (variables_.contains(loop.variable)) continue;
        const std::string size = sizes_.plan_text(loop.extent);
        const bool is_name = size.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == std::string::npos &&
                             !size.empty() && std::isalpha(static_cast<unsigned char>(size[0])) != 0;
        name(loop, is_name ? "at_" + size : "at_row");
      }
    }
  }

  // ---- text

  void line(const std::string& text) { out_ += std::string(static_cast<size_t>(indent_), ' ') + text + "\n"; }
  void open(const std::string& text) {
    line(text + " {");
    indent_ += 2;
  }
  void close(const std::string& end = "}") {
    indent_ -= 2;
    line(end);
  }
  /// A name that no parameter has.
  std::string fresh(const std::string& stem) {
    std::string name;
    do {
      name = fmt::format("{}{}", stem, ++count_);
    } while (taken_.contains(name));
    return name;
  }

  std::string type_of(ExprId id) {
    const Compute compute = exprs_.at(id).compute;
    if (is_vector(id)) return compute == Compute::Bool ? "mask" : "vec";
    switch (compute) {
      case Compute::Float: return "float";
      case Compute::Double: return "double";
      case Compute::Int: return "int64_t";
      case Compute::Bool: return "bool";
    }
    return {};
  }

  // What stands in [from, to) of out_ is a scope: names of it are forgotten.
  class Scoped {
   public:
    explicit Scoped(KernelWriter& writer) : writer_(writer), names_(writer.names_) {}
    ~Scoped() { writer_.names_ = std::move(names_); }
    Scoped(const Scoped&) = delete;
    Scoped& operator=(const Scoped&) = delete;

   private:
    KernelWriter& writer_;
    std::map<ExprId, std::string> names_;
  };

  std::string index_text(IndexId id) {
    const Index node = indices_.at(id);
    switch (node.kind) {
      case Index::Kind::Constant: return fmt::format("{}", node.value);
      case Index::Kind::Variable: {
        const auto found = variables_.find(node.variable);
        return found == variables_.end() ? "0" : found->second;
      }
      case Index::Kind::Size: return sizes_.kernel_text(node.size);
      case Index::Kind::Element: return value(node.element);
      case Index::Kind::Add: return fmt::format("({} + {})", index_text(node.a), index_text(node.b));
      case Index::Kind::Subtract: return fmt::format("({} - {})", index_text(node.a), index_text(node.b));
      case Index::Kind::Scale: return fmt::format("{} * {}", index_text(node.a), sizes_.kernel_text(node.size));
      case Index::Kind::Divide: return divided_text(node, "/", "quotient");
      case Index::Kind::Remainder: return divided_text(node, "%", "remainder");
    }
    return {};
  }

  /// A GPU divides 32 bits much faster than 64.
  std::string divided_text(const Index& node, const char* sign, const char* part) {
    const std::string size = sizes_.kernel_text(node.size);
    if (target_ == Target::Cuda) return fmt::format("Divided<{}>({}).{}", size, index_text(node.a), part);
    return fmt::format("({} {} {})", index_text(node.a), sign, size);
  }

  Access access(TensorId tensor, const std::vector<IndexId>& place) {
    return access_of(exprs_, place, definitions_.tensors()[tensor].strides);
  }

  /// lane: what to say in place of the lane's variable; empty: leave it out.
  std::string offset_text(const Access& access, const std::string& lane) {
    std::vector<std::string> parts;
    std::string last;
    for (const auto& [variable, step] : access.steps) {
      const bool is_lane = lane_ && variable == lane_->variable;
      const auto name = variables_.find(variable);
      if (name == variables_.end()) continue;  // merged into another loop
      std::string text = is_lane ? lane : name->second;
      if (text.empty() || sizes_.is_constant(step, 0)) continue;
      if (!sizes_.is_one(step)) text = fmt::format("{} * {}", text, sizes_.kernel_text(step));
      if (is_lane)
        last = text;
      else
        parts.push_back(text);
    }
    for (const auto& [index, factor] : access.rest) {
      const std::string text = index_text(index);
      parts.push_back(sizes_.is_one(factor) ? text : fmt::format("{} * {}", text, sizes_.kernel_text(factor)));
    }
    if (!last.empty()) parts.push_back(last);
    return parts.empty() ? "0" : fmt::format("{}", fmt::join(parts, " + "));
  }

  const Element& element(TensorId tensor) const {
    return definitions_.elements()[definitions_.tensors()[tensor].element];
  }

  std::string element_text(TensorId tensor, const std::string& offset) {
    return converted(tensor, fmt::format("{}[{}]", definitions_.tensors()[tensor].name, offset));
  }
  /// raw: an element of that tensor, as it is stored.
  std::string converted(TensorId tensor, const std::string& raw) {
    const Element& type = element(tensor);
    if (type.compute == Compute::Float && type.kernel != "float") return fmt::format("to_float({})", raw);
    if (type.compute == Compute::Int && type.kernel != "int64_t") return fmt::format("int64_t({})", raw);
    return raw;
  }

  std::string load_text(ExprId id) {
    if (const auto packed = packs_.find(id); packed != packs_.end()) return packed->second + "[lane]";
    const Expr expr = exprs_.at(id);
    if (const auto tiled = tiles_.find(id); tiled != tiles_.end()) return converted(expr.tensor, tiled->second);
    const Access from = access(expr.tensor, expr.places);
    if (!is_vector(id)) return element_text(expr.tensor, offset_text(from, variables_[lane_ ? lane_->variable : 0]));
    const std::string& name = definitions_.tensors()[expr.tensor].name;
    std::string text;
    if (moves_by_one(sizes_, from, lane_->variable)) {
      const std::string offset = offset_text(from, "i");
      text = fmt::format("load({} + {}, lanes)", name, offset);
    } else {
      const std::string apart = fresh("apart");
      line(fmt::format("float {}[kLanes] = {{}};", apart));
      // The rest of its index may be the lane's own.
      const std::string own = variables_[lane_->variable];
      variables_[lane_->variable] = "(i + lane)";
      const std::string offset = offset_text(from, "(i + lane)");
      variables_[lane_->variable] = own;
      line(fmt::format("for (int lane = 0; lane < lanes; ++lane) {}[lane] = to_float({}[{}]);", apart, name, offset));
      text = fmt::format("load({})", apart);
    }
    return element(expr.tensor).compute == Compute::Bool ? fmt::format("({} != 0.0f)", text) : text;
  }

  /// Whether it takes longer than it would to load its value.
  bool is_dear(ExprId id) {
    const Expr& expr = exprs_.at(id);
    if (expr.kind == Kind::Round || expr.kind == Kind::Guard) return true;
    if (expr.kind != Kind::Apply) return false;
    size_t on_row = 0;
    for (const ExprId part : expr.parts) on_row += moves_with_row(part) ? 1 : 0;
    return on_row > 1 || divides_or_calls(expr.text);
  }

  std::string apply_text(ExprId id) {
    const Expr expr = exprs_.at(id);
    std::vector<std::string> parts;
    for (size_t i = 0; i < expr.parts.size(); ++i) {
      std::string part = value(expr.parts[i]);
      // A choice by one bool between vectors.
      if (is_vector(id) && !is_vector(expr.parts[i]) && exprs_.at(expr.parts[i]).compute == Compute::Bool)
        part = fmt::format("(vec({} ? 1.0f : 0.0f) != 0.0f)", part);
      parts.push_back(std::move(part));
    }
    std::string text;
    for (size_t i = 0; i < expr.text.size(); ++i) {
      if (expr.text[i] == '$')
        text += parts[static_cast<size_t>(expr.text[++i] - '0')];
      else
        text += expr.text[i];
    }
    text = choices(text, is_vector(id));
    std::string named;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '#') {
        named += text[i];
        continue;
      }
      const size_t end = text.find('(', i);
      named += fmt::format(fmt::runtime(target_ == Target::Cpu ? "__builtin_{}f" : "::{}f"),
                           text.substr(i + 1, end - i - 1));
      i = end - 1;
    }
    return named;
  }

  std::string convert_text(ExprId id) {
    const Expr expr = exprs_.at(id);
    const ExprId part = expr.parts[0];
    const std::string of = value(part);
    const Compute from = exprs_.at(part).compute;
    if (is_vector(id)) {
      if (expr.compute == Compute::Bool) return fmt::format("({} != 0.0f)", of);
      return fmt::format("select({}, 1.0f, 0.0f)", of);
    }
    switch (expr.compute) {
      case Compute::Float:
        return from == Compute::Bool ? fmt::format("({} ? 1.0f : 0.0f)", of) : fmt::format("float({})", of);
      case Compute::Double: return fmt::format("double({})", of);
      case Compute::Int: return fmt::format("int64_t({})", of);
      case Compute::Bool: return fmt::format("({} != 0)", of);
    }
    return {};
  }

  /// The name or the text of a value; what it takes is written before.
  std::string value(ExprId id) {
    const auto found = names_.find(id);
    if (found != names_.end()) return found->second;
    // What the row's later stages need again is kept.
    const auto kept = stage_keeps_ ? kept_.find(id) : kept_.end();
    if (kept != kept_.end() && kept->second.is_there) {
      const std::string name = fresh("x");
      line(fmt::format("const {} {} = {};", type_of(id), name, kept_load(kept->second)));
      return names_[id] = name;
    }
    const Expr expr = exprs_.at(id);
    std::string text;
    if (is_vector(id) && is_by_lane(id)) {
      text = by_lane(id);
    } else
      switch (expr.kind) {
        case Kind::Number:
          if (expr.is_real()) return real_text(expr.real(), expr.compute);
          if (expr.compute == Compute::Bool) return expr.integer != 0 ? "true" : "false";
          return expr.integer < 0 ? fmt::format("({})", expr.integer) : fmt::format("{}", expr.integer);
        case Kind::Parameter: return expr.text;
        case Kind::Place: return index_text(expr.places[0]);
        case Kind::Reduce: return names_[id] = reduction(id);
        case Kind::Guard: return names_[id] = guarded(id);
        case Kind::Load: text = load_text(id); break;
        case Kind::Apply: text = apply_text(id); break;
        case Kind::Convert: text = convert_text(id); break;
        case Kind::Round:
          text = fmt::format("rounded<{}>({})", definitions_.elements()[expr.element].kernel, value(expr.parts[0]));
          break;
      }
    const std::string name = fresh("x");
    line(fmt::format("const {} {} = {};", type_of(id), name, text));
    if (kept != kept_.end()) {
      line(kept_store(kept->second, name));
      written_.push_back(id);
    }
    return names_[id] = name;
  }

  std::string by_lane(ExprId id) {
    const std::string apart = fresh("apart");
    line(fmt::format("float {}[kLanes] = {{}};", apart));
    {
      const Scoped scope(*this);
      // Vectors that are there already are looked at lane by lane.
      for (auto& [known, name] : names_) {
        if (is_vector(known) && exprs_.at(known).compute == Compute::Float) name += "[lane]";
      }
      std::erase_if(names_, [&](const auto& one) {
        return is_vector(one.first) && exprs_.at(one.first).compute == Compute::Bool;
      });
      const std::string own = std::exchange(variables_[lane_->variable], "(i + lane)");
      const bool keeps = std::exchange(stage_keeps_, false);
      vectors_ = false;
      open("for (int lane = 0; lane < lanes; ++lane)");
      const std::string text = value(id);
      line(fmt::format("{}[lane] = {};", apart,
                       exprs_.at(id).compute == Compute::Bool ? text + " ? 1.0f : 0.0f" : text));
      close();
      vectors_ = true;
      stage_keeps_ = keeps;
      variables_[lane_->variable] = own;
    }
    return exprs_.at(id).compute == Compute::Bool ? fmt::format("(load({}) != 0.0f)", apart)
                                                  : fmt::format("load({})", apart);
  }

  // Only what is chosen is looked at.
  std::string guarded(ExprId id) {
    const Expr expr = exprs_.at(id);
    const std::string condition = value(expr.parts[0]);
    const std::string name = fresh("x");
    line(fmt::format("{} {};", type_of(id), name));
    for (const size_t branch : {size_t{1}, size_t{2}}) {
      const Scoped scope(*this);
      open(branch == 1 ? fmt::format("if ({})", condition) : "else");
      line(fmt::format("{} = {};", name, value(expr.parts[branch])));
      close();
    }
    return name;
  }

  static std::string neutral(Fold fold, Compute compute) {
    if (compute == Compute::Int && fold == Fold::Largest) return "(-9223372036854775807 - 1)";
    if (compute == Compute::Int && fold == Fold::Smallest) return "9223372036854775807";
    switch (fold) {
      case Fold::Sum: return compute == Compute::Float ? "0.0f" : "0";
      case Fold::Product: return "1";
      case Fold::Largest: return real_text(-std::numeric_limits<double>::infinity(), compute);
      case Fold::Smallest: return real_text(std::numeric_limits<double>::infinity(), compute);
      case Fold::Any: return "false";
      case Fold::All: return "true";
    }
    return {};
  }

  std::string combined(Fold fold, const std::string& a, const std::string& b, bool vectors) const {
    switch (fold) {
      case Fold::Sum: return fmt::format("{} + {}", a, b);
      case Fold::Product: return fmt::format("{} * {}", a, b);
      case Fold::Largest: return choices(fmt::format("?(({0} > {1}) | ({0} != {0}), {0}, {1})", b, a), vectors);
      case Fold::Smallest: return choices(fmt::format("?(({0} < {1}) | ({0} != {0}), {0}, {1})", b, a), vectors);
      case Fold::Any: return fmt::format("{} || {}", a, b);
      case Fold::All: return fmt::format("{} && {}", a, b);
    }
    return {};
  }

  /// Whether so many numbers are added that one sum, growing all the while, would lose digits that PyTorch's sums of sums keep.
  bool adds_many(const Expr& expr, const std::vector<Loop>& loops) const {
    int64_t steps = 1;
    for (const Loop& loop : loops) steps *= sizes_.largest(loop.extent);
    return expr.fold == Fold::Sum && expr.compute == Compute::Float && steps > 2 * kBlock;
  }

  // One step after the other, for each lane its own. stores_too: what is stored on the way.
  std::string reduction(ExprId id, bool stores_too = false) {
    const Expr expr = exprs_.at(id);
    const std::vector<Loop> loops = loops_of(expr);
    // Reductions within it that are the same at each step come first: the loops may share variables.
    std::set<ExprId> met;
    write_same_reductions_in(expr.parts[0], variables_of(loops), met);
    const std::string total = fresh("total");
    line(fmt::format("{} {} = {};", type_of(id), total, neutral(expr.fold, expr.compute)));
    const bool in_blocks = adds_many(expr, loops);
    const std::string sum = in_blocks ? fresh("block") : total;
    if (in_blocks) line(fmt::format("{} {} = {};", type_of(id), sum, neutral(expr.fold, expr.compute)));
    const std::map<VariableId, std::string> outside = variables_;
    const Scoped scope(*this);
    for (const Loop& loop : loops) {
      const std::string name = fresh("k");
      variables_[loop.variable] = name;
    }
    open_loops(loops);
    const std::string part = value(expr.parts[0]);
    line(fmt::format("{} = {};", sum, combined(expr.fold, sum, part, is_vector(id))));
    if (in_blocks) {
      const std::string& step = variables_[loops.back().variable];
      open(fmt::format("if ({0} % {1} == {2} || {0} == {3} - 1)", step, kBlock, kBlock - 1, end_of(loops.back())));
      line(fmt::format("{0} = {0} + {1};", total, sum));
      line(fmt::format("{} = {};", sum, neutral(expr.fold, expr.compute)));
      close();
    }
    for (const Store* store : stores_too ? stores_ : std::vector<const Store*>()) this->store(*store);
    for (size_t i = 0; i < loops.size(); ++i) close();
    variables_ = outside;
    return total;
  }

  void write_same_reductions_in(ExprId id, const std::set<VariableId>& variables, std::set<ExprId>& met) {
    if (!met.insert(id).second) return;
    const Expr& expr = exprs_.at(id);
    if (expr.kind == Kind::Guard) {
      write_same_reductions_in(expr.parts[0], variables, met);  // the others are looked at where it holds
      return;
    }
    const std::set<VariableId>& free = exprs_.free_variables(id);
    const bool moves = std::ranges::any_of(variables, [&](VariableId variable) { return free.contains(variable); });
    if (expr.kind == Kind::Reduce && !moves) {
      value(id);
      return;
    }
    exprs_.for_each_part(id, [&](ExprId part) { write_same_reductions_in(part, variables, met); });
  }

  bool is_row(const std::vector<VariableId>& variables) const {
    return !kernel_.row.empty() && std::set<VariableId>(variables.begin(), variables.end()) ==
                                       std::set<VariableId>(kernel_.row_variables.begin(), kernel_.row_variables.end());
  }
  /// The loops of a reduction: merged as the kernel's where it goes over the row.
  std::vector<Loop> loops_of(const Expr& reduction) {
    if (is_row(reduction.variables)) return kernel_.row;
    std::vector<Loop> loops;
    for (const VariableId variable : reduction.variables) loops.push_back({variable, indices_.extent(variable)});
    return loops;
  }

  void store(const Store& store) {
    const Tensor& tensor = definitions_.tensors()[store.tensor];
    ExprId id = store.value;
    // Storing rounds.
    if (exprs_.at(id).kind == Kind::Round && exprs_.at(id).element == tensor.element && uses_[id] <= 1 &&
        !names_.contains(id))
      id = exprs_.at(id).parts[0];
    std::string text = value(id);
    const Access to = access(store.tensor, store.place);
    const Element& type = element(store.tensor);
    const bool on_lanes = vectors_ && lane_ && to.moves_with(lane_->variable);
    if (on_lanes) {
      if (!is_vector(id))
        text = exprs_.at(id).compute == Compute::Bool ? fmt::format("vec({} ? 1.0f : 0.0f)", text)
                                                      : fmt::format("vec({})", text);
      else if (exprs_.at(id).compute == Compute::Bool)
        text = fmt::format("select({}, 1.0f, 0.0f)", text);
      const auto step = to.steps.find(lane_->variable);
      if (step != to.steps.end() && sizes_.is_one(step->second) && to.irregular.empty()) {
        line(fmt::format("store({} + {}, {}, lanes);", tensor.name, offset_text(to, "i"), text));
        return;
      }
      const std::string whole = fresh("x");
      line(fmt::format("const vec {} = {};", whole, text));
      const std::string own = variables_[lane_->variable];
      variables_[lane_->variable] = "(i + lane)";
      line(fmt::format("for (int lane = 0; lane < lanes; ++lane) {}[{}] = from_float<{}>({}[lane]);", tensor.name,
                       offset_text(to, "(i + lane)"), type.kernel, whole));
      variables_[lane_->variable] = own;
      return;
    }
    const Compute from = exprs_.at(id).compute;
    if (const auto packed = packed_stores_.find(store.tensor); packed != packed_stores_.end()) {
      line(fmt::format("{}[lane] = {};", packed->second,
                       from == Compute::Bool ? fmt::format("({} ? 1.0f : 0.0f)", text) : text));
      return;
    }
    if (from == Compute::Float && type.kernel != "float") text = fmt::format("from_float<{}>({})", type.kernel, text);
    if (from == Compute::Int && type.kernel != "int64_t") text = fmt::format("{}({})", type.kernel, text);
    line(fmt::format("{}[{}] = {};", tensor.name, offset_text(to, variables_[lane_ ? lane_->variable : 0]), text));
  }

  /// Whether an element that is computed twice would be found changed.
  bool overwrites() const {
    return std::ranges::any_of(
        stores_, [&](const Store* store) { return definitions_.tensors()[store->tensor].overwrites.has_value(); });
  }

  bool lies_in_row(const Store& store) {
    const Access to = access(store.tensor, store.place);
    return std::ranges::any_of(kernel_.row, [&](const Loop& loop) { return to.moves_with(loop.variable); });
  }

  /// Writes all that does not depend on these variables before the loop over them.
  void hoist(std::set<VariableId> variables) {
    std::set<ExprId> met;
    // What a split row folds itself stands in loops that are not written yet.
    for (const ExprId reduction : own_ == nullptr ? std::vector<ExprId>() : own_->reductions)
      variables.insert(exprs_.at(reduction).variables.begin(), exprs_.at(reduction).variables.end());
    for (const ExprId root : roots_) hoist_in(root, variables, met);
  }
  void hoist_in(ExprId id, const std::set<VariableId>& variables, std::set<ExprId>& met) {
    if (!met.insert(id).second) return;
    const Expr& expr = exprs_.at(id);
    if (expr.kind == Kind::Reduce) return;  // its elements are written where it is computed
    const std::set<VariableId>& free = exprs_.free_variables(id);
    const bool moves = std::ranges::any_of(variables, [&](VariableId variable) { return free.contains(variable); });
    if (!moves && !depends_on_reductions(id)) {
      value(id);
      return;
    }
    if (expr.kind == Kind::Guard) {
      hoist_in(expr.parts[0], variables, met);  // the others are looked at where it holds
      return;
    }
    exprs_.for_each_part(id, [&](ExprId part) { hoist_in(part, variables, met); });
  }
  bool depends_on_reductions(ExprId id) {
    const auto known = with_reductions_.find(id);
    if (known != with_reductions_.end()) return known->second;
    bool found = exprs_.at(id).kind == Kind::Reduce;
    exprs_.for_each_part(id, [&](ExprId part) { found = depends_on_reductions(part) || found; });
    return with_reductions_[id] = found;
  }

  std::set<VariableId> variables_of(const std::vector<Loop>& loops) const {
    std::set<VariableId> all;
    for (const Loop& loop : loops) all.insert(loop.variable);
    return all;
  }

  /// The variables of items by their number: `item`, the last counts fastest.
  void decode(const std::vector<Loop>& loops, const std::string& item) {
    if (target_ == Target::Cuda) {
      std::string rest = item;
      for (size_t i = loops.size(); i-- > 0;) {
        const std::string& name = variables_[loops[i].variable];
        if (i == 0) {
          if (rest != name) line(fmt::format("const int64_t {} = {};", name, rest));
          continue;
        }
        const std::string apart = fresh("by");
        line(fmt::format("const Divided<{}> {}({});", sizes_.kernel_text(loops[i].extent), apart, rest));
        line(fmt::format("const int64_t {} = {}.remainder;", name, apart));
        rest = apart + ".quotient";
      }
      return;
    }
    SizeId inner = sizes_.one();
    std::vector<std::string> lines;
    for (size_t i = loops.size(); i-- > 0;) {
      std::string text = item;
      if (!sizes_.is_one(inner)) text = fmt::format("{} / {}", text, sizes_.kernel_text(inner));
      if (i > 0) text = fmt::format("{} % {}", text, sizes_.kernel_text(loops[i].extent));
      if (text != variables_[loops[i].variable])
        lines.push_back(fmt::format("const int64_t {} = {};", variables_[loops[i].variable], text));
      inner = sizes_.product(inner, loops[i].extent);
    }
    for (auto one = lines.rbegin(); one != lines.rend(); ++one) line(*one);
  }

  std::string product_text(const std::vector<Loop>& loops) { return sizes_.kernel_text(loop_steps(sizes_, loops)); }

  // ---- the CPU

  // The elements of one item, or of lanes of items.
  void item_body() {
    if (own_ != nullptr) fold_given();
    if (own_ != nullptr && !own_->reductions.empty()) {
      for (const ExprId id : own_->reductions) store_share(id, reduction(id, id == own_->reductions[0]));
      return;
    }
    store_outside_of_row();
    if (std::ranges::none_of(stores_, [&](const Store* store) { return lies_in_row(*store); })) return;
    write_reductions();
    const Scoped scope(*this);
    open_loops(kernel_.row);
    for (const Store* store : stores_) {
      if (lies_in_row(*store)) this->store(*store);
    }
    for (size_t i = 0; i < kernel_.row.size(); ++i) close();
  }
  /// Of those that share an item the first one does it.
  void store_outside_of_row() {
    if (std::ranges::all_of(stores_, [&](const Store* store) { return lies_in_row(*store); })) return;
    const Scoped scope(*this);
    const bool shared = own_ != nullptr && own_->over_row;
    if (shared) open("if (part == 0)");
    for (const Store* store : stores_) {
      if (!lies_in_row(*store)) this->store(*store);
    }
    if (shared) close();
  }

  // Those that do not depend on the row, before its loop.
  void write_reductions() {
    std::set<ExprId> met;
    for (const ExprId root : roots_) write_reductions_in(root, met);
  }
  void write_reductions_in(ExprId id, std::set<ExprId>& met) {
    if (!met.insert(id).second) return;
    exprs_.for_each_part(id, [&](ExprId part) { write_reductions_in(part, met); });
    if (exprs_.at(id).kind != Kind::Reduce) return;
    const std::set<VariableId>& free = exprs_.free_variables(id);
    const std::set<VariableId> row = variables_of(kernel_.row);
    if (std::ranges::none_of(row, [&](VariableId variable) { return free.contains(variable); })) value(id);
  }

  void cpu_items() {
    const bool shared = own_ != nullptr && own_->over_row;
    if (kernel_.items.empty()) {
      if (own_ != nullptr) number_ = "0";
      if (shared) {
        line("const auto [first, last] = chunk(PARTS, 1);");
        open("for (int64_t part = first; part < last; ++part)");
        open_share();
        item_body();
        close();
        return;
      }
      line("if (task_index() > 0) return;");
      item_body();
      return;
    }
    if (facts_.tile) {
      cpu_tiles();
      return;
    }
    const std::vector<Loop> outer(kernel_.items.begin(), kernel_.items.end() - 1);
    const std::string width = sizes_.kernel_text(lane_->extent);
    std::set<VariableId> inside = variables_of(kernel_.row);
    inside.insert(lane_->variable);
    number_ = outer.empty() ? "i" : fmt::format("item * {} + i", width);
    if (outer.empty() && !shared) {
      line(fmt::format("const auto [first, last] = chunk({});", width));
      hoist(inside);
      cpu_block("first", "last");
      return;
    }
    line(fmt::format("const auto [first, last] = chunk({}{});", shared ? "PARTS * " : "", product_text(kernel_.items)));
    if (!shared) keep_what_items_share(outer);
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
    stage_keeps_ = !kept_.empty();
    cpu_block("start", "stop");
    stage_keeps_ = false;
    close();
  }

  /// What follows the lane alone and takes long, such as the scale of a channel, is the same for all items: it is computed
  /// before the loop over them where that pays for every task.
  void keep_what_items_share(const std::vector<Loop>& outer) {
    if (!vectors_ || sizes_.smallest(loop_steps(sizes_, outer)) < kLeastSharing ||
        sizes_.largest(lane_->extent) > kMostShared)
      return;
    std::set<ExprId> met;
    std::vector<ExprId> shared;
    for (const Store* store : stores_) collect_shared(store->value, met, shared);
    if (shared.empty()) return;
    const std::string width = sizes_.kernel_text(lane_->extent);
    line("// The same for all items.");
    for (const ExprId id : shared) {
      kept_[id] = {fresh("kept"), false};
      line(fmt::format("float {}[{}];", kept_[id].name, width));
    }
    const Scoped scope(*this);
    stage_keeps_ = true;
    open(fmt::format("for_blocks(0, {}, [&](int64_t i, int lanes) __attribute__((always_inline))", width));
    for (const ExprId id : shared) value(id);
    close("});");
    stage_keeps_ = false;
    after_stage();
  }
  void collect_shared(ExprId id, std::set<ExprId>& met, std::vector<ExprId>& shared) {
    if (!met.insert(id).second) return;
    const Expr& expr = exprs_.at(id);
    if (expr.kind == Kind::Guard) {
      collect_shared(expr.parts[0], met, shared);  // the others are looked at where it holds
      return;
    }
    if (expr.compute == Compute::Float && exprs_.free_variables(id) == std::set<VariableId>{lane_->variable} &&
        !depends_on_reductions(id) && takes_long(id)) {
      shared.push_back(id);
      return;
    }
    exprs_.for_each_part(id, [&](ExprId part) { collect_shared(part, met, shared); });
  }
  /// Whether a division or a function of the lane is in it.
  bool takes_long(ExprId id) {
    const Expr& expr = exprs_.at(id);
    if (!moves_with_lane(id)) return false;
    if (expr.kind == Kind::Apply && divides_or_calls(expr.text)) return true;
    bool found = false;
    exprs_.for_each_part(id, [&](ExprId part) { found = found || takes_long(part); });
    return found;
  }

  /// Items that differ in the lane's variable alone.
  void cpu_block(const std::string& from, const std::string& to) {
    const Scoped scope(*this);
    if (vectors_) {
      open(fmt::format("{}({}, {}, [&](int64_t i, int lanes) __attribute__((always_inline))",
                       overwrites() ? "for_blocks" : "cover_blocks", from, to));
      item_body();
      close("});");
    } else {
      open(fmt::format("for (int64_t i = {}; i < {}; ++i)", from, to));
      item_body();
      close();
    }
  }

  // ---- tiles: squares of the lane's loop and of the one that loads go along

  std::string tiles_along(const Loop& loop) {
    return fmt::format("ceil_div(int64_t({}), int64_t({}))", sizes_.kernel_text(loop.extent), kTile);
  }

  // Cache lines that a tile reads are still at hand when the next line of the result needs them.
  void cpu_tiles() {
    const Loop& across = facts_.tile->across;
    const std::string& own = variables_[across.variable];
    const std::string width = sizes_.kernel_text(lane_->extent), height = sizes_.kernel_text(across.extent);
    line(fmt::format("constexpr int64_t along = {}, across = {};", tiles_along(*lane_), tiles_along(across)));
    line(fmt::format("const auto [first, last] = chunk(along * across * {}, 1);", product_text(facts_.tile->outer)));
    open("for (int64_t tile = first; tile < last; ++tile)");
    line("const int64_t item = tile / (along * across);");
    line(fmt::format("const int64_t start = tile % along * {}, top = tile / along % across * {};", kTile, kTile));
    line(fmt::format("const int64_t stop = start + {0} < {1} ? start + {0} : {1};", kTile, width));
    line(fmt::format("const int64_t bottom = top + {0} < {1} ? top + {0} : {1};", kTile, height));
    decode(facts_.tile->outer, "item");
    hoist({across.variable, lane_->variable});
    open(fmt::format("for (int64_t {0} = top; {0} < bottom; ++{0})", own));
    const Scoped scope(*this);
    hoist({lane_->variable});
    cpu_block("start", "stop");
    close();
    close();
  }

  // A block has a tile: its threads lie along the loads while these go to shared memory, and along the stores afterwards.
  void cuda_tiles() {
    const Loop& across = facts_.tile->across;
    const std::string own = variables_[across.variable], lane = variables_[lane_->variable];
    const std::string width = sizes_.kernel_text(lane_->extent), height = sizes_.kernel_text(across.extent);
    const std::string near = fresh("near"), far = fresh("far"), place = fresh("tile"), next = fresh("tile");
    line(fmt::format("const Divided<{}> {}(task_index());", tiles_along(*lane_), place));
    line(fmt::format("const Divided<{}> {}({}.quotient);", tiles_along(across), next, place));
    line(fmt::format("const int64_t item = {}.quotient;", next));
    line(fmt::format("if (item >= {}) return;", product_text(facts_.tile->outer)));
    decode(facts_.tile->outer, "item");
    line(fmt::format("const int {} = thread_index() % {};", near, kTile));
    hoist({across.variable, lane_->variable});
    std::vector<std::string> names;
    for (const ExprId load : facts_.tile->loads) {
      names.push_back(fresh("shared"));
      // One column more, so that neither rows nor columns of it lie in one bank.
      line(fmt::format("__shared__ {} {}[{}][{}];", element(exprs_.at(load).tensor).kernel, names.back(), kTile,
                       kTile + 1));
    }
    const auto begin_of_tile = [&](const std::string& of) { return fmt::format("{}.remainder * {}", of, kTile); };
    const std::string rows =
        fmt::format("for (int {0} = thread_index() / {1}; {0} < {1}; {0} += thread_count / {1})", far, kTile);
    {
      const Scoped scope(*this);
      line("#pragma unroll");
      open(rows);
      line(fmt::format("const int64_t {} = {} + {}, {} = {} + {};", own, begin_of_tile(next), near, lane,
                       begin_of_tile(place), far));
      open(fmt::format("if ({} < {} && {} < {})", own, height, lane, width));
      for (size_t i = 0; i < names.size(); ++i) {
        const Expr expr = exprs_.at(facts_.tile->loads[i]);
        line(fmt::format("{}[{}][{}] = {}[{}];", names[i], far, near, definitions_.tensors()[expr.tensor].name,
                         offset_text(access(expr.tensor, expr.places), lane)));
      }
      close();
      close();
    }
    line("block_barrier();");
    line(fmt::format("const int64_t {} = {} + {};", lane, begin_of_tile(place), near));
    for (size_t i = 0; i < names.size(); ++i)
      tiles_[facts_.tile->loads[i]] = fmt::format("{}[{}][{}]", names[i], near, far);
    line("#pragma unroll");
    open(rows);
    line(fmt::format("const int64_t {} = {} + {};", own, begin_of_tile(next), far));
    open(fmt::format("if ({} < {} && {} < {})", own, height, lane, width));
    const Scoped scope(*this);
    item_body();
    close();
    close();
  }

  // ---- rows that several blocks or tasks share: PARTS of them, of which this one is `part`

  /// Its share of the first loop of the row: [begin, end).
  void open_share() {
    const std::string length = sizes_.kernel_text(split_->loops[0].extent);
    std::string share = fmt::format("ceil_div(int64_t({}), int64_t(PARTS))", length);
    // Shares of neighbours begin where vectors do, and no two write one cache line.
    if (split_->loops.size() == 1 && kernel_.lanes == Lanes::Row)
      share = fmt::format("ceil_div({}, int64_t(64)) * 64", share);
    line(fmt::format("constexpr int64_t share = {};", share));
    line(fmt::format("const int64_t begin = part * share < {0} ? part * share : {0};", length));
    line(fmt::format("const int64_t end = begin + share < {0} ? begin + share : {0};", length));
  }

  std::string item_count() { return product_text(kernel_.items); }

  /// Where a partial result lies, of the part of that name: those of neighbouring items side by side.
  std::string share_place(const std::string& part) { return fmt::format("{} * {} + {}", part, item_count(), number_); }

  void store_share(ExprId id, std::string total) {
    const std::string name = share_name(definitions_, exprs_.at(id).tensor);
    if (exprs_.at(id).compute == Compute::Bool) total = fmt::format("({} ? 1.0f : 0.0f)", total);
    if (is_vector(id))
      line(fmt::format("store({} + {}, {}, lanes);", name, share_place("part"), total));
    else
      line(fmt::format("{}[{}] = {};", name, share_place("part"), total));
  }

  /// What earlier kernels stored parts of.
  void fold_given() {
    for (const ExprId id : own_->given) {
      const Expr expr = exprs_.at(id);
      const std::string total = fresh("total"), name = share_name(definitions_, expr.tensor);
      const bool by_threads = target_ == Target::Cuda && kernel_.lanes == Lanes::Row;
      line(fmt::format("{} {} = {};", type_of(id), total, neutral(expr.fold, expr.compute)));
      const std::string k = fresh("k"), one = fresh("x");
      if (by_threads)
        open(fmt::format("for (int64_t {0} = thread; {0} < PARTS; {0} += THREADS)", k));
      else
        open(fmt::format("for (int64_t {0} = 0; {0} < PARTS; ++{0})", k));
      std::string part = is_vector(id) ? fmt::format("load({} + {}, lanes)", name, share_place(k))
                                       : fmt::format("{}[{}]", name, share_place(k));
      if (expr.compute == Compute::Bool) part = fmt::format("({} != 0.0f)", part);
      line(fmt::format("const {} {} = {};", type_of(id), one, part));
      line(fmt::format("{} = {};", total, combined(expr.fold, total, one, is_vector(id))));
      close();
      if (by_threads) fold_over_threads(expr.fold, total);
      names_[id] = total;
    }
  }

  /// What a loop over a row does.
  struct Stage {
    std::optional<ExprId> reduction;  // none: it stores only
    std::vector<ExprId> elements;     // what it computes of each element
    std::vector<const Store*> stores;
  };

  void collect_row_parts(ExprId id, std::set<ExprId>& parts) {
    if (!moves_with_row(id) || !parts.insert(id).second) return;
    if (exprs_.at(id).kind == Kind::Reduce) return;
    exprs_.for_each_part(id, [&](ExprId part) { collect_row_parts(part, parts); });
  }
  bool moves_with_row(ExprId id) {
    const std::set<VariableId>& free = exprs_.free_variables(id);
    return std::ranges::any_of(kernel_.row, [&](const Loop& loop) { return free.contains(loop.variable); });
  }

  void collect_stages(ExprId id, std::set<ExprId>& met, std::vector<Stage>& stages) {
    if (!met.insert(id).second) return;
    exprs_.for_each_part(id, [&](ExprId part) { collect_stages(part, met, stages); });
    if (exprs_.at(id).kind == Kind::Reduce) stages.push_back({id, {exprs_.at(id).parts[0]}, {}});
  }

  bool loads(ExprId id, TensorId tensor) {
    std::set<ExprId> met;
    return loads(id, tensor, met);
  }
  /// met: what was looked at already, as equal parts are one.
  bool loads(ExprId id, TensorId tensor, std::set<ExprId>& met) {
    if (!met.insert(id).second) return false;
    if (exprs_.at(id).kind == Kind::Load && exprs_.at(id).tensor == tensor) return true;
    bool found = false;
    exprs_.for_each_part(id, [&](ExprId part) { found = found || loads(part, tensor, met); });
    return found;
  }

  /// Whether it can be stored by that loop: it follows from no reduction, and what it overwrites is not looked at later.
  bool can_store_early(const Store& store, size_t at, const std::vector<Stage>& stages) {
    if (depends_on_reductions(store.value)) return false;
    const std::optional<TensorId> overwrites = definitions_.tensors()[store.tensor].overwrites;
    if (!overwrites) return true;
    for (size_t i = at + 1; i < stages.size(); ++i) {
      if (std::ranges::any_of(stages[i].elements, [&](ExprId one) { return loads(one, *overwrites); })) return false;
    }
    return std::ranges::none_of(kernel_.stores, [&](const Store& other) {
      return &other != &store && lies_in_row(other) && loads(other.value, *overwrites);
    });
  }

  std::vector<Stage> stages_of_row() {
    if (own_ != nullptr) return stages_of_share();
    std::vector<Stage> stages;
    std::set<ExprId> met;
    for (const Store& store : kernel_.stores) collect_stages(store.value, met, stages);
    // What the first loop over the row has at hand is stored there, and need not be kept or computed again.
    const auto first =
        std::ranges::find_if(stages, [&](const Stage& stage) { return is_row(exprs_.at(*stage.reduction).variables); });
    const size_t at = static_cast<size_t>(first - stages.begin());
    Stage last;
    for (const Store& store : kernel_.stores) {
      if (!lies_in_row(store)) continue;
      Stage& stage = first != stages.end() && can_store_early(store, at, stages) ? *first : last;
      stage.elements.push_back(store.value);
      stage.stores.push_back(&store);
    }
    if (!last.stores.empty()) stages.push_back(std::move(last));
    return stages;
  }

  /// Of one of the kernels that a row was split into: what it folds itself, with what is stored on the way, or stores alone.
  std::vector<Stage> stages_of_share() {
    std::vector<Stage> stages;
    for (const ExprId reduction : own_->reductions) stages.push_back({reduction, {exprs_.at(reduction).parts[0]}, {}});
    if (stages.empty()) stages.emplace_back();
    for (const Store* store : stores_) {
      if (!lies_in_row(*store)) continue;
      stages.front().elements.push_back(store->value);
      stages.front().stores.push_back(store);
    }
    if (!stages.front().reduction && stages.front().stores.empty()) stages.clear();
    return stages;
  }

  /// Where an element of a row that is computed once is kept.
  struct Kept {
    std::string name;
    bool is_there = false;
  };
  std::string kept_load(const Kept& kept) const {
    if (target_ == Target::Cuda) return fmt::format("{}[part]{}", kept.name, facts_.packing ? "[lane]" : "");
    return vectors_ ? fmt::format("load({} + i, lanes)", kept.name) : fmt::format("{}[i]", kept.name);
  }
  std::string kept_store(const Kept& kept, const std::string& name) const {
    if (target_ == Target::Cuda)
      return fmt::format("{}[part]{} = {};", kept.name, facts_.packing ? "[lane]" : "", name);
    return vectors_ ? fmt::format("store({} + i, {}, lanes);", kept.name, name)
                    : fmt::format("{}[i] = {};", kept.name, name);
  }

  // What several stages compute from more than one load, as far up as it is the same.
  void choose_kept(const std::vector<Stage>& stages) {
    if (kernel_.row.size() != 1) return;
    std::map<ExprId, int> by_stage;
    for (const Stage& stage : stages) {
      std::set<ExprId> parts;
      for (const ExprId element : stage.elements) collect_row_parts(element, parts);
      for (const ExprId part : parts) ++by_stage[part];
    }
    std::set<ExprId> shared, below;
    for (const auto& [id, count] : by_stage) {
      const Expr& expr = exprs_.at(id);
      if (count < 2 || expr.kind == Kind::Reduce || expr.compute != Compute::Float) continue;
      // On a GPU registers are nearer than any cache.
      if (is_dear(id) || (expr.kind == Kind::Load && target_ == Target::Cuda)) shared.insert(id);
    }
    for (const ExprId id : shared) {
      std::set<ExprId> parts;
      exprs_.for_each_part(id, [&](ExprId part) { collect_row_parts(part, parts); });
      // What is part of something that as many stages share need not be kept itself.
      for (const ExprId part : parts) {
        if (by_stage[part] <= by_stage[id]) below.insert(part);
      }
    }
    for (const ExprId id : shared) {
      if (!below.contains(id)) kept_[id] = {fresh("kept"), false};
    }
  }

  void after_stage() {
    for (const ExprId id : written_) kept_[id].is_there = true;
    written_.clear();
  }

  void cpu_rows() {
    const bool shared = own_ != nullptr && own_->over_row;
    line(fmt::format("const auto [first, last] = chunk({}{}, 1);", shared ? "PARTS * " : "", item_count()));
    if (shared) {
      open("for (int64_t next = first; next < last; ++next)");
      line("const int64_t item = next / PARTS, part = next % PARTS;");
      open_share();
    } else {
      open("for (int64_t item = first; item < last; ++item)");
    }
    decode(kernel_.items, "item");
    const std::vector<Stage> stages = stages_of_row();
    const Loop& row = kernel_.row.back();
    if (own_ == nullptr && sizes_.largest(row.extent) <= kMostKept) choose_kept(stages);
    const std::string length = sizes_.kernel_text(row.extent);
    for (const auto& [id, kept] : kept_) line(fmt::format("float {}[{}];", kept.name, length));
    std::set<VariableId> inside = variables_of(kernel_.row);
    if (own_ != nullptr) scalar([&] { fold_given(); });
    hoist(inside);
    for (const Stage& stage : stages) {
      write_what_is_known();
      stage.reduction ? cpu_reduction(stage) : cpu_row_stores(stage);
      after_stage();
    }
    for (const ExprId id : own_ == nullptr ? std::vector<ExprId>() : own_->reductions)
      scalar([&] { store_share(id, names_[id]); });
    write_what_is_known();
    scalar([&] { store_outside_of_row(); });
    close();
  }

  // Outside of the row's loop there are no lanes.
  void scalar(const auto& write) {
    const bool vectors = std::exchange(vectors_, false);
    write();
    vectors_ = vectors;
  }

  // What follows from the reductions so far, before the loop that uses it.
  void write_what_is_known() {
    std::set<ExprId> met;
    for (const ExprId root : roots_) write_known_in(root, met);
  }
  bool is_known(ExprId id) {
    if (exprs_.at(id).kind == Kind::Reduce) return names_.contains(id);
    bool known = true;
    exprs_.for_each_part(id, [&](ExprId part) { known = known && is_known(part); });
    return known;
  }
  void write_known_in(ExprId id, std::set<ExprId>& met) {
    if (!met.insert(id).second) return;
    if (!moves_with_row(id) && depends_on_reductions(id) && is_known(id)) {
      value(id);
      return;
    }
    exprs_.for_each_part(id, [&](ExprId part) { write_known_in(part, met); });
  }

  void cpu_reduction(const Stage& stage) {
    const ExprId id = *stage.reduction;
    const Expr expr = exprs_.at(id);
    const std::string total = fresh("total");
    const std::vector<Loop> loops = loops_of(expr);
    const std::string length = sizes_.kernel_text(loops.back().extent);
    const std::vector<Loop> outer(loops.begin(), loops.end() - 1);
    const std::optional<Loop> lane = std::exchange(lane_, loops.back());
    const std::map<VariableId, std::string> outside = variables_;
    stage_keeps_ = is_row(expr.variables);
    for (const Loop& one : outer) {
      if (!variables_.contains(one.variable)) variables_[one.variable] = fresh("k");
    }
    variables_[lane_->variable] = "i";
    if (vectors_) {
      const char* fold = expr.fold == Fold::Sum ? "sum_of" : "max_of";
      const char* sign = expr.fold == Fold::Smallest ? "-" : "";
      const auto loop = [&](const std::string& begin) {
        const Scoped scope(*this);
        const bool shared = is_shared(*lane_);
        open(fmt::format("{}{}{}({}, [&](int64_t {}, int lanes) __attribute__((always_inline))", begin, sign, fold,
                         shared ? "end - begin" : length, shared ? "at" : "i"));
        if (shared) line("const int64_t i = begin + at;");
        std::string part = value(expr.parts[0]);
        if (!is_vector(expr.parts[0])) part = fmt::format("vec({})", part);
        for (const Store* store : stage.stores) this->store(*store);
        line(fmt::format("return {}{};", sign, part));
        close("});");
      };
      if (outer.empty()) {
        loop(fmt::format("const float {} = ", total));
      } else {
        line(fmt::format("float {} = {};", total, neutral(expr.fold, expr.compute)));
        open_loops(outer);
        const std::string part = fresh("part");
        loop(fmt::format("const float {} = ", part));
        line(fmt::format("{} = {};", total, combined(expr.fold, total, part, false)));
        for (size_t i = 0; i < outer.size(); ++i) close();
      }
    } else {
      line(fmt::format("{} {} = {};", type_of(id), total, neutral(expr.fold, expr.compute)));
      const Scoped scope(*this);
      open_loops(loops);
      line(fmt::format("{} = {};", total, combined(expr.fold, total, value(expr.parts[0]), false)));
      for (const Store* store : stage.stores) this->store(*store);
      for (size_t i = 0; i < loops.size(); ++i) close();
    }
    stage_keeps_ = false;
    variables_ = outside;
    lane_ = lane;
    names_[id] = total;
  }
  void open_loops(const std::vector<Loop>& loops) {
    for (const Loop& one : loops)
      open(fmt::format("for (int64_t {0} = {1}; {0} < {2}; ++{0})", variables_[one.variable], begin_of(one),
                       end_of(one)));
  }
  /// Where a loop begins and ends: that of a split row goes over a share of it.
  bool is_shared(const Loop& loop) const {
    return own_ != nullptr && own_->over_row && loop.variable == split_->loops[0].variable;
  }
  std::string begin_of(const Loop& loop) const { return is_shared(loop) ? "begin" : "0"; }
  std::string end_of(const Loop& loop) { return is_shared(loop) ? "end" : sizes_.kernel_text(loop.extent); }

  void cpu_row_stores(const Stage& stage) {
    const std::vector<Loop> outer(kernel_.row.begin(), kernel_.row.end() - 1);
    const Scoped scope(*this);
    stage_keeps_ = true;
    open_loops(outer);
    const std::string begin = begin_of(kernel_.row.back()), end = end_of(kernel_.row.back());
    if (vectors_)
      open(fmt::format("{}({}, {}, [&](int64_t i, int lanes) __attribute__((always_inline))",
                       kept_.empty() && !overwrites() ? "cover_blocks" : "for_blocks", begin, end));
    else
      open(fmt::format("for (int64_t i = {}; i < {}; ++i)", begin, end));
    for (const Store* store : stage.stores) this->store(*store);
    close(vectors_ ? "});" : "}");
    for (size_t i = 0; i < outer.size(); ++i) close();
    stage_keeps_ = false;
  }

  // ---- CUDA

  void cuda_items() {
    if (facts_.tile) {
      cuda_tiles();
      return;
    }
    if (own_ != nullptr && own_->over_row) {
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
      if (own_ != nullptr) number_ = "0";
      item_body();
      return;
    }
    line(fmt::format("const int64_t item = global_index(){};", facts_.packing ? " * PACK" : ""));
    line(fmt::format("if (item >= {}) return;", product_text(kernel_.items)));
    decode(kernel_.items, "item");
    if (!facts_.packing) {
      item_body();
      return;
    }
    hoist({lane_->variable});
    std::vector<const Store*> stores;
    for (const Store& store : kernel_.stores) stores.push_back(&store);
    by_pack({}, stores, [] {});
  }

  /// Neighbouring elements that a thread takes: loads of all of them, a loop over them, stores of all. elements: what the
  /// loop needs besides the stores; write: the rest of its body.
  void by_pack(const std::vector<ExprId>& elements, const std::vector<const Store*>& stores, const auto& write) {
    const Scoped scope(*this);
    for (const ExprId load : pack_loads(elements, stores)) {
      if (packs_.contains(load)) continue;
      packs_[load] = fresh("pack");
      line(fmt::format("const floats<PACK> {} = {};", packs_[load], pack_text(load)));
    }
    for (const Store* store : stores) {
      if (!is_packed(access(store->tensor, store->place), store->tensor)) continue;
      packed_stores_[store->tensor] = fresh("pack");
      line(fmt::format("floats<PACK> {};", packed_stores_[store->tensor]));
    }
    line("#pragma unroll");
    open("for (int lane = 0; lane < PACK; ++lane)");
    const std::string own = std::exchange(variables_[lane_->variable], "(i + lane)");
    write();
    for (const Store* store : stores) this->store(*store);
    variables_[lane_->variable] = own;
    close();
    for (const Store* store : stores) {
      if (packed_stores_.contains(store->tensor))
        line(fmt::format("store({} + {}, {});", definitions_.tensors()[store->tensor].name,
                         offset_text(access(store->tensor, store->place), "i"), packed_stores_[store->tensor]));
    }
    packs_.clear();
    packed_stores_.clear();
  }
  std::vector<ExprId> pack_loads(const std::vector<ExprId>& elements, const std::vector<const Store*>& stores) {
    std::set<ExprId> met;
    std::vector<ExprId> loads;
    for (const ExprId element : elements) collect_pack_loads(element, met, loads);
    for (const Store* store : stores) collect_pack_loads(store->value, met, loads);
    return loads;
  }
  std::string pack_text(ExprId load) {
    const Expr& expr = exprs_.at(load);
    return fmt::format("load<PACK>({} + {})", definitions_.tensors()[expr.tensor].name,
                       offset_text(access(expr.tensor, expr.places), "i"));
  }
  bool is_packed(const Access& access, TensorId tensor) {
    return steps_of(definitions_, kernel_, *lane_, access, tensor).has_value();
  }
  void collect_pack_loads(ExprId id, std::set<ExprId>& met, std::vector<ExprId>& loads) {
    if (names_.contains(id) || !met.insert(id).second) return;
    const Expr& expr = exprs_.at(id);
    const auto kept = stage_keeps_ ? kept_.find(id) : kept_.end();
    if (expr.kind == Kind::Reduce || (kept != kept_.end() && kept->second.is_there)) return;
    if (expr.kind == Kind::Guard) {
      collect_pack_loads(expr.parts[0], met, loads);  // the others are looked at where it holds
      return;
    }
    if (expr.kind == Kind::Load && is_packed(access(expr.tensor, expr.places), expr.tensor)) loads.push_back(id);
    exprs_.for_each_part(id, [&](ExprId part) { collect_pack_loads(part, met, loads); });
  }

  void cuda_rows() {
    const bool shared = own_ != nullptr && own_->over_row;
    if (shared) {
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
    const std::vector<Stage> stages = stages_of_row();
    const Loop& row = kernel_.row.back();
    in_parts_ =
        own_ == nullptr && kernel_.row.size() == 1 && sizes_.largest(row.extent) <= kMostKeptByThread * kMostThreads;
    if (in_parts_) choose_kept(stages);
    const std::string length = sizes_.kernel_text(row.extent);
    const bool packs = facts_.packing.has_value();
    if (in_parts_)
      line(fmt::format("constexpr int parts = ceil_div(int({}), int(THREADS{}));", length, packs ? " * PACK" : ""));
    for (const auto& [id, kept] : kept_) line(fmt::format("float {}[parts]{};", kept.name, packs ? "[PACK]" : ""));
    if (own_ != nullptr) fold_given();
    hoist(variables_of(kernel_.row));
    for (const Stage& stage : stages) {
      write_what_is_known();
      cuda_stage(stage);
      after_stage();
    }
    write_what_is_known();
    const std::vector<ExprId> totals = own_ == nullptr ? std::vector<ExprId>() : own_->reductions;
    if (totals.empty() && std::ranges::all_of(stores_, [&](const Store* store) { return lies_in_row(*store); })) return;
    open("if (thread == 0)");
    for (const ExprId id : totals) store_share(id, names_[id]);
    store_outside_of_row();
    close();
  }

  /// All that a loop over parts of a row reads, before it needs the first of it: no read waits behind a branch.
  void read_ahead(const Stage& stage, const std::string& in_part, const std::string& length) {
    const std::vector<ExprId> loads = pack_loads(stage.elements, stage.stores);
    const int64_t by_thread = sizes_.largest(kernel_.row.back().extent) / kMostThreads + 1;
    if (loads.empty() || static_cast<int64_t>(loads.size()) * by_thread > kMostAhead) return;
    std::vector<std::string> reads;
    for (const ExprId load : loads) {
      const std::string packs = fresh("packs");
      line(fmt::format("floats<PACK> {}[parts];", packs));
      packs_[load] = packs + "[part]";
      reads.push_back(fmt::format("{}[part] = {};", packs, pack_text(load)));
    }
    line("#pragma unroll");
    open("for (int part = 0; part < parts; ++part)");
    line(in_part);
    open(fmt::format("if (i < {})", length));
    for (const std::string& read : reads) line(read);
    close();
    close();
  }

  void cuda_stage(const Stage& stage) {
    const bool on_row = !stage.reduction || is_row(exprs_.at(*stage.reduction).variables);
    const std::vector<Loop> loops = stage.reduction ? loops_of(exprs_.at(*stage.reduction)) : kernel_.row;
    const std::string length = sizes_.kernel_text(loops.back().extent);
    std::string total;
    if (stage.reduction) {
      total = fresh("total");
      const Expr& expr = exprs_.at(*stage.reduction);
      line(fmt::format("{} {} = {};", type_of(*stage.reduction), total, neutral(expr.fold, expr.compute)));
    }
    const std::optional<Loop> lane = std::exchange(lane_, loops.back());
    const std::map<VariableId, std::string> outside = variables_;
    {
      const Scoped scope(*this);
      stage_keeps_ = on_row;
      const std::vector<Loop> outer(loops.begin(), loops.end() - 1);
      for (const Loop& one : outer) {
        if (!variables_.contains(one.variable)) variables_[one.variable] = fresh("k");
      }
      variables_[lane_->variable] = "i";
      open_loops(outer);
      const bool in_parts = on_row && in_parts_;
      const std::string in_part =
          fmt::format("const int64_t i = (part * THREADS + thread){};", facts_.packing ? " * PACK" : "");
      if (in_parts) {
        if (facts_.packing) read_ahead(stage, in_part, length);
        line("#pragma unroll");
        open("for (int part = 0; part < parts; ++part)");
        line(in_part);
        line(fmt::format("if (i >= {}) break;", length));
      } else {
        const std::string begin = is_shared(*lane_) ? "begin + " : "";
        // A thread has a few steps of a share, whose reads then do not wait for each other.
        if (own_ != nullptr) line("#pragma unroll 4");
        open(fmt::format("for (int64_t i = {0}thread{1}; i < {2}; i += THREADS{1})", begin,
                         facts_.packing ? " * PACK" : "", end_of(*lane_)));
      }
      const auto add = [&] {
        if (!stage.reduction) return;
        const Expr expr = exprs_.at(*stage.reduction);
        line(fmt::format("{} = {};", total, combined(expr.fold, total, value(expr.parts[0]), false)));
      };
      if (facts_.packing) {
        by_pack(stage.elements, stage.stores, add);
      } else {
        add();
        for (const Store* store : stage.stores) this->store(*store);
      }
      for (size_t i = 0; i < loops.size(); ++i) close();
      stage_keeps_ = false;
    }
    variables_ = outside;
    lane_ = lane;
    if (!stage.reduction) return;
    fold_over_threads(exprs_.at(*stage.reduction).fold, total);
    names_[*stage.reduction] = total;
  }

  /// CUDA: of all threads that share the row; each of them gets it.
  void fold_over_threads(Fold how, const std::string& total) {
    const auto fold = [&](const char* sign, const char* name) {
      return fmt::format("{0}{1}({0}{2})", sign, name, total);
    };
    switch (how) {
      case Fold::Sum: line(fmt::format("{} = {};", total, fold("", "row_sum<THREADS>"))); break;
      case Fold::Smallest: line(fmt::format("{} = {};", total, fold("-", "row_max<THREADS>"))); break;
      case Fold::Any:
      case Fold::Largest: line(fmt::format("{} = {};", total, fold("", "row_max<THREADS>"))); break;
      case Fold::All: line(fmt::format("{} = {};", total, fold("!", "row_max<THREADS>"))); break;
      case Fold::Product: break;
    }
  }

  Definitions& definitions_;
  ExprTable& exprs_;
  IndexTable& indices_;
  SizeTable& sizes_;
  const FusedKernel& kernel_;
  const KernelFacts& facts_;
  const Target target_;
  const SplitRow* split_;
  const SplitKernel* own_;            // of split_; nullptr: the kernel as a whole
  std::vector<const Store*> stores_;  // that it stores
  std::vector<ExprId> roots_;         // all that it computes
  std::string number_ = "item";       // of the item, among all
  std::optional<Loop> lane_;
  bool vectors_ = false;
  std::set<std::string> taken_;
  std::map<ExprId, int> uses_;
  std::map<ExprId, bool> with_reductions_;
  std::map<VariableId, std::string> variables_;
  std::map<ExprId, std::string> names_;
  std::map<ExprId, Kept> kept_;
  std::vector<ExprId> written_;
  std::map<ExprId, std::string> packs_;            // loads of several elements
  std::map<ExprId, std::string> tiles_;            // loads that lie in shared memory
  std::map<TensorId, std::string> packed_stores_;  // what is stored together after the loop over it
  bool stage_keeps_ = false;
  bool in_parts_ = false;  // CUDA: a thread's part of a row is short enough for its registers
  int count_ = 0, indent_ = 2;
  std::string out_;
};

/// given: reductions whose results it gets.
void collect_facts(Definitions& definitions, ExprId id, const std::vector<ExprId>& given, std::set<ExprId>& met,
                   KernelFacts& facts) {
  if (std::ranges::find(given, id) != given.end() || !met.insert(id).second) return;
  const Expr expr = definitions.exprs().at(id);
  definitions.exprs().for_each_part(id, [&](ExprId part) { collect_facts(definitions, part, given, met, facts); });
  const auto add = [](auto& list, const auto& value) {
    if (std::ranges::find(list, value) == list.end()) list.push_back(value);
  };
  if (expr.kind == Kind::Reduce) {
    SizeTable& sizes = definitions.sizes();
    SizeId steps = sizes.one();
    for (const VariableId variable : expr.variables)
      steps = sizes.product(steps, definitions.exprs().indices().extent(variable));
    if (sizes.largest(steps) > sizes.largest(facts.steps)) facts.steps = steps;
  }
  if (expr.kind == Kind::Load) add(facts.loaded, expr.tensor);
  if (expr.kind == Kind::Parameter) add(facts.parameters, std::pair(expr.text, expr.compute));
}

/// Whether threads share rows, but neighbours of something that they read are elements of rows beside each other.
bool lie_beside(Definitions& definitions, const FusedKernel& kernel) {
  if (kernel.lanes != Lanes::Row || kernel.items.empty()) return false;
  SizeTable& sizes = definitions.sizes();
  return std::ranges::any_of(loads_in(definitions.exprs(), kernel), [&](ExprId load) {
    const Expr expr = definitions.exprs().at(load);
    const Access access = access_of(definitions.exprs(), expr.places, definitions.tensors()[expr.tensor].strides);
    return jumps(sizes, access, kernel.row.back().variable) &&
           moves_by_one(sizes, access, kernel.items.back().variable);
  });
}

/// Whether and how a GPU's threads take several neighbours at once. What else is looked at must not move with the lanes by
/// larger steps, which threads side by side would make larger yet.
std::optional<Packing> packing_of(Definitions& definitions, const FusedKernel& kernel) {
  const std::vector<Loop>& loops = kernel.lanes == Lanes::Row ? kernel.row : kernel.items;
  if (loops.empty() || (kernel.lanes == Lanes::Items && !kernel.row.empty())) return std::nullopt;
  const Loop lane = loops.back();
  SizeTable& sizes = definitions.sizes();
  ExprTable& exprs = definitions.exprs();
  const std::set<VariableId> row(kernel.row_variables.begin(), kernel.row_variables.end());
  std::set<ExprId> met;
  std::vector<ExprId> open;
  for (const Store& store : kernel.stores) open.push_back(store.value);
  while (!open.empty()) {
    const ExprId id = open.back();
    open.pop_back();
    if (!met.insert(id).second) continue;
    const Expr& expr = exprs.at(id);
    if (expr.kind == Kind::Reduce) {
      // Sums that are not over the row are loops of their own.
      std::set<VariableId> own(expr.variables.begin(), expr.variables.end());
      if (kernel.lanes == Lanes::Items || (!kernel.row_variables.empty() && own != row)) return std::nullopt;
    }
    exprs.for_each_part(id, [&](ExprId part) { open.push_back(part); });
  }
  Packing packing;
  packing.steps.push_back(lane.extent);
  bool any = false;
  const auto add = [&](const Access& access, TensorId tensor) {
    const auto steps = steps_of(definitions, kernel, lane, access, tensor);
    if (!steps) {
      return !access.irregular.contains(lane.variable) && !jumps(sizes, access, lane.variable);
    }
    any = true;
    for (const SizeId step : *steps) {
      if (std::ranges::find(packing.steps, step) == packing.steps.end()) packing.steps.push_back(step);
    }
    if (std::ranges::find(packing.tensors, tensor) == packing.tensors.end()) packing.tensors.push_back(tensor);
    return true;
  };
  const auto access_to = [&](TensorId tensor, const std::vector<IndexId>& place) {
    return access_of(exprs, place, definitions.tensors()[tensor].strides);
  };
  for (const Store& store : kernel.stores) {
    if (!add(access_to(store.tensor, store.place), store.tensor)) return std::nullopt;
  }
  for (const ExprId load : loads_in(exprs, kernel)) {
    const Expr expr = exprs.at(load);
    if (!add(access_to(expr.tensor, expr.places), expr.tensor)) return std::nullopt;
  }
  return any ? std::optional(std::move(packing)) : std::nullopt;
}

}  // namespace

namespace {

/// values: what is computed, of which `given` is known; stored: by it.
KernelFacts facts_of(Definitions& definitions, const FusedKernel& kernel, const std::vector<ExprId>& values,
                     const std::vector<ExprId>& given, const std::vector<TensorId>& stored) {
  SizeTable& sizes = definitions.sizes();
  KernelFacts facts;
  facts.items = loop_steps(sizes, kernel.items);
  facts.row = facts.steps = loop_steps(sizes, kernel.row);
  std::set<ExprId> met;
  for (const ExprId value : values) collect_facts(definitions, value, given, met, facts);
  facts.stored = stored;
  for (const TensorId one : facts.stored) {
    if (const auto input = definitions.tensors()[one].overwrites) std::erase(facts.loaded, *input);
  }
  facts.packing = packing_of(definitions, kernel);
  facts.tile = tile_of(definitions, kernel);
  facts.beside = lie_beside(definitions, kernel);
  return facts;
}

}  // namespace

KernelFacts facts_of(Definitions& definitions, const FusedKernel& kernel) {
  std::vector<ExprId> values;
  std::vector<TensorId> stored;
  for (const Store& store : kernel.stores) {
    values.push_back(store.value);
    stored.push_back(store.tensor);
  }
  return facts_of(definitions, kernel, values, {}, stored);
}

KernelFacts facts_of(Definitions& definitions, const FusedKernel& kernel, const SplitKernel& split) {
  std::vector<ExprId> values;
  std::vector<TensorId> stored, taken, given;
  for (const ExprId reduction : split.reductions) {
    values.push_back(definitions.exprs().at(reduction).parts[0]);
    given.push_back(definitions.exprs().at(reduction).tensor);
  }
  for (const size_t i : split.stores) {
    values.push_back(kernel.stores[i].value);
    stored.push_back(kernel.stores[i].tensor);
  }
  for (const ExprId reduction : split.given) taken.push_back(definitions.exprs().at(reduction).tensor);
  KernelFacts facts = facts_of(definitions, kernel, values, split.given, stored);
  facts.shares_taken = taken;
  facts.shares_given = given;
  return facts;
}

std::string share_name(const Definitions& definitions, TensorId of) {
  std::string name = definitions.tensors()[of].name + "_parts";
  const auto is_taken = [&](const Tensor& tensor) { return tensor.name == name; };
  while (std::ranges::any_of(definitions.tensors(), is_taken)) name += "_";
  return name;
}

namespace {

std::string function_text(Definitions& definitions, const FusedKernel& kernel, const KernelFacts& facts,
                          const std::string& name, const std::string& comment, Target target, const SplitRow* split,
                          size_t at) {
  std::vector<std::string> parameters;
  for (const TensorId tensor : facts.loaded)
    parameters.push_back(fmt::format("const {}* {}",
                                     definitions.elements()[definitions.tensors()[tensor].element].kernel,
                                     definitions.tensors()[tensor].name));
  for (const TensorId tensor : facts.stored)
    parameters.push_back(fmt::format("{}* {}", definitions.elements()[definitions.tensors()[tensor].element].kernel,
                                     definitions.tensors()[tensor].name));
  for (const TensorId of : facts.shares_taken)
    parameters.push_back(fmt::format("const float* {}", share_name(definitions, of)));
  for (const TensorId of : facts.shares_given)
    parameters.push_back(fmt::format("float* {}", share_name(definitions, of)));
  for (const auto& [parameter, compute] : facts.parameters) {
    const char* type = compute == Compute::Float    ? "float"
                       : compute == Compute::Double ? "double"
                       : compute == Compute::Bool   ? "bool"
                                                    : "int64_t";
    parameters.push_back(fmt::format("{} {}", type, parameter));
  }
  const std::string body = KernelWriter(definitions, kernel, facts, target, split, at).run();
  return fmt::format("// {}\nPASSNET_KERNEL {}({}) {{\n{}}}\n", comment, name, fmt::join(parameters, ", "), body);
}

}  // namespace

std::string kernel_text(Definitions& definitions, const FusedKernel& kernel, const KernelFacts& facts,
                        const std::string& name, const std::string& comment, Target target) {
  return function_text(definitions, kernel, facts, name, comment, target, nullptr, 0);
}

std::string kernel_text(Definitions& definitions, const FusedKernel& kernel, const SplitRow& split, size_t at,
                        const KernelFacts& facts, const std::string& name, const std::string& comment, Target target) {
  return function_text(definitions, kernel, facts, name, comment, target, &split, at);
}

}  // namespace passnet::author
