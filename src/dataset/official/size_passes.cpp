#include "dataset/official/size_passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text/strings.h"
#include "dataset/official/size_pass.h"
#include "ir/copy.h"

namespace passnet::dataset::official {

using ir::Arg;
using ir::NodeId;

namespace {

using P = SizePass;
// clang-format off
const P::Rule kSizePasses[] = {
    {"naive_call_method_view_pass", true, &P::is_view, &P::sizes_from_operand, &P::is_view},
    {"naive_call_method_reshape_pass", true, &P::is_reshape, &P::sizes_from_operand, &P::is_reshape},
    {"naive_call_method_expand_pass", true, &P::is_expand, &P::sizes_at_their_place, &P::is_expand},
    {"batch_call_method_view_pass", true, &P::is_view_of_batch, &P::batch_from_operand, &P::is_view_of_batch},
    {"batch_call_method_expand_pass", true, &P::is_expand_of_one, &P::batch_first, &P::is_expand_of_one, true},
    {"batch_call_method_reshape_pass", true, &P::is_reshape_to_one, &P::batch_first_in_tuple, &P::is_reshape_to_one, true},
    {"batch_call_method_zeros_pass", true, &P::is_new_tensor, &P::batch_of_new_tensor, &P::is_new_tensor_of_size, true},
    {"batch_dim_restore_view_pass", true, &P::is_view_without_batch, &P::batch_before, &P::is_view_without_batch, true},
    {"tuple_arg_call_method_view_pass", true, &P::is_view_to_tuple, &P::sizes_in_tuple_from_operand, &P::is_view_to_tuple},
    {"non_batch_call_method_expand_pass", false, &P::is_expand_to_size, &P::sizes_from_latest, &P::is_expand_to_size},
    {"non_batch_call_method_view_pass", false, &P::is_view_to_numbers, &P::all_sizes_from_operand, &P::is_view_to_numbers},
    {"non_batch_call_function_arange_pass", false, &P::is_range, &P::sizes_from_latest, &P::is_range},
    {"non_batch_call_function_arange_plus_one_pass", false, &P::is_longer_range_beside_triangle, &P::longer_size_from_latest, &P::is_longer_range},
    {"non_batch_call_function_full_pass", false, &P::is_full, &P::sizes_in_tuple_from_latest, &P::is_full},
    {"non_batch_call_function_full_plus_one_pass", false, &P::is_full_for_triangle, &P::longer_sizes_in_tuple_from_latest, &P::is_full_for_triangle},
    {"non_batch_call_function_zeros_pass", false, &P::is_zeros, &P::sizes_in_tuple_from_latest, &P::is_zeros},
    {"non_batch_call_function_getitem_slice_pass", false, &P::is_slice_of_size, &P::bounds_from_latest, &P::is_slice_of_size},
};
// clang-format on

Result<const P::Rule*> find_size_pass(const std::string& name) {
  const auto* found = std::ranges::find(kSizePasses, name, &P::Rule::name);
  if (found != std::end(kSizePasses)) return found;
  std::vector<std::string_view> known;
  for (const P::Rule& rule : kSizePasses) known.push_back(rule.name);
  const std::string_view nearest = nearest_name(name, known);
  return unsupported(fmt::format("graph_net.json names the unknown pass {}", quoted(name)))
      .with_hint(nearest.empty() ? "" : fmt::format("did you mean {}?", quoted(nearest)));
}

}  // namespace

std::vector<ChangingSize> changing_sizes(const graphdir::Constraints& constraints) {
  std::vector<ChangingSize> sizes;
  for (size_t k = 0; k < constraints.symbols.size(); ++k) {
    ChangingSize& size = sizes.emplace_back(ChangingSize{constraints.examples[k], {}});
    for (const graphdir::Constraints::Input& input : constraints.inputs) {
      for (size_t axis = 0; axis < input.shape.size(); ++axis) {
        const graphdir::ShapeExpression& one = input.shape[axis];
        if (one.kind == graphdir::ShapeExpression::Kind::Symbol && one.value == static_cast<int64_t>(k))
          size.axes.push_back(axis);
      }
    }
  }
  return sizes;
}

Result<SizedGraph> apply_size_passes(const ir::Graph& graph, const ir::Values& types,
                                     std::span<const std::string> passes, std::span<const ChangingSize> sizes) {
  PassState state{{graph, std::vector<bool>(graph.size()), false}, {}, std::vector<bool>(graph.size())};
  for (NodeId id = 0; id < graph.size(); ++id) {
    const ir::TensorType* type = ir::tensor_type(types, id);
    state.shapes.push_back(type == nullptr ? std::nullopt : std::optional(type->shape));
  }
  for (const std::string& name : passes) {
    PASSNET_TRY(const P::Rule* const rule, find_size_pass(name));
    for (const ChangingSize& size : sizes) {
      if (!SizePass(state, size).is_needed(*rule)) continue;
      state.fresh.assign(state.fresh.size(), false);
      Result<PassState> next = SizePass(state, size).run(*rule);
      if (!next) return std::move(next).error().with_note(fmt::format("in {} for the size {}", name, size.captured));
      state = std::move(*next);
    }
  }
  return std::move(state.sized);
}

NumberedGraph with_numbers(const SizedGraph& sized, const ir::Values& values) {
  NumberedGraph numbered;
  numbered.graph.file = sized.graph.file;
  ir::GraphCopy copying(sized.graph, numbered.graph);
  std::vector<std::string> why(sized.graph.size());  // by size: it has no number
  for (NodeId id = 0; id < sized.graph.size(); ++id) {
    if (!sized.is_size[id]) {
      copying.copy(id);
      std::string& unknown = numbered.unknown.emplace_back();
      for_each_input(sized.graph, sized.graph.node(id), [&](NodeId input) {
        if (unknown.empty()) unknown = why[input];
      });
    } else if (const int64_t* number = std::get_if<int64_t>(&values[id].is)) {
      copying.stand_for(id, Arg::of_int(*number));
    } else if (const double* real = std::get_if<double>(&values[id].is)) {
      copying.stand_for(id, Arg::of_float(*real));
    } else {
      const ir::Value::Unknown* unknown = values[id].unknown();
      why[id] = unknown != nullptr ? first_line(unknown->why) : "a size is no number";
    }
  }
  return numbered;
}

}  // namespace passnet::dataset::official
