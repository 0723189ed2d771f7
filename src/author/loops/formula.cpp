#include "author/loops/formula.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace passnet::author {

namespace {

/// How an operation is written: what binds least comes first.
enum class Writing : uint8_t { Bits, Comparison, Sum, Product, Prefix, Atom, Call, TypedCall, LibraryCall };

struct OpRow {
  Writing form = Writing::Atom;
  std::string_view text;
};

#define PASSNET_ROW(name, form, text) {Writing::form, #text},
#define PASSNET_CALL(name, text) {Writing::Call, #text},
#define PASSNET_TYPED_CALL(name, text) {Writing::TypedCall, #text},
#define PASSNET_LIBRARY_CALL(name, text) {Writing::LibraryCall, #text},

constexpr OpRow kOps[] = {PASSNET_OPERATIONS(PASSNET_ROW) PASSNET_BINARY_OPERATORS(PASSNET_ROW)
                              PASSNET_KERNEL_FUNCTIONS(PASSNET_CALL) PASSNET_TYPED_FUNCTIONS(PASSNET_TYPED_CALL)
                                  PASSNET_LIBRARY_FUNCTIONS(PASSNET_LIBRARY_CALL)};

const OpRow& row_of(Op op) { return kOps[static_cast<size_t>(op)]; }

/// A part of a formula, and how it is written.
struct Printed {
  std::string text;
  Writing form = Writing::Atom;
};

std::string real_text(int64_t bits) {
  std::string text = fmt::format("{}", std::bit_cast<double>(bits));
  return text + (text.find('.') == std::string::npos ? ".0f" : "f");
}

/// right: the second of two operands, which are taken from the left to the right.
std::string operand_text(const Printed& operand, Writing of, bool right) {
  const bool is_apart = of == Writing::Bits || of == Writing::Comparison || of == Writing::Prefix || right
                            ? operand.form <= of
                            : operand.form < of;
  const bool in_bits = of == Writing::Bits && operand.form < Writing::Prefix;
  return is_apart || in_bits ? "(" + operand.text + ")" : operand.text;
}

}  // namespace

Formula::Formula(Op op, int64_t of, const std::vector<Formula>& operands) {
  for (const Formula& one : operands) steps_.insert(steps_.end(), one.steps_.begin(), one.steps_.end());
  steps_.push_back({op, of, operands.size()});
}

bool Formula::has(Op op) const { return std::ranges::find(steps_, op, &Step::op) != steps_.end(); }

size_t Formula::operand_count() const {
  size_t count = 0;
  for (const Step& step : steps_)
    if (step.op == Op::Operand) count = std::max(count, static_cast<size_t>(step.of) + 1);
  return count;
}

bool Formula::divides_or_calls() const {
  return std::ranges::any_of(
      steps_, [](const Step& step) { return step.op == Op::Divide || row_of(step.op).form >= Writing::Call; });
}

bool Formula::is_by_lane() const {
  return std::ranges::any_of(steps_, [](const Step& step) { return row_of(step.op).form == Writing::LibraryCall; });
}

Formula Formula::wrapping() const {
  Formula made;
  for (const Step& step : steps_) {
    made.steps_.push_back(step);
    if (step.op == Op::Operand) made.steps_.push_back({Op::Unsigned, 0, 1});
  }
  made.steps_.push_back({Op::Signed, 0, 1});
  return made;
}

Formula Formula::resolved(int64_t type, Op stored_by, const std::vector<bool>& may_be_nan) const {
  Formula made;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    if (step.op == Op::MaybeNan) {
      const Step operand = made.steps_.back();
      if (may_be_nan[static_cast<size_t>(operand.of)]) {
        made.steps_.push_back(operand);
        made.steps_.push_back({Op::NotEqual, 0, 2});
      } else {
        made.steps_.pop_back();
        ++i;  // Or
      }
    } else if (step.op != Op::Stored) {
      made.steps_.push_back(row_of(step.op).form == Writing::TypedCall ? Step{step.op, type, step.operands} : step);
    } else if (stored_by != Op::Stored) {
      made.steps_.push_back({stored_by, type, 1});
    }
  }
  return made;
}

std::string Formula::text(const std::vector<std::string>& operands, const TypeName& type_name, Target target,
                          bool vectors) const {
  std::vector<Printed> printed;
  for (const Step& step : steps_) {
    const OpRow& row = row_of(step.op);
    const std::vector<Printed> parts(printed.end() - static_cast<ptrdiff_t>(step.operands), printed.end());
    printed.resize(printed.size() - step.operands);
    std::vector<std::string> texts;
    for (const Printed& part : parts) texts.push_back(part.text);
    const auto call = [&](const std::string& name) { return fmt::format("{}({})", name, fmt::join(texts, ", ")); };
    std::string made;
    if (row.form <= Writing::Product)
      made = fmt::format("{} {} {}", operand_text(parts[0], row.form, false), row.text,
                         operand_text(parts[1], row.form, true));
    else if (row.form == Writing::Prefix)
      made = "-" + operand_text(parts[0], row.form, false);
    else if (step.op == Op::Operand)
      made = operands[static_cast<size_t>(step.of)];
    else if (step.op == Op::Whole)
      made = fmt::format("{}", step.of);
    else if (step.op == Op::Real)
      made = real_text(step.of);
    else if (step.op == Op::Choose)
      made = vectors ? call("select") : fmt::format("({} ? {} : {})", texts[0], texts[1], texts[2]);
    else if (step.op == Op::Wrapped)
      made = fmt::format("int64_t({})", call(type_name(step.of)));
    else if (row.form == Writing::TypedCall)
      made = call(fmt::format("{}<{}>", row.text, type_name(step.of)));
    else if (row.form == Writing::LibraryCall)
      made = call(fmt::format("{}{}f", target == Target::Cpu ? "__builtin_" : "::", row.text));
    else
      made = call(std::string(row.text));
    printed.push_back({std::move(made), std::min(row.form, Writing::Atom)});
  }
  return printed.back().text;
}

}  // namespace passnet::author
