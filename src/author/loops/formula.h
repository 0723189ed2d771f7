// Formulas: what an operation computes of its operands, as one C++ expression. They are written as such: choose(A > 0, A, A * B).
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace passnet::author {

/// The target that a kernel is written for.
enum class Target : uint8_t { Cpu, Cuda };

// All operations, once; names, texts and ways to write them follow from these lists.
// clang-format off
// Rows are NAME(operation, how it is written, text). Choose gives the second operand where the first holds, else the third. Unsigned,
// Signed: whole numbers as unsigned ones, whose sums wrap, and back. Wrapped: to an element type of whole numbers, and back.
// resolved() replaces two marks: Stored, as PyTorch stores a value between two operators; MaybeNan, whether an operand is NaN,
// beside Or.
#define PASSNET_OPERATIONS(NAME)                                                                                        \
  NAME(Operand, Atom, ) NAME(Whole, Atom, ) NAME(Real, Atom, )                                                          \
  NAME(Choose, Atom, select) NAME(Negate, Prefix, -)                                                                    \
  NAME(Unsigned, Call, uint64_t) NAME(Signed, Call, int64_t) NAME(Wrapped, Call, )                                      \
  NAME(Stored, Atom, ) NAME(MaybeNan, Atom, )
#define PASSNET_BINARY_OPERATORS(NAME)                                                                                  \
  NAME(Add, Sum, +) NAME(Subtract, Sum, -) NAME(Multiply, Product, *) NAME(Divide, Product, /)                          \
  NAME(Less, Comparison, <) NAME(LessEqual, Comparison, <=) NAME(Greater, Comparison, >)                                \
  NAME(GreaterEqual, Comparison, >=) NAME(Equal, Comparison, ==) NAME(NotEqual, Comparison, !=)                         \
  NAME(And, Bits, &) NAME(Or, Bits, |) NAME(Xor, Bits, ^)
// Functions as NAME(operation, text), by kind: of passnet's headers for kernels, the same of an element type, and of the C
// library, which take no vectors. Each has a name in namespace formula.
#define PASSNET_KERNEL_FUNCTIONS(NAME)                                                                                  \
  NAME(Abs, abs) NAME(Exp, exp) NAME(Expm1, expm1) NAME(Log, log) NAME(Log1p, log1p) NAME(Sqrt, sqrt) NAME(Rsqrt, rsqrt) \
  NAME(Sin, sin) NAME(Cos, cos) NAME(Tanh, tanh) NAME(Erf, erf) NAME(Sigmoid, sigmoid) NAME(Silu, silu)                 \
  NAME(Softplus, softplus) NAME(GeluTanh, gelu_tanh) NAME(Hardswish, hardswish) NAME(Hardsigmoid, hardsigmoid)          \
  NAME(FloorRemainder, floor_remainder) NAME(Fma, fma) NAME(RoundedProduct, multiply)                                   \
  NAME(BatchNormalized, batch_normalized)
#define PASSNET_TYPED_FUNCTIONS(NAME)                                                                                   \
  NAME(FloorDivide, floor_divide) NAME(RootByPow, root_by_pow) NAME(Gelu, gelu) NAME(Rounded, rounded)                  \
  NAME(InstanceVariance, instance_variance) NAME(ReluBeforeRounding, relu_before_rounding)
#define PASSNET_LIBRARY_FUNCTIONS(NAME)                                                                                 \
  NAME(Exp2, exp2) NAME(Log2, log2) NAME(Log10, log10) NAME(Tan, tan) NAME(Asin, asin) NAME(Acos, acos) NAME(Atan, atan) \
  NAME(Atan2, atan2) NAME(Sinh, sinh) NAME(Cosh, cosh) NAME(Erfc, erfc) NAME(Floor, floor) NAME(Ceil, ceil)             \
  NAME(Trunc, trunc) NAME(Rint, rint) NAME(Pow, pow)
// clang-format on
#define PASSNET_OP(name, ...) name,
#define PASSNET_FUNCTION(name, text) inline constexpr Function text{Op::name};

enum class Op : uint8_t {
  PASSNET_OPERATIONS(PASSNET_OP) PASSNET_BINARY_OPERATORS(PASSNET_OP) PASSNET_KERNEL_FUNCTIONS(PASSNET_OP)
      PASSNET_TYPED_FUNCTIONS(PASSNET_OP) PASSNET_LIBRARY_FUNCTIONS(PASSNET_OP)
};

class Formula {
 public:
  /// of: the number of an operand; a whole number; the bits of a real one; an element type.
  struct Step {
    Op op = Op::Whole;
    int64_t of = 0;
    size_t operands = 0;
    auto operator<=>(const Step&) const = default;
  };
  /// The element type that is float in any case.
  static constexpr int64_t kFloat = -1;
  /// Gives the name of an element type in a kernel.
  using TypeName = std::function<std::string(int64_t type)>;

  Formula() = default;
  Formula(Op op, int64_t of, const std::vector<Formula>& operands = {});

  bool is_empty() const { return steps_.empty(); }
  const std::vector<Step>& steps() const { return steps_; }
  /// The operation whose result it is.
  Op root() const { return steps_.back().op; }
  /// Tells whether it is one of its operands.
  bool is_operand() const { return steps_.size() == 1 && root() == Op::Operand; }
  bool has(Op op) const;
  /// One more than the largest number of an operand.
  size_t operand_count() const;
  /// Tells whether it has what takes a processor many cycles.
  bool divides_or_calls() const;
  /// Tells whether it has functions of the C library, which take no vectors.
  bool is_by_lane() const;

  /// Computes with whole numbers as unsigned ones: sums, differences and products wrap.
  Formula wrapping() const;
  /// Replaces the marks, and gives functions their type. type: of the result's elements; stored_by: Rounded, Wrapped, or Stored,
  /// where these are what they are computed in.
  Formula resolved(int64_t type, Op stored_by, const std::vector<bool>& may_be_nan) const;
  /// operands: the text of each. vectors: of a CPU's vectors, not of numbers.
  std::string text(const std::vector<std::string>& operands, const TypeName& type_name, Target target,
                   bool vectors = false) const;

  auto operator<=>(const Formula&) const = default;

 private:
  std::vector<Step> steps_;  // operations in the order of their results, each after its operands
};

/// The way to write formulas.
namespace formula {

struct Term : Formula {
  Term(const Formula& formula) : Formula(formula) {}  // NOLINT: numbers and formulas stand in formulas
  Term(int whole) : Formula(Op::Whole, whole) {}      // NOLINT
  Term(int64_t whole) : Formula(Op::Whole, whole) {}  // NOLINT
  Term(double real) : Formula(Op::Real, std::bit_cast<int64_t>(real)) {}  // NOLINT
};

#define PASSNET_BINARY(op, form, symbol) \
  inline Term operator symbol(const Term& x, const Term& y) { return Formula(Op::op, 0, {x, y}); }
PASSNET_BINARY_OPERATORS(PASSNET_BINARY)
inline Term operator-(const Term& x) { return Formula(Op::Negate, 0, {x}); }

/// A function of formulas: exp(A - B).
struct Function {
  Op op;
  template <class... Terms>
  Term operator()(const Terms&... terms) const {
    return Formula(op, 0, {Term(terms)...});
  }
};

// The operands in their order.
inline const Term A = Formula(Op::Operand, 0), B = Formula(Op::Operand, 1), C = Formula(Op::Operand, 2),
                  D = Formula(Op::Operand, 3), E = Formula(Op::Operand, 4);

inline constexpr Function choose{Op::Choose}, stored{Op::Stored}, maybe_nan{Op::MaybeNan}, as_unsigned{Op::Unsigned},
    as_signed{Op::Signed};
PASSNET_KERNEL_FUNCTIONS(PASSNET_FUNCTION)
PASSNET_TYPED_FUNCTIONS(PASSNET_FUNCTION)
PASSNET_LIBRARY_FUNCTIONS(PASSNET_FUNCTION)

}  // namespace formula
}  // namespace passnet::author
