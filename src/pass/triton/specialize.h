// From an argument of a launch to what its kernel is compiled for, by Triton's own rules: which arguments become types,
// which constants, and what is known of them.
#pragma once

#include <string>
#include <variant>

#include "base/result.h"
#include "ir/dtype.h"
#include "pass/triton/request.h"

namespace passnet::pass {

/// A parameter as a @triton.jit function declares it.
struct TritonDeclaration {
  std::string name;
  std::string annotation = {};       // as written: "tl.constexpr", "tl.int32", "int", "\"*fp32\""; empty: none
  bool specialize = true;            // false: named in do_not_specialize
  bool specialize_alignment = true;  // false: named in do_not_specialize_on_alignment
};

struct TritonPointer {
  ir::DType dtype = ir::DType::Float32;
  bool divisible_by_16 = false;  // its address, in every launch
};
/// monostate: None.
using TritonArgument = std::variant<std::monostate, bool, int64_t, double, std::string, ir::DType, TritonPointer>;

/// "fp16", "i64", "u1" of bool: a dtype in Triton's spelling. Errors: BadPass for complex numbers.
Result<std::string> triton_type(ir::DType dtype);

/// Source: Triton 3.6's create_function_from_signature (runtime/jit.py) and what it calls. An integer 1 is a constant,
/// integers are "i32" where they fit, else "i64", every float is "fp32"; annotations say otherwise.
/// Errors: BadPass, without a place, naming the parameter: a string, a dtype or a tensor where Triton takes none.
Result<TritonParameter> specialize(const TritonDeclaration& parameter, const TritonArgument& argument);

}  // namespace passnet::pass
