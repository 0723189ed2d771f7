#include "graphdir/inputs/meta_json.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/json/json_object.h"

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
  static void visit(auto& field, auto& it) {
    field("class", it.class_name);
    PASSNET_FIELDS(name)
    PASSNET_FIELDS_IF_SET(original_name)
    PASSNET_FIELDS(shape, dtype)
    PASSNET_FIELDS_IF_SET(device, has_mean, mean, has_std)
    field.if_set("std", it.stddev);
    PASSNET_FIELDS_IF_SET(int_data, float_data)
    field.if_set("min_val", it.min_value);
    field.if_set("max_val", it.max_value);
    PASSNET_FIELDS_IF_SET(redraw, at)
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
