// Python's operators as data: how each is written, how tightly it binds, and its function in Python's
// `operator` module.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace passnet::fx {

enum class OperatorForm : uint8_t { Binary, Compare, Unary, InPlace, GetItem, SetItem };

struct OperatorRow {
  std::string_view target;    // of ir::NodeKind::Operator
  std::string_view function;  // operator.FUNCTION; also the base of names made for such nodes
  OperatorForm form;
  uint8_t precedence;  // binary and comparison: a higher one binds tighter
};

inline constexpr uint8_t kComparePrecedence = 1;
inline constexpr uint8_t kPowerPrecedence = 9;

inline constexpr std::array kOperators = {
    OperatorRow{"+", "add", OperatorForm::Binary, 6},
    OperatorRow{"*", "mul", OperatorForm::Binary, 7},
    OperatorRow{"-", "sub", OperatorForm::Binary, 6},
    OperatorRow{"/", "truediv", OperatorForm::Binary, 7},
    OperatorRow{"//", "floordiv", OperatorForm::Binary, 7},
    OperatorRow{"%", "mod", OperatorForm::Binary, 7},
    OperatorRow{"@", "matmul", OperatorForm::Binary, 7},
    OperatorRow{"**", "pow", OperatorForm::Binary, kPowerPrecedence},
    OperatorRow{"<<", "lshift", OperatorForm::Binary, 5},
    OperatorRow{">>", "rshift", OperatorForm::Binary, 5},
    OperatorRow{"&", "and_", OperatorForm::Binary, 4},
    OperatorRow{"^", "xor", OperatorForm::Binary, 3},
    OperatorRow{"|", "or_", OperatorForm::Binary, 2},
    OperatorRow{"==", "eq", OperatorForm::Compare, kComparePrecedence},
    OperatorRow{"!=", "ne", OperatorForm::Compare, kComparePrecedence},
    OperatorRow{"<", "lt", OperatorForm::Compare, kComparePrecedence},
    OperatorRow{"<=", "le", OperatorForm::Compare, kComparePrecedence},
    OperatorRow{">", "gt", OperatorForm::Compare, kComparePrecedence},
    OperatorRow{">=", "ge", OperatorForm::Compare, kComparePrecedence},
    OperatorRow{"neg", "neg", OperatorForm::Unary, 8},
    OperatorRow{"pos", "pos", OperatorForm::Unary, 8},
    OperatorRow{"invert", "invert", OperatorForm::Unary, 8},
    OperatorRow{"+=", "iadd", OperatorForm::InPlace, 0},
    OperatorRow{"*=", "imul", OperatorForm::InPlace, 0},
    OperatorRow{"-=", "isub", OperatorForm::InPlace, 0},
    OperatorRow{"/=", "itruediv", OperatorForm::InPlace, 0},
    OperatorRow{"//=", "ifloordiv", OperatorForm::InPlace, 0},
    OperatorRow{"%=", "imod", OperatorForm::InPlace, 0},
    OperatorRow{"@=", "imatmul", OperatorForm::InPlace, 0},
    OperatorRow{"**=", "ipow", OperatorForm::InPlace, 0},
    OperatorRow{"<<=", "ilshift", OperatorForm::InPlace, 0},
    OperatorRow{">>=", "irshift", OperatorForm::InPlace, 0},
    OperatorRow{"&=", "iand", OperatorForm::InPlace, 0},
    OperatorRow{"^=", "ixor", OperatorForm::InPlace, 0},
    OperatorRow{"|=", "ior", OperatorForm::InPlace, 0},
    OperatorRow{"getitem", "getitem", OperatorForm::GetItem, 0},
    OperatorRow{"setitem", "setitem", OperatorForm::SetItem, 0},
};

/// The row of a node's target, or null.
const OperatorRow* find_operator(std::string_view target);
/// The row of a function of Python's `operator` module, or null.
const OperatorRow* find_operator_function(std::string_view function);
/// The binary or comparison operator (in_place: the in-place one) that the text at `at` begins with, or null.
/// `at` must be followed by a NUL byte.
const OperatorRow* operator_at(const char* at, bool in_place);
/// The text at `at` begins with the operator "**".
inline bool is_power_at(const char* at) { return at[0] == '*' && at[1] == '*' && at[2] != '='; }

}  // namespace passnet::fx
