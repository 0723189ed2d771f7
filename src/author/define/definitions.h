// Defines the values of a graph, operator by operator in its order.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "author/define/arguments.h"
#include "author/define/in_tiles.h"
#include "author/define/promotion.h"
#include "author/define/tensors.h"
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

class Definitions {
 public:
  /// subject: its graph's pool may grow; must outlive this.
  explicit Definitions(Subject& subject, ProductOptions products = {});
  Definitions(const Definitions&) = delete;
  Definitions& operator=(const Definitions&) = delete;

  /// Makes a value that the plan is given. Errors: Unsupported: it is no tensor, or of a dtype that no kernel takes.
  Result<void> input(ir::NodeId id);
  /// Defines what the node gives. Its inputs have been defined. Errors: Unsupported, with why.
  Result<void> node(ir::NodeId id);

  /// Decides where a value lies that is stored: as PyTorch has it. Errors: Unsupported: with holes, or otherwise in each graph.
  Result<void> lay_out(TensorId id);
  /// Without gaps, the last dimension fastest: of a value that only kernels look at.
  void lay_out_in_order(TensorId id);

  /// Makes a value that is to be stored lie where an input of the pass lies, which it replaces. Errors: Unsupported: they have
  /// different shapes.
  Result<void> overwrite(TensorId value, TensorId input);

  /// Makes a value that is to be stored lie where another such value lies, in graphs where both have one type.
  void share(TensorId value, TensorId with) { tensors_[value].shares = with; }

  /// Returns the node's value now, after all that overwrites it.
  std::optional<TensorId> tensor_of(ir::NodeId id) const { return tensor_of_[id]; }
  /// Returns the tensor that input() made.
  std::optional<TensorId> given(ir::NodeId id) const { return given_[id]; }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  const std::vector<Element>& elements() const { return elements_; }
  SizeTable& sizes() { return sizes_; }
  ExprTable& exprs() { return exprs_; }
  const ExprTable& exprs() const { return exprs_; }

 private:
  using Place = std::vector<IndexId>;
  using At = std::function<ExprId(Scope&, const Place&)>;

  // numbers.cpp
  /// A whole number that a call is given: written out, or an input of the pattern, which is another one in each graph.
  struct Number {
    ByExample values;
    std::string text = {};  // of an input of the pattern: what it is in the plan
    bool is_literal() const { return text.empty(); }
    bool is(int64_t value) const { return is_literal() && values[0] == value; }
    bool is_negative() const { return values[0] < 0; }
  };
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
  struct Taken {
    IndexId start = 0;
    SizeId count = 0;
  };
  Result<Taken> taken_by(const ir::Arg& start, const ir::Arg& end, int64_t step, SizeId length);

  // definitions.cpp
  void lay_out_by_order(Tensor& tensor);
  Result<ElementId> element_of(const std::vector<ir::DType>& by_example);
  Result<Tensor> result_of(const std::string& name, const std::vector<ValueType>& types);
  Result<Tensor> result_of(ir::NodeId id);
  Result<void> define(ir::NodeId id, Tensor tensor, std::vector<TensorId> takes, int work, At at);
  TensorId add(Tensor tensor);
  /// A value that PyTorch does not store, of that shape: a mean, a scale.
  TensorId hidden(const std::string& name, std::vector<SizeId> shape, std::vector<TensorId> takes, int work, At at);
  Result<TensorId> tensor(const ir::Arg& arg) const;
  std::optional<TensorId> optional_tensor(const ir::Arg& arg) const;
  /// An operand of an operator: an element of a tensor at a place of the result, or a number.
  struct Operand {
    std::optional<TensorId> tensor;
    ExprId number = 0;
    std::optional<ElementId> cast = {};  // whose values it is converted to
    RoundsOn cast_on = RoundsOn::Both;
  };
  Result<Operand> operand(const ir::Arg& arg, Compute compute);
  ExprId operand_at(Scope& scope, const Operand& operand, const Place& place, Compute compute) const;
  /// The place in a tensor that is broadcast to where `place` lies.
  Place broadcast(Scope& scope, TensorId tensor, const Place& place) const;
  Result<SizeId> size_of(const std::vector<ValueType>& types, size_t dim) const;

