#include "author/text/value_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "author/text/operations.h"
#include "base/check.h"
#include "base/text/strings.h"

namespace passnet::author {

namespace {

using Kind = Expr::Kind;

const char* rounding(RoundsOn where) {
  switch (where) {
    case RoundsOn::Both: return "rounded";
    case RoundsOn::Gpu: return "rounded_on_gpu";
    case RoundsOn::Cpu: return "rounded_on_cpu";
  }
  return "";
}

}  // namespace

ValueWriter::ValueWriter(Definitions& definitions, const KernelPart& part, const KernelFacts& facts)
    : definitions_(definitions),
      exprs_(definitions.exprs()),
      indices_(exprs_.indices()),
      sizes_(definitions.sizes()),
      part_(part),
      kernel_(part.kernel),
      facts_(facts),
      value_names_(definitions) {
  const std::vector<Loop>& lanes = kernel_.lanes == Lanes::Row ? kernel_.row : kernel_.items;
  if (!lanes.empty()) lane_ = lanes.back();
  for (const auto* tensors : {&facts.loaded, &facts.stored}) {
    for (const TensorId tensor : *tensors) value_names_.take(name_of(tensor));
  }
  for (const auto* shares : {&facts.shares_taken, &facts.shares_given}) {
    for (const TensorId tensor : *shares) value_names_.take(share_name(definitions, tensor));
  }
  for (const auto& [name, compute] : facts.parameters) value_names_.take(name);
  name_loops();
  std::set<ExprId> met;
  for (const ExprId root : part.roots) collect_rounded_products(root, met);
}

/// Products that PyTorch rounds and another of its operators goes on with, which may add to them: compilers make one operation of
/// both, which rounds once, unless told otherwise. What has 16 bits is converted in between.
void ValueWriter::collect_rounded_products(ExprId id, std::set<ExprId>& met) {
  if (!met.insert(id).second) return;
  const Expr& expr = exprs_.at(id);
  const bool may_add = expr.kind == Kind::Apply && !expr.is_product() && expr.formula != kQuotient;
  const auto is_number = [&](ExprId part) { return exprs_.at(part).kind == Kind::Number; };
  exprs_.for_each_part(id, [&](ExprId part) {
    const Expr& rounded = exprs_.at(part);
    if (may_add && rounded.kind == Kind::Round && definitions_.elements()[rounded.element].has_float32()) {
      const Expr& product = exprs_.at(rounded.parts[0]);
      if (product.is_product() && !std::ranges::all_of(product.parts, is_number))
        rounded_products_.insert(rounded.parts[0]);
    }
    collect_rounded_products(part, met);
  });
}

Formula ValueWriter::formula_of(ExprId id) const {
  using formula::A, formula::B;
  const Expr& expr = exprs_.at(id);
  if (!rounded_products_.contains(id)) return expr.formula;
  return formula::multiply(A, expr.parts.size() == 1 ? A : B);
}

std::string ValueWriter::formula_text(ExprId id, const std::vector<std::string>& parts, bool vectors) const {
  const auto type_name = [this](int64_t type) {
    return type == Formula::kFloat ? "float" : definitions_.elements()[static_cast<size_t>(type)].kernel;
  };
  return formula_of(id).text(parts, type_name, target(), vectors);
}

void ValueWriter::name_loops() {
  if (lane_) variables_[lane_->variable] = "i";
  for (const auto* loops : {&kernel_.items, &kernel_.row}) {
    for (const Loop& loop : *loops) {
      if (variables_.contains(loop.variable)) continue;
      const std::string size = sizes_.plan_text(loop.extent);
      const bool is_name = size.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == std::string::npos &&
                           !size.empty() && std::isalpha(static_cast<unsigned char>(size[0])) != 0;
      variables_[loop.variable] = fresh(is_name ? "at_" + size : "at_row");
    }
  }
}

// ---- lines

void ValueWriter::line(const std::string& text) {
  out_ += std::string(static_cast<size_t>(indent_), ' ') + text + "\n";
}

const std::string& ValueWriter::constant(const std::string& stem, int64_t value, const char* meaning) {
  const auto [known, is_new] = constant_names_.try_emplace(stem);
  if (is_new) {
    known->second = fresh(stem);
    constants_ += fmt::format("  constexpr int {} = {};  // {}\n", known->second, value, meaning);
  }
  return known->second;
}

void ValueWriter::open(const std::string& text) {
  line(text + " {");
  indent_ += 2;
}

void ValueWriter::close(const std::string& end) {
  indent_ -= 2;
  line(end);
}

void ValueWriter::close_all(const std::vector<Loop>& loops) {
  for (size_t i = 0; i < loops.size(); ++i) close();
}

// ---- values

std::string ValueWriter::value(ExprId id) {
  const auto found = names_.find(id);
  if (found != names_.end()) return found->second;
  if (const std::optional<std::string> kept = kept_text(id)) return named(id, *kept);
  const Expr expr = exprs_.at(id);
  std::optional<std::string> text = is_vector(id) ? vector_text(id) : std::nullopt;
  if (!text) {
    switch (expr.kind) {
      case Kind::Number: return number_text(expr);
      case Kind::Parameter: return expr.text;
      case Kind::Place: return index_text(expr.places[0]);
      case Kind::Reduce: return names_[id] = reduction(id);
      case Kind::Running: return names_.at(id);  // the loop over the row has it
      case Kind::ByTarget: PASSNET_CHECK(false, "a kernel is written before its target is known");
      case Kind::Guard:
        ++guards_;
        names_[id] = guarded(id);
        --guards_;
        keep(id, names_[id]);
        return names_[id];
      case Kind::Load: text = load_text(id); break;
      case Kind::Apply: text = apply_text(id); break;
      case Kind::Convert: text = convert_text(expr); break;
      case Kind::Truncate:
        text = fmt::format("truncated<{}>({})", definitions_.elements()[expr.element].kernel, value(expr.parts[0]));
        break;
      case Kind::Round: {
        const Element& stored = definitions_.elements()[expr.element];
        if (stored.is_exact()) return names_[id] = value(expr.parts[0]);
        text = expr.compute == Compute::Int
                   ? fmt::format("int64_t({}({}))", stored.kernel, value(expr.parts[0]))
                   : fmt::format("{}<{}>({})", rounding(expr.rounds_on), stored.kernel, value(expr.parts[0]));
        break;
      }
    }
  }
  const std::string name = named(id, *text);
  keep(id, name);
  return name;
}

/// Declares it, unless it is called something already.
std::string ValueWriter::named(ExprId id, const std::string& text) {
  if (is_identifier(text) && std::islower(static_cast<unsigned char>(text[0])) != 0) return names_[id] = text;
  const std::string name = name_for(id);
  line(fmt::format("const {} {} = {};", type_of(id), name, text));
  return names_[id] = name;
}

std::string ValueWriter::type_of(ExprId id) {
  const Compute compute = exprs_.at(id).compute;
  if (is_vector(id)) return compute == Compute::Bool ? "mask" : "vec";
  return type_name(compute);
}

std::string ValueWriter::load_text(ExprId id) {
  const Expr expr = exprs_.at(id);
  const std::string offset = offset_text(access_in(definitions_, expr.tensor, expr.places), lane_name());
  return converted(expr.tensor, fmt::format("{}[{}]", name_of(expr.tensor), offset));
}

const Element& ValueWriter::element(TensorId tensor) const {
  return definitions_.elements()[definitions_.tensors()[tensor].element];
}

std::string ValueWriter::converted(TensorId tensor, const std::string& raw) const {
  const Element& type = element(tensor);
  if (type.compute == Compute::Float && type.kernel != "float") return fmt::format("to_float({})", raw);
  if (type.compute == Compute::Int && type.kernel != "int64_t") return fmt::format("int64_t({})", raw);
  return raw;
}

std::string ValueWriter::apply_text(ExprId id) {
  std::vector<std::string> parts;
  const std::vector<ExprId> of = exprs_.at(id).parts;
  for (const ExprId part : of) parts.push_back(value(part));
  return formula_text(id, parts);
}

std::string ValueWriter::convert_text(const Expr& expr) {
  const std::string of = value(expr.parts[0]);
  switch (expr.compute) {
    case Compute::Float:
      return exprs_.at(expr.parts[0]).compute == Compute::Bool ? fmt::format("({} ? 1.0f : 0.0f)", of)
                                                               : fmt::format("float({})", bare(of));
    case Compute::Double: return fmt::format("double({})", bare(of));
    case Compute::Int: return fmt::format("int64_t({})", bare(of));
    case Compute::Bool: return fmt::format("({} != 0)", of);
  }
  return {};
}

bool ValueWriter::moves_with(ExprId id, const std::set<VariableId>& variables) const {
  const std::set<VariableId>& free = exprs_.free_variables(id);
  return std::ranges::any_of(variables, [&](VariableId variable) { return free.contains(variable); });
}

std::vector<ExprId> ValueWriter::loads_of(const std::vector<ExprId>& values, bool in_folds,
                                          const std::function<bool(ExprId)>& is_whole) {
  std::vector<ExprId> loads;
  std::set<ExprId> met;
  const std::function<void(ExprId)> visit = [&](ExprId id) {
    if (names_.contains(id) || !met.insert(id).second || kept_text(id)) return;
    const Expr& expr = exprs_.at(id);
    if (expr.kind == Kind::Reduce && !in_folds) return;
    if (is_whole && is_whole(id)) return loads.push_back(id);
    if (expr.kind == Kind::Guard) return visit(expr.parts[0]);
    if (expr.kind == Kind::Load) loads.push_back(id);
    exprs_.for_each_part(id, visit);
  };
  for (const ExprId value : values) visit(value);
  return loads;
}

// Only what is chosen is looked at.
std::string ValueWriter::guarded(ExprId id) {
  const Expr expr = exprs_.at(id);
  const std::string condition = value(expr.parts[0]);
  const std::string name = name_for(id);
  line(fmt::format("{} {};", type_of(id), name));
  branches(condition, expr, [&](ExprId branch) { line(fmt::format("{} = {};", name, value(branch))); });
  return name;
}

void ValueWriter::branches(const std::string& condition, const Expr& guard, const std::function<void(ExprId)>& write) {
  for (const size_t branch : {size_t{1}, size_t{2}}) {
    const Scoped scope(*this);
    open(branch == 1 ? fmt::format("if ({})", condition) : "else");
    write(guard.parts[branch]);
    close();
  }
}

// ---- places

std::string ValueWriter::index_text(IndexId id) {
  const Index node = indices_.at(id);
  switch (node.kind) {
    case Index::Kind::Constant: return fmt::format("{}", node.value);
    case Index::Kind::Variable: {
      const auto found = variables_.find(node.variable);
      return found == variables_.end() ? "0" : found->second;
    }
    case Index::Kind::Size: return sizes_.kernel_text(node.size);
    case Index::Kind::Element: return value(node.element);
    case Index::Kind::Add: return fmt::format("({})", sum_text({index_text(node.a), index_text(node.b)}));
    case Index::Kind::Subtract: {
      const std::string from = index_text(node.a), less = index_text(node.b);
      return from == "0" && less[0] != '-' ? "-" + less : fmt::format("({} - {})", from, less);
    }
    case Index::Kind::Scale: return fmt::format("{} * {}", index_text(node.a), sizes_.kernel_text(node.size));
    case Index::Kind::Divide:
    case Index::Kind::Remainder: return divided_text(node);
  }
  return {};
}

std::string ValueWriter::offset_text(const Access& access, const std::string& lane) {
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
    const std::string text = index_text(index), by = sizes_.kernel_text(factor);
    const bool is_unit = text == "1" || text == "-1";
    parts.push_back(sizes_.is_one(factor) ? text
                    : is_unit             ? text.substr(0, text.size() - 1) + by
                                          : fmt::format("{} * {}", text, by));
  }
  if (!last.empty()) parts.push_back(last);
  return parts.empty() ? "0" : sum_text(parts);
}

