#include "graphdir/inputs/constraints.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "base/text/strings.h"
#include "fx/print.h"
#include "fx/syntax/lexer.h"
#include "fx/syntax/line_counter.h"

namespace passnet::graphdir {

namespace {

enum Variable : uint32_t { kSymbols, kExamples, kRelations, kShapes };
constexpr std::string_view kVariables[] = {"dynamic_dim_constraint_symbols",
                                           "dynamic_dim_constraint_symbol2example_value",
                                           "dynamic_dim_constraint_relations", "dynamic_dim_constraint_input_shapes"};
constexpr size_t kMaxSymbols = 1000;
constexpr std::string_view kHint = "the file holds imports of sympy, 'S0 = Symbol(\"S0\")' and four variables";

class ConstraintsReader {
 public:
  ConstraintsReader(fx::Lexer& lexer, const std::string& file) : lexer_(lexer), lines_(file, lexer.at()) {}
  Constraints read();

 private:
  void import();
  void statement();
  void symbol(std::string_view name);
  void symbols();
  void examples();
  void relations();
  void shapes();
  void shape(Constraints::Input& input);
  size_t symbol_here();
  bool check_all_given();
  template <class Element>
  void elements(char open, char close, Element&& element);

  fx::Lexer& lexer_;
  fx::LineCounter lines_;
  Constraints result_;
  std::vector<bool> listed_, has_example_;  // by symbol
  uint32_t seen_ = 0;                       // a bit per Variable
};

// file := (import | symbol | variable)*
Constraints ConstraintsReader::read() {
  for (;;) {
    const uint32_t column = lexer_.next_line();
    if (lexer_.at_end()) break;
    if (column > 0) {
      lexer_.fail(lexer_.at(), fmt::format("unexpected indentation: found column {}, expected 1", column + 1));
      break;
    }
    statement();
    if (!lexer_.failed() && !lexer_.at_statement_end()) lexer_.expected("the end of the line");
    if (lexer_.peek() == ';') lexer_.expected("one statement per line");
    if (lexer_.failed()) break;
  }
  if (!lexer_.failed()) check_all_given();
  return std::move(result_);
}

// import := "from" "sympy" "import" NAME ("," NAME)* | "import" "sympy"
void ConstraintsReader::import() {
  const bool from = lexer_.accept_word("from");
  if (!from && !lexer_.accept_word("import")) return lexer_.expected("an import");
  const char* at = lexer_.at();
  if (const std::string_view module = lexer_.name(); module != "sympy") {
    return lexer_.fail(at, fmt::format("found the module {}, expected 'sympy'", passnet::quoted(module)),
                       std::string(kHint));
  }
  lexer_.skip();
  if (!from) return;
  if (!lexer_.accept_word("import")) return lexer_.expected("'import'");
  const auto name = [&] {
    if (lexer_.name().empty()) lexer_.expected("a name");
    lexer_.skip();
  };
  if (lexer_.peek() == '(') return elements('(', ')', name);
  do name();
  while (lexer_.accept(','));
}

// statement := NAME "=" …
void ConstraintsReader::statement() {
  const char* at = lexer_.at();
  const std::string_view name = lexer_.name();
  if (name == "from" || name == "import") {
    lexer_.jump(at);
    return import();
  }
  if (name.empty()) return lexer_.expected("a statement", std::string(kHint));
  lexer_.skip();
  if (!lexer_.at_assign()) return lexer_.expected("'='", std::string(kHint));
  lexer_.take(1);
  const auto* row = std::ranges::find(kVariables, name);
  if (row == std::end(kVariables)) return symbol(name);
  const auto which = static_cast<Variable>(row - std::begin(kVariables));
  if (seen_ & (1u << which)) return lexer_.fail(at, fmt::format("{} is given twice", passnet::quoted(name)));
  seen_ |= 1u << which;
  switch (which) {
    case kSymbols: return symbols();
    case kExamples: return examples();
    case kRelations: return relations();
    case kShapes: return shapes();
  }
}

// symbol := NAME "=" "Symbol" "(" string ")"
void ConstraintsReader::symbol(std::string_view name) {
  if (!lexer_.accept_word("Symbol")) {
    const std::string_view nearest = name.size() > 64 ? "" : nearest_name(name, kVariables);
    return lexer_.expected(
        fmt::format("'Symbol' behind '{} ='", name.substr(0, 64)),
        nearest.empty() ? std::string(kHint) : fmt::format("did you mean {}?", passnet::quoted(nearest)));
  }
  if (fx::is_keyword(name))
    return lexer_.fail(name.data(), fmt::format("{} is a keyword of Python", passnet::quoted(name)));
  if (result_.symbols.size() == kMaxSymbols)
    return lexer_.fail(name.data(), fmt::format("too many symbols: more than {}", kMaxSymbols));
  if (std::ranges::find(result_.symbols, name) != result_.symbols.end())
    return lexer_.fail(name.data(), fmt::format("symbol {} is defined twice", passnet::quoted(name)));
  if (!lexer_.open_bracket('(')) return;
  const char* at = lexer_.at();
  const std::string given = lexer_.expect_string();
  if (lexer_.failed()) return;
  if (given != name) {
    return lexer_.fail(at, fmt::format("the symbol is called {}, expected {} as its variable", passnet::quoted(given),
                                       passnet::quoted(name)));
  }
  lexer_.close_bracket(')');
  result_.symbols.emplace_back(name);
  result_.examples.push_back(0);
  listed_.push_back(false);
  has_example_.push_back(false);
}

// elements := open [element ("," element)* [","]] close
template <class Element>
void ConstraintsReader::elements(char open, char close, Element&& element) {
  if (lexer_.peek() != open) {
    const std::string_view what = open == '[' ? "a list" : open == '{' ? "a dictionary" : "a bracket";
    return lexer_.expected(fmt::format("{}: '{}'", what, open));
  }
  lexer_.open_bracket();
  lexer_.list(close, element);
}

// The index of the symbol at the cursor.
size_t ConstraintsReader::symbol_here() {
  const char* at = lexer_.at();
  const ShapeExpression found = read_shape_expression(lexer_, result_.symbols);
  if (found.kind == ShapeExpression::Kind::Symbol) return static_cast<size_t>(found.value);
  if (!lexer_.failed()) lexer_.fail(at, "expected a symbol");
  return 0;
}

// symbols := "[" SYMBOL, … "]"
void ConstraintsReader::symbols() {
  elements('[', ']', [&] {
    const char* at = lexer_.at();
    const size_t index = symbol_here();
    if (lexer_.failed()) return;
    if (listed_[index])
      return lexer_.fail(at, fmt::format("symbol {} stands here twice", passnet::quoted(result_.symbols[index])));
    listed_[index] = true;
  });
}

// examples := "{" SYMBOL ":" int, … "}"
void ConstraintsReader::examples() {
  elements('{', '}', [&] {
    const char* at = lexer_.at();
    const size_t index = symbol_here();
    if (lexer_.failed() || !lexer_.expect(':', "':'")) return;
    if (has_example_[index])
      return lexer_.fail(at, fmt::format("symbol {} has two example values", passnet::quoted(result_.symbols[index])));
    at = lexer_.at();
    const bool negative = lexer_.accept('-');
    if (!lexer_.at_digit()) return lexer_.expected("an int");
    const ir::Arg value = lexer_.number(negative);
    if (lexer_.failed()) return;
    if (value.kind != ir::ArgKind::Int || value.integer < 0) {
      return lexer_.fail(at, fmt::format("found {}, expected a size: an int of 0 or more",
                                         passnet::quoted(trim({at, static_cast<size_t>(lexer_.at() - at)}))));
    }
    has_example_[index] = true;
    result_.examples[index] = value.integer;
  });
}

// relations := "[" relation, … "]"
void ConstraintsReader::relations() {
  elements('[', ']', [&] {
    const SourceLoc at = lines_.locate(lexer_.at());
    result_.relations.push_back({read_shape_relation(lexer_, result_.symbols), at});
  });
}

// shapes := "[" input, … "]";  input := "(" shape "," string [","] ")"
void ConstraintsReader::shapes() {
  elements('[', ']', [&] {
    Constraints::Input input;
    input.at = lines_.locate(lexer_.at());
    if (lexer_.peek() != '(') return lexer_.expected("a pair of a shape and a name");
    lexer_.open_bracket();
    shape(input);
    if (lexer_.failed() || !lexer_.expect(',', "','")) return;
    input.name = lexer_.expect_string();
    lexer_.accept(',');
    lexer_.close_bracket(')');
    result_.inputs.push_back(std::move(input));
  });
}

// shape := "[" expression, … "]"
void ConstraintsReader::shape(Constraints::Input& input) {
  elements('[', ']', [&] {
    const char* at = lexer_.at();
    const ShapeExpression& size = input.shape.emplace_back(read_shape_expression(lexer_, result_.symbols));
    if (!lexer_.failed() && size.is_integer() && size.value < 0)
      lexer_.fail(at, fmt::format("found {}, expected a size: an int of 0 or more", size.value));
  });
}

// A file that is not empty gives all four variables, and all of them speak of the same symbols.
bool ConstraintsReader::check_all_given() {
  if (seen_ == 0 && result_.symbols.empty()) return true;
  const auto fail = [&](std::string message, std::string_view variable) {
    lexer_.fail(lexer_.at(), std::move(message), fmt::format("see '{}'", variable));
    return false;
  };
  for (Variable needed : {kSymbols, kExamples, kRelations, kShapes}) {
    if (seen_ & (1u << needed)) continue;
    lexer_.fail(lexer_.at(), fmt::format("the file ends without '{}'", kVariables[needed]), std::string(kHint));
    return false;
  }
  for (size_t i = 0; i < result_.symbols.size(); ++i) {
    const std::string symbol = passnet::quoted(result_.symbols[i]);
    if (!listed_[i]) return fail(fmt::format("symbol {} is not in the list of symbols", symbol), kVariables[kSymbols]);
    if (!has_example_[i]) return fail(fmt::format("symbol {} has no example value", symbol), kVariables[kExamples]);
  }
  return true;
}

// "[4, 197]" of the numbers, "[S0, 197]" of the expressions.
std::string shape_text(const std::vector<ShapeExpression>& shape, std::span<const std::string> symbols) {
  std::vector<std::string> parts;
  for (const ShapeExpression& size : shape) parts.push_back(print_shape(size, symbols));
  return fmt::format("[{}]", join(parts, ", "));
}

std::string examples_text(const Constraints& constraints) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < constraints.symbols.size(); ++i)
    parts.push_back(fmt::format("{} = {}", constraints.symbols[i], constraints.examples[i]));
  return join(parts, ", ");
}

