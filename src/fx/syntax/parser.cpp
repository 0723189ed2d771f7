#include "fx/syntax/parser.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/file/file.h"
#include "base/text/strings.h"
#include "fx/syntax/function.h"
#include "fx/syntax/imports.h"
#include "fx/syntax/lexer.h"
#include "fx/syntax/scope.h"
#include "ir/ops/aten.h"

namespace passnet::fx {

namespace {

constexpr std::string_view kClassHint =
    "a graph file holds imports and one 'class GraphModule(torch.nn.Module)' with 'forward'";

ir::Graph empty_graph(std::string file, const std::shared_ptr<const std::string>& text) {
  ir::Graph graph;
  graph.file = std::move(file);
  graph.source = text;
  graph.keep_alive(text);
  graph.reserve(text->size() / 256 + 16, text->size() / 64 + 64);
  return graph;
}

// A line that holds nothing but a string.
bool accept_docstring(Lexer& lexer) {
  if (!lexer.at_quote()) return false;
  std::string scratch;
  lexer.string(scratch);
  if (!lexer.at_statement_end()) lexer.expected("the end of the line");
  return true;
}

// given_name := NAME "=" ("type" "(" "None" ")" | MODULE ("." NAME)*); returns false, back at the start, where none begins.
// The first is `NoneType`, which torch.fx writes for annotations, and the second another name for a part of a library.
bool read_given_name(Lexer& lexer, Scope& scope, ir::Graph& graph) {
  const char* start = lexer.at();
  const std::string_view name = lexer.name();
  lexer.skip();
  if (name.empty() || is_keyword(name) || !lexer.at_assign()) return lexer.jump(start), false;
  lexer.take(1);
  if (lexer.accept_word("type") && lexer.accept('(') && lexer.accept_word("None") && lexer.accept(')')) return true;
  const Binding* module = scope.find(lexer.name());
  if (module == nullptr || module->kind != Binding::Kind::Module) return lexer.jump(start), false;
  std::string path(module->value.string());
  while (lexer.accept('.')) {
    path += fmt::format(".{}", lexer.name());
    lexer.skip();
  }
  lexer.skip();
  scope.bind_module(name, graph.intern(path));
  return true;
}

// init := "def" "__init__" …, which torch.fx writes; graphs hold no attributes, so that only a use of one is an error.
// Returns the indentation of what follows.
uint32_t skip_init(Lexer& lexer, uint32_t indent) {
  const char* start = lexer.at();
  const bool is_init = lexer.accept_word("def") && lexer.accept_word("__init__");
  lexer.jump(start);
  if (!is_init) return indent;
  uint32_t column = indent;
  do {
    lexer.skip_line();
    column = lexer.next_line();
  } while (column > indent && !lexer.at_end());
  return column;
}

// header := "class" "GraphModule" "(" "torch.nn.Module" ")" ":"
void class_header(Lexer& lexer, const Scope& scope) {
  if (!lexer.accept_word("class")) {
    return lexer.expected("an import or 'class GraphModule(torch.nn.Module)'", std::string(kClassHint));
  }
  if (!lexer.accept_word("GraphModule")) return lexer.expected("'GraphModule'", std::string(kClassHint));
  if (!lexer.open_bracket('(')) return;
  const char* at = lexer.at();
  const std::string_view root = lexer.name();
  while (lexer.peek() == '.') {
    lexer.advance(1);
    if (lexer.name().empty()) return lexer.expected("a name");
  }
  const std::string_view base{at, static_cast<size_t>(lexer.at() - at)};
  const Binding* module = scope.find(root);
  if (!root.empty() && module == nullptr) {
    return lexer.fail(at, fmt::format("name {} is not defined", quoted(root)), fmt::format("add 'import {}'", root));
  }
  if (root.empty() || fmt::format("{}{}", module->value.string(), base.substr(root.size())) != "torch.nn.Module") {
    return lexer.fail(at, fmt::format("expected the base class 'torch.nn.Module', found {}", quoted(base)));
  }
  lexer.skip();
  lexer.close_bracket(')');
  if (!lexer.expect(':', "':'")) return;
  if (!lexer.at_statement_end()) lexer.expected("the end of the line");
}

// file := (import | given_name | string)* header INDENT [string] [init] forward
void model_file(Lexer& lexer, Scope& scope, ir::Graph& graph) {
  for (;;) {
    const uint32_t column = lexer.next_line();
    if (lexer.failed()) return;
    if (column > 0)
      return lexer.fail(lexer.at(), fmt::format("unexpected indentation: found column {}, expected 1", column + 1));
    if (!accept_docstring(lexer) && !read_import(lexer, scope, graph) && !read_given_name(lexer, scope, graph)) break;
    while (lexer.accept(';') && !lexer.at_statement_end()) {
      if (!read_import(lexer, scope, graph)) return lexer.expected("an import");
    }
    if (!lexer.at_statement_end()) return lexer.expected("the end of the line");
  }
  class_header(lexer, scope);
  if (lexer.failed()) return;
  uint32_t column = lexer.next_line();
  if (column > 0 && accept_docstring(lexer)) column = lexer.next_line();
  if (column > 0) column = skip_init(lexer, column);
  if (column == 0) return lexer.expected("the indented 'def forward'");
  const char* at = lexer.at();
  if (lexer.accept_word("def") && !lexer.accept_word("forward"))
    return lexer.expected("'forward'", std::string(kClassHint));
  lexer.jump(at);
  scope.bind_module("self", "self");
  FunctionReader(lexer, scope, graph, {.is_method = true, .free_constants = false}).read(column);
  if (lexer.failed()) return;
  lexer.next_line();
  if (!lexer.at_end()) lexer.expected("the end of the file", std::string(kClassHint));
}

}  // namespace

Result<ir::Graph> parse_model(std::string file, std::shared_ptr<const std::string> text, Operators operators) {
  ir::Graph graph = empty_graph(std::move(file), text);
  Lexer lexer(graph.file, *text, text->starts_with("\xef\xbb\xbf") ? 3 : 0);
  Scope scope(text->size() / 256);
  if (!lexer.failed()) model_file(lexer, scope, graph);
  if (lexer.failed()) return lexer.take_error();
  if (operators == Operators::Listed) PASSNET_TRY_VOID(ir::check_operators(graph));
  return graph;
}

Result<ir::Graph> load_model(const std::string& path, Operators operators) {
  std::error_code status;
  const std::filesystem::path given(path);
  if (!std::filesystem::exists(given, status) && !status)
    return bad_input(fmt::format("{} does not exist", quoted(path, 400)))
        .with_hint("give a graph directory or a model.py");
  const bool is_directory = std::filesystem::is_directory(given, status);
  const std::filesystem::path file = is_directory ? given / "model.py" : given;
  PASSNET_TRY(std::string text,
              is_directory ? read_beneath(given, "model.py", FileKind::Graph) : read_file(given, FileKind::Graph));
  return parse_model(file.string(), std::make_shared<const std::string>(std::move(text)), operators);
}

namespace {

ir::Arg to_arg(const FreeValue& value, ir::Graph& graph) {
  using ir::Arg;
  if (value.kind != FreeValue::Kind::Scalar) {
    std::vector<Arg> elements;
    for (const FreeValue& element : value.elements) elements.push_back(to_arg(element, graph));
    return graph.make_container(value.kind == FreeValue::Kind::List ? ir::ArgKind::List : ir::ArgKind::Tuple, elements);
  }
  if (const auto* flag = std::get_if<bool>(&value.is)) return Arg::of_bool(*flag);
  if (const auto* number = std::get_if<int64_t>(&value.is)) return Arg::of_int(*number);
  if (const auto* real = std::get_if<double>(&value.is)) return Arg::of_float(*real);
  if (const auto* dtype = std::get_if<ir::DType>(&value.is)) return Arg::of_dtype(*dtype);
  if (const auto* text = std::get_if<std::string>(&value.is))
    return Arg::of_text(ir::ArgKind::String, graph.intern(*text));
  return Arg::none();
}

}  // namespace

std::string item_name(std::string_view of, std::string_view key) {
  return fmt::format("{}['{}:{}']", of, key.size(), key);
}
std::string item_name(std::string_view of, int64_t key) { return fmt::format("{}[{}]", of, key); }

Result<ir::Graph> parse_function(std::string file, std::shared_ptr<const std::string> text, size_t offset, size_t* end,
                                 const FreeValues& free) {
  ir::Graph graph = empty_graph(std::move(file), text);
  Scope scope(text->size() / 64);
  for (std::string_view name : {"torch", "math", "operator"}) scope.bind_module(name, name);
  scope.bind_module("device", "torch.device");
  scope.bind_module("inf", "torch.inf");
  scope.bind_module("nan", "torch.nan");
  Lexer imports(graph.file, *text);
  read_top_level_imports(imports, scope, graph);
  if (imports.failed()) return imports.take_error();
  std::vector<std::shared_ptr<const std::string>> texts;  // of lambdas
  for (const auto& [name, value] : free) {
    if (value.kind == FreeValue::Kind::Library) {
      scope.bind_module(graph.intern(name), graph.intern(std::get<std::string>(value.is)));
      continue;
    }
    Binding& binding = scope[graph.intern(name)];
    // An imported name may be a constant of another file.
    if (binding.kind != Binding::Kind::Module && binding.reserved) continue;
    if (value.kind == FreeValue::Kind::Items) {
      binding.kind = Binding::Kind::Items;
      continue;
    }
    if (value.kind == FreeValue::Kind::Lambda) {
      binding.kind = Binding::Kind::Lambda;
      binding.value = ir::Arg::of_int(std::ssize(texts));
      texts.push_back(std::make_shared<const std::string>(std::get<std::string>(value.is)));
      graph.keep_alive(texts.back());
      continue;
    }
    binding.kind = Binding::Kind::Value;
    binding.value = to_arg(value, graph);
  }
  Lambdas lambdas{scope, std::move(texts)};
  Lexer lexer(graph.file, *text, offset);
  const size_t line = offset == 0 ? 0 : text->rfind('\n', offset - 1) + 1;
  if (!lexer.failed()) {
    FunctionReader(lexer, scope, graph, {.is_method = false, .free_constants = true}, &lambdas)
        .read(static_cast<uint32_t>(std::min(offset, text->size()) - std::min(line, offset)));
  }
  if (lexer.failed()) return lexer.take_error();
  if (end != nullptr) *end = lexer.offset();
  return graph;
}

}  // namespace passnet::fx
