#include "graphdir/meta_json.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/json_object.h"

namespace passnet {

template <>
struct JsonForm<ir::DType> {
  static constexpr std::string_view kExpected = "a dtype such as \"float32\"";
  static Json write(ir::DType dtype) { return ir::name(dtype); }
  static bool read(const Json& json, ir::DType& out) {
    const auto dtype = json.is_string() ? ir::parse_dtype(json.get_ref<const std::string&>()) : std::nullopt;
    return dtype && (out = *dtype, true);
  }
};

namespace {
constexpr std::array<std::string_view, 3> kRedraws = {"any", "order", "none"};
}

template <>
struct JsonForm<graphdir::Redraw> {
  static constexpr std::string_view kExpected = "any, order or none";
  static Json write(graphdir::Redraw redraw) { return kRedraws.at(static_cast<size_t>(redraw)); }
  static bool read(const Json& json, graphdir::Redraw& out) {
    const auto found = std::ranges::find(kRedraws, json);
    if (found != kRedraws.end()) out = static_cast<graphdir::Redraw>(found - kRedraws.begin());
    return found != kRedraws.end();
  }
};

template <>
struct JsonFields<graphdir::TensorMeta> {
  static constexpr std::string_view kName = "record";
  static void visit(auto& field, auto& meta) {
    field("class", meta.class_name);
    field("name", meta.name);
    field.if_set("original_name", meta.original_name);
    field("shape", meta.shape);
    field("dtype", meta.dtype);
    field.if_set("device", meta.device);
    field.if_set("has_mean", meta.has_mean);
    field.if_set("mean", meta.mean);
    field.if_set("has_std", meta.has_std);
    field.if_set("std", meta.stddev);
    field.if_set("int_data", meta.int_data);
    field.if_set("float_data", meta.float_data);
    field.if_set("min_val", meta.min_value);
    field.if_set("max_val", meta.max_value);
    field.if_set("redraw", meta.redraw);
    field.if_set("at", meta.at);
  }
};

}  // namespace passnet

namespace passnet::graphdir {

Json to_json(const std::vector<TensorMeta>& records) {
  Json json = Json::array();
  for (const TensorMeta& record : records) json.push_back(to_json_object(record));
  return json;
}

Result<std::vector<TensorMeta>> records_from_json(const Json& json) {
  return from_json_list<TensorMeta>(json, "records");
}

}  // namespace passnet::graphdir
