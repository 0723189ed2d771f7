// The one grammar in which signatures are written here, of operators (table_rows.h), of Python functions that become
// operators (runtime/lower) and of the functions of host plans (pass/plan), and the one way to give the arguments of a
// call to parameters.
//
//   signature   parameters separated by commas, as in Python; after `*` alone, and after a variadic one, only keywords
//   parameter   [*~!]name[@call_name][?][:kind][%role][=default]
//     *name     takes the remaining positional arguments as one tuple
//     ~name     is accepted and ignored
//     !name     cannot be given; it has its default
//     @         the keyword in this spelling, where that differs from the canonical name
//     ?         may be left out, and then has no value
//     kind, role  as table_rows.h lists them
//     default   None, True, False, an int, a float, 'text', a tuple of those, torch.float32, torch.contiguous_format
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace passnet::ir {

/// What an argument is made of, where that decides which spellings are the same.
enum class ParameterKind : uint8_t {
  Any,    // as written; [1, 2] and (1, 2) are the same
  Float,  // PyTorch takes a float: 1 and 1.0 are the same
  Ints,   // a list of ints: 3 and (3,) are the same; with a fixed length n, 3 and (3, …, 3), and () is None
  Index,  // as written; a list and a tuple are different (x[[0, 1]] and x[0, 1])
};

/// What an argument says about shapes. The first ones are sizes, which follow from the shapes of other values.
enum class Role : uint8_t {
  View,     // the sizes of a result with as many elements as the first operand
  Expand,   // the sizes of a result that the first operand is broadcast to
  Repeat,   // how often the first operand stands in the result, per axis
  Create,   // the sizes of a new tensor
  Range,    // the end of a range
  Slice,    // bounds along an axis of the first operand
  Split,    // the sizes of pieces along an axis of the first operand
  Number,   // a number that integers are compared or computed with
  Bound,    // as Number; of a picture's coordinates, too
  Strides,  // of memory: they follow from sizes
  Padding,  // amounts before and after each axis, the last axis first
  Window,   // the sizes of what is taken together
  Step,     // how far a window moves; None: as far as it is large
  Mask,     // broadcast to attention scores
  Table,    // its rows are looked up by the first operand
  Batch,    // the size of the batch that is mapped over
  None,
};

/// A Python literal of a signature; `elements` holds the items of a tuple.
struct Literal {
  Arg value;
  std::vector<Arg> elements;
};

/// Which literal arguments fit; picks among the rows of one spelling.
enum class Fit : uint8_t { Anything, Tensor, Int, DType, Device, None };

/// One parameter of a signature. Texts are views into the signature.
struct Slot {
  static constexpr uint16_t kIgnored = 0xffff;
  std::string_view name;       // canonical
  std::string_view call_name;  // the keyword in this spelling
  std::string_view default_text;
  uint16_t canonical = 0;  // index of the operator's canonical parameter, or kIgnored
  Fit fit = Fit::Anything;
  ParameterKind kind = ParameterKind::Any;
  uint8_t length = 0;  // Ints: fixed length, 0 when any
  Role role = Role::None;
  bool required = true;
  bool variadic = false;
  bool keyword_only = false;
  bool fixed = false;  // cannot be given; has its default
  Literal value;       // default or fixed value
};

/// REQUIRES: `text` is a signature (it is part of the program) and outlives the slots.
std::vector<Slot> parse_signature(std::string_view text);

/// Splits what stands between the parentheses of a call or a tuple at its own commas, and trims.
std::vector<std::string_view> split_arguments(std::string_view text);
/// A literal of the grammar. REQUIRES: `text` is one, and outlives it.
Literal parse_literal(std::string_view text);

/// Why the arguments of a call fit no signature.
struct Misfit {
  enum class Reason : uint8_t {
    TooMany,  // positional arguments; `place` is the first that is left over
    Unknown,  // keyword number `place`
    Twice,    // the parameter `place` is given
    Missing,  // the parameter `place`, which is required
  } reason;
  size_t place;
};

/// Which parameter each argument of a call is given to.
struct Assignment {
  std::vector<uint16_t> slots;  // of the positional arguments, then of the keywords
  std::optional<Misfit> misfit;
};

/// Returns: the parameter that a keyword may mean where none has its name: NumPy's names, which PyTorch takes too, the
///          `self` of schemas, and what Python's functions call otherwise than the operators below them; empty: none.
std::string_view other_keyword(std::string_view keyword);

/// keywords: of the call, in order. alias: another name to look for where no parameter has a keyword's, or nothing.
Assignment bind_arguments(std::span<const Slot> signature, size_t positional,
                          std::span<const std::string_view> keywords,
                          std::string_view (*alias)(std::string_view) = nullptr);

}  // namespace passnet::ir
