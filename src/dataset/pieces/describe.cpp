#include "dataset/pieces/describe.h"

#include <algorithm>

namespace passnet::dataset {

namespace {

const graphdir::TensorMeta* find_record(const graphdir::GraphDir& whole, std::string_view argument) {
  for (const auto* list : {&whole.weights, &whole.inputs}) {
    const auto found = std::find_if(list->begin(), list->end(),
                                    [&](const graphdir::TensorMeta& meta) { return meta.name == argument; });
    if (found != list->end()) return &*found;
  }
  return nullptr;
}

Result<graphdir::TensorMeta> describe_value(const ir::Value& value) {
  const ir::TensorType* type = value.tensor();
  if (type == nullptr) return unsupported("an input is no tensor");
  graphdir::TensorMeta meta;
  meta.shape = type->shape;
  meta.dtype = type->dtype;
  meta.device = "cpu";
  meta.has_mean = meta.has_std = true;
  const ir::Statistics statistics = value.statistics.value_or(ir::Statistics{});
  if (ir::is_floating(type->dtype)) {
    meta.mean = statistics.mean.value_or(0.0);
    meta.stddev = statistics.stddev.value_or(1.0);
    meta.float_data = statistics.float_data;
    return meta;
  }
  if (!value.statistics) return unsupported("an input's values are not known");
  meta.int_data = statistics.integer_data;
  if (!meta.int_data && statistics.min) {
    meta.min_value = static_cast<double>(*statistics.min);
    meta.max_value = static_cast<double>(statistics.max.value_or(*statistics.min));
  }
  return meta;
}

}  // namespace

std::vector<std::string> computed_inputs(const analysis::Piece& piece, const ir::Graph& whole) {
  std::vector<std::string> names;
  for (const ir::NodeId input : piece.inputs) {
    const ir::Node& node = whole.node(input);
    if (node.kind != ir::NodeKind::Placeholder) names.emplace_back(node.name);
  }
  return names;
}

Result<std::vector<graphdir::TensorMeta>> describe_inputs(const analysis::Piece& piece, const graphdir::GraphDir& whole,
                                                          const ir::Values& values) {
  std::vector<graphdir::TensorMeta> metas;
  for (size_t i = 0; i < piece.inputs.size(); ++i) {
    const ir::Node& node = whole.graph.node(piece.inputs[i]);
    const std::string original(node.kind == ir::NodeKind::Placeholder ? node.target : node.name);
    graphdir::TensorMeta meta;
    const graphdir::TensorMeta* recorded =
        node.kind == ir::NodeKind::Placeholder ? find_record(whole, node.target) : nullptr;
    if (recorded != nullptr) {
      meta = *recorded;
    } else {
      PASSNET_TRY(meta, describe_value(values.at(piece.inputs[i])));
    }
    meta.class_name = "Program_weight_tensor_meta_" + original;
    meta.original_name = original;
    meta.name = std::string(piece.graph.node(static_cast<ir::NodeId>(i)).target);
    metas.push_back(std::move(meta));
  }
  return metas;
}

}  // namespace passnet::dataset
