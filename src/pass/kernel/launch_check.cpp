// A launch against the parameters its kernel was compiled with.
#include <fmt/format.h>

#include "base/text/strings.h"
#include "pass/kernel/build.h"
#include "pass/kernel/kernel_source.h"

namespace passnet::pass {
namespace {

/// The element type of a tensor as kernels name it.
std::string_view element_name(ir::DType dtype) {
  const std::string_view type = element_type(dtype);
  return type.substr(type.starts_with("passnet::") ? std::string_view("passnet::").size() : 0);
}

struct IntegerRange {
  const char* name;
  int64_t low, high;
};
constexpr IntegerRange kIntegers[] = {{"int8_t", INT8_MIN, INT8_MAX},
                                      {"int16_t", INT16_MIN, INT16_MAX},
                                      {"int32_t", INT32_MIN, INT32_MAX},
                                      {"int64_t", INT64_MIN, INT64_MAX},
                                      {"uint8_t", 0, UINT8_MAX}};
const IntegerRange* integer_range(std::string_view parameter) {
  for (const IntegerRange& range : kIntegers) {
    if (parameter == range.name) return &range;
  }
  return nullptr;
}
bool is_real(std::string_view parameter) {
  return parameter == "float" || parameter == "double" || parameter == "float16" || parameter == "bfloat16";
}

/// What is wrong with one argument, or an empty message.
struct Mismatch {
  std::string message, hint;
};

struct CheckArgument {
  const std::string& parameter;
  const LaunchList& list;

  Mismatch operator()(const View& view) const {
    const std::string pointer = fmt::format("{}*", element_name(view.type.dtype));
    if (parameter != pointer && parameter != "const " + pointer) {
      return {fmt::format("is a {} tensor, but the kernel takes '{}'", ir::name(view.type.dtype), parameter),
              "pass T=x.dtype as a constant of the launch and write 'const T* x' in the kernel"};
    }
    if (list.buffers.at(view.buffer).is_read_only() && !parameter.starts_with("const ")) {
      return {fmt::format("is an input that is needed afterwards, but the kernel may write to it: it takes '{}'",
                          parameter),
              fmt::format("write 'const {}' in the kernel", parameter)};
    }
    return {};
  }
  Mismatch operator()(int64_t value) const {
    const IntegerRange* range = integer_range(parameter);
    if (!range) {
      return {fmt::format("is the integer {}, but the kernel takes '{}'", value, parameter),
              is_real(parameter) ? fmt::format("write float({})", value) : ""};
    }
    if (value < range->low || value > range->high) {
      return {fmt::format("is {}, but the kernel takes '{}': {} to {}", value, parameter, range->low, range->high),
              "use int64_t"};
    }
    return {};
  }
  Mismatch operator()(double value) const {
    if (is_real(parameter)) return {};
    return {fmt::format("is the float {}, but the kernel takes '{}'", value, parameter),
            integer_range(parameter) ? "write int(…)" : ""};
  }
  Mismatch operator()(bool value) const {
    if (parameter == "bool" || integer_range(parameter)) return {};
    return {fmt::format("is {}, but the kernel takes '{}'", value ? "True" : "False", parameter), ""};
  }
  Mismatch operator()(std::monostate) const {
    return {fmt::format("is None, but the kernel takes '{}'", parameter),
            "launch another kernel when an input is None"};
  }
};

}  // namespace

Result<void> check_launch(const Launch& launch, const LaunchList& list, const BuiltKernel& kernel) {
  if (launch.args.size() != kernel.parameters.size()) {
    return bad_pass(fmt::format("launch of '{}' passes {} arguments, but the kernel takes {}: ({})", launch.kernel,
                                launch.args.size(), kernel.parameters.size(), join(kernel.parameters, ", ")),
                    launch.at);
  }
  for (size_t i = 0; i < launch.args.size(); ++i) {
    const Mismatch found = std::visit(CheckArgument{kernel.parameters[i], list}, launch.args[i]);
    if (found.message.empty()) continue;
    return bad_pass(fmt::format("launch of '{}': argument {} {}", launch.kernel, i + 1, found.message), launch.at)
        .with_hint(found.hint);
  }
  return {};
}

}  // namespace passnet::pass