  Result<void> define_call(ir::NodeId id);
  Result<void> define_by_elements(ir::NodeId id, const Arguments& call, std::string_view name);

  // calls.cpp
  /// why: no kernel computes it. Errors: Unsupported: PyTorch is not called for it either.
  Result<void> called(ir::NodeId id, const Arguments& call, std::string_view name, const std::string& why);
  Result<std::vector<TensorId>> operands_of(ir::NodeId id, const std::vector<ir::NodeId>& but) const;
  /// To lie elsewhere, or otherwise.
  Tensor same_elements(TensorId of, const std::string& name) const;
  /// The same elements with the channels of each place beside each other, to be stored for a call.
  TensorId with_channels_last(TensorId picture);
  std::vector<SizeId> called_shape(ir::NodeId id, const Arguments& call, std::string_view name,
                                   const std::string& made);

  // pointwise.cpp
  Promotes promotes(const ir::Arg& arg, size_t example) const;
  std::vector<ir::DType> promoted_types(const Arguments& call, std::string_view parameters) const;
  Result<void> cast(Operand& operand, const std::vector<ir::DType>& to, RoundsOn where);
  Result<void> broadcast_to(std::vector<SizeId>& result, const std::vector<TensorId>& operands);
  Result<bool> pointwise(ir::NodeId id, const Arguments& call, std::string_view name);
  Result<void> outer_product(ir::NodeId id, const Arguments& call);

  // definitions.cpp
  Result<void> batch_norm(ir::NodeId id, const Arguments& call);
  Result<void> glu(ir::NodeId id, const Arguments& call);
  Result<void> prelu(ir::NodeId id, const Arguments& call);

  Result<bool> view(ir::NodeId id, const Arguments& call, std::string_view name);
  /// loops: empty: those of its operand, where it has its dimensions.
  Result<void> define_view(ir::NodeId id, TensorId of, std::function<Place(Scope&, const Place&)> place,
                           std::vector<SizeId> loops = {});
  std::vector<SizeId> loops_of_reshape(TensorId of, const std::vector<SizeId>& to);
  std::vector<SizeId> loops_in_order(TensorId of, const std::vector<int64_t>& order) const;
  Result<void> reshape(ir::NodeId id, TensorId of, const Arguments& call, std::string_view name);
  Result<void> index(ir::NodeId id, const Arguments& call);
  /// The origin of the index of a dimension of the operand.
  struct From {
    std::optional<size_t> dim;  // of the result; none: it is `start`
    IndexId start = 0;
    SizeId step = 0, count = 0;
  };
  struct Indexed {
    std::vector<From> from;  // by dimension of the operand
    size_t rank = 0;         // of the result
  };
  Result<Indexed> indexed_by(const ir::Arg& arg, const std::vector<SizeId>& shape);
  Result<void> mesh(ir::NodeId id, const Arguments& call, size_t at);
  Result<void> part(ir::NodeId id, ir::NodeId whole, const Arguments& call);
  Result<void> cut_part(ir::NodeId id, TensorId x, const ir::Arg& sections, int64_t dim, int64_t at);
  Result<void> roll(ir::NodeId id, const Arguments& call);
  Result<void> slice(ir::NodeId id, TensorId of, int64_t dim, IndexId start);
  Result<void> equal_part(ir::NodeId id, TensorId of, int64_t dim, SizeId each, int64_t at);

