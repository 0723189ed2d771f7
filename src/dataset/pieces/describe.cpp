#include "dataset/pieces/describe.h"

#include <algorithm>
#include <nlohmann/json.hpp>

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

Result<graphdir::TensorMeta> describe_value(const Json& value) {
  if (!value.contains("shape")) return unsupported("an input is no tensor");
  graphdir::TensorMeta meta;
  meta.shape = value.at("shape").get<std::vector<int64_t>>();
  const auto dtype = ir::parse_dtype(value.at("dtype").get<std::string>());
  if (!dtype) return unsupported("an input is of an element type without a record");
  meta.dtype = *dtype;
  meta.device = "cpu";
  meta.has_mean = meta.has_std = true;
  const Json statistics = value.value("statistics", Json::object());
  if (ir::is_floating(*dtype)) {
    meta.mean = statistics.value("mean", 0.0);
    meta.stddev = statistics.value("std", 1.0);
    if (statistics.contains("data")) meta.float_data = statistics.at("data").get<std::vector<double>>();
    return meta;
  }
  if (!value.contains("statistics")) return unsupported("an input's values are not known");
  if (statistics.contains("data")) {
    meta.int_data = statistics.at("data").get<std::vector<int64_t>>();
  } else if (statistics.contains("min")) {
    meta.min_value = statistics.at("min").get<double>();
    meta.max_value = statistics.at("max").get<double>();
  }
  return meta;
}

}  // namespace

Result<std::vector<graphdir::TensorMeta>> describe_inputs(const analysis::Piece& piece, const graphdir::GraphDir& whole,
                                                          const Json& values) {
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
      PASSNET_TRY(meta, describe_value(values.value(std::string(node.name), Json::object())));
    }
    meta.class_name = "Program_weight_tensor_meta_" + original;
    meta.original_name = original;
    meta.name = std::string(piece.graph.node(static_cast<ir::NodeId>(i)).target);
    metas.push_back(std::move(meta));
  }
  return metas;
}

}  // namespace passnet::dataset
