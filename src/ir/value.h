// What is known of a value without its data: a tensor's type, a number, a list of values, or why nothing is. One form
// in JSON: VALUE of docs/protocol.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "ir/tensor_type.h"

namespace passnet::ir {

/// What stands for the elements of a tensor: STATISTICS of docs/protocol.md.
struct Statistics {
  std::optional<double> mean, stddev;                // of floating types
  std::optional<int64_t> min, max;                   // of integers
  std::optional<std::vector<double>> float_data;     // all elements, of small tensors of floating types
  std::optional<std::vector<int64_t>> integer_data;  // of other small tensors; truth values as 0 and 1
  bool operator==(const Statistics&) const = default;
};

struct Value {
  using None = std::monostate;
  using List = std::vector<Value>;
  /// It depends on data that is not there.
  struct Unknown {
    std::string why;
    bool operator==(const Unknown&) const = default;
  };
  std::variant<None, TensorType, int64_t, double, bool, List, Unknown> is;
  std::optional<Statistics> statistics;  // of a tensor, where it was measured

  /// nullptr for what is no tensor.
  const TensorType* tensor() const { return std::get_if<TensorType>(&is); }
  const Unknown* unknown() const { return std::get_if<Unknown>(&is); }
  bool operator==(const Value&) const = default;
};

/// By node id. Nodes that have no value here are None; the list may also end before them.
using Values = std::vector<Value>;
/// The type of a node's value; nullptr when it is no tensor, or behind the end of `values`.
const TensorType* tensor_type(const Values& values, size_t node);

Json to_json(const Value& value);
/// Tensors without strides are contiguous; a float that is null is nan. Errors: BadInput (not of that form).
Result<Value> value_from_json(const Json& json);

/// The type for people: "float32[1, 3]", "(float32[2], int64[2])", "int", "? why".
std::string type_text(const Value& value);

}  // namespace passnet::ir