bool has_shape(const Constraints& constraints, const Constraints::Input& input, const std::vector<int64_t>& recorded) {
  return std::ranges::equal(input.shape, recorded, [&](const ShapeExpression& size, int64_t found) {
    return evaluate(size, constraints.examples) == found;
  });
}

Result<void> verify_relations(const Constraints& constraints) {
  for (const auto& [relation, at] : constraints.relations) {
    const std::optional<bool> holds = evaluate(relation, constraints.examples);
    if (holds == true) continue;
    const std::string text = print_shape(relation, constraints.symbols);
    return bad_input(holds ? fmt::format("the relation {} does not hold with the example values {}",
                                         passnet::quoted(text), passnet::quoted(examples_text(constraints)))
                           : fmt::format("the relation {} cannot be computed with the example values {}",
                                         passnet::quoted(text), passnet::quoted(examples_text(constraints))),
                     at);
  }
  return {};
}

std::string nearest_argument(const ir::Graph& graph, std::string_view name) {
  constexpr size_t kMaxCandidates = 10000;
  std::vector<std::string_view> arguments;
  for (ir::NodeId id = 0; id < graph.placeholder_count() && id < kMaxCandidates; ++id)
    arguments.push_back(graph.node(id).target);
  const std::string_view nearest = nearest_name(name, arguments);
  return nearest.empty() ? "" : fmt::format("did you mean {}?", passnet::quoted(nearest, 200));
}

}  // namespace

