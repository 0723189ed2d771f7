#include "pass/plan/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/strings.h"
#include "fx/lexer.h"
#include "fx/operators.h"
#include "pass/plan/check.h"
#include "pass/plan/statement.h"

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

class PassFileReader {
 public:
  explicit PassFileReader(PlanProgram& program)
      : program_(program),
        lexer_(program.file, *program.text, program.text->starts_with("\xef\xbb\xbf") ? 3 : 0),
        statements_(lexer_, program) {}

  Result<PassFile> read(std::shared_ptr<PlanProgram> program) {
    statements_.next_line();
    while (!lexer_.at_end()) {
      if (statements_.line_indent() != 0) {
        lexer_.fail(lexer_.at(), "unexpected indentation at the top level of the file", {}, Error::Kind::BadPass);
        break;
      }
      top_level();
    }
    if (lexer_.failed()) {
      Error error = lexer_.take_error();
      error.kind = Error::Kind::BadPass;
      return error;
    }
    result_.program = std::move(program);
    return std::move(result_);
  }

 private:
  // file := (import | "@" decorator | def | NAME "=" expression | STRING)*
  void top_level() {
    const char* at = lexer_.at();
    if (lexer_.accept_word("import") || lexer_.accept_word("from")) return skip_lines(false);
    if (*at == '@') return decorator();
    if (lexer_.accept_word("def")) return function(at);
    if (lexer_.at_quote()) {
      std::string scratch;
      lexer_.string(scratch);
    } else {
      constant(at);
    }
    statements_.expect_line_end();
    statements_.next_line();
  }

  /// Goes over the logical line at the cursor; with `body`, over all indented lines after it too.
  void skip_lines(bool body) {
    if (lexer_.failed()) return;
    do {
      lexer_.jump(logical_line_end(lexer_.at()));
      statements_.next_line();
    } while (body && !lexer_.at_end() && statements_.line_indent() > 0);
  }

  void decorator() {
    lexer_.take(1);
    const char* at = lexer_.at();
    const auto is = [&](std::string_view name) { return std::strncmp(at, name.data(), name.size()) == 0; };
    is_triton_ |= is("triton.");
    is_tuned_ |= is("triton.autotune") || is("triton.heuristics");
    skip_lines(false);
    const bool goes_on = lexer_.peek() == '@' || std::strncmp(lexer_.at(), "def ", 4) == 0;
    if (!goes_on) lexer_.expected("a function after the decorator");
  }

  void outside_top_level(const char* at, std::string_view found) {
    lexer_.fail(at, fmt::format("outside the plan language: found {} at the top level", found),
                "a pass file holds imports, functions and constants 'NAME = value'", Error::Kind::BadPass);
  }

  void constant(const char* at) {
    if (!lexer_.at_name() || fx::is_keyword(lexer_.name())) {
      lexer_.jump(at);
      return outside_top_level(at, lexer_.describe());
    }
    lexer_.jump(at);
    Statement statement = statements_.assignment();
    if (lexer_.failed()) return;
    if (statement.kind != StatementKind::Assign || statement.targets.size() != 1 ||
        statement.targets[0]->kind != ExprKind::Name) {
      return outside_top_level(at, "a statement");
    }
    program_.constants.push_back({statement.targets[0]->name, statement.value});
  }

  // def := "def" NAME "(" parameters ")" ["->" expression] ":" block
  void function(const char* at) {
    Function function;
    function.offset = lexer_.offset(at);
    const char* name_at = lexer_.at();
    function.name = lexer_.name();
    if (function.name.empty()) return lexer_.expected("the name of a function");
    lexer_.skip();
    const bool known = program_.functions.contains(function.name) || program_.jit_kernels.contains(function.name) ||
                       (function.name == "pattern" && result_.pattern_offset) ||
                       (function.name == "replacement_func" && !result_.entry.empty());
    if (known) {
      return lexer_.fail(name_at, fmt::format("function {} is defined twice", quoted(function.name)), {},
                         Error::Kind::BadPass);
    }
    if (std::exchange(is_triton_, false)) {
      JitKernel kernel{function.offset, parameters(), std::exchange(is_tuned_, false)};
      program_.jit_kernels.emplace(function.name, std::move(kernel));
      return skip_lines(true);
    }
    if (function.name == "pattern") {
      result_.pattern_offset = function.offset;
      return skip_lines(true);
    }
    function.parameters = parameters();
    if (std::strncmp(lexer_.at(), "->", 2) == 0) {
      lexer_.take(2);
      statements_.expressions().expression();
    }
    lexer_.expect(':', "':'");
    function.body = statements_.block(0);
    if (function.name == "replacement_func") return read_entry(function);
    program_.functions.emplace(function.name, std::move(function));
  }

