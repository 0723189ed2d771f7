// The subject of a pass: one graph, or several that differ in constants, shapes and dtypes alone, as one graph.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "ir/tensor_type.h"
#include "ir/value.h"

namespace passnet::author {

/// The type of one value in one graph.
struct ValueType {
  enum class Kind : uint8_t { Unknown, Tensor, List, Constant };
  Kind kind = Kind::Unknown;
  ir::TensorType tensor;                     // Tensor
  std::vector<ValueType> list;               // List: what chunk or max(dim) gives
  ir::ArgKind constant = ir::ArgKind::None;  // Constant: what kind of one
  ir::DType dtype = ir::DType::Float32;      // Constant of kind DType
  size_t length = 0;                         // Constant of kind Tuple or List
  std::vector<int64_t> integers = {};  // Constant of kind Int: itself; Tuple or List of nothing else: its elements

  bool is_tensor() const { return kind == Kind::Tensor; }
};

/// Returns Unknown for a value that is neither a tensor nor a list.
ValueType value_type(const ir::Value& value);

/// A graph and the type of each of its values.
struct Example {
  std::string name;  // for messages
  ir::Graph graph;
  std::vector<ValueType> types;  // by node id
};

struct Subject {
  /// Placeholders of the graph, then one for each constant that differs between the examples, then the body. Names are
  /// such that they mean nothing else in a plan or a kernel.
  ir::Graph graph;
  std::vector<std::vector<ValueType>> types;  // [example][node id]
  std::set<std::string> names;                // of all nodes
  std::vector<std::string> examples;          // names of the examples it stands for
  std::vector<std::string> others;            // "NAME: why": examples of another structure, which it does not
  /// From examples of its structure whose values lie otherwise in memory, and which have passes of their own.
  bool is_apart = false;

  ir::NodeId body() const { return graph.placeholder_count(); }
  /// The types of one value in all examples.
  std::vector<ValueType> types_of(ir::NodeId id) const;
  /// Tells whether a value is a list, which it then is in all of them.
  bool is_list(ir::NodeId id) const { return types[0][id].kind == ValueType::Kind::List; }
};

/// Returns the sizes of a dimension, by example.
std::vector<int64_t> sizes_along(const std::vector<ValueType>& types, size_t dim);
/// Tells whether it is a tuple or a list.
bool is_sequence(const ir::Arg& arg);

/// The examples that have the structure of the first one, as one graph.
/// REQUIRES: examples is not empty.
Subject merge(const std::vector<Example>& examples);

}  // namespace passnet::author
