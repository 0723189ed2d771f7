// The values of a graph that are defined so far, and the ways to define another: all that a definition of an operator has.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "author/define/arguments.h"
#include "author/define/tensors.h"
#include "author/define/ways.h"
#include "author/subject/subject.h"
#include "base/result.h"

namespace passnet::author {

Compute compute_of(ir::DType dtype);
/// Returns a dimension's usual name by rank.
const char* dimension_name(size_t rank, size_t dim);

/// How products, convolutions and attention are computed: by kernels where these are short, and otherwise?
struct ProductOptions {
  InTiles tiles = InTiles::None;           // by kernels too, in tiles, those without attention
  bool calls = false;                      // by calls of PyTorch, what no kernel computes
  bool all_are_calls = false;              // so are those that one could compute
  std::set<ir::NodeId> without_bias = {};  // called convolutions whose bias a kernel adds
  std::set<ir::NodeId> measured = {};      // called convolutions whose algorithm is found by measuring
  /// Called convolutions that take pictures whose channels lie beside each other, and give such.
  std::set<ir::NodeId> channels_last = {};
};

/// A whole number that a call is given: written out, or an input of the pattern, which is another one in each graph.
struct Number {
  ByExample values;
  std::string text = {};  // of an input of the pattern: what it is in the plan
  bool is_literal() const { return text.empty(); }
  bool is(int64_t value) const { return is_literal() && values[0] == value; }
  bool is_negative() const { return values[0] < 0; }
};

/// An operand of an operator: an element of a tensor at a place of the result, or a number.
struct Operand {
  std::optional<TensorId> tensor = {};
  ExprId number = 0;
  std::optional<ElementId> cast = {};  // whose values it is converted to
  RoundsOn cast_on = RoundsOn::Both;
};

/// All errors: Unsupported, with why.
struct Context {
  explicit Context(Subject& subject, ProductOptions products);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // ---- arguments

  Result<TensorId> tensor(const ir::Arg& arg) const;
  std::optional<TensorId> optional_tensor(const ir::Arg& arg) const;
  Result<Operand> operand(const ir::Arg& arg, Compute compute);
  Result<Number> number(const ir::Arg& arg) const;
  /// One of them, or as many as a tuple has.
  Result<std::vector<Number>> numbers(const ir::Arg& arg) const;
  /// One for each of so many dimensions, or one for all.
  Result<std::vector<Number>> numbers_for(const ir::Arg& arg, size_t dimensions) const;
  /// Without its sign.
  SizeId magnitude(const Number& number);
  /// The same, and the number is the size of something.
  SizeId as_size(const Number& number);
  /// Lets all sizes be known that the argument has: numbers that are not negative.
  void know_sizes(const ir::Arg& arg);
  /// Returns the index of a place that is counted from the beginning, or from the end where it is negative.
  IndexId counted(const Number& at, SizeId length);
  /// The part of a dimension that a slice takes: its begin and its length.
  struct Cut {
    IndexId start = 0;
    SizeId count = 0;
  };
  Result<Cut> cut_by(const ir::Arg& start, const ir::Arg& end, int64_t step, SizeId length);

  // ---- results

  Result<ElementId> element_of(const std::vector<ir::DType>& by_example);
  const Element& element(TensorId id) const { return elements[tensors[id].element]; }
  int64_t rank(TensorId id) const { return static_cast<int64_t>(tensors[id].shape.size()); }
  Result<SizeId> size_of(const std::vector<ValueType>& types, size_t dim) const;
  /// The result of a node, without a shape.
  Result<Tensor> result_of(ir::NodeId id);
  /// The same, of real numbers that are computed as floats. what: "pooling".
  Result<Tensor> float_result_of(ir::NodeId id, std::string_view what);
  /// Defines the result of a node, from result_of(). at: an element of it, before it is rounded as PyTorch stores it.
  Result<void> define(Tensor tensor, std::vector<TensorId> takes, int work, At at);
  /// Defines elements of `of` in other places. loops: empty: those of its operand, where it has its dimensions.
  Result<void> define_view(ir::NodeId id, TensorId of, std::function<Place(Scope&, const Place&)> place,
                           std::vector<SizeId> loops = {});
  TensorId add(Tensor tensor);
  /// A value that PyTorch does not store, of that shape: a mean, a scale.
  TensorId hidden(const std::string& name, std::vector<SizeId> shape, std::vector<TensorId> takes, int work, At at);
  /// Decides where a value lies that is stored: as PyTorch has it.
  Result<void> lay_out(TensorId id);
  /// Without gaps, the last dimension fastest: of a value that only kernels look at.
  void lay_out_in_order(TensorId id);

  // ---- elements

  ExprId operand_at(Scope& scope, const Operand& operand, const Place& place, Compute compute) const;
  /// The place in a tensor that is broadcast to where `place` lies.
  Place broadcast(Scope& scope, TensorId tensor, const Place& place) const;

  Subject& subject;
  ir::Graph& graph;
  ProductOptions products;
  SizeTable sizes;
  IndexTable indices;
  ExprTable exprs;
  std::vector<Element> elements;
  std::vector<Tensor> tensors;
  std::vector<std::optional<TensorId>> tensor_of, given;       // by node id
  std::map<std::vector<ir::DType>, std::string> dtype_inputs;  // text of the plan
  std::map<TensorId, TensorId> channels_last;                  // copies of pictures for calls
};

}  // namespace passnet::author
