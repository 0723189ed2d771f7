// Import statements.
#include <fmt/format.h>

#include <utility>

#include "pass/plan/syntax/statement.h"

namespace passnet::pass {

namespace {

/// A dotted name, blanks behind it skipped; leading dots are left out.
std::string dotted(fx::Lexer& lexer) {
  std::string name;
  while (lexer.peek() == '.') lexer.take(1);
  for (;;) {
    const std::string_view part = lexer.name();
    if (part.empty()) return name;
    name += part;
    if (name.size() > kMaxStringBytes)
      lexer.fail(lexer.at(), fmt::format("name of a module too long: expected at most {} bytes", kMaxStringBytes), {},
                 Error::Kind::BadPass);
    lexer.skip();
    if (lexer.peek() != '.') return name;
    lexer.take(1);
    name += '.';
  }
}

}  // namespace

/// `as NAME`, or what the name is without.
std::string_view StatementReader::bound_name(std::string_view otherwise) {
  if (!lexer_.accept_word("as")) return otherwise;
  const std::string_view name = lexer_.name();
  if (name.empty()) lexer_.expected("a name after 'as'");
  lexer_.skip();
  return name;
}

void StatementReader::add_import(Statement& statement, Import import) {
  program_.imports.push_back(import);
  statement.imports.push_back(std::move(import));
}

// import := "import" dotted ["as" NAME] ("," …)*
Statement StatementReader::import_statement(const char* at) {
  Statement result = start(StatementKind::Import, at);
  do {
    const char* name_at = lexer_.at();
    Import import;
    import.offset = lexer_.offset(name_at);
    import.module = dotted(lexer_);
    if (import.module.empty()) {
      lexer_.expected("the name of a module");
      break;
    }
    // `import a.b` binds a, `import a.b as c` binds c to a.b.
    const std::string_view root(name_at, std::min(import.module.find('.'), import.module.size()));
    import.bound = bound_name({});
    if (import.bound.empty()) {
      import.bound = root;
      import.module.resize(root.size());
    }
    add_import(result, std::move(import));
  } while (lexer_.accept(','));
  return result;
}

// from := "from" dotted "import" ("*" | ["("] NAME ["as" NAME] ("," …)* [")"])
Statement StatementReader::from_statement(const char* at) {
  Statement result = start(StatementKind::Import, at);
  const std::string module = dotted(lexer_);
  if (!lexer_.accept_word("import")) lexer_.expected("'import'");
  if (lexer_.peek() == '*') {
    expressions_.outside(lexer_.at(), "'import *'");
    return result;
  }
  const bool in_brackets = lexer_.peek() == '(';
  if (in_brackets) lexer_.open_bracket('(');
  while (!lexer_.failed() && lexer_.peek() != ')') {
    Import import{module, lexer_.name(), {}, lexer_.offset()};
    import.offset -= static_cast<uint32_t>(import.name.size());
    if (import.name.empty()) {
      lexer_.expected("a name to import");
      break;
    }
    lexer_.skip();
    import.bound = bound_name(import.name);
    add_import(result, std::move(import));
    if (!lexer_.accept(',')) break;
  }
  if (in_brackets) lexer_.close_list(')');
  return result;
}

}  // namespace passnet::pass
