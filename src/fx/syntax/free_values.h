// Values of names that stand outside a function: constants of a pass file that its pattern uses.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/dtype.h"

namespace passnet::fx {

/// None, a number, a text, a dtype, or a tuple or list of such. Library: a dotted name, as "torch.relu". Items: a dict, or
/// a tuple or list with functions in it; each item is a free value of its own, under its item_name. Lambda: its text.
struct FreeValue {
  std::variant<std::monostate, bool, int64_t, double, std::string, ir::DType> is;
  std::vector<FreeValue> elements = {};
  enum class Kind : uint8_t { Scalar, Tuple, List, Library, Items, Lambda } kind = Kind::Scalar;
};

using FreeValues = std::map<std::string, FreeValue>;

/// The name of `of[key]`, which no name of a text is. A key that is a text differs from all numbers.
std::string item_name(std::string_view of, std::string_view key);
std::string item_name(std::string_view of, int64_t key);

}  // namespace passnet::fx