std::string ValueWriter::lane_name() const { return lane_ ? variables_.at(lane_->variable) : std::string(); }

// ---- loops

std::string ValueWriter::reduction(ExprId id, const std::function<void()>& also) {
  const Expr expr = exprs_.at(id);
  const std::vector<Loop> loops = loops_of(expr);
  // Reductions within it that are the same at each step come first: the loops may share variables.
  std::set<ExprId> met;
  write_same_reductions_in(expr.parts[0], variables_of(loops), met);
  const std::string zero = neutral(expr.fold, expr.compute);
  const std::string total = name_for(id);
  line(fmt::format("{} {} = {};", type_of(id), total, zero));
  const bool in_blocks = adds_many(expr, loops);
  const std::string sum = in_blocks ? fresh(total + "_block") : total;
  if (in_blocks) line(fmt::format("{} {} = {};", type_of(id), sum, zero));
  const OtherLoops other(*this);
  const Scoped scope(*this);
  for (const Loop& loop : loops) variables_[loop.variable] = fresh("k");
  open_steps(loops, {expr.parts[0]});
  const std::string part = value(expr.parts[0]);
  line(fmt::format("{} = {};", sum, combined(expr.fold, expr.compute, sum, part, is_vector(id))));
  if (in_blocks) {
    open_end_of_block(loops);
    line(fmt::format("{0} = {0} + {1};", total, sum));
    line(fmt::format("{} = {};", sum, zero));
    close();
  }
  if (also) also();
  close_steps(loops);
  after_steps(expr, total);
  return total;
}