  Result<bool> fold(ir::NodeId id, const Arguments& call, std::string_view name);
  /// Returns the shape of a reduction over these dimensions; keep: they stay, with one element.
  std::vector<SizeId> shape_without(TensorId of, const std::vector<int64_t>& dims, bool keep);
  Result<void> reduction(ir::NodeId id, const Arguments& call, std::string_view name);
  TensorId folded(const std::string& name, TensorId of, const std::vector<int64_t>& dims, Fold fold, int work,
                  std::function<ExprId(Scope&, ExprId element, const Place&)> value, SumOrder order = SumOrder::Any);
  /// Makes a value of each element of a fold, once for each: a mean of a sum.
  TensorId made_of(TensorId fold, const std::string& name, std::function<ExprId(Scope&, ExprId element)> value);
  /// Make the mean and the scale of a norm, from the sum of so many elements, and from the squares of their distances
  /// from the mean.
  TensorId mean_of(TensorId sum, const std::string& norm, ExprId elements);
  /// variance: of the squares ($0) of so many elements ($1).
  TensorId scale_of(TensorId squares, const std::string& norm, ExprId elements, ExprId eps,
                    const std::string& variance = "$0 / $1");
  ExprId count(const std::vector<SizeId>& extents, Compute compute);
  Result<void> softmax(ir::NodeId id, const Arguments& call, std::string_view name);
  Result<void> log_sum_exp(ir::NodeId id, const Arguments& call);
  Result<void> layer_norm(ir::NodeId id, const Arguments& call, bool rms);
  Result<void> group_norm(ir::NodeId id, const Arguments& call);
  Result<void> instance_norm(ir::NodeId id, const Arguments& call);
  Result<void> norm_of_groups(ir::NodeId id, const Arguments& call, SizeId groups, SizeId in_group, RoundsOn stores_on);
  Result<void> running_sum(ir::NodeId id, const Arguments& call);
  Result<void> normalize(ir::NodeId id, const Arguments& call);
  Result<void> adaptive_mean(ir::NodeId id, const Arguments& call);

  Result<bool> choice(ir::NodeId id, const Arguments& call, std::string_view name);
  Result<void> triangle(ir::NodeId id, const Arguments& call, bool upper);
  Result<void> one_hot(ir::NodeId id, const Arguments& call);
  Result<void> overwritten_part(ir::NodeId id, const Arguments& call);
  Result<void> overwritten_where(ir::NodeId id, TensorId x, TensorId mask, const ir::Arg& value);
  Result<void> best(ir::NodeId id, const Arguments& call, bool largest, bool where);

  Result<bool> contraction(ir::NodeId id, const Arguments& call, std::string_view name);
  Result<void> matrix_product(ir::NodeId id, const Arguments& call, std::string_view other);
  Result<void> linear(ir::NodeId id, const Arguments& call);
  Result<void> einsum(ir::NodeId id, const Arguments& call);
  /// The operands of a convolution, with as many dimensions each, and its result without a shape.
  struct Convolved {
    TensorId x = 0, weight = 0;
    Tensor result;
  };
  Result<Convolved> convolved(ir::NodeId id, const Arguments& call);
  Result<void> convolution(ir::NodeId id, const Arguments& call);
  Result<void> transposed_convolution(ir::NodeId id, const Arguments& call);
  /// The weight of a convolution with the channels of each block beside each other: filters, blocks, windows, channels.
  TensorId weight_in_blocks(TensorId weight, SizeId blocks);
  /// A tensor with a letter for each of its dimensions, as in an einsum.
  struct Lettered {
    TensorId tensor = 0;
    std::vector<int> letters;
  };
  Result<void> contracted(ir::NodeId id, const Lettered& a, const Lettered& b, const std::vector<int>& letters,
                          std::optional<TensorId> bias);
  /// A sum of so many products, which no result is, and the bias.
  Result<void> define_sum(ir::NodeId id, Tensor result, std::vector<TensorId> takes, std::optional<TensorId> bias,
                          size_t dim, int64_t products, At at);
  Result<void> define_with_bias(ir::NodeId id, Tensor result, TensorId sum, std::optional<TensorId> bias, size_t dim);
  /// A result whose own definition is the sum, and the bias: so it is the result that is stored, where one is.
  Result<void> define_in_tiles(ir::NodeId id, Tensor result, std::vector<TensorId> takes, std::optional<TensorId> bias,
                               size_t dim, At sum);

