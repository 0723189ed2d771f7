#include "exchange/definition.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "base/json/json_object.h"
#include "base/text/strings.h"
#include "fx/syntax/parser.h"
#include "pass/plan/syntax.h"
#include "pass/plan/syntax/parser.h"

namespace passnet::exchange {

namespace {

struct AxisFields {
  std::string type;
  std::optional<int64_t> value;
};
struct DefinitionFields {
  std::string name, reference;
};

}  // namespace

}  // namespace passnet::exchange

namespace passnet {
PASSNET_JSON_FIELDS(exchange::AxisFields, "axis", PASSNET_FIELDS(type) PASSNET_FIELDS_IF_SET(value))
PASSNET_JSON_FIELDS(exchange::DefinitionFields, "definition", PASSNET_FIELDS(name, reference))
}  // namespace passnet

namespace passnet::exchange {

namespace {

/// An object of the definition, whose keys are names.
Result<const Json*> named_items(const Json& definition, const char* key) {
  const auto found = definition.find(key);
  if (found == definition.end() || !found->is_object() || found->empty())
    return bad_input(fmt::format("definition: field '{}': expected an object with an item or more, found {}", key,
                                 found == definition.end() ? "none" : quoted(compact(*found), 40)));
  for (const auto& [name, item] : found->items()) {
    if (!is_identifier(name))
      return bad_input(
          fmt::format("definition: field '{}': expected identifiers for keys, found {}", key, quoted(name)));
  }
  return &*found;
}

Result<std::vector<Axis>> read_axes(const Json& definition) {
  PASSNET_TRY(const Json* items, named_items(definition, "axes"));
  std::vector<Axis> axes;
  for (const auto& [name, item] : items->items()) {
    PASSNET_TRY(const AxisFields fields, from_json_object<AxisFields>(item));
    const bool is_constant = fields.type == "const";
    if (!is_constant && fields.type != "var")
      return bad_input(fmt::format("axis '{}': expected type 'const' or 'var', found {}", name, quoted(fields.type)));
    if (is_constant && fields.value.value_or(0) < 1)
      return bad_input(fmt::format("axis '{}': expected a value of 1 or more, found {}", name,
                                   fields.value ? std::to_string(*fields.value) : "none"));
    axes.push_back({name, is_constant ? fields.value : std::nullopt});
  }
  return axes;
}

Result<Argument> read_argument(const Definition& definition, const std::string& name, const Json& item) {
  Argument argument{name, false, {}, {}};
  const auto shape = item.is_object() ? item.find("shape") : item.end();
  if (shape == item.end() || !(shape->is_null() || shape->is_array()))
    return bad_input(
        fmt::format("'{}': field 'shape': expected a list of axes or null, found {}", name, quoted(compact(item), 40)));
  argument.is_scalar = shape->is_null();
  if (argument.is_scalar) return argument;
  for (const Json& item_axis : *shape) {
    const std::string axis = plain_text(item_axis);
    if (definition.find_axis(axis) == nullptr)
      return bad_input(fmt::format("'{}': axis {} is not among the axes", name, quoted(axis)));
    argument.axes.push_back(axis);
  }
  const std::string dtype = plain_text(item.value("dtype", Json()));
  const std::optional<ir::DType> known = ir::parse_dtype(dtype);
  if (!known)
    return unsupported(fmt::format("'{}': dtype {}, which graphs do not have", name, quoted(dtype)))
        .with_hint("take a definition of float16, bfloat16, float32, integers or bool");
  argument.dtype = *known;
  return argument;
}

Result<std::vector<Argument>> read_arguments(const Definition& definition, const Json& json, const char* key) {
  PASSNET_TRY(const Json* items, named_items(json, key));
  std::vector<Argument> arguments;
  for (const auto& [name, item] : items->items()) {
    PASSNET_TRY(arguments.emplace_back(), read_argument(definition, name, item));
  }
  return arguments;
}

/// Removes a statement that has its lines for itself; their ends stay, and with them the places of others.
/// next: where the statement after it begins.
void remove_statement(std::string& text, size_t statement, size_t next) {
  const size_t first = text.rfind('\n', statement) + 1, last = text.rfind('\n', next) + 1;
  if (!trim(std::string_view(text).substr(first, statement - first)).empty()) return;
  const auto lines = std::count(text.begin() + static_cast<std::ptrdiff_t>(first),
                                text.begin() + static_cast<std::ptrdiff_t>(last), '\n');
  text.replace(first, last - first, std::string(static_cast<size_t>(lines), '\n'));
}

/// Finds `run`, beside which there are only imports. imports: receives their text.
Result<const pass::Function*> find_run(const pass::PlanProgram& program, std::string& imports) {
  const pass::Function* run = program.find_function("run");
  if (run == nullptr) return bad_input("the reference has no function 'run'", SourceLoc{program.file});
  for (size_t i = 0; i < program.body.size(); ++i) {
    const pass::Statement& statement = program.body[i];
    const size_t end = i + 1 < program.body.size() ? program.body[i + 1].offset : program.text->size();
    if (statement.kind == pass::StatementKind::Import)
      imports +=
          std::string(trim(std::string_view(*program.text).substr(statement.offset, end - statement.offset))) + "\n";
    else if (statement.function != run && statement.kind != pass::StatementKind::Evaluate)
      return unsupported("the reference has code beside its function 'run'", program.locate(statement.offset))
          .with_hint("write it into 'run', one operator after the other");
  }
  return run;
}

/// Sets the pattern and the graph.
Result<void> read_reference(Definition& definition, const std::string& reference) {
  const std::string where = fmt::format("{}: reference", definition.path.string());
  PASSNET_TRY(const auto program, pass::parse_pass_file(where, std::make_shared<const std::string>(reference + "\n")));
  std::string imports;
  PASSNET_TRY(const pass::Function* run, find_run(*program, imports));
  std::string text = *program->text;
  // From the last on: offsets are of the text as it was.
  for (size_t i = run->body.size(); i-- > 1;) {
    if (run->body[i - 1].kind == pass::StatementKind::Assert)
      remove_statement(text, run->body[i - 1].offset, run->body[i].offset);
  }
  const auto source = std::make_shared<const std::string>(std::move(text));
  size_t end = 0;
  Result<ir::Graph> graph = fx::parse_function(where, source, run->offset, &end);
  if (!graph) return std::move(graph).error().with_note("a pattern is straight-line code: see docs/passes.md");
  definition.graph = std::move(*graph);
  const size_t parameters = source->find('(', run->offset);
  definition.pattern = fmt::format("{}\n\ndef pattern{}\n", imports,
                                   trim(std::string_view(*source).substr(parameters, end - parameters)));
  std::vector<std::string> taken, given;
  for (const ir::Node& node : definition.graph.nodes()) {
    if (node.kind == ir::NodeKind::Placeholder) taken.emplace_back(node.target);
  }
  for (const Argument& input : definition.inputs) given.push_back(input.name);
  if (taken == given) return {};
  return bad_input(fmt::format("'run' takes ({}), expected the inputs ({})", join(taken, ", "), join(given, ", ")),
                   program->locate(run->offset));
}

Result<Definition> read_definition(const std::filesystem::path& path, const Json& json) {
  PASSNET_TRY(const DefinitionFields fields, from_json_object<DefinitionFields>(json));
  Definition definition;
  definition.path = path;
  definition.name = fields.name;
  PASSNET_TRY(definition.axes, read_axes(json));
  PASSNET_TRY(definition.inputs, read_arguments(definition, json, "inputs"));
  PASSNET_TRY(definition.outputs, read_arguments(definition, json, "outputs"));
  PASSNET_TRY_VOID(read_reference(definition, fields.reference));
  return definition;
}

}  // namespace

const Axis* Definition::find_axis(std::string_view axis) const {
  const auto found = std::ranges::find(axes, axis, &Axis::name);
  return found == axes.end() ? nullptr : &*found;
}

Result<Definition> load_definition(const std::filesystem::path& path) {
  PASSNET_TRY(const std::string text, read_file(path, FileKind::Graph));
  PASSNET_TRY(const Json json, parse_json(text, path.string()));
  Result<Definition> definition = read_definition(path, json);
  if (!definition && !definition.error().at) definition.error().at = SourceLoc{path.string()};
  return definition;
}

}  // namespace passnet::exchange
