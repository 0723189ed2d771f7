#include "pass/plan/launch_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/json/json_fields.h"
#include "base/json/json_object.h"
#include "base/text/strings.h"
#include "pass/plan/tensor.h"

namespace passnet::pass {

namespace {

void add_type(Json& json, const ir::TensorType& type) {
  json["dtype"] = std::string(ir::name(type.dtype));
  json["shape"] = type.shape;
  json["strides"] = type.strides;
}

Json view_to_json(const View& view) {
  Json json = {{"buffer", view.buffer}, {"offset", view.offset}};
  add_type(json, view.type);
  return json;
}

struct ScalarToJson {
  Json operator()(const View& view) const { return view_to_json(view); }
  Json operator()(int64_t value) const { return {{"int", value}}; }
  Json operator()(double value) const { return {{"float", number_json(value)}}; }
  Json operator()(bool value) const { return {{"bool", value}}; }
  Json operator()(ir::DType value) const { return {{"dtype", std::string(ir::name(value))}}; }
  Json operator()(const std::string& value) const { return {{"string", value}}; }
  Json operator()(std::monostate) const { return {{"none", true}}; }
};

Json constants_to_json(const std::vector<NamedConstant>& constants) {
  Json list = Json::array();
  for (const NamedConstant& constant : constants) {
    Json entry = {{"name", constant.name}};
    entry.update(std::visit(ScalarToJson{}, constant.value));
    list.push_back(std::move(entry));
  }
  return list;
}

constexpr const char* kSources[] = {"beside", "triton", "builtin"};

Json launch_to_json(const Launch& launch) {
  Json args = Json::array();
  for (const LaunchArg& arg : launch.args) args.push_back(std::visit(ScalarToJson{}, arg));
  Json json = {{"kernel", launch.kernel}, {"constants", constants_to_json(launch.constants)},
               {"grid", launch.grid},     {"block", launch.block},
               {"args", std::move(args)}, {"at", to_json_object(launch.at)}};
  if (launch.origin != KernelOrigin::Beside) json["source"] = kSources[static_cast<size_t>(launch.origin)];
  if (launch.origin != KernelOrigin::Triton) return json;
  json["file"] = launch.file;
  json["parameters"] = launch.parameters;
  for (const LaunchChoice& choice : launch.choices)
    json["choices"].push_back({{"constants", constants_to_json(choice.constants)}, {"grid", choice.grid}});
  return json;
}

/// A place in the document, for messages: "launch list: launches[2].grid".
struct Node {
  const Json& json;
  std::string path;