Result<Constraints> parse_constraints(const std::string& file, const std::string& text) {
  fx::Lexer lexer(file, text, text.starts_with("\xef\xbb\xbf") ? 3 : 0);
  Constraints constraints;
  if (!lexer.failed()) constraints = ConstraintsReader(lexer, file).read();
  if (lexer.failed()) return lexer.take_error();
  return constraints;
}

std::string print_constraints(const Constraints& constraints) {
  if (constraints.symbols.empty() && constraints.inputs.empty() && constraints.relations.empty()) return "";
  std::string out = "from sympy import Symbol, Expr, Rel, Eq, Ne, Max, Min, Mod\n\n";
  std::vector<std::string> examples, relations;
  for (size_t i = 0; i < constraints.symbols.size(); ++i) {
    out += fmt::format("{0} = Symbol(\"{0}\")\n", constraints.symbols[i]);
    examples.push_back(fmt::format("{}: {}", constraints.symbols[i], constraints.examples[i]));
  }
  for (const auto& relation : constraints.relations)
    relations.push_back(print_shape(relation.relation, constraints.symbols));
  out += fmt::format("\n{} = [{}]\n\n{} = {{{}}}\n\n{} = [{}]\n\n{} = [\n", kVariables[kSymbols],
                     join(constraints.symbols, ", "), kVariables[kExamples], join(examples, ", "),
                     kVariables[kRelations], join(relations, ", "), kVariables[kShapes]);
  for (const Constraints::Input& input : constraints.inputs)
    out += fmt::format("    ({}, {}),\n", shape_text(input.shape, constraints.symbols), fx::print_string(input.name));
  return out + "]\n";
}

