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

// clang-format off
/// Each definition and the canonical names (ir/ops/table.h) that it defines, separated by blanks. UNARY: a UnaryOperator.
#define PASSNET_AUTHOR_OPERATORS(UNARY, OTHER) \
  OTHER(getitem, "getitem") \
  OTHER(several, "chunk split tensor_split unbind meshgrid") \
  UNARY(same, "detach data pos contiguous clone") \
  UNARY(dropout, "dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout") \
  UNARY(conversion, "to type_as") \
  UNARY(reshape, "view reshape unflatten") \
  UNARY(reshape_alike, "view_as reshape_as squeeze unsqueeze") \
  UNARY(flatten, "flatten ravel") \
  UNARY(expand, "expand expand_as broadcast_to") \
  UNARY(permute, "permute") \
  UNARY(transpose, "transpose") \
  UNARY(matrix_transpose, "mT") \
  UNARY(reversed_dimensions, "t T") \
  UNARY(movedim, "movedim") \
  UNARY(roll, "roll") \
  UNARY(flip, "flip") \
  UNARY(narrow, "narrow") \
  UNARY(select, "select") \
  UNARY(prelu, "prelu") \
  UNARY(glu, "glu") \
  UNARY(sum, "sum") \
  UNARY(mean, "mean") \
  UNARY(extreme, "amax amin") \
  UNARY(max_or_min, "max min") \
  UNARY(any_or_all, "any all") \
  UNARY(variance, "var std") \
  UNARY(vector_norm, "norm linalg_vector_norm") \
  UNARY(argmax_or_argmin, "argmax argmin") \
  UNARY(log_sum_exp, "logsumexp") \
  UNARY(cumsum, "cumsum") \
  UNARY(softmax, "softmax log_softmax softmin") \
  UNARY(batch_norm, "batch_norm") \
  UNARY(layer_norm, "layer_norm rms_norm") \
  UNARY(group_norm, "group_norm") \
  UNARY(instance_norm, "instance_norm") \
  UNARY(normalize, "normalize") \
  UNARY(adaptive_mean, "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d") \
  OTHER(concatenate, "cat stack") \
  UNARY(pad, "pad") \
  UNARY(embedding, "embedding") \
  UNARY(index_select, "index_select") \
  UNARY(triangle, "triu tril") \
  UNARY(one_hot, "one_hot") \
  UNARY(setitem, "setitem") \
  UNARY(matrix_product, "matmul bmm") \
  UNARY(linear, "linear") \
  OTHER(einsum, "einsum") \
  OTHER(outer_product, "outer") \
  OTHER(convolution, "conv1d conv2d conv3d") \
  OTHER(transposed_convolution, "conv_transpose1d conv_transpose2d conv_transpose3d") \
  OTHER(attention, "scaled_dot_product_attention") \
  OTHER(zeros, "zeros zeros_like new_zeros") \
  OTHER(ones, "ones ones_like new_ones") \
  OTHER(full, "full full_like new_full") \
  OTHER(of_number, "tensor scalar_tensor") \
  OTHER(arange, "arange") \
  OTHER(linspace, "linspace") \
  UNARY(repeat, "repeat tile") \
  UNARY(repeat_interleave, "repeat_interleave") \
  UNARY(pool, "avg_pool1d avg_pool2d avg_pool3d max_pool1d max_pool2d max_pool3d") \
  UNARY(windows_along, "unfold_windows") \
  UNARY(windows_as_columns, "unfold") \
  UNARY(interpolate, "interpolate")
// clang-format on

namespace op {

Operator pointwise;  // of all rows of pointwise_rows.h
#define PASSNET_DECLARE_UNARY(define, names) UnaryOperator define;
#define PASSNET_DECLARE_OTHER(define, names) Operator define;
PASSNET_AUTHOR_OPERATORS(PASSNET_DECLARE_UNARY, PASSNET_DECLARE_OTHER)
#undef PASSNET_DECLARE_UNARY
#undef PASSNET_DECLARE_OTHER

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
