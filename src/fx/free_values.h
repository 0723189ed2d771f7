// Values of names that stand outside a function: constants of a pass file that its pattern uses.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "ir/dtype.h"

namespace passnet::fx {

/// None, a number, a text, a dtype, or a tuple or list of such. Library: a dotted name, as "torch.relu".
struct FreeValue {
  std::variant<std::monostate, bool, int64_t, double, std::string, ir::DType> is;
  std::vector<FreeValue> elements = {};
  enum class Kind : uint8_t { Scalar, Tuple, List, Library } kind = Kind::Scalar;
};

using FreeValues = std::map<std::string, FreeValue>;

}  // namespace passnet::fx