bool equal(const Constraints& a, const Constraints& b) {
  return a.symbols == b.symbols && a.examples == b.examples &&
         std::ranges::equal(a.relations, b.relations, {}, &Constraints::Relation::relation,
                            &Constraints::Relation::relation) &&
         std::ranges::equal(a.inputs, b.inputs, [](const Constraints::Input& x, const Constraints::Input& y) {
           return x.name == y.name && x.shape == y.shape;
         });
}

Result<void> verify_constraints(const Constraints& constraints, const ir::Graph& graph,
                                std::span<const TensorMeta* const> records) {
  PASSNET_TRY_VOID(verify_relations(constraints));
  if (constraints.inputs.empty()) return {};
  struct Argument {
    const TensorMeta* record = nullptr;
    bool seen = false;
  };
  std::unordered_map<std::string_view, Argument> arguments;
  for (ir::NodeId id = 0; id < graph.placeholder_count(); ++id) arguments[graph.node(id).target];
  for (const TensorMeta* record : records) {
    if (const auto found = arguments.find(record->name); found != arguments.end()) found->second.record = record;
  }
  for (const Constraints::Input& input : constraints.inputs) {
    const auto found = arguments.find(input.name);
    if (found == arguments.end()) {
      return bad_input(fmt::format("{} is no argument of forward", passnet::quoted(input.name, 200)), input.at)
          .with_hint(nearest_argument(graph, input.name));
    }
    Argument& argument = found->second;
    if (std::exchange(argument.seen, true))
      return bad_input(fmt::format("argument {} has two shapes", passnet::quoted(input.name, 200)), input.at);
    if (argument.record == nullptr || has_shape(constraints, input, argument.record->shape)) continue;
    const bool symbolic = std::ranges::any_of(input.shape, &ShapeExpression::is_symbolic);
    return bad_input(fmt::format("argument {} has the shape {}{}, expected [{}] as recorded",
                                 passnet::quoted(input.name, 200), shape_text(input.shape, constraints.symbols),
                                 symbolic ? fmt::format(" with {}", examples_text(constraints)) : "",
                                 fmt::join(argument.record->shape, ", ")),
                     input.at);
  }
  for (ir::NodeId id = 0; id < graph.placeholder_count(); ++id) {
    const std::string_view name = graph.node(id).target;
    if (!arguments[name].seen) {
      return bad_input(fmt::format("argument {} of forward has no shape", passnet::quoted(name, 200)),
                       SourceLoc{constraints.inputs.front().at.file, 0, 0})
          .with_hint(fmt::format("add it to '{}'", kVariables[kShapes]));
    }
  }
  return {};
}

std::string signature(const Constraints& constraints) {
  std::vector<std::string> tuples;
  for (const Constraints::Input& input : constraints.inputs) {
    if (std::ranges::none_of(input.shape, &ShapeExpression::is_symbolic)) continue;
    std::string tuple = shape_text(input.shape, constraints.symbols);
    tuple.front() = '(';
    tuple.back() = ')';
    if (input.shape.size() == 1) tuple.insert(tuple.size() - 1, ",");
    tuples.push_back(std::move(tuple));
  }
  std::ranges::sort(tuples);
  std::string text = fmt::format("[{}]", join(tuples, ","));
  std::erase(text, ' ');
  return text;
}

}  // namespace passnet::graphdir
