#include "fx/syntax/function.h"

#include <fmt/format.h>

#include "base/text/strings.h"
#include "fx/syntax/imports.h"
#include "fx/syntax/statement.h"

namespace passnet::fx {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;
using ir::NodeKind;

namespace {
constexpr std::string_view kStatementHint = "a graph is straight-line code: assignments, calls, and one return";

// The name a node gets when the text gives none: what it calls, as torch.fx does.
std::string_view base_name(const ir::Node& node) {
  if (node.kind == NodeKind::Operator) return find_operator(node.target)->function;
  std::string_view target = node.target;
  if (target.ends_with(".default")) target.remove_suffix(8);
  return target.substr(target.rfind('.') + 1);  // npos + 1 == 0
}
}  // namespace

// function := "def" NAME "(" parameters ")" ["->" annotation] ":" body
void FunctionReader::read(uint32_t indent) {
  if (!lexer_.accept_word("def")) return lexer_.expected("'def'");
  if (lexer_.name().empty()) return lexer_.expected("the name of the function");
  lexer_.skip();
  parameters();
  if (lexer_.peek() == '-' && lexer_.peek(1) == '>') skip_annotation(":");
  if (!lexer_.expect(':', "':'")) return;
  body(indent);
  if (!lexer_.failed()) name_the_rest();
}

// parameters := "(" [parameter ("," parameter)* [","]] ")"
void FunctionReader::parameters() {
  if (!lexer_.open_bracket('(')) return;
  if (rules_.is_method) {
    if (!lexer_.accept_word("self")) return lexer_.expected("'self'");
    if (lexer_.peek() != ')' && !lexer_.expect(',', "',' or ')'")) return;
  }
  lexer_.list(')', [&] { parameter(); });
}

// parameter := NAME [":" annotation]
void FunctionReader::parameter() {
  const char* at = lexer_.at();
  const std::string_view name = lexer_.name();
  if (name.empty()) return lexer_.expected("the name of a parameter");
  lexer_.skip();
  if (!check_target(name)) return;
  std::string_view annotation;
  if (lexer_.accept(':')) {
    annotation = skip_annotation(",=)");
    if (annotation.empty()) return lexer_.expected("an annotation");
  }
  if (lexer_.peek() == '=' && rules_.is_method)
    return lexer_.fail(at,
                       fmt::format("parameter {} has a default value; parameters of graphs have none", quoted(name)));
  if (lexer_.accept('=')) skip_annotation(",)");  // every parameter of a pattern is an input of it
  Binding& binding = scope_[name];
  if (binding.parameter) return lexer_.fail(at, fmt::format("parameter {} is given twice", quoted(name)));
  if (binding.reserved && rules_.is_method && !StatementPrinter::can_hide(name)) {
    return lexer_.fail(at, fmt::format("parameter {} hides a name that graphs use themselves", quoted(name)),
                       "give it another name");
  }
  const NodeId id = graph_.add_placeholder(name, name, annotation, lexer_.offset(at));
  binding.kind = Binding::Kind::Value;
  binding.value = Arg::of_node(id);
  binding.parameter = true;
  binding.owner = id;
}

// Goes to the first of `stops` outside brackets and strings; returns what stands before it.
std::string_view FunctionReader::skip_annotation(std::string_view stops) {
  const char* start = lexer_.at();
  const char* end = start;
  int depth = 0;
  while (!lexer_.at_end()) {
    const char c = lexer_.peek();
    if (depth == 0 && (stops.find(c) != std::string_view::npos || c == '\n')) break;
    if (lexer_.at_quote()) {
      lexer_.string_token();
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
      lexer_.enter_bracket();
      lexer_.advance(1);
    } else if (c == ')' || c == ']' || c == '}') {
      if (depth-- == 0) break;
      lexer_.leave_bracket();
      lexer_.advance(1);
    } else {
      lexer_.advance(1);
    }
    end = lexer_.at();
    lexer_.skip();
  }
  return {start, static_cast<size_t>(end - start)};
}

// body := statements on the same line, or lines of one deeper indentation; the last statement is the return
void FunctionReader::body(uint32_t indent) {
  StatementEffect before{.only_aliases = true};
  if (!lexer_.at_statement_end()) {
    if (!line(before)) lexer_.expected("a return on the same line");
    return;
  }
  const uint32_t column = lexer_.next_line();
  if (column <= indent) return lexer_.expected("an indented body");
  for (;;) {
    if (line(before)) break;
    const uint32_t next = lexer_.next_line();
    if (lexer_.failed()) return;
    if (next <= indent || lexer_.at_end()) return lexer_.expected("'return' before the end of the function");
    if (next != column)
      return lexer_.fail(lexer_.at(),
                         fmt::format("unexpected indentation: found column {}, expected {}", next + 1, column + 1));
  }
  if (lexer_.failed()) return;
  const char* end = lexer_.at();
  if (lexer_.next_line() > indent && !lexer_.at_end())
    return lexer_.expected("the end of the function after its return", std::string(kStatementHint));
  lexer_.jump(end);
}

// line := statement (";" statement)* [";"] NEWLINE. Returns true after a return statement. before: of all statements so
// far; those of this line are added to it.
bool FunctionReader::line(StatementEffect& before) {
  for (;;) {
    if (lexer_.peek() == 'r' && lexer_.accept_word("return")) {
      return_statement();
      return !lexer_.failed();
    }
    const StatementEffect effect = statement(before);
    before = {effect.mutated, before.only_aliases && effect.only_aliases};
    if (lexer_.failed()) return false;
    if (!lexer_.at_statement_end()) {
      const char* at = lexer_.at();
      const bool at_keyword = is_keyword(lexer_.name());
      lexer_.jump(at);
      lexer_.expected("the end of the statement", at_keyword ? std::string(kStatementHint) : "");
      return false;
    }
    if (lexer_.peek() != ';') return false;
    lexer_.take(1);
    if (lexer_.at_statement_end()) return false;
  }
}

// return := "return" [tuple | expression]
void FunctionReader::return_statement() {
  const uint32_t offset = lexer_.offset();
  Arg value;
  if (!lexer_.at_statement_end()) value = expressions_.expression_list();
  if (lexer_.peek() == ';') lexer_.take(1);
  if (!lexer_.at_statement_end()) return lexer_.expected("the end of the statement");
  graph_.add_output(value, offset);
}

// statement := assignment | in_place | store | unpack | expression | string
StatementEffect FunctionReader::statement(const StatementEffect& before) {
  const char* at = lexer_.at();
  if (!rules_.is_method && read_import(lexer_, scope_, graph_)) return {.only_aliases = true};
  if (!rules_.is_method && lexer_.accept_word("pass")) return {.only_aliases = true};
  std::string_view name = lexer_.name();
  if (!name.empty()) {
    lexer_.skip();
    if (lexer_.at_assign()) return assignment(name, before);
    if (const OperatorRow* row = operator_at(lexer_.at(), true)) return in_place(name, *row);
    if (lexer_.peek() == ':' && lexer_.peek(1) != '=') {
      lexer_.take(1);
      skip_annotation("=");
      if (lexer_.at_assign()) return assignment(name, before);
      lexer_.expected("'='");
      return {};
    }
    const bool is_unpacking = lexer_.peek() == ',';
    lexer_.jump(at);
    if (is_unpacking) return unpack();
  } else if (const std::string_view target = parenthesized_target(); !target.empty()) {
    return assignment(target, before);
  } else if (at_unpacking()) {
    return unpack();
  }
  return expression_statement(name, at);
}

// A lone string is a comment; a call may stand alone; `object[index] = value` stores.
StatementEffect FunctionReader::expression_statement(std::string_view name, const char* at) {
  const NodeId first_new = graph_.size();
  expressions_.store.reset();
  expressions_.watch_store = true;
  const Arg value = expressions_.expression();
  expressions_.watch_store = false;
  if (lexer_.failed()) return {};
  if (expressions_.store) return store(name, at);
  if (value.kind == ArgKind::String) return {.only_aliases = true};
  const bool is_call = value.kind == ArgKind::Node && value.node >= first_new;
  if (lexer_.at_assign() || operator_at(lexer_.at(), true) != nullptr) {
    lexer_.fail(at, "cannot assign to this expression, expected a name or name[index]",
                lexer_.at_assign() ? "" : "in-place operators work on names: write 't = x[i]; t += y; x[i] = t'");
  } else if (!is_call) {
    lexer_.fail(at, "found an expression without effect, expected an assignment or a call",
                std::string(kStatementHint));
  }
  return {};
}

// parenthesized_target := "("+ NAME ")"+ before "="; returns the name and stands at "="; else goes back and
// returns an empty one
std::string_view FunctionReader::parenthesized_target() {
  if (lexer_.peek() != '(') return {};
  const char* start = lexer_.at();
  int open = 0;
  while (lexer_.peek() == '(' && open < kMaxNesting) {
    lexer_.open_bracket();
    ++open;
  }
  const std::string_view name = lexer_.name();
  lexer_.skip();
  bool fits = !name.empty();
  for (; open > 0; --open) {
    fits = fits && lexer_.peek() == ')';
    if (fits)
      lexer_.close_bracket(')');
    else
      lexer_.leave_bracket();
  }
  if (fits && lexer_.at_assign()) return name;
  lexer_.jump(start);
  return {};
}

// assignment := (target "=")+ (expression | tuple); target := NAME | "(" NAME ")"
StatementEffect FunctionReader::assignment(std::string_view first, const StatementEffect& before) {
  std::vector<std::string_view>& targets = target_memory_;
  targets.assign(1, first);
  const NodeId first_new = graph_.size();
  for (;;) {
    lexer_.take(1);
    const char* at = lexer_.at();
    std::string_view name = lexer_.name();
    if (name.empty()) {
      name = parenthesized_target();
      if (name.empty()) break;
    } else if (lexer_.at_quote()) {
      lexer_.jump(at);
      break;
    } else {
      lexer_.skip();
      if (lexer_.at_statement_end()) {
        name_to_name(targets, name, before);
        return {.only_aliases = true};
      }
    }
    if (!lexer_.at_assign()) {
      assign(targets, expressions_.expression_list_after(name), first_new);
      return {};
    }
    targets.push_back(name);
  }
  assign(targets, expressions_.expression_list(), first_new);
  return {};
}

void FunctionReader::assign(Targets targets, const Arg& value, NodeId first_new) {
  if (lexer_.failed()) return;
  if (lexer_.peek() == '=') return lexer_.fail(lexer_.at(), "cannot assign to this expression, expected a name");
  bool is_new = value.kind == ArgKind::Node && value.node >= first_new;
  for (std::string_view target : targets) {
    if (!check_target(target)) return;
    bind(target, value, is_new);
    is_new = false;
  }
}

// `a = b = None` ends lives; `z = x` directly after `x += y` names that node; other `z = x` are aliases.
void FunctionReader::name_to_name(Targets targets, std::string_view source, const StatementEffect& before) {
  if (source == "None") return end_lives(targets);
  const NodeId first_new = graph_.size();
  Arg value;
  if (const Binding* binding = scope_.find(source); binding != nullptr && binding->kind == Binding::Kind::Value) {
    const Arg* found = expressions_.value_of(source);
    if (found == nullptr) return;
    value = *found;
  } else {
    value = expressions_.expression_after(source);  // True, inf, …, or the error
  }
  if (lexer_.failed()) return;
  for (std::string_view target : targets) {
    if (!check_target(target)) return;
    Binding& binding = scope_[target];
    const bool fresh = Scope::is_free(binding) && !binding.parameter;
    if (fresh && before.mutated == source && targets.size() == 1 && first_new == graph_.size()) {
      const NodeId node = expressions_.unnamed.back().node;
      expressions_.unnamed.pop_back();
      graph_.rename(node, target);
      binding.owner = node;
      value = Arg::of_node(node);
    } else if (fresh && before.only_aliases && value.kind == ArgKind::Node) {
      Binding& signature = scope_[graph_.node(value.node).target];  // only placeholders exist so far
      if (signature.owner == value.node) {
        signature.owner = ir::kNoNode;
        binding.owner = value.node;
        graph_.rename(value.node, target);
      }
    }
    bind(target, value, false);
  }
}

void FunctionReader::end_lives(Targets targets) {
  for (std::string_view target : targets) {
    if (!check_target(target)) return;
    Binding* binding = scope_.find(target);
    const bool known =
        binding != nullptr && binding->kind != Binding::Kind::Unbound && binding->kind != Binding::Kind::Module;
    if (known) {
      binding->kind = Binding::Kind::Dead;
    } else if (rules_.free_constants) {
      bind(target, Arg::none(), false);
    } else {
      return lexer_.fail(target.data(), fmt::format("name {} is set to None but not defined before", quoted(target)));
    }
  }
}

// in_place := NAME ("+=" | "*=" | …) expression
StatementEffect FunctionReader::in_place(std::string_view name, const OperatorRow& row) {
  const Arg* found = expressions_.value_of(name);
  if (found == nullptr) return {};
  const Arg object = *found;
  lexer_.take(row.target.size());
  const Arg value = expressions_.expression_list();
  if (lexer_.failed()) return {};
  scope_[name].value = expressions_.add_arg(NodeKind::Operator, row.target, {object, value}, name.data());
  return {.mutated = name};
}

// store := primary "[" index "]" "=" expression. name: what the statement begins with.
StatementEffect FunctionReader::store(std::string_view name, const char* at) {
  const ExpressionReader::Store where = *expressions_.store;
  lexer_.take(1);
  const Arg value = expressions_.expression_list();
  if (lexer_.failed()) return {};
  expressions_.add(NodeKind::Operator, "setitem", std::initializer_list<Arg>{where.object, where.index, value}, at);
  const Binding* binding = name.empty() ? nullptr : scope_.find(name);
  const bool of_name = binding != nullptr && binding->kind == Binding::Kind::Value &&
                       where.object.kind == ArgKind::Node && binding->value.kind == ArgKind::Node &&
                       binding->value.node == where.object.node;
  return {.mutated = of_name ? name : std::string_view{}};
}

// targets := target ("," target)* [","]; target := NAME | "(" targets ")" | "[" targets "]". Returns false, with the cursor
// there, where no target stands. has_comma: whether there was one.
bool FunctionReader::read_targets(std::vector<Unpacked>& targets, char close, int depth, bool& has_comma) {
  do {
    if (has_comma && lexer_.peek() == close) break;
    if (!read_target(targets.emplace_back(), depth)) return false;
    has_comma |= lexer_.peek() == ',';
  } while (lexer_.accept(','));
  return true;
}

bool FunctionReader::read_target(Unpacked& target, int depth) {
  const char open = lexer_.peek();
  if (open != '(' && open != '[') {
    target.name = lexer_.name();
    lexer_.skip();
    return !target.name.empty();
  }
  if (depth == kMaxNesting) return false;
  const char close = open == '(' ? ')' : ']';
  bool has_comma = false;
  lexer_.open_bracket();
  if (!read_targets(target.items, close, depth + 1, has_comma) || lexer_.peek() != close)
    return lexer_.leave_bracket(), false;
  lexer_.close_bracket(close);
  // Brackets around one target are none.
  if (open == '(' && !has_comma) target = Unpacked(std::move(target.items[0]));
  return true;
}

// Returns whether a statement that begins with a bracket unpacks; stands where it stood.
bool FunctionReader::at_unpacking() {
  const char* start = lexer_.at();
  if (*start != '(' && *start != '[') return false;
  std::vector<Unpacked> targets;
  bool has_comma = false;
  const bool fits = read_targets(targets, '=', 0, has_comma) && lexer_.at_assign();
  lexer_.jump(start);
  return fits;
}

// unpack := targets "=" expression
StatementEffect FunctionReader::unpack() {
  std::vector<Unpacked> targets;
  bool has_comma = false;
  if (!read_targets(targets, '=', 0, has_comma)) {
    lexer_.expected("a name");
    return {};
  }
  const char* at = lexer_.at();
  if (!lexer_.expect('=', "'='")) return {};
  if (!has_comma && targets[0].name.empty()) targets = std::vector<Unpacked>(std::move(targets[0].items));
  const Arg value = expressions_.expression_list();
  if (!lexer_.failed()) unpack_into(targets, value, at);
  return {};
}

// getitem nodes, or the elements of a tuple written out
void FunctionReader::unpack_into(const std::vector<Unpacked>& targets, const Arg& value, const char* at) {
  const bool written_out = value.kind == ArgKind::Tuple || value.kind == ArgKind::List;
  if (written_out && value.count != targets.size()) {
    return lexer_.fail(at, fmt::format("cannot unpack: found {} values, expected {}", value.count, targets.size()));
  }
  for (size_t i = 0; i < targets.size() && !lexer_.failed(); ++i) {
    const Unpacked& target = targets[i];
    const bool is_name = !target.name.empty();
    if (is_name && !check_target(target.name)) return;
    const Arg index = Arg::of_int(static_cast<int64_t>(i));
    const Arg item = written_out ? graph_.elements(value)[i]
                                 : expressions_.add_arg(NodeKind::Operator, "getitem", {value, index},
                                                        is_name ? target.name.data() : at);
    if (is_name)
      bind(target.name, item, !written_out);
    else
      unpack_into(target.items, item, at);
  }
}

// is_new: value is a node made by this statement, the last one without a name; it gets this one when it is
// free.
void FunctionReader::bind(std::string_view name, const Arg& value, bool is_new) {
  Binding& binding = scope_[name];
  if (value.kind == ArgKind::Tuple || value.kind == ArgKind::List || value.kind == ArgKind::Slice) {
    for (const Arg& element : graph_.elements(value)) {
      if (element.kind == ArgKind::Tuple || element.kind == ArgKind::List || element.kind == ArgKind::Slice) {
        return lexer_.fail(name.data(), fmt::format("name {} stands for a tuple that holds tuples", quoted(name)),
                           "write it where it is used");
      }
    }
  }
  binding.kind = Binding::Kind::Value;
  binding.value = value;
  if (!is_new) return;
  Unnamed& last = expressions_.unnamed.back();
  if (!Scope::is_free(binding)) {
    last.base = name;
    return;
  }
  binding.owner = last.node;
  graph_.rename(last.node, name);
  expressions_.unnamed.pop_back();
}

bool FunctionReader::check_target(std::string_view name) {
  if (!is_keyword(name)) return true;
  lexer_.fail(name.data(), fmt::format("{} is not part of the graph language", quoted(name)),
              std::string(kStatementHint));
  return false;
}

// All names that the text gives are known now: the others become what is free.
void FunctionReader::name_the_rest() {
  for (const Unnamed& node : expressions_.unnamed) {
    const std::string_view base = node.base.empty() ? base_name(graph_.node(node.node)) : node.base;
    graph_.rename(node.node, scope_.claim_fresh(graph_, base, node.node));
  }
  graph_.rename(graph_.output(), scope_.claim_fresh(graph_, "output", graph_.output()));
}

}  // namespace passnet::fx
