// The text of plan and kernels.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "author/writer.h"

namespace passnet::author {

std::string Writer::load(const Value& value, std::string_view element) const {
  const ElementType& type = types_[value.type];
  const bool is_float = type.compute == "float" && type.cpp != "float";
  return fmt::format("{}{}[{}]{}", is_float ? "to_float(" : "", value.name, element, is_float ? ")" : "");
}

// `text`, computed in `compute`, as an element of the type; for "register" as the kernel goes on computing with it.
std::string Writer::convert(size_t index, std::string_view text, std::string_view compute) const {
  const ElementType& type = types_[index];
  if (type.compute == "float" && type.cpp != "float")
    return fmt::format("{}<{}>({})", compute == "register" ? "rounded" : "from_float", type.cpp, text);
  if (type.compute == "bool") return compute == "bool" ? std::string(text) : fmt::format("({}) != 0", text);
  if (type.cpp == compute) return std::string(text);
  return fmt::format("static_cast<{}>({})", type.cpp, text);
}

std::string Writer::parameter(const Value& value, bool output) const {
  return fmt::format("{}{}* {}{}", output ? "" : "const ", types_[value.type].cpp, value.name, output ? "_out" : "");
}

Kernel Writer::group_kernel(size_t index) const {
  const Group& group = *steps_[index].group;
  Kernel kernel;
  std::vector<std::string> made;
  for (const Statement& statement : group.statements) made.push_back(statement.name);
  kernel.name = fmt::format("{}_{}", name_, made.back());
  kernel.comment = fmt::format("{}, element by element.", fmt::join(made, ", "));
  const size_t rank = group.shapes[0].size();
  const bool strided = std::ranges::any_of(group.loads, [](const Load& load) { return !load.direct; });
  std::string index_text;
  if (strided && rank > 0) {
    std::vector<std::string> axes;
    std::string rest = "i";
    for (size_t dim = rank; dim-- > 0;) {
      axes.push_back(dim == 0 ? fmt::format("i0 = {}", rest) : fmt::format("i{} = {} % n{}", dim, rest, dim));
      if (dim > 0) rest += fmt::format(" / n{}", dim);
    }
    index_text = fmt::format("const int64_t {};\n", fmt::join(axes, ", "));
  }
  std::string loads;
  for (const Load& load : group.loads) {
    kernel.parameters.push_back(parameter(load.value, false));
    kernel.arguments.push_back(load.argument);
    std::string at = "i";
    if (!load.direct) {
      std::vector<std::string> terms;
      for (size_t dim = 0; dim < rank; ++dim) {
        const std::string stride = fmt::format("{}_s{}", load.value.name, dim);
        kernel.parameters.push_back("int64_t " + stride);
        kernel.arguments.push_back(fmt::format("{}.stride({})", load.argument, dim));
        terms.push_back(fmt::format("i{} * {}", dim, stride));
      }
      at = terms.empty() ? "0" : fmt::format("{}", fmt::join(terms, " + "));
    }
    loads += fmt::format("const {} {}_i = {};\n", types_[load.value.type].compute, load.value.name,
                         this->load(load.value, at));
  }
  for (size_t dim = 1; strided && dim < rank; ++dim) {
    kernel.parameters.push_back(fmt::format("int64_t n{}", dim));
    kernel.arguments.push_back(fmt::format("{}[{}]", group.shape, dim));
  }
  for (const auto& [type, name] : group.scalars) {
    kernel.parameters.push_back(fmt::format("{} {}", type, name));
    kernel.arguments.push_back(name);
  }
  std::string body = index_text + loads;
  for (const Statement& statement : group.statements) {
    const ElementType& type = types_[statement.type];
    if (statement.compute == "double") kernel.compute = "double";
    const std::string_view from = type.compute == "float" && type.cpp != "float" ? "register" : statement.compute;
    std::string text = convert(statement.type, statement.expression, from);
    body += fmt::format("const {} {} = {};\n", type.compute, statement.name, text);
    if (!stored_.contains(statement.name)) continue;
    kernel.parameters.push_back(fmt::format("{}* {}_out", type.cpp, statement.name));
    kernel.arguments.push_back(statement.name);
    body += fmt::format("{}_out[i] = {};\n", statement.name, convert(statement.type, statement.name, type.compute));
  }
  kernel.items = fmt::format("math.prod({})", group.shape);
  kernel.body = body;
  return kernel;
}

std::vector<std::string> Writer::launch(const Kernel& kernel) const {
  std::vector<std::string> arguments = kernel.arguments;
  arguments.push_back("n");
  // All of them, also those that this kernel does not use: the file is built as a whole for each launch.
  for (const ElementType& type : types_) {
    if (type.varies) arguments.push_back(fmt::format("{}={}", type.cpp, type.plan));
  }
  const std::string work = kernel.work == "1" ? "n" : fmt::format("n * {}", kernel.work);
  std::vector<std::string> lines = {fmt::format("n = {}", kernel.items),
                                    fmt::format("{}[grid({}, n, {}), 256](", kernel.name, device_of_, work)};
  std::string line = "   ";
  for (const std::string& argument : arguments) {
    if (line.size() + argument.size() > 96) {
      lines.push_back(line);
      line = "   ";
    }
    line += fmt::format(" {},", argument);
  }
  lines.push_back(line);
  lines.back().pop_back();
  lines.push_back(")");
  return lines;
}

std::vector<std::string> Writer::plan() {
  std::vector<std::string> lines = prologue_;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    lines.insert(lines.end(), step.lines.begin(), step.lines.end());
    if (step.group) {
      for (const Statement& statement : step.group->statements) {
        if (stored_.contains(statement.name))
          lines.push_back(fmt::format("{} = torch.empty({}, dtype={})", statement.name, step.group->shape,
                                      types_[statement.type].plan));
      }
    }
    if (!step.group && !step.kernel) continue;
    for (std::string& text : launch(step.group ? group_kernel(i) : *step.kernel)) lines.push_back(std::move(text));
  }
  return lines;
}

