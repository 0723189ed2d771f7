#include "author/define/operators.h"

#include <fmt/format.h>

#include <map>
#include <variant>

#include "author/define/pointwise_rows.h"
#include "base/strings.h"

namespace passnet::author {

namespace {

using Definition = std::variant<Operator*, UnaryOperator*>;

struct OperatorRow {
  std::string_view names;  // canonical (ir/ops/table.h), separated by blanks
  Definition define;
};

// clang-format off
constexpr OperatorRow kOperators[] = {
    {"getitem", &op::getitem},
    {"chunk split tensor_split unbind meshgrid", &op::several},
    {"detach data pos contiguous clone", &op::same},
    {"dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout", &op::dropout},
    {"to type_as", &op::conversion},
    {"view reshape unflatten", &op::reshape},
    {"view_as reshape_as squeeze unsqueeze", &op::reshape_alike},
    {"flatten ravel", &op::flatten},
    {"expand expand_as broadcast_to", &op::expand},
    {"permute", &op::permute},
    {"transpose", &op::transpose},
    {"mT", &op::matrix_transpose},
    {"t T", &op::reversed_dimensions},
    {"movedim", &op::movedim},
    {"roll", &op::roll},
    {"flip", &op::flip},
    {"narrow", &op::narrow},
    {"select", &op::select},
    {"prelu", &op::prelu},
    {"glu", &op::glu},
    {"sum", &op::sum},
    {"mean", &op::mean},
    {"amax amin", &op::extreme},
    {"max min", &op::max_or_min},
    {"any all", &op::any_or_all},
    {"var std", &op::variance},
    {"norm linalg_vector_norm", &op::vector_norm},
    {"argmax argmin", &op::argmax_or_argmin},
    {"logsumexp", &op::log_sum_exp},
    {"cumsum", &op::cumsum},
    {"softmax log_softmax softmin", &op::softmax},
    {"batch_norm", &op::batch_norm},
    {"layer_norm rms_norm", &op::layer_norm},
    {"group_norm", &op::group_norm},
    {"instance_norm", &op::instance_norm},
    {"normalize", &op::normalize},
    {"adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d", &op::adaptive_mean},
    {"cat stack", &op::concatenate},
    {"pad", &op::pad},
    {"embedding", &op::embedding},
    {"index_select", &op::index_select},
    {"triu tril", &op::triangle},
    {"one_hot", &op::one_hot},
    {"setitem", &op::setitem},
    {"matmul bmm", &op::matrix_product},
    {"linear", &op::linear},
    {"einsum", &op::einsum},
    {"outer", &op::outer_product},
    {"conv1d conv2d conv3d", &op::convolution},
    {"conv_transpose1d conv_transpose2d conv_transpose3d", &op::transposed_convolution},
    {"scaled_dot_product_attention", &op::attention},
    {"zeros zeros_like new_zeros", &op::zeros},
    {"ones ones_like new_ones", &op::ones},
    {"full full_like new_full", &op::full},
    {"tensor scalar_tensor", &op::of_number},
    {"arange", &op::arange},
    {"linspace", &op::linspace},
    {"repeat tile", &op::repeat},
    {"repeat_interleave", &op::repeat_interleave},
    {"avg_pool1d avg_pool2d avg_pool3d max_pool1d max_pool2d max_pool3d", &op::pool},
    {"unfold_windows", &op::windows_along},
    {"unfold", &op::windows_as_columns},
    {"interpolate", &op::interpolate},
};
// clang-format on

const std::map<std::string_view, Definition>& operators() {
  static const std::map<std::string_view, Definition> all = [] {
    std::map<std::string_view, Definition> made;
    for (const PointwiseRow& row : pointwise_rows()) made.emplace(row.name, &op::pointwise);
    for (const OperatorRow& row : kOperators) {
      for (const std::string_view name : split(row.names, ' ')) made[name] = row.define;
    }
    return made;
  }();
  return all;
}

}  // namespace

Result<void> define_operator(Context& c, const Arguments& call) {
  const auto found = operators().find(call.name());
  if (found == operators().end())
    return unsupported(fmt::format("no kernel can be written for {}", quoted(call.name())));
  if (const auto* plain = std::get_if<Operator*>(&found->second)) return (*plain)(c, call);
  PASSNET_TRY(const TensorId x, c.tensor(call.at("input")));
  return std::get<UnaryOperator*>(found->second)(c, call, x);
}

std::vector<std::string_view> defined_operators() {
  std::vector<std::string_view> names;
  for (const auto& [name, define] : operators()) names.push_back(name);
  return names;
}

}  // namespace passnet::author
