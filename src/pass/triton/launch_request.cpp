#include "pass/triton/launch_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/text/strings.h"
#include "pass/plan/syntax.h"
#include "pass/triton/module_text.h"
#include "pass/triton/specialize.h"

namespace passnet::pass {

namespace {

constexpr int64_t kAlignment = 16;  // bytes, of which Triton makes wide loads

const PlanProgram& file_of(const PlanFiles& files, const Launch& launch) {
  if (files.own->name == launch.file) return *files.own;
  const auto found = std::ranges::find_if(files.beside, [&](const auto& file) { return file->name == launch.file; });
  PASSNET_CHECK(found != files.beside.end(), launch.file);
  return **found;
}

/// Names in a list of `@triton.jit(do_not_specialize=["n"])`.
bool is_named(const JitKernel& kernel, std::string_view keyword, std::string_view parameter) {
  if (kernel.jit == nullptr) return false;
  const auto given = std::ranges::find(kernel.jit->keywords, keyword, &KeywordExpr::name);
  if (given == kernel.jit->keywords.end()) return false;
  return std::ranges::any_of(given->value->children, [&](const Expr* name) {
    const auto* text = get_if<std::string>(name->value);
    return text != nullptr && *text == parameter;
  });
}

TritonDeclaration declaration_of(const JitKernel& kernel, const Parameter& parameter) {
  return {std::string(parameter.name), std::string(parameter.annotation),
          !is_named(kernel, "do_not_specialize", parameter.name),
          !is_named(kernel, "do_not_specialize_on_alignment", parameter.name)};
}

TritonArgument argument_of(const LaunchArg& arg) {
  return std::visit(
      [](const auto& value) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, View>) {
          const bool divisible = value.offset * ir::size_bytes(value.type.dtype) % kAlignment == 0;
          return TritonArgument(TritonPointer{value.type.dtype, divisible});
        } else {
          return TritonArgument(value);
        }
      },
      arg);
}

/// Options stand behind the constants. Errors: BadPass for one that is no small number.
Result<int> option(const LaunchChoice& choice, std::string_view name, int otherwise) {
  const auto found = std::find_if(choice.constants.rbegin(), choice.constants.rend(),
                                  [&](const NamedConstant& constant) { return constant.name == name; });
  if (found == choice.constants.rend()) return otherwise;
  const auto* number = std::get_if<int64_t>(&found->value);
  if (number == nullptr || *number < 0 || *number > std::numeric_limits<int>::max())
    return bad_pass(fmt::format("option {} is no number of a launch", quoted(name)));
  return static_cast<int>(*number);
}

}  // namespace

Result<TritonRequest> triton_request(const PlanFiles& files, const Launch& launch, const LaunchChoice& choice,
                                     const std::string& architecture) {
  const PlanProgram& file = file_of(files, launch);
  const auto kernel = std::find_if(file.kernels.rbegin(), file.kernels.rend(),
                                   [&](const JitKernel& one) { return one.name == launch.kernel; });
  PASSNET_CHECK(kernel != file.kernels.rend(), launch.kernel);
  const auto placed = [&](Error error) {
    if (!error.at) error.at = launch.at;
    return error;
  };
  TritonRequest request;
  request.modules = triton_modules(files, file);
  request.kernel = launch.kernel;
  request.architecture = architecture;
  request.at = file.locate(kernel->offset);
  for (const Parameter& parameter : kernel->parameters) {
    TritonArgument argument;
    const auto constant = std::ranges::find(choice.constants, parameter.name, &NamedConstant::name);
    const auto given = std::ranges::find(launch.parameters, parameter.name);
    if (parameter.is_constexpr()) {
      PASSNET_CHECK(constant != choice.constants.end(), std::string(parameter.name));
      argument = std::visit([](const auto& value) { return TritonArgument(value); }, constant->value);
    } else {
      PASSNET_CHECK(given != launch.parameters.end(), std::string(parameter.name));
      argument = argument_of(launch.args[static_cast<size_t>(given - launch.parameters.begin())]);
    }
    auto made = specialize(declaration_of(*kernel, parameter), argument);
    if (!made) return placed(std::move(made).error());
    request.parameters.push_back(std::move(*made));
  }
  for (const auto& [name, value] : {std::pair{"num_warps", &request.num_warps},
                                    {"num_stages", &request.num_stages},
                                    {"num_ctas", &request.num_ctas}}) {
    auto number = option(choice, name, *value);
    if (!number) return placed(std::move(number).error());
    *value = *number;
  }
  PASSNET_TRY(const int registers, option(choice, "maxnreg", 0));
  if (registers > 0) request.maxnreg = registers;
  return request;
}

Launch compiled_launch(LaunchList& list, const Launch& launch, const LaunchChoice& choice, const TritonRequest& request,
                       const BuiltKernel& kernel) {
  PASSNET_CHECK(kernel.triton.has_value(), launch.kernel);
  Launch made = launch;
  made.choices.clear();
  made.constants = choice.constants;
  made.grid = choice.grid;
  made.grid[0] *= kernel.triton->cluster;
  made.block = kernel.triton->threads;
  made.args.clear();
  int64_t blocks = 1;
  for (const int64_t size : made.grid) blocks *= size;
  for (const uint32_t index : kernel.triton->arguments) {
    const auto given = std::ranges::find(launch.parameters, request.parameters.at(index).name);
    PASSNET_CHECK(given != launch.parameters.end(), request.parameters[index].name);
    made.args.push_back(launch.args[static_cast<size_t>(given - launch.parameters.begin())]);
  }
  for (const TritonLaunch::Scratch& scratch : kernel.triton->scratch) {
    if (scratch.bytes == 0 || blocks == 0) {
      made.args.emplace_back(int64_t{0});  // a null pointer
      continue;
    }
    const ir::TensorType type = ir::contiguous(ir::DType::UInt8, {scratch.bytes * blocks});
    made.args.emplace_back(View{static_cast<uint32_t>(list.buffers.size()), 0, type});
    list.buffers.push_back({-1, type, std::nullopt});
  }
  return made;
}

}  // namespace passnet::pass