std::string Writer::render(const Kernel& kernel, bool cuda) const {
  std::string body;
  for (size_t i = 0; i < kernel.body.size(); ++i) {
    if (kernel.body[i] != '@') {
      body += kernel.body[i];
      continue;
    }
    size_t end = i + 1;
    while (end < kernel.body.size() && (std::isalnum(static_cast<unsigned char>(kernel.body[end])) != 0)) ++end;
    const std::string name = kernel.body.substr(i + 1, end - i - 1);
    // Overloaded in CUDA; on the CPU the function of the C library for the type.
    if (name == "inf")
      body += cuda ? "__int_as_float(0x7f800000)" : "__builtin_inff()";
    else if (cuda)
      body += "::" + name;
    else
      body += fmt::format("__builtin_{}{}", name, kernel.compute == "double" ? "" : "f");
    i = end - 1;
  }
  std::string parameters;
  std::string line = fmt::format("PASSNET_KERNEL {}(", kernel.name);
  const std::string margin(line.size(), ' ');
  for (const std::string& parameter : kernel.parameters) {
    if (line.size() + parameter.size() > 105) {
      line.back() = '\n';  // the blank behind the comma
      parameters += line;
      line = margin;
    }
    line += parameter + ", ";
  }
  std::string out = fmt::format("// {}\n{}{}int64_t n) {{\n", kernel.comment, parameters, line);
  out += cuda ? "  const int64_t i = global_index();\n  if (i >= n) return;\n"
              : fmt::format("  const auto [first, last] = chunk(n{});\n  for (int64_t i = first; i < last; ++i) {{\n",
                            kernel.work == "1" ? "" : ", 1");
  const std::string indent(cuda ? 2 : 4, ' ');
  for (size_t at = 0; at < body.size();) {
    const size_t end = body.find('\n', at);
    out += indent + body.substr(at, end - at) + "\n";
    at = end + 1;
  }
  out += cuda ? "}\n" : "  }\n}\n";
  return out;
}

std::string Writer::kernels(bool cuda) {
  std::string out;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].group) out += "\n" + render(group_kernel(i), cuda);
    if (steps_[i].kernel) out += "\n" + render(*steps_[i].kernel, cuda);
  }
  return out;
}

}  // namespace passnet::author
