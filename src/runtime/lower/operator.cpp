// Python's operators on tensors, numbers and sequences, as torch.Tensor and Python define them.
#include <fmt/format.h>

#include "base/json/python_number.h"
#include "runtime/lower/lower.h"

namespace passnet::runtime {

namespace {

struct OperatorRow {
  std::string_view op;
  std::string_view forward;    // aten operator for tensor OP anything
  std::string_view reflected;  // for number OP tensor, called (tensor, number); empty: (number, tensor) with `forward`
  std::string_view in_place;   // for tensor OP= anything; empty: Python falls back to the forward operator
};
constexpr OperatorRow kOperators[] = {
    {"+", "add", "add", "add_"},
    {"-", "sub", "rsub", "sub_"},
    {"*", "mul", "mul", "mul_"},
    {"/", "div", "", "div_"},
    {"//", "floor_divide", "", "floor_divide_"},
    {"%", "remainder", "", "remainder_"},
    {"**", "pow", "", "pow_"},
    {"@", "matmul", "", ""},
    {"&", "__and__", "__and__", "__iand__"},
    {"|", "__or__", "__or__", "__ior__"},
    {"^", "__xor__", "__xor__", "__ixor__"},
    {"<<", "__lshift__", "", "__ilshift__"},
    {">>", "__rshift__", "", "__irshift__"},
    {"==", "eq", "eq", ""},
    {"!=", "ne", "ne", ""},
    {"<", "lt", "gt", ""},
    {"<=", "le", "ge", ""},
    {">", "gt", "lt", ""},
    {">=", "ge", "le", ""},
};

const OperatorRow* find_operator(std::string_view op) {
  for (const OperatorRow& row : kOperators) {
    if (row.op == op) return &row;
  }
  return nullptr;
}

template <class Number, class Computed>
c10::IValue value_of(const Computed& result, Number a, std::string_view op, Number b) {
  if (!result) refuse(python::why_nothing(a, op, b));
  return *result;
}

c10::IValue real_power(double a, double b) { return value_of(python::power(a, b), a, "**", b); }
c10::IValue integer_power(int64_t a, int64_t b) {
  return b < 0 && a != 0 ? real_power(double(a), double(b)) : value_of(python::power(a, b), a, "**", b);
}

using IntFunction = c10::IValue (*)(int64_t, int64_t);
using RealFunction = c10::IValue (*)(double, double);
struct NumberRow {
  std::string_view op;
  IntFunction integers;
  RealFunction reals;  // null: floats do not have it
};
constexpr NumberRow kNumberOperators[] = {
    {"+", [](int64_t a, int64_t b) { return value_of(python::add(a, b), a, "+", b); },
     [](double a, double b) { return c10::IValue(a + b); }},
    {"-", [](int64_t a, int64_t b) { return value_of(python::subtract(a, b), a, "-", b); },
     [](double a, double b) { return c10::IValue(a - b); }},
    {"*", [](int64_t a, int64_t b) { return value_of(python::multiply(a, b), a, "*", b); },
     [](double a, double b) { return c10::IValue(a * b); }},
    {"/", [](int64_t a, int64_t b) { return value_of(python::divide(a, b), a, "/", b); },
     [](double a, double b) { return value_of(python::divide(a, b), a, "/", b); }},
    {"//", [](int64_t a, int64_t b) { return value_of(python::floor_divide(a, b), a, "//", b); },
     [](double a, double b) { return value_of(python::floor_divide(a, b), a, "//", b); }},
    {"%", [](int64_t a, int64_t b) { return value_of(python::modulo(a, b), a, "%", b); },
     [](double a, double b) { return value_of(python::modulo(a, b), a, "%", b); }},
    {"**", integer_power, real_power},
    {"&", [](int64_t a, int64_t b) { return c10::IValue(a & b); }, nullptr},
    {"|", [](int64_t a, int64_t b) { return c10::IValue(a | b); }, nullptr},
    {"^", [](int64_t a, int64_t b) { return c10::IValue(a ^ b); }, nullptr},
    {"<<", [](int64_t a, int64_t b) { return value_of(python::shift_left(a, b), a, "<<", b); }, nullptr},
    {">>", [](int64_t a, int64_t b) { return value_of(python::shift_right(a, b), a, ">>", b); }, nullptr},
    {"==", [](int64_t a, int64_t b) { return c10::IValue(a == b); },
     [](double a, double b) { return c10::IValue(a == b); }},
    {"!=", [](int64_t a, int64_t b) { return c10::IValue(a != b); },
     [](double a, double b) { return c10::IValue(a != b); }},
    {"<", [](int64_t a, int64_t b) { return c10::IValue(a < b); },
     [](double a, double b) { return c10::IValue(a < b); }},
    {"<=", [](int64_t a, int64_t b) { return c10::IValue(a <= b); },
     [](double a, double b) { return c10::IValue(a <= b); }},
    {">", [](int64_t a, int64_t b) { return c10::IValue(a > b); },
     [](double a, double b) { return c10::IValue(a > b); }},
    {">=", [](int64_t a, int64_t b) { return c10::IValue(a >= b); },
     [](double a, double b) { return c10::IValue(a >= b); }},
};

bool is_comparison(std::string_view op) { return op == "==" || op == "!=" || op[0] == '<' || op[0] == '>'; }

template <size_t Row>
c10::IValue number_function(std::vector<c10::IValue>& inputs) {
  const NumberRow& row = kNumberOperators[Row];
  const at::Scalar a = inputs[0].toScalar(), b = inputs[1].toScalar();
  const bool real = a.isFloatingPoint() || b.isFloatingPoint();
  if (real && row.reals != nullptr) return row.reals(a.toDouble(), b.toDouble());
  if (real) refuse(fmt::format("operator '{}' of floats", row.op));
  return row.integers(a.toLong(), b.toLong());
}

template <size_t... Row>
HostFunction number_function_at(size_t row, std::index_sequence<Row...>) {
  static constexpr HostFunction kFunctions[] = {number_function<Row>...};
  return kFunctions[row];
}

Kind number_result(std::string_view op, const Operand& a, const Operand& b) {
  if (is_comparison(op) && op != "<<" && op != ">>") return Kind::Bool;
  if (a.kind == Kind::Number || b.kind == Kind::Number) return Kind::Number;
  if (a.kind == Kind::Float || b.kind == Kind::Float || op == "/") return Kind::Float;
  return op == "**" ? Kind::Number : Kind::Int;
}

c10::IValue negate(std::vector<c10::IValue>& inputs) {
  const at::Scalar value = inputs[0].toScalar();
  if (value.isFloatingPoint()) return -value.toDouble();
  return value_of<int64_t>(python::subtract(0, value.toLong()), 0, "-", value.toLong());
}
c10::IValue invert(std::vector<c10::IValue>& inputs) { return ~inputs[0].toScalar().toLong(); }

/// Most elements of a list or tuple, nested ones included, that `+` and `*` make: far more than any operator takes.
/// Without a limit, twenty lines of `a + a` take all memory.
constexpr int64_t kMostElements = 1 << 16;

/// Throws when `count` times `elements` are more than kMostElements.
void check_length(std::string_view op, int64_t elements, int64_t count) {
  if (elements > 0 && count > kMostElements / elements)
    refuse(fmt::format("operator '{}' makes a sequence of {:.0f} elements, expected at most {}", op,
                       static_cast<double>(elements) * static_cast<double>(count), kMostElements));
}

/// Elements of a sequence, nested ones included.
int64_t count_elements(const Operand& sequence) {
  int64_t count = 0;
  for (const Operand& element : sequence.elements) count += 1 + count_elements(element);
  return count;
}

c10::IValue join_ints(std::vector<c10::IValue>& inputs) {
  std::vector<int64_t> all = inputs[0].toIntVector();
  const std::vector<int64_t> more = inputs[1].toIntVector();
  check_length("+", static_cast<int64_t>(all.size() + more.size()), 1);
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Operand sequence_operator(Builder& builder, std::string_view op, const Operand& a, const Operand& b) {
  if (op == "+" && a.is_sequence() && b.is_sequence()) {
    if (a.slot < 0 && b.slot < 0) {
      check_length(op, count_elements(a) + count_elements(b), 1);
      std::vector<Operand> all = a.elements;
      all.insert(all.end(), b.elements.begin(), b.elements.end());
      return Operand::sequence(a.kind, std::move(all));
    }
    return builder.host(join_ints, a.kind, {a, b});
  }
  if (op == "*" && a.is_sequence() && a.slot < 0) {
    // A list whose length is known only at run time is nothing an operator takes; graphs hold it as dead
    // code.
    if (b.kind != Kind::Int || b.slot >= 0) return Operand::in_slot(Kind::Opaque, -1);
    check_length(op, count_elements(a), b.value.toInt());
    std::vector<Operand> all;
    for (int64_t i = 0; i < b.value.toInt(); ++i) all.insert(all.end(), a.elements.begin(), a.elements.end());
    return Operand::sequence(a.kind, std::move(all));
  }
  refuse(fmt::format("operator '{}' does not take {}", op, describe_call({a, b}, {})));
}

Operand unary(Builder& builder, std::string_view op, const Operand& x) {
  if (x.kind == Kind::Tensor) return builder.call(op == "neg" ? "neg" : op == "pos" ? "positive" : "bitwise_not", {x});
  if (!x.is_number()) refuse(fmt::format("operator '{}' does not take {}", op, to_string(x.kind)));
  if (op == "pos") return x;
  return builder.host(op == "neg" ? negate : invert, op == "neg" && x.kind != Kind::Bool ? x.kind : Kind::Int, {x});
}

Operand reflected(Builder& builder, const OperatorRow& row, const Operand& number, const Operand& tensor) {
  if (row.op == "/") return builder.call("mul", {builder.call("reciprocal", {tensor}), number});
  if (!row.reflected.empty()) return builder.call(row.reflected, {tensor, number});
  return builder.call(row.forward, {number, tensor});
}

}  // namespace

Operand lower_number_operator(Builder& builder, std::string_view op, const std::vector<Operand>& args) {
  for (size_t row = 0; row < std::size(kNumberOperators); ++row) {
    if (kNumberOperators[row].op != op) continue;
    constexpr auto kRows = std::make_index_sequence<std::size(kNumberOperators)>{};
    Operand result = builder.host(number_function_at(row, kRows), number_result(op, args[0], args[1]), args);
    if (result.slot < 0 && result.kind == Kind::Number) result.kind = result.value.isDouble() ? Kind::Float : Kind::Int;
    return result;
  }
  refuse(fmt::format("operator '{}' does not take {}", op, describe_call(args, {})));
}

Operand lower_operator(Builder& builder, std::string_view op, const std::vector<Operand>& args) {
  if (op == "getitem") return lower_getitem(builder, args[0], args[1]);
  if (op == "setitem") return lower_setitem(builder, args[0], args[1], args[2]);
  if (args.size() == 1) return unary(builder, op, args[0]);
  const bool in_place = op.size() > 1 && op.back() == '=' && find_operator(op) == nullptr;
  const OperatorRow* row = find_operator(in_place ? op.substr(0, op.size() - 1) : op);
  if (row == nullptr) refuse(fmt::format("unknown operator '{}'", op));
  const Operand &a = args[0], &b = args[1];
  if (a.is_sequence()) return sequence_operator(builder, row->op, a, b);
  if (a.kind == Kind::Tensor) {
    if (in_place && !row->in_place.empty()) return builder.call(row->in_place, args, {}, {.method = true});
    return builder.call(row->forward, args);
  }
  if (b.kind == Kind::Tensor && a.is_number()) return reflected(builder, *row, a, b);
  if (a.is_number() && b.is_number()) return lower_number_operator(builder, row->op, args);
  return sequence_operator(builder, row->op, a, b);
}

}  // namespace passnet::runtime
