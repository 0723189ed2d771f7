// Operators as definitions: each defines the result of a call by elements of its operands.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "author/define/context.h"

namespace passnet::author {

/// Defines what the call gives. Errors: Unsupported: no kernel can be written for it.
using Operator = Result<void>(Context&, const Arguments&);
/// x: the tensor that parameter `input` is.
using UnaryOperator = Result<void>(Context&, const Arguments&, TensorId x);

/// Defines it by the operator's row of the table of operators, or of that of element-wise operators.
Result<void> define_operator(Context& c, const Arguments& call);
/// Names of all operators with a definition, as ir/ops has them.
std::vector<std::string_view> defined_operators();
/// Lets PyTorch compute it. why: no kernel does. Errors: Unsupported: PyTorch is not called for it either.
Result<void> called(Context& c, const Arguments& call, const std::string& why);

namespace op {

UnaryOperator prelu, glu, same, dropout, conversion, reshape, reshape_alike, flatten, expand, permute, transpose,
    matrix_transpose, reversed_dimensions, movedim, flip, roll, narrow, select, sum, mean, extreme, max_or_min,
    any_or_all, vector_norm, variance, cumsum, log_sum_exp, argmax_or_argmin, softmax, layer_norm, group_norm,
    instance_norm, normalize, adaptive_mean, batch_norm, triangle, one_hot, setitem, pad, embedding, index_select,
    matrix_product, linear, repeat, repeat_interleave, pool, windows_along, windows_as_columns, interpolate;
Operator pointwise, outer_product, several, getitem, concatenate, einsum, convolution, transposed_convolution,
    attention, zeros, ones, full, of_number, arange, linspace;

// ---- what several of them are made of

/// Gives what is folded of an element of a row, and the place of the fold.
using FoldedPart = std::function<ExprId(Scope&, ExprId element, const Place& row)>;
/// Defines a fold over dimensions of a tensor. part: none: the elements themselves.
TensorId folded(Context& c, const std::string& name, TensorId of, const std::vector<int64_t>& dims, Fold fold, int work,
                FoldedPart part = {}, SumOrder order = SumOrder::Any);
/// Makes a value of each element of a fold, once for each: a mean of a sum.
TensorId made_of(Context& c, TensorId fold, const std::string& name,
                 std::function<ExprId(Scope&, ExprId element)> value);
/// Returns the product of the extents as a number.
ExprId count(Context& c, const std::vector<SizeId>& extents, Compute compute);
/// Returns the place in what is reduced over these dimensions, of one in a result that keeps them.
Place place_without(const Place& place, const std::vector<int64_t>& dims);
/// Returns the shape of a reduction over these dimensions; keep: they stay, with one element.
std::vector<SizeId> shape_without(Context& c, TensorId of, const std::vector<int64_t>& dims, bool keep);
/// Defines the largest or smallest elements along a dimension, or where each of them is first. id: of the node that gives them.
Result<void> best(Context& c, ir::NodeId id, const Arguments& call, TensorId x, bool largest, bool where);
/// Defines rows of a table in the order of an index.
Result<void> look_up(Context& c, ir::NodeId id, TensorId table, TensorId index, int64_t dim);

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
Result<Indexed> indexed_by(Context& c, const ir::Arg& arg, const std::vector<SizeId>& shape);

/// Returns the number of windows along a dimension. spread: places between neighbours in a window.
SizeId window_count(Context& c, SizeId length, SizeId window, SizeId step, SizeId padding, SizeId spread);
/// Makes the result of a node, with a shape that is the same in all graphs, or that an input tells.
Result<Tensor> sized_result(Context& c, ir::NodeId id, const ir::Arg& size);
/// Makes a copy of a tensor, to lie elsewhere or otherwise.
Tensor same_elements(const Context& c, TensorId of, const std::string& name);

}  // namespace op
}  // namespace passnet::author