int64_t ValueWriter::most_steps(const std::vector<Loop>& loops) const {
  int64_t steps = 1;
  for (const Loop& loop : loops) steps *= sizes_.largest(loop.extent);
  return steps;
}

bool ValueWriter::adds_many(const Expr& reduction, const std::vector<Loop>& loops) const {
  return reduction.fold == Fold::Sum && reduction.compute == Compute::Float && most_steps(loops) > 2 * kBlock;
}

std::string ValueWriter::ends_block(const std::vector<Loop>& loops) {
  const std::string& step = variables_.at(loops.back().variable);
  return fmt::format("{0} % {1} == {1} - 1 || {0} == {2} - 1", step, block_length(), end_of(loops.back()));
}

const std::string& ValueWriter::block_length() {
  return constant("block", kBlock, "numbers that are added up before their sum is added to that of others");
}

void ValueWriter::write_same_reductions_in(ExprId id, const std::set<VariableId>& variables, std::set<ExprId>& met) {
  if (!met.insert(id).second) return;
  const Expr& expr = exprs_.at(id);
  if (expr.kind == Kind::Guard) {
    write_same_reductions_in(expr.parts[0], variables, met);  // the others are looked at where it holds
    return;
  }
  if (expr.kind == Kind::Reduce && !moves_with(id, variables)) {
    value(id);
    return;
  }
  exprs_.for_each_part(id, [&](ExprId part) { write_same_reductions_in(part, variables, met); });
}

std::vector<Loop> ValueWriter::loops_of(const Expr& reduction) const {
  if (is_row(kernel_, reduction.variables)) return kernel_.row;
  std::vector<Loop> loops;
  for (const VariableId variable : reduction.variables) loops.push_back({variable, indices_.extent(variable)});
  return loops;
}

void ValueWriter::open_loops(const std::vector<Loop>& loops) {
  for (const Loop& one : loops)
    open(
        fmt::format("for (int64_t {0} = {1}; {0} < {2}; ++{0})", variables_[one.variable], begin_of(one), end_of(one)));
}

}  // namespace passnet::author