  // parameters := [["*"] NAME [":" expression] ["=" expression] ("," …)* [","]]
  std::vector<Parameter> parameters() {
    std::vector<Parameter> read;
    if (!lexer_.open_bracket('(')) return read;
    while (!lexer_.at_end() && lexer_.peek() != ')') {
      const char* at = lexer_.at();
      if (*at == '/' || fx::is_power_at(at)) {
        statements_.expressions().outside(at, lexer_.describe() + " in a signature");
        break;
      }
      const Parameter next = parameter();
      const auto same = [&](const Parameter& other) { return other.name == next.name; };
      if (std::ranges::any_of(read, same)) {
        lexer_.fail(at, fmt::format("parameter {} is given twice", quoted(next.name)), {}, Error::Kind::BadPass);
      } else if (read.size() == kMaxArguments) {
        lexer_.fail(at, fmt::format("too many parameters: expected at most {}", kMaxArguments), {},
                    Error::Kind::BadPass);
      }
      read.push_back(next);
      if (!lexer_.accept(',')) break;
    }
    lexer_.close_list(')');
    return read;
  }

  Parameter parameter() {
    const bool is_variadic = lexer_.accept('*');
    Parameter read{lexer_.name(), lexer_.offset(lexer_.at())};
    read.is_variadic = is_variadic;
    if (read.name.empty()) {
      lexer_.expected("a parameter name");
      return read;
    }
    lexer_.skip();
    if (lexer_.accept(':')) read.is_constexpr = is_constexpr(*statements_.expressions().expression());
    if (lexer_.accept('=')) read.default_value = statements_.expressions().expression();
    return read;
  }

  /// `tl.constexpr`, whatever triton.language is called here, also as text.
  static bool is_constexpr(const Expr& annotation) {
    const auto* text = get_if<std::string>(annotation.value);
    return annotation.name == "constexpr" || (text != nullptr && text->ends_with("constexpr"));
  }

  // replacement_func := "def" "replacement_func" "(" ")" ":" "return" NAME
  void read_entry(const Function& function) {
    if (lexer_.failed()) return;
    std::vector<const Statement*> body;
    for (const Statement& statement : function.body) {
      if (statement.kind != StatementKind::Pass) body.push_back(&statement);
    }
    const bool is_name = body.size() == 1 && body[0]->kind == StatementKind::Return && body[0]->value &&
                         body[0]->value->kind == ExprKind::Name;
    if (!is_name || !function.parameters.empty()) {
      const uint32_t offset = is_name || body.empty() ? function.offset : body[0]->offset;
      return lexer_.fail(program_.text->data() + offset, "replacement_func does not return the name of a function",
                         "write 'def replacement_func():' and 'return NAME', the function that launches the kernels",
                         Error::Kind::BadPass);
    }
    result_.entry = body[0]->value->name;
    result_.entry_offset = body[0]->value->offset;
  }

  PlanProgram& program_;
  fx::Lexer lexer_;
  StatementReader statements_;
  PassFile result_;
  bool is_triton_ = false, is_tuned_ = false;  // the decorators of the next function hold one of triton's
};

Result<void> check_entry(const PassFile& file) {
  if (file.entry.empty() || file.program->functions.contains(file.entry)) return {};
  std::vector<std::string_view> names;
  for (const auto& [name, function] : file.program->functions) names.push_back(name);
  const std::string_view nearest = nearest_name(file.entry, names);
  return bad_pass(fmt::format("replacement_func returns {}, which is not a function of this file", quoted(file.entry)),
                  file.program->locate(file.entry_offset))
      .with_hint(nearest.empty() ? std::string() : fmt::format("did you mean {}?", quoted(nearest)));
}

}  // namespace

SourceLoc PlanProgram::locate(uint32_t offset) const {
  const auto after = std::upper_bound(line_starts.begin(), line_starts.end(), offset);
  const auto line = static_cast<uint32_t>(after - line_starts.begin());
  return {file, line, offset - line_starts[line - 1] + 1};
}

Result<PassFile> parse_pass_file(std::string file, std::shared_ptr<const std::string> text) {
  if (text->size() > kMaxPassBytes) {
    return bad_pass(
        fmt::format("pass file too large: found {} bytes, expected at most {}", text->size(), kMaxPassBytes),
        SourceLoc{std::move(file)});
  }
  auto program = std::make_shared<PlanProgram>();
  program->file = std::move(file);
  program->text = std::move(text);
  program->line_starts = {0};
  for (size_t at = program->text->find('\n'); at != std::string::npos; at = program->text->find('\n', at + 1)) {
    program->line_starts.push_back(static_cast<uint32_t>(at + 1));
  }
  PassFileReader reader(*program);
  PASSNET_TRY(PassFile result, reader.read(program));
  PASSNET_TRY_VOID(check_entry(result));
  // Without its replacement_func a file is no pass: whoever asks for one says so, and a misspelt one is no plan to be
  // checked.
  if (!result.entry.empty()) PASSNET_TRY_VOID(check_program(*result.program));
  return result;
}

}  // namespace passnet::pass
