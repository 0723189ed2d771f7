#include "fx/syntax/imports.h"

#include <fmt/format.h>

#include "base/text/strings.h"

namespace passnet::fx {

namespace {

// path := NAME ("." NAME)*; a view into the text, so blanks around the dots are refused.
std::string_view module_path(Lexer& lexer) {
  const char* start = lexer.at();
  do {
    if (lexer.peek() == '.') lexer.advance(1);
    if (lexer.name().empty()) {
      lexer.expected("the name of a module");
      return {};
    }
  } while (lexer.peek() == '.');
  const std::string_view path{start, static_cast<size_t>(lexer.at() - start)};
  lexer.skip();
  return path;
}

// as := ["as" NAME]
std::string_view alias_or(Lexer& lexer, std::string_view name) {
  if (!lexer.accept_word("as")) return name;
  const std::string_view alias = lexer.name();
  if (alias.empty()) lexer.expected("a name");
  lexer.skip();
  return alias;
}

// import := "import" path as ("," path as)*; without `as` the first part of the path becomes known
void plain_import(Lexer& lexer, Scope& scope) {
  do {
    const std::string_view path = module_path(lexer);
    const std::string_view root = path.substr(0, path.find('.'));
    const std::string_view name = alias_or(lexer, root);
    if (lexer.failed()) return;
    scope.bind_module(name, name.data() == root.data() ? root : path);
  } while (lexer.accept(','));
}

// from := "from" path "import" (NAME as ("," NAME as)* | the same in brackets)
void from_import(Lexer& lexer, Scope& scope, ir::Graph& graph) {
  if (lexer.peek() == '.') return lexer.fail(lexer.at(), "relative imports are not part of the graph language");
  const std::string_view path = module_path(lexer);
  if (lexer.failed()) return;
  if (!lexer.accept_word("import")) return lexer.expected("'import'");
  const bool bracket = lexer.peek() == '(';
  if (bracket) lexer.open_bracket();
  do {
    if (bracket && lexer.peek() == ')') break;
    if (lexer.peek() == '*') {
      // torch.fx writes it above each module; functions of graphs are written with their modules.
      if (path == "torch.nn" && !bracket) return lexer.take(1);
      return lexer.fail(lexer.at(), "found 'import *', expected the names", "name what the file uses");
    }
    const std::string_view member = lexer.name();
    if (member.empty()) return lexer.expected("a name");
    lexer.skip();
    const std::string_view name = alias_or(lexer, member);
    if (lexer.failed()) return;
    scope.bind_module(name, graph.intern(fmt::format("{}.{}", path, member)));
  } while (lexer.accept(','));
  if (bracket) lexer.close_list(')');
}

}  // namespace

bool read_import(Lexer& lexer, Scope& scope, ir::Graph& graph) {
  if (lexer.accept_word("import"))
    plain_import(lexer, scope);
  else if (lexer.accept_word("from"))
    from_import(lexer, scope, graph);
  else
    return false;
  return true;
}

void read_top_level_imports(Lexer& lexer, Scope& scope, ir::Graph& graph) {
  for (;;) {
    const uint32_t column = lexer.next_line();
    if (lexer.at_end()) return;
    if (column > 0 || !read_import(lexer, scope, graph)) lexer.skip_line();
  }
}

}  // namespace passnet::fx
