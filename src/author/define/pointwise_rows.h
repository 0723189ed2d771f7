// Element-wise operators: one row holds an operator's scalar semantics, which the texts of both targets follow.
#pragma once

#include <string_view>

#include "author/loops/expression.h"

namespace passnet::author {

/// The type that an element-wise operator computes in.
enum class Takes : uint8_t {
  Result,    // the type of its result
  Ring,      // the same, by sums, differences and products alone, which wrap where the result is a whole number
  Real,      // the same; integers only by a text of their own
  Operands,  // what its operands are promoted to; the result is a bool
};

/// How PyTorch takes a number beside elements of 16 bits.
enum class Beside : uint8_t {
  Late,       // as a float: the operator gives the same if only its result is rounded
  Cast,       // rounded to their type first
  CastOnCpu,  // the same on a CPU; as a float on a GPU
  Float,      // as a float; so does a CPU a second operand of one element, and rounds the result alone
};

/// Texts: $0, $1 … are the operands. ?(c, a, b): a where c holds, else b. #f(: f of the C library. @: the type of the
/// result's elements. {…}: rounded as PyTorch stores it, or wrapped. ~n: " | ($n != $n)" where operand n is a tensor of
/// real numbers, else nothing.
struct PointwiseRow {
  std::string_view name;       // canonical (ir/ops/table.h)
  std::string_view operands;   // canonical parameters, separated by spaces
  std::string_view condition;  // "parameter=literal parameter=literal": all must hold
  std::string_view text;       // of real numbers, and of whole ones where `whole` is empty and `takes` allows them
  int work = 1;                // about how many additions it takes as long as
  Takes takes = Takes::Result;
  Beside beside = Beside::Late;     // of comparisons: Cast
  std::string_view on_gpu = {};     // of real numbers on a GPU, where PyTorch computes otherwise there
  std::string_view whole = {};      // of whole numbers
  std::string_view truth = {};      // of conditions; empty: it takes none
  std::string_view by_number = {};  // of real numbers on a GPU, where $1 is a number: PyTorch multiplies by its inverse
};

// The first row whose condition holds counts. Sources: PyTorch's documentation of each operator, and the kernels of 2.11.
// clang-format off
inline constexpr PointwiseRow kPointwiseRows[] = {
    {"add", "input other", "alpha=1", "$0 + $1", 1, Takes::Ring, Beside::CastOnCpu, {}, {}, "$0 | $1"},
    {"add", "input other alpha", "", "$0 + $1 * $2", 1, Takes::Ring, Beside::CastOnCpu},
    {"sub", "input other", "alpha=1", "$0 - $1", 1, Takes::Ring, Beside::CastOnCpu},
    {"sub", "input other alpha", "", "$0 - $1 * $2", 1, Takes::Ring, Beside::CastOnCpu},
    {"mul", "input other", "", "$0 * $1", 1, Takes::Ring, Beside::Float, {}, {}, "$0 & $1"},
    {"div", "input other", "rounding_mode=None", "$0 / $1", 4, Takes::Result, Beside::Float},
    {"div", "input other", "rounding_mode=\"floor\"", "floor_divide<@>($0, $1)", 12, Takes::Real, Beside::Float},
    {"div", "input other", "rounding_mode=\"trunc\"", "#trunc({$0 / $1})", 8, Takes::Real, Beside::Float, {}, {}, {}, "#trunc($0 * (1.0f / $1))"},
    {"pow", "input", "exponent=2", "$0 * $0", 1, Takes::Ring},
    {"pow", "input", "exponent=2.0", "$0 * $0", 1, Takes::Ring},
    {"pow", "input", "exponent=3", "$0 * $0 * $0", 2, Takes::Ring},
    {"pow", "input", "exponent=3.0", "$0 * $0 * $0", 2, Takes::Ring},
    {"pow", "input", "exponent=0.5", "root_by_pow<@>($0)", 4, Takes::Real, Beside::Late, "sqrt($0)"},
    {"pow", "input", "exponent=-0.5", "1.0f / root_by_pow<@>($0)", 8, Takes::Real, Beside::Late, "1.0f / sqrt($0)"},
    {"pow", "input", "exponent=-1", "1.0f / $0", 4, Takes::Real},
    {"pow", "input", "exponent=-2", "1.0f / ($0 * $0)", 5, Takes::Real},
    {"pow", "input exponent", "", "#pow($0, $1)", 40, Takes::Real, Beside::CastOnCpu},
    {"remainder", "input other", "", "floor_remainder($0, $1)", 12, Takes::Real, Beside::Cast},
    {"maximum", "input other", "", "?(($0 > $1) | ($0 != $0), $0, $1)", 1, Takes::Result, Beside::Late, {}, {}, "$0 | $1"},
    {"minimum", "input other", "", "?(($0 < $1) | ($0 != $0), $0, $1)", 1, Takes::Result, Beside::Late, {}, {}, "$0 & $1"},
    {"max", "input other", "dim=None", "?(($0 > $1) | ($0 != $0), $0, $1)", 1, Takes::Result, Beside::Late, {}, {}, "$0 | $1"},
    {"min", "input other", "dim=None", "?(($0 < $1) | ($0 != $0), $0, $1)", 1, Takes::Result, Beside::Late, {}, {}, "$0 & $1"},
    {"atan2", "input other", "", "#atan2($0, $1)", 40, Takes::Real},
    {"addcmul", "input tensor1 tensor2", "value=1", "$0 + $1 * $2", 2, Takes::Ring},
    {"addcmul", "input tensor1 tensor2 value", "", "$0 + $3 * $1 * $2", 3, Takes::Ring, Beside::Float, "$0 + $3 * ($1 * $2)"},
    {"addcdiv", "input tensor1 tensor2", "value=1", "$0 + $1 / $2", 5, Takes::Real},
    {"addcdiv", "input tensor1 tensor2 value", "", "$0 + $3 * $1 / $2", 6, Takes::Real, Beside::Float, "$0 + $3 * ($1 / $2)"},
    {"lerp", "input end weight", "", "?(($2 < 0.5f) & ($2 > -0.5f), $0 + $2 * ($1 - $0), $1 - ($1 - $0) * (1.0f - $2))", 4, Takes::Result, Beside::Float},
    {"neg", "input", "", "-$0", 1, Takes::Ring},
    {"abs", "input", "", "abs($0)", 1, Takes::Real, Beside::Late, {}, "?($0 < 0, int64_t(-uint64_t($0)), $0)"},
    {"sign", "input", "", "?($0 > 0.0f, 1.0f, ?($0 < 0.0f, -1.0f, 0.0f))", 2, Takes::Real, Beside::Late, {}, "?($0 > 0, 1, ?($0 < 0, -1, 0))"},
    {"reciprocal", "input", "", "1.0f / $0", 4, Takes::Real},
    {"square", "input", "", "$0 * $0", 1, Takes::Ring},
    {"sqrt", "input", "", "sqrt($0)", 4, Takes::Real},
    {"rsqrt", "input", "", "1.0f / sqrt($0)", 8, Takes::Real},
    {"exp", "input", "", "exp($0)", 10, Takes::Real},
    {"exp2", "input", "", "#exp2($0)", 20, Takes::Real},
    {"expm1", "input", "", "expm1($0)", 12, Takes::Real},
    {"log", "input", "", "log($0)", 12, Takes::Real},
    {"log2", "input", "", "#log2($0)", 20, Takes::Real},
    {"log10", "input", "", "#log10($0)", 20, Takes::Real},
    {"log1p", "input", "", "log1p($0)", 12, Takes::Real},
    {"sin", "input", "", "sin($0)", 12, Takes::Real},
    {"cos", "input", "", "cos($0)", 12, Takes::Real},
    {"tan", "input", "", "#tan($0)", 40, Takes::Real},
    {"asin", "input", "", "#asin($0)", 40, Takes::Real},
    {"acos", "input", "", "#acos($0)", 40, Takes::Real},
    {"atan", "input", "", "#atan($0)", 40, Takes::Real},
    {"sinh", "input", "", "#sinh($0)", 40, Takes::Real},
    {"cosh", "input", "", "#cosh($0)", 40, Takes::Real},
    {"tanh", "input", "", "tanh($0)", 12, Takes::Real},
    {"erf", "input", "", "erf($0)", 12, Takes::Real},
    {"erfc", "input", "", "#erfc($0)", 40, Takes::Real},
    {"floor", "input", "", "#floor($0)", 2, Takes::Real},
    {"ceil", "input", "", "#ceil($0)", 2, Takes::Real},
    {"trunc", "input", "", "#trunc($0)", 2, Takes::Real},
    {"round", "input", "decimals=0", "#rint($0)", 2, Takes::Real},
    {"clamp", "input max", "min=None", "?($1 < $0~1, $1, $0)"},
    {"clamp", "input min", "max=None", "?($1 > $0~1, $1, $0)"},
    {"clamp", "input min max", "", "?($2 < ?($1 > $0~1, $1, $0)~2, $2, ?($1 > $0~1, $1, $0))", 2},
    {"clamp_min", "input min", "", "?($1 > $0~1, $1, $0)"},
    {"clamp_max", "input max", "", "?($1 < $0~1, $1, $0)"},
    {"eq", "input other", "", "$0 == $1", 1, Takes::Operands},
    {"ne", "input other", "", "$0 != $1", 1, Takes::Operands},
    {"lt", "input other", "", "$0 < $1", 1, Takes::Operands},
    {"le", "input other", "", "$0 <= $1", 1, Takes::Operands},
    {"gt", "input other", "", "$0 > $1", 1, Takes::Operands},
    {"ge", "input other", "", "$0 >= $1", 1, Takes::Operands},
    {"isnan", "input", "", "$0 != $0", 1, Takes::Operands},
    {"isfinite", "input", "", "$0 - $0 == $0 - $0", 1, Takes::Operands},
    {"isinf", "input", "", "($0 - $0 != $0 - $0) & ($0 == $0)", 2, Takes::Operands},
    {"where", "condition input other", "", "?($0, $1, $2)", 1, Takes::Result, Beside::Late, {}, {}, "?($0, $1, $2)"},
    {"masked_fill", "mask value input", "", "?($0, $1, $2)", 1, Takes::Result, Beside::Late, {}, {}, "?($0, $1, $2)"},
    {"relu", "input", "", kRelu},
    {"relu6", "input", "", "?($0 < 0.0f, 0.0f, ?($0 > 6.0f, 6.0f, $0))", 2, Takes::Real},
    {"silu", "input", "", "silu($0)", 14, Takes::Real},
    {"mish", "input", "", "$0 * tanh(softplus($0))", 40, Takes::Real},
    {"gelu", "input", "approximate=\"none\"", "gelu<@>($0)", 14, Takes::Real},
    {"gelu", "input", "approximate=\"tanh\"", "gelu_tanh($0)", 16, Takes::Real},
    {"hardtanh", "input min_val max_val", "", "?($0 < $1, $1, ?($0 > $2, $2, $0))", 2},
    {"hardswish", "input", "", "hardswish($0)", 4, Takes::Real},
    {"hardsigmoid", "input", "", "hardsigmoid($0)", 3, Takes::Real},
    {"leaky_relu", "input negative_slope", "", "?($0 > 0.0f, $0, $0 * $1)", 2, Takes::Real, Beside::Float},
    {"elu", "input alpha", "", "?($0 > 0.0f, $0, $1 * expm1($0))", 14, Takes::Real, Beside::Float},
    {"selu", "input", "", "1.0507009873554805f * ?($0 > 0.0f, $0, 1.6732632423543772f * expm1($0))", 15, Takes::Real},
    {"celu", "input alpha", "", "?($0 > 0.0f, $0, $1 * expm1($0 / $1))", 18, Takes::Real, Beside::Float},
    {"sigmoid", "input", "", "sigmoid($0)", 14, Takes::Real},
    {"logsigmoid", "input", "", "?($0 < 0.0f, $0, 0.0f) - log1p(exp(-abs($0)))", 26, Takes::Real},
    {"softplus", "input beta threshold", "", "softplus($0, $1, $2)", 26, Takes::Real, Beside::Float},
    {"softsign", "input", "", "$0 / ({1.0f + abs($0)})", 6, Takes::Real},
    {"tanhshrink", "input", "", "$0 - {tanh($0)}", 13, Takes::Real},
    // Rows for whole numbers; those of conditions are the logical ones.
    {"bitwise_not", "input", "", "-1 - $0"},
    {"bitwise_and", "input other", "", "$0 & $1"},
    {"bitwise_or", "input other", "", "$0 | $1"},
    {"bitwise_xor", "input other", "", "$0 ^ $1"},
    {"logical_and", "input other", "", "($0 != 0) & ($1 != 0)", 1, Takes::Operands},
    {"logical_or", "input other", "", "($0 != 0) | ($1 != 0)", 1, Takes::Operands},
    {"logical_xor", "input other", "", "(($0 != 0) & ($1 == 0)) | (($0 == 0) & ($1 != 0))", 1, Takes::Operands},
    {"logical_not", "input", "", "$0 == 0", 1, Takes::Operands},
    {"threshold", "input threshold value", "", "?($0 <= $1, $2, $0)"},
};
// clang-format on

}  // namespace passnet::author
