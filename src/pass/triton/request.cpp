#include "pass/triton/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/json/json_fields.h"
#include "base/text/parse_number.h"
#include "base/text/strings.h"

namespace passnet::pass {
namespace {

constexpr size_t kTextBytes = size_t{4} << 20;
constexpr int kMaxWarps = 32, kMaxStages = 32, kMaxBlocksOfCluster = 16, kMaxRegisters = 255;

struct ScalarType {
  std::string_view name;
  int64_t bytes;
};
constexpr ScalarType kScalars[] = {{"i1", 1},   {"i8", 1},   {"i16", 2},  {"i32", 4}, {"i64", 8},
                                   {"u1", 1},   {"u8", 1},   {"u16", 2},  {"u32", 4}, {"u64", 8},
                                   {"fp16", 2}, {"bf16", 2}, {"fp32", 4}, {"fp64", 8}};
constexpr std::string_view kPointees[] = {"fp8e4nv", "fp8e5", "fp8e4b15", "fp8e4b8", "fp8e5b16"};

std::optional<int64_t> scalar_bytes(std::string_view type) {
  for (const ScalarType& scalar : kScalars) {
    if (type == scalar.name) return scalar.bytes;
  }
  return std::nullopt;
}

Json kind_and_value(const TritonConstant& constant) {
  struct Write {
    Json operator()(std::monostate) const { return {"none", nullptr}; }
    Json operator()(bool value) const { return {"bool", value}; }
    Json operator()(int64_t value) const { return {"int", value}; }
    Json operator()(double value) const { return {"float", number_json(value)}; }
    Json operator()(const std::string& value) const { return {"str", valid_utf8(value)}; }
    Json operator()(ir::DType value) const { return {"dtype", ir::name(value)}; }
  };
  return std::visit(Write{}, constant);
}

bool is_module_name(std::string_view name) {
  const auto parts = split(name, '.');
  return std::all_of(parts.begin(), parts.end(), is_identifier);
}

/// What is wrong with a parameter; empty when nothing is.
std::string fault_of(const TritonParameter& parameter) {
  if (parameter.type.empty() != parameter.constant.has_value()) return "has neither a type nor a value, or both";
  if (!parameter.type.empty() && !argument_bytes(parameter.type))
    return fmt::format("has the type {}, which Triton does not have", quoted(parameter.type));
  if (!parameter.constant) return "";
  const auto* dtype = std::get_if<ir::DType>(&*parameter.constant);
  if (dtype != nullptr && (*dtype == ir::DType::Complex64 || *dtype == ir::DType::Complex128))
    return fmt::format("is the dtype {}, which Triton does not have", ir::name(*dtype));
  return "";
}

std::string fault_of_options(const TritonRequest& request) {
  const auto wrong = [](const char* name, int found, const std::string& expected) {
    return fmt::format("{}={}, expected {}", name, found, expected);
  };
  if (!is_power_of_two(request.num_warps) || request.num_warps > kMaxWarps)
    return wrong("num_warps", request.num_warps, fmt::format("a power of two up to {}", kMaxWarps));
  if (!is_power_of_two(request.num_ctas) || request.num_ctas > kMaxBlocksOfCluster)
    return wrong("num_ctas", request.num_ctas, fmt::format("a power of two up to {}", kMaxBlocksOfCluster));
  if (request.num_stages < 0 || request.num_stages > kMaxStages)
    return wrong("num_stages", request.num_stages, fmt::format("0 to {}", kMaxStages));
  if (request.maxnreg && (*request.maxnreg < 1 || *request.maxnreg > kMaxRegisters))
    return wrong("maxnreg", *request.maxnreg, fmt::format("1 to {}", kMaxRegisters));
  return "";
}

}  // namespace

std::optional<int64_t> argument_bytes(std::string_view type) {
  if (!type.starts_with('*')) return scalar_bytes(type);
  type.remove_prefix(type.starts_with("*k") ? 2 : 1);  // "*k": of a parameter that is annotated as const
  const bool known =
      scalar_bytes(type) || std::find(std::begin(kPointees), std::end(kPointees), type) != std::end(kPointees);
  return known ? std::optional<int64_t>(8) : std::nullopt;
}

std::optional<int> capability_of(std::string_view architecture) {
  if (!architecture.starts_with("sm_")) return std::nullopt;
  const std::optional<int> value = parse_number<int>(architecture.substr(3));
  return value && *value >= 70 && *value <= 200 ? value : std::nullopt;
}

Result<void> check_request(const TritonRequest& request) {
  PASSNET_CHECK(!request.modules.empty(), "a kernel stands in a module");
  const auto refuse = [&](const std::string& what) {
    return bad_pass(fmt::format("kernel '{}': {}", request.kernel, what), request.at);
  };
  if (!is_identifier(request.kernel)) return refuse("its name is no identifier");
  if (!capability_of(request.architecture))
    return refuse(fmt::format("architecture {}, expected one such as 'sm_90'", quoted(request.architecture)));
  if (const std::string fault = fault_of_options(request); !fault.empty()) return refuse(fault);
  for (const TritonParameter& parameter : request.parameters) {
    if (const std::string fault = fault_of(parameter); !fault.empty())
      return refuse(fmt::format("parameter {} {}", quoted(parameter.name), fault));
  }
  size_t bytes = 0;
  for (const auto& module : request.modules) {
    if (!is_module_name(module->name)) return refuse(fmt::format("{} is no name of a module", quoted(module->name)));
    bytes += module->text->size();
  }
  if (bytes > kTextBytes)
    return refuse(fmt::format("its modules have {} bytes, expected at most {}", bytes, kTextBytes));
  return {};
}

Json to_json(const TritonRequest& request) {
  Json parameters = Json::array();
  for (const TritonParameter& parameter : request.parameters) {
    Json json = {{"name", parameter.name}, {"type", parameter.type}, {"divisible", parameter.divisible_by_16}};
    if (parameter.constant) json["constant"] = kind_and_value(*parameter.constant);
    parameters.push_back(std::move(json));
  }
  Json options = {{"num_warps", request.num_warps},
                  {"num_stages", request.num_stages},
                  {"num_ctas", request.num_ctas},
                  {"enable_fp_fusion", request.enable_fp_fusion}};
  if (request.maxnreg) options["maxnreg"] = *request.maxnreg;
  return {{"kernel", request.kernel},
          {"parameters", std::move(parameters)},
          {"options", std::move(options)},
          {"capability", *capability_of(request.architecture)}};
}

std::string file_in_jail(const TritonModule& module) {
  std::string file = module.name;
  std::replace(file.begin(), file.end(), '.', '/');
  return file + ".py";
}

}  // namespace passnet::pass
