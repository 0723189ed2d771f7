// Functions, and the kernels among them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/text/strings.h"
#include "pass/plan/syntax/check.h"
#include "pass/plan/syntax/statement.h"

namespace passnet::pass {

namespace {

/// Where the logical line that begins at `at` ends: the newline outside brackets and strings, or the end of
/// the text. Reads any Python, also what no language of ours contains.
const char* logical_line_end(const char* at) {
  int brackets = 0;
  while (*at != 0 && (*at != '\n' || brackets > 0)) {
    const char c = *at;
    if (c == '#') {
      at += std::strcspn(at, "\n");
    } else if (c == '\\' && at[1] != 0) {
      at += 2;
    } else if (c == '"' || c == '\'') {
      const bool triple = at[1] == c && at[2] == c;
      at += triple ? 3 : 1;
      while (*at != 0 && (triple ? at[0] != c || at[1] != c || at[2] != c : *at != c && *at != '\n')) {
        at += *at == '\\' && at[1] != 0 ? 2 : 1;
      }
      if (*at == c) at += triple ? 3 : 1;
    } else {
      if (std::strchr("([{", c)) ++brackets;
      if (std::strchr(")]}", c)) brackets = std::max(0, brackets - 1);
      ++at;
    }
  }
  return at;
}

/// The dotted name at `at`, without what follows.
std::string_view dotted_at(const char* at) {
  const char* end = at;
  while (std::isalnum(static_cast<unsigned char>(*end)) != 0 || *end == '_' || *end == '.') ++end;
  return {at, static_cast<size_t>(end - at)};
}

bool ends_in(std::string_view dotted, std::string_view name) {
  return dotted == name ||
         (dotted.size() > name.size() && dotted.ends_with(name) && dotted[dotted.size() - name.size() - 1] == '.');
}

/// Decorators that change nothing a plan could see.
bool is_plain(std::string_view dotted) {
  constexpr std::array<std::string_view, 8> kPlain{"wrap",           "lru_cache",    "cache",   "no_grad",
                                                   "inference_mode", "staticmethod", "disable", "allow_in_graph"};
  return std::ranges::any_of(kPlain, [&](std::string_view name) { return ends_in(dotted, name); });
}

}  // namespace

// decorated := ("@" expression NEWLINE)+ def
Statement StatementReader::decorated(const char* at) {
  Decorators said;
  const uint32_t indent = line_indent_;
  while (lexer_.peek() == '@') {
    if (!decorator(said)) return start(StatementKind::Pass, at);
  }
  const char* def = lexer_.at();
  if (line_indent_ == indent && lexer_.accept_word("class")) return class_statement(def);
  if (line_indent_ != indent || !lexer_.accept_word("def")) {
    lexer_.expected("a function after the decorator");
    return start(StatementKind::Pass, at);
  }
  Statement result = said.jit != nullptr ? kernel(def, said) : definition(def);
  result.offset = lexer_.offset(at);
  return result;
}

bool StatementReader::decorator(Decorators& said) {
  const char* at = lexer_.at();
  lexer_.take(1);
  const std::string_view name = dotted_at(lexer_.at());
  const bool is_autotune = ends_in(name, "autotune"), is_heuristics = ends_in(name, "heuristics");
  // A constexpr_function runs while a kernel is compiled: its body is Triton's too.
  const bool is_triton = ends_in(name, "jit") || ends_in(name, "constexpr_function");
  if (is_triton && !name.starts_with("torch")) {
    said.jit_offset = lexer_.offset(at);
    said.jit = expressions_.expression();
  } else if (is_autotune || is_heuristics) {
    const Expr* call = expressions_.expression();
    if (!lexer_.failed() && call->kind != ExprKind::Call) lexer_.expected("the arguments of the decorator");
    if (is_autotune) said.autotune = call;
    if (is_heuristics) said.heuristics.push_back(call);
  } else if (is_plain(name)) {
    lexer_.jump(logical_line_end(lexer_.at()));
  } else {
    expressions_.outside(at, fmt::format("decorator {}", quoted(name)));
  }
  if (lexer_.failed()) return false;
  expect_line_end();
  next_line();
  return !lexer_.failed();
}

std::string_view StatementReader::function_name() {
  const std::string_view name = lexer_.name();
  if (name.empty()) lexer_.expected("the name of a function");
  lexer_.skip();
  lexer_.open_bracket('(');
  return name;
}

/// Goes to the first line after the body, whatever the body says.
void StatementReader::skip_body(uint32_t indent) {
  if (lexer_.failed()) return;
  do {
    lexer_.jump(logical_line_end(lexer_.at()));
    next_line();
  } while (!lexer_.at_end() && line_indent_ > indent);
}

namespace {
/// Whether a function at the start of `text`, which begins a line, builds a graph with torch.fx and is none itself.
bool makes_a_graph(std::string_view text) {
  size_t end = text.find('\n');
  while (end != std::string_view::npos && end + 1 < text.size() &&
         (text[end + 1] == ' ' || text[end + 1] == '\t' || text[end + 1] == '\n'))
    end = text.find('\n', end + 1);
  return text.substr(0, end).find("Graph()") != std::string_view::npos;
}
}  // namespace

// def := "def" NAME "(" parameters ")" ["->" expression] ":" block
Statement StatementReader::definition(const char* at) {
  const fx::Lexer::Nest nest(lexer_);
  const uint32_t indent = line_indent_;
  Statement result = start(StatementKind::Define, at);
  Function& function = program_.functions.emplace_back();
  result.function = &function;
  function.offset = lexer_.offset(at);
  function.outer = expressions_.scope();
  const char* name_at = lexer_.at();
  function.name = lexer_.name();
  // The pattern is a graph: fx::parse_function reads it.
  function.is_graph = function.name == "pattern" && function_ == nullptr && indent == 0 &&
                      !makes_a_graph(std::string_view(*program_.text).substr(function.offset));
  if (function.is_graph) {
    skip_body(indent);
    return result;
  }
  lexer_.jump(name_at);
  function_name();
  function.parameters = expressions_.parameters(')');
  lexer_.close_list(')');
  if (std::strncmp(lexer_.at(), "->", 2) == 0) {
    lexer_.take(2);
    expressions_.expression();
  }
  lexer_.expect(':', "':'");
  Function* const outer = std::exchange(function_, &function);
  const int loops = std::exchange(loops_, 0);
  expressions_.enter(&function);
  function.body = block(indent);
  expressions_.enter(function.outer);
  loops_ = loops;
  function_ = outer;
  for (const Parameter& parameter : function.parameters) function.locals.insert(parameter.name);
  collect_assigned(function.body, function.locals);
  for (const std::string_view name : function.globals) function.locals.erase(name);
  return result;
}

// class := "class" NAME …
Statement StatementReader::class_statement(const char* at) {
  Statement result = start(StatementKind::Class, at);
  const uint32_t indent = line_indent_;
  const char* name_at = lexer_.at();
  const std::string_view name = lexer_.name();
  if (name.empty()) lexer_.expected("the name of a class");
  result.targets.push_back(expressions_.name(name_at, name));
  skip_body(indent);
  return result;
}

// Its signature; the body is Triton's.
Statement StatementReader::kernel(const char* at, const Decorators& said) {
  const uint32_t indent = line_indent_;
  Statement result = start(StatementKind::DefineKernel, at);
  JitKernel& kernel = program_.kernels.emplace_back();
  result.kernel = &kernel;
  kernel.offset = lexer_.offset(at);
  kernel.begin = said.jit_offset;
  kernel.jit = said.jit;
  kernel.autotune = said.autotune;
  kernel.heuristics = said.heuristics;
  kernel.name = function_name();
  kernel.parameters = expressions_.parameters(')');
  lexer_.close_list(')');
  for (const Parameter& parameter : kernel.parameters) {
    if (parameter.kind != ParameterKind::Plain)
      lexer_.fail(program_.text->data() + parameter.offset, "a kernel cannot take a number of arguments that is open",
                  {}, Error::Kind::BadPass);
  }
  skip_body(indent);
  kernel.end = lexer_.offset();
  return result;
}

}  // namespace passnet::pass
