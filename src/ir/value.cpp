#include "ir/value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/json/json_fields.h"
#include "base/text/strings.h"

namespace passnet::ir {

namespace {

// visit(key, field) for each field that statistics of such a tensor may have.
template <class Fields, class Visit>
void for_each_statistic(Fields& fields, bool floating, Visit&& visit) {
  visit("mean", fields.mean), visit("std", fields.stddev), visit("min", fields.min), visit("max", fields.max);
  floating ? visit("data", fields.float_data) : visit("data", fields.integer_data);
}

Result<Value> read_tensor(const Json& json) {
  const auto& name = json.at("dtype").get_ref<const std::string&>();
  const std::optional<DType> dtype = parse_dtype(name);
  if (!dtype) return bad_input(fmt::format("unknown dtype {}", quoted(name)));
  TensorType type = contiguous(*dtype, json.at("shape").get<std::vector<int64_t>>());
  if (json.contains("strides")) type.strides = json.at("strides").get<std::vector<int64_t>>();
  Value value{std::move(type), {}};
  if (json.contains("statistics")) {
    const Json& given = json.at("statistics");
    for_each_statistic(value.statistics.emplace(), is_floating(*dtype),
                       [&]<class T>(const char* key, std::optional<T>& field) {
                         if (given.contains(key)) field = given.at(key).get<T>();
                       });
  }
  return value;
}

// Throws Json::exception for a field of another type.
Result<Value> read_value(const Json& json) {
  if (json.contains("dtype")) return read_tensor(json);
  if (json.contains("int")) return Value{json.at("int").get<int64_t>(), {}};
  if (json.contains("float")) {
    const Json& number = json.at("float");
    const std::optional<double> read =
        number.is_null() ? std::numeric_limits<double>::quiet_NaN() : read_number(number);
    if (!read) return bad_input(fmt::format("expected a number, found {}", quoted(dump(number), 40)));
    return Value{*read, {}};
  }
  if (json.contains("bool")) return Value{json.at("bool").get<bool>(), {}};
  if (json.contains("unknown")) return Value{Value::Unknown{json.at("unknown").get<std::string>()}, {}};
  if (!json.contains("list")) return Value{};
  Value::List list;
  for (const Json& element : json.at("list").get_ref<const Json::array_t&>()) {
    PASSNET_TRY(Value value, read_value(element));
    list.push_back(std::move(value));
  }
  return Value{std::move(list), {}};
}

struct TypeText {
  std::string operator()(Value::None) const { return "none"; }
  std::string operator()(const TensorType& type) const {
    return fmt::format("{}[{}]", name(type.dtype), fmt::join(type.shape, ", "));
  }
  std::string operator()(int64_t) const { return "int"; }
  std::string operator()(double) const { return "float"; }
  std::string operator()(bool) const { return "bool"; }
  std::string operator()(const Value::List& list) const {
    std::vector<std::string> elements;
    for (const Value& element : list) elements.push_back(type_text(element));
    return fmt::format("({})", fmt::join(elements, ", "));
  }
  std::string operator()(const Value::Unknown& unknown) const { return "? " + unknown.why; }
};

struct ToJson {
  Json operator()(Value::None) const { return {{"none", true}}; }
  Json operator()(const TensorType& type) const {
    return {{"dtype", name(type.dtype)}, {"shape", type.shape}, {"strides", type.strides}};
  }
  Json operator()(int64_t value) const { return {{"int", value}}; }
  Json operator()(double value) const { return {{"float", number_json(value)}}; }
  Json operator()(bool value) const { return {{"bool", value}}; }
  Json operator()(const Value::List& list) const {
    Json elements = Json::array();
    for (const Value& element : list) elements.push_back(to_json(element));
    return {{"list", std::move(elements)}};
  }
  Json operator()(const Value::Unknown& unknown) const { return {{"unknown", unknown.why}}; }
};

}  // namespace

const TensorType* tensor_type(const Values& values, size_t node) {
  return node < values.size() ? values[node].tensor() : nullptr;
}

Json to_json(const Value& value) {
  Json json = std::visit(ToJson{}, value.is);
  if (value.statistics) {
    Json& written = json["statistics"] = Json::object();
    const bool floating = value.statistics->float_data.has_value();
    for_each_statistic(*value.statistics, floating, [&](const char* key, const auto& field) {
      if (field) written[key] = *field;
    });
  }
  return json;
}

Result<Value> value_from_json(const Json& json) {
  try {
    return read_value(json);
  } catch (const Json::exception& problem) {
    return bad_input(problem.what());
  }
}

std::string type_text(const Value& value) { return std::visit(TypeText{}, value.is); }

}  // namespace passnet::ir