  // attention.cpp
  struct Attention {
    TensorId query = 0, key = 0, value = 0;
    std::optional<TensorId> mask = {};
    SizeId keys = 0, length = 0;  // length: elements of a query
    bool is_causal = false;
    ExprId scale = 0;
  };
  Result<Attention> attention_of(const Arguments& call);
  TensorId scores_of(const std::string& name, const Attention& of);
  Result<void> attention(ir::NodeId id, const Arguments& call);

  Result<bool> creation(ir::NodeId id, const Arguments& call, std::string_view name);
  Result<Tensor> sized_result(ir::NodeId id, std::initializer_list<ir::Arg> sizes);
  Result<void> filled(ir::NodeId id, const ir::Arg& number, const ir::Arg& size);
  Result<void> range(ir::NodeId id, const Arguments& call);
  Result<void> linspace(ir::NodeId id, const Arguments& call);
  Result<void> repeat(ir::NodeId id, const Arguments& call, std::string_view parameter);
  Result<void> repeat_interleave(ir::NodeId id, const Arguments& call);

  Result<bool> window(ir::NodeId id, const Arguments& call, std::string_view name);
  Result<void> pool(ir::NodeId id, const Arguments& call, bool largest);
  Result<SizeId> pooled_size(ir::NodeId id, size_t dim, SizeId length, int64_t reach, int64_t step, int64_t padding);
  SizeId window_count(SizeId length, SizeId window, SizeId step, SizeId padding, SizeId spread);
  Result<void> windows_along(ir::NodeId id, const Arguments& call);
  Result<void> windows_as_columns(ir::NodeId id, const Arguments& call);
  /// A picture of that shape made one of another. steps: by dimension, as steps_of_picture() has them.
  struct Resized {
    std::vector<SizeId> from, to;
    std::vector<std::optional<double>> steps;
    bool nearest = false, corners = false;
    bool stays(size_t dim) const { return to[dim] == from[dim] && !steps[dim]; }
  };
  Result<std::vector<std::optional<double>>> steps_of_picture(const Arguments& call, size_t rank) const;
  Result<void> interpolate(ir::NodeId id, const Arguments& call);
  Result<bool> means_by_rows(const std::vector<SizeId>& shape, ElementId stored);
  Result<void> interpolate_linearly(ir::NodeId id, TensorId x, Tensor result, const Resized& of);
  static ExprId between_places(Scope& scope, IndexId at, const Resized& of, size_t dim);

  Result<bool> gather(ir::NodeId id, const Arguments& call, std::string_view name);
  Result<void> concatenate(ir::NodeId id, const Arguments& call, bool stack);
  Result<void> pad(ir::NodeId id, const Arguments& call);
  /// Padding by elements of the tensor: the place in it, of that length, that `at` stands for, which may lie outside.
  IndexId folded_back(Scope& scope, IndexId at, SizeId length, std::string_view mode);
  Result<void> look_up(ir::NodeId id, TensorId table, TensorId index, int64_t dim);

  Subject& subject_;
  ir::Graph& graph_;
  ProductOptions products_;
  SizeTable sizes_;
  IndexTable indices_;
  ExprTable exprs_;
  std::vector<Element> elements_;
  std::vector<Tensor> tensors_;
  std::vector<std::optional<TensorId>> tensor_of_, given_;      // by node id
  std::map<std::vector<ir::DType>, std::string> dtype_inputs_;  // text of the plan
  std::map<TensorId, TensorId> channels_last_;                  // what with_channels_last() made
};

}  // namespace passnet::author
