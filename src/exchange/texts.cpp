#include "exchange/texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/file/paths.h"
#include "base/text/strings.h"
#include "fx/print.h"
#include "pass/plan/syntax.h"
#include "pass/plan/syntax/parser.h"

namespace passnet::exchange {

namespace {

Error gap(const Solution& solution, std::string message) {
  return unsupported(std::move(message), SourceLoc{solution.path.string()});
}

/// The sources by what they become: a pass has one file of each kind.
Result<std::map<std::string, const SourceText*>> sort_sources(const Solution& solution) {
  std::map<std::string, const SourceText*> sources;  // by extension
  for (const SourceText& source : solution.sources) {
    const std::string extension = fs::path(source.path).extension().string();
    const bool known = extension == ".py" || extension == ".cpp" || extension == ".cu";
    if (!known || !sources.emplace(extension, &source).second)
      return gap(solution,
                 fmt::format("source {}: a pass has one file of Python, of C++ and of CUDA", quoted(source.path)))
          .with_hint("copy it into the source that needs it");
  }
  return sources;
}

/// The source of the entry point; function: receives its name.
Result<const SourceText*> find_entry(const Solution& solution, std::string& function) {
  const std::string& entry = solution.spec.entry_point;
  const size_t colons = entry.find("::");
  if (colons == std::string::npos)
    return bad_input(fmt::format("entry point {}: expected 'FILE::FUNCTION'", quoted(entry)),
                     SourceLoc{solution.path.string()});
  function = entry.substr(colons + 2);
  const std::string file = entry.substr(0, colons);
  if (!file.ends_with(".py"))
    return gap(solution, fmt::format("entry point {}: host code of language {} cannot be a plan", quoted(entry),
                                     quoted(solution.spec.language)))
        .with_hint("write the function in Python: 'kernel[grid, threads](x, out)' launches a kernel of the .cu source");
  const auto found = std::ranges::find(solution.sources, file, &SourceText::path);
  if (found != solution.sources.end()) return &*found;
  return bad_input(fmt::format("entry point {}: there is no such source", quoted(entry)),
                   SourceLoc{solution.path.string()});
}

std::vector<std::string> names_of(const std::vector<Argument>& arguments) {
  std::vector<std::string> names;
  for (const Argument& argument : arguments) names.push_back(argument.name);
  return names;
}

/// The size of an axis in a plan: "4096", "x.shape[0]"; empty: no input has it.
std::string size_text(const Definition& definition, const std::string& axis) {
  if (const auto& value = definition.find_axis(axis)->value) return std::to_string(*value);
  for (const Argument& input : definition.inputs) {
    const auto at = std::ranges::find(input.axes, axis);
    if (at != input.axes.end()) return fmt::format("{}.shape[{}]", input.name, at - input.axes.begin());
  }
  return "";
}

/// Lines that decline what the definition does not cover.
std::string guards(const Definition& definition) {
  std::string text;
  std::vector<std::string> sizes;
  for (const Argument& input : definition.inputs) {
    if (input.is_scalar) continue;
    text += fmt::format(
        "    if {0}.dtype != torch.{1} or {0}.ndim != {2} or not {0}.is_contiguous():\n        return NotImplemented\n",
        input.name, ir::name(input.dtype), input.axes.size());
    for (size_t i = 0; i < input.axes.size(); ++i) {
      const std::string size = fmt::format("{}.shape[{}]", input.name, i),
                        expected = size_text(definition, input.axes[i]);
      if (size != expected) sizes.push_back(fmt::format("{} != {}", size, expected));
    }
  }
  if (!sizes.empty()) text += fmt::format("    if {}:\n        return NotImplemented\n", join(sizes, " or "));
  return text;
}

struct Entry {
  const pass::PlanProgram& program;
  const pass::Function& function;
  std::vector<std::string> parameters = {};  // without those that take any number
  size_t required = 0;
  bool takes_more = false;
};

Entry entry_of(const pass::PlanProgram& program, const pass::Function& function) {
  Entry entry{program, function};
  for (const pass::Parameter& one : function.parameters) {
    entry.takes_more |= one.kind == pass::ParameterKind::Variadic;
    if (one.kind != pass::ParameterKind::Plain) continue;
    entry.parameters.emplace_back(one.name);
    entry.required += one.default_value == nullptr ? 1 : 0;
  }
  return entry;
}

bool takes_outputs(const Definition& definition, const Solution& solution, const Entry& entry) {
  if (solution.spec.destination_passing_style) return *solution.spec.destination_passing_style;
  return entry.required == definition.inputs.size() + definition.outputs.size();
}

/// Returns the text of the call: values by name where the parameters have the names of the definition, else in its order.
Result<std::string> call_of(const Entry& entry, const std::vector<std::string>& names,
                            const std::vector<std::string>& values) {
  if (entry.required > names.size() || (entry.parameters.size() < names.size() && !entry.takes_more))
    return bad_input(fmt::format("'{}' takes ({}), expected ({})", entry.function.name, join(entry.parameters, ", "),
                                 join(names, ", ")),
                     entry.program.locate(entry.function.offset));
  std::vector<std::string> arguments = values;
  if (std::ranges::is_permutation(entry.parameters, names)) {
    for (size_t i = 0; i < names.size(); ++i) {
      const auto at = std::ranges::find(names, entry.parameters[i]) - names.begin();
      arguments[i] = values[static_cast<size_t>(at)];
    }
  }
  return fmt::format("{}({})", entry.function.name, join(arguments, ", "));
}

bool returns_dict(const pass::Function& function) {
  if (function.body.empty()) return false;
  const pass::Statement& last = function.body.back();
  return last.kind == pass::StatementKind::Return && last.value != nullptr && last.value->kind == pass::ExprKind::Dict;
}

/// The plan's lines that call an entry point which returns its outputs.
Result<std::string> returning_text(const Definition& definition, const Entry& entry) {
  const std::vector<std::string> names = names_of(definition.inputs);
  PASSNET_TRY(const std::string call, call_of(entry, names, names));
  if (!returns_dict(entry.function)) return fmt::format("    return {}\n", call);
  std::vector<std::string> outputs;
  for (const Argument& output : definition.outputs)
    outputs.push_back(fmt::format("results[{}]", fx::print_string(output.name)));
  return fmt::format("    results = {}\n    return {}\n", call, join(outputs, ", "));
}

/// The plan's lines that allocate outputs and call an entry point which writes them.
Result<std::string> writing_text(const Definition& definition, const Solution& solution, const Entry& entry) {
  std::vector<std::string> names = names_of(definition.inputs), values = names, outputs;
  std::string text;
  for (const Argument& output : definition.outputs) {
    std::string sizes;
    for (const std::string& axis : output.axes) {
      const std::string size = size_text(definition, axis);
      if (size.empty())
        return gap(solution, fmt::format("axis '{}' of output '{}': no input has it", axis, output.name))
            .with_hint("let the solution return its outputs: destination_passing_style false");
      sizes += size + ", ";
    }
    // An output may have an input's name.
    outputs.push_back(
        numbered(output.name, [&](const std::string& name) { return !std::ranges::count(values, name); }));
    text += fmt::format("    {} = torch.empty(({}), dtype=torch.{})\n", outputs.back(), sizes, ir::name(output.dtype));
    names.push_back(output.name);
    values.push_back(outputs.back());
  }
  PASSNET_TRY(const std::string call, call_of(entry, names, values));
  return text + fmt::format("    {}\n    return {}\n", call, join(outputs, ", "));
}

Result<std::string> plan_text(const Definition& definition, const Solution& solution, const SourceText& source,
                              const std::string& function, const std::string& name) {
  const std::string where = fmt::format("{}: {}", solution.path.string(), source.path);
  PASSNET_TRY(const auto program,
              pass::parse_pass_file(where, std::make_shared<const std::string>(source.content + "\n")));
  const pass::Function* found = program->find_function(function);
  if (found == nullptr)
    return bad_input(fmt::format("the source has no function {}", quoted(function)), SourceLoc{where});
  for (const std::string_view reserved : {std::string_view("pattern"), std::string_view("replacement_args"),
                                          std::string_view("replacement_func"), std::string_view(name)}) {
    if (program->names.contains(reserved))
      return unsupported(fmt::format("the source defines '{}', as the pass does", reserved), SourceLoc{where})
          .with_hint("rename it in the solution, or give the pass another NAME");
  }
  const Entry entry = entry_of(*program, *found);
  PASSNET_TRY(const std::string call, takes_outputs(definition, solution, entry)
                                          ? writing_text(definition, solution, entry)
                                          : returning_text(definition, entry));
  const std::string inputs = join(names_of(definition.inputs), ", ");
  return fmt::format(
      "\n\ndef replacement_args({0}):\n    return ({0},)\n\n\ndef {1}({0}):\n{2}{3}\n\ndef replacement_func():\n"
      "    return {1}\n",
      inputs, name, guards(definition), call);
}

}  // namespace

Result<pass::PassTexts> texts_of(const Definition& definition, const Solution& solution, const std::string& name) {
  for (const Argument& output : definition.outputs) {
    if (output.is_scalar)
      return gap(solution, fmt::format("output '{}' is a number, which no kernel returns", output.name))
          .with_hint("return a tensor of shape []");
  }
  std::string function;
  PASSNET_TRY(const SourceText* entry, find_entry(solution, function));
  PASSNET_TRY(const auto sources, sort_sources(solution));
  PASSNET_TRY(const std::string plan, plan_text(definition, solution, *entry, function, name));
  const auto content = [&](const char* extension) {
    const auto found = sources.find(extension);
    return found == sources.end() ? std::string() : found->second->content;
  };
  return pass::PassTexts{name, fmt::format("{}\n\nimport torch\n{}{}", trim(entry->content), definition.pattern, plan),
                         content(".cpp"), content(".cu")};
}

}  // namespace passnet::exchange