  Error wrong(std::string_view expected) const {
    return bad_input(fmt::format("launch list: {}: found {}, expected {}", path, quoted(json.dump(), 40), expected));
  }
  bool has(const char* key) const { return json.is_object() && json.contains(key); }
  Result<Node> at(const char* key) const {
    const std::string child = path.empty() ? key : path + "." + key;
    if (!has(key)) return bad_input(fmt::format("launch list: {} is missing", child));
    return Node{json.at(key), child};
  }
};

/// Calls read(Node) for each element of the list `parent.key`. `read` returns Result<T>.
template <class Read>
auto read_list(const Node& parent, const char* key, Read&& read)
    -> Result<std::vector<typename decltype(read(parent))::value_type>> {
  PASSNET_TRY(const Node list, parent.at(key));
  if (!list.json.is_array()) return list.wrong("a list");
  std::vector<typename decltype(read(parent))::value_type> values;
  for (size_t i = 0; i < list.json.size(); ++i) {
    PASSNET_TRY(auto value, read(Node{list.json[i], fmt::format("{}[{}]", list.path, i)}));
    values.push_back(std::move(value));
  }
  return values;
}

Result<int64_t> read_int(const Node& node) {
  const bool fits = node.json.is_number_integer() &&
                    (!node.json.is_number_unsigned() ||
                     node.json.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
  if (!fits) return node.wrong("an integer");
  return node.json.get<int64_t>();
}

Result<int64_t> read_int_in(const Node& node, int64_t low, int64_t high) {
  PASSNET_TRY(const int64_t value, read_int(node));
  if (value < low || value > high) return node.wrong(fmt::format("an integer from {} to {}", low, high));
  return value;
}

Result<double> read_float(const Node& node) {
  const std::optional<double> value = read_number(node.json);
  if (!value) return node.wrong("a number, \"nan\", \"inf\" or \"-inf\"");
  return *value;
}

Result<std::string> read_string(const Node& node) {
  if (!node.json.is_string()) return node.wrong("a string");
  return node.json.get<std::string>();
}

Result<ir::DType> read_dtype(const Node& parent) {
  PASSNET_TRY(const Node node, parent.at("dtype"));
  const auto dtype = node.json.is_string() ? ir::parse_dtype(node.json.get<std::string>()) : std::nullopt;
  if (!dtype) return node.wrong("a dtype such as \"float32\"");
  return *dtype;
}

Result<ir::TensorType> read_type(const Node& node) {
  ir::TensorType type;
  PASSNET_TRY(type.dtype, read_dtype(node));
  PASSNET_TRY(type.shape, read_list(node, "shape", read_int));
  PASSNET_TRY(type.strides, read_list(node, "strides", read_int));
  if (auto checked = check_type(type); !checked) {
    return bad_input(fmt::format("launch list: {}: {}", node.path, checked.error().message));
  }
  return type;
}

Result<Buffer> read_buffer(const Node& node) {
  Buffer buffer;
  PASSNET_TRY(buffer.type, read_type(node));
  if (node.has("input")) {
    PASSNET_TRY(const Node input, node.at("input"));
    PASSNET_TRY(const int64_t index, read_int_in(input, 0, std::numeric_limits<int32_t>::max()));
    buffer.input = static_cast<int32_t>(index);
  }
  if (node.has("may_be_written")) {
    PASSNET_TRY(const Node written, node.at("may_be_written"));
    if (!written.json.is_boolean() || buffer.input < 0) return written.wrong("true or false, of an input");
    buffer.may_be_written = written.json.get<bool>();
  }
  if (node.has("fill")) {
    PASSNET_TRY(const Node fill, node.at("fill"));
    PASSNET_TRY(buffer.fill, read_float(fill));
  }
  return buffer;
}

/// Errors: a buffer that does not exist, a view that reaches outside its buffer.
Result<View> read_view(const Node& node, const std::vector<Buffer>& buffers) {
  PASSNET_TRY(const Node buffer, node.at("buffer"));
  PASSNET_TRY(const int64_t index, read_int_in(buffer, 0, static_cast<int64_t>(buffers.size()) - 1));
  PASSNET_TRY(const Node offset, node.at("offset"));
  View view;
  view.buffer = static_cast<uint32_t>(index);
  PASSNET_TRY(view.offset, read_int_in(offset, 0, int64_t{1} << 60));
  PASSNET_TRY(view.type, read_type(node));
  const int64_t end = view.offset + extent(view.type), size = extent(buffers[index].type);
  if (view.type.dtype != buffers[index].type.dtype || (extent(view.type) > 0 && end > size)) {
    return node.wrong(
        fmt::format("a view inside buffer {} of {} {} elements", index, size, ir::name(buffers[index].type.dtype)));
  }
  return view;
}

Result<LaunchArg> read_arg(const Node& node, const std::vector<Buffer>& buffers) {
  if (node.has("buffer")) {
    PASSNET_TRY(View view, read_view(node, buffers));
    return LaunchArg(std::move(view));
  }
  if (node.has("int")) {
    PASSNET_TRY(const int64_t value, read_int(Node{node.json.at("int"), node.path + ".int"}));
    return LaunchArg(value);
  }
  if (node.has("float")) {
    PASSNET_TRY(const double value, read_float(Node{node.json.at("float"), node.path + ".float"}));
    return LaunchArg(value);
  }
  if (node.has("none")) return LaunchArg(std::monostate{});
  if (!node.has("bool") || !node.json.at("bool").is_boolean()) {
    return node.wrong("a view, {\"int\": n}, {\"float\": x} or {\"bool\": b}");
  }
  return LaunchArg(node.json.at("bool").get<bool>());
}

Result<NamedConstant> read_constant(const Node& node) {
  NamedConstant constant;
  PASSNET_TRY(const Node name, node.at("name"));
  PASSNET_TRY(constant.name, read_string(name));
  if (node.has("dtype")) {
    PASSNET_TRY(constant.value, read_dtype(node));
    return constant;
  }
  if (node.has("string")) {
    PASSNET_TRY(constant.value, read_string(Node{node.json.at("string"), node.path + ".string"}));
    return constant;
  }
  PASSNET_TRY(const LaunchArg scalar, read_arg(node, {}));
  if (const auto* integer = std::get_if<int64_t>(&scalar))
    constant.value = *integer;
  else if (const auto* real = std::get_if<double>(&scalar))
    constant.value = *real;
  else if (const auto* truth = std::get_if<bool>(&scalar))
    constant.value = *truth;
  else
    constant.value = std::monostate{};
  return constant;
}

Result<SourceLoc> read_location(const Node& parent) {
  SourceLoc at;
  PASSNET_TRY(const Node node, parent.at("at"));
  PASSNET_TRY(const Node file, node.at("file"));
  PASSNET_TRY(at.file, read_string(file));
  for (const auto& [key, member] : {std::pair{"line", &at.line}, std::pair{"column", &at.column}}) {
    PASSNET_TRY(const Node number, node.at(key));
    PASSNET_TRY(const int64_t value, read_int_in(number, 0, std::numeric_limits<uint32_t>::max()));
    *member = static_cast<uint32_t>(value);
  }
  return at;
}

Result<std::vector<int64_t>> read_grid(const Node& node) {
  const auto size = [](const Node& axis) { return read_int_in(axis, 0, std::numeric_limits<int64_t>::max()); };
  PASSNET_TRY(std::vector<int64_t> grid, read_list(node, "grid", size));
  if (!grid.empty() && grid.size() <= 3) return grid;
  return Node{node.json.at("grid"), node.path + ".grid"}.wrong("1 to 3 sizes");
}

Result<Launch> read_launch(const Node& node, const std::vector<Buffer>& buffers) {
  Launch launch;
  PASSNET_TRY(const Node kernel, node.at("kernel"));
  PASSNET_TRY(launch.kernel, read_string(kernel));
  PASSNET_TRY(launch.constants, read_list(node, "constants", read_constant));
  PASSNET_TRY(launch.grid, read_grid(node));
  PASSNET_TRY(const Node block, node.at("block"));
  PASSNET_TRY(launch.block, read_int_in(block, 1, kMaxBlock));
  PASSNET_TRY(launch.args, read_list(node, "args", [&](const Node& arg) { return read_arg(arg, buffers); }));
  PASSNET_TRY(launch.at, read_location(node));
  if (node.has("source")) {
    PASSNET_TRY(const Node source, node.at("source"));
    const auto known = std::ranges::find_if(kSources, [&](const char* name) { return source.json == name; });
    if (known == std::end(kSources)) return source.wrong("\"beside\", \"triton\" or \"builtin\"");
    launch.origin = static_cast<KernelOrigin>(known - std::begin(kSources));
  }
  if (launch.origin != KernelOrigin::Triton) return launch;
  PASSNET_TRY(const Node file, node.at("file"));
  PASSNET_TRY(launch.file, read_string(file));
  PASSNET_TRY(launch.parameters, read_list(node, "parameters", read_string));
  const auto read_choice = [](const Node& choice) -> Result<LaunchChoice> {
    LaunchChoice read;
    PASSNET_TRY(read.constants, read_list(choice, "constants", read_constant));
    PASSNET_TRY(read.grid, read_grid(choice));
    return read;
  };
  if (node.has("choices")) {
    PASSNET_TRY(launch.choices, read_list(node, "choices", read_choice));
  }
  return launch;
}

}  // namespace

std::string to_text(const std::vector<NamedConstant>& constants) {
  std::string text;
  for (const NamedConstant& constant : constants) {
    text += fmt::format("{}{}=", text.empty() ? "" : " ", constant.name);
    text += std::visit(
        [](const auto& value) -> std::string {
          using T = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<T, std::monostate>)
            return "None";
          else if constexpr (std::is_same_v<T, bool>)
            return value ? "True" : "False";
          else if constexpr (std::is_same_v<T, ir::DType>)
            return fmt::format("torch.{}", ir::name(value));
          else
            return fmt::format("{}", value);
        },
        constant.value);
  }
  return text;
}

Json to_json(const LaunchList& list) {
  Json buffers = Json::array(), launches = Json::array(), outputs = Json::array();
  for (const Buffer& buffer : list.buffers) {
    Json entry = Json::object();
    if (buffer.input >= 0) entry["input"] = buffer.input;
    if (buffer.may_be_written) entry["may_be_written"] = true;
    add_type(entry, buffer.type);
    if (buffer.fill) entry["fill"] = number_json(*buffer.fill);
    buffers.push_back(std::move(entry));
  }
  for (const Launch& launch : list.launches) launches.push_back(launch_to_json(launch));
  for (const View& output : list.outputs) outputs.push_back(view_to_json(output));
  return {{"pass", list.pass},
          {"buffers", std::move(buffers)},
          {"launches", std::move(launches)},
          {"outputs", std::move(outputs)}};
}

Json to_json(const std::vector<LaunchList>& lists) {
  Json json = Json::array();
  for (const LaunchList& list : lists) json.push_back(to_json(list));
  return json;
}

Result<int64_t> blocks_of_cluster(const std::vector<NamedConstant>& constants) {
  const auto found = std::ranges::find(constants, "CLUSTER", &NamedConstant::name);
  if (found == constants.end()) return 1;
  const auto* blocks = std::get_if<int64_t>(&found->value);
  if (blocks == nullptr || (*blocks != 1 && *blocks != 2 && *blocks != 4 && *blocks != 8))
    return bad_pass(fmt::format("constant CLUSTER, the blocks of a cluster on a GPU: found {}, expected 1, 2, 4 or 8",
                                blocks != nullptr ? std::to_string(*blocks) : "no int"));
  return *blocks;
}

Result<LaunchList> launch_list_from_json(const Json& json) {
  const Node root{json, ""};
  if (!json.is_object()) return bad_input("launch list: expected an object, found " + quoted(json.dump(), 40));
  LaunchList list;
  PASSNET_TRY(const Node pass, root.at("pass"));
  PASSNET_TRY(list.pass, read_string(pass));
  PASSNET_TRY(list.buffers, read_list(root, "buffers", read_buffer));
  PASSNET_TRY(list.launches, read_list(root, "launches", [&](const Node& n) { return read_launch(n, list.buffers); }));
  PASSNET_TRY(list.outputs, read_list(root, "outputs", [&](const Node& n) { return read_view(n, list.buffers); }));
  return list;
}

Result<std::vector<LaunchList>> launch_lists_from_json(const Json& json) {
  if (!json.is_array())
    return bad_input(fmt::format("launch lists: expected an array, found {}", FieldReader::describe(json)));
  std::vector<LaunchList> lists;
  for (const Json& one : json) {
    PASSNET_TRY(lists.emplace_back(), launch_list_from_json(one));
  }
  return lists;
}

}  // namespace passnet::pass
