#include "pass/plan/syntax/built_pattern.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "base/text/strings.h"
#include "fx/print.h"

namespace passnet::pass {

namespace {

using Names = std::set<std::string_view>;

constexpr int kMostHops = 16;  // of names that stand for others

bool names(const Statement& statement, std::string_view name) {
  return std::ranges::any_of(
      statement.targets, [&](const Expr* target) { return target->kind == ExprKind::Name && target->name == name; });
}

/// Calls `visit` for the statements of a body, those of an `if` without `else` included: a graph that is kept is built there.
template <class Body, class Visit>
void for_each_statement(Body& body, const Visit& visit) {
  for (auto& statement : body) {
    visit(statement);
    if (statement.kind == StatementKind::If && statement.otherwise.empty()) for_each_statement(statement.body, visit);
  }
}

bool builds_graph(const std::vector<Statement>& body) {
  bool builds = false;
  for_each_statement(body, [&](const Statement& statement) { builds |= statement.builds_graph; });
  return builds;
}

/// What the last statements of a body give to names.
using GivenValues = std::map<std::string_view, const Expr*>;

GivenValues values_of(const std::vector<Statement>& body) {
  GivenValues values;
  for_each_statement(body, [&](const Statement& statement) {
    if (statement.kind != StatementKind::Assign) return;
    for (const Expr* target : statement.targets)
      if (target->kind == ExprKind::Name) values[target->name] = statement.value;
  });
  return values;
}

/// The values and imports of a file.
struct GivenNames {
  explicit GivenNames(const PlanProgram& program) : values(values_of(program.body)) {
    for (const Import& import : program.imports) imports.emplace(import.bound, &import);
  }
  GivenValues values;
  std::map<std::string_view, const Import*> imports;
};

const Expr* find_value(const GivenValues& values, std::string_view name) {
  const auto found = values.find(name);
  return found == values.end() ? nullptr : found->second;
}

/// Dotted names of what expressions stand for: "torch.fx.Graph" of `_Graph` after `_Graph = getattr(torch.fx, "Graph")`.
class Dotted {
 public:
  Dotted(const GivenNames& file, const std::vector<Statement>& body) : file_(file), own_(values_of(body)) {}

  /// Empty: it is no such name.
  std::string of(const Expr& expr, int hops = 0) const {
    if (hops > kMostHops) return {};
    if (expr.kind == ExprKind::Name) return of_name(expr.name, hops);
    if (expr.kind == ExprKind::Attribute) return joined(of(*expr.children[0], hops + 1), expr.name);
    if (expr.kind == ExprKind::Subscript && of(*expr.children[0], hops + 1) == "sys.modules") {
      const auto* module = get_if<std::string>(expr.children[1]->value);
      return module == nullptr ? std::string() : *module;
    }
    const bool is_getattr = expr.kind == ExprKind::Call && expr.children.size() == 3 &&
                            expr.children[0]->kind == ExprKind::Name && expr.children[0]->name == "getattr";
    if (!is_getattr) return {};
    const auto* name = get_if<std::string>(expr.children[2]->value);
    return name == nullptr ? std::string() : joined(of(*expr.children[1], hops + 1), *name);
  }

 private:
  static std::string joined(const std::string& object, std::string_view name) {
    return object.empty() ? std::string() : fmt::format("{}.{}", object, name);
  }

  std::string of_name(std::string_view name, int hops) const {
    for (const GivenValues* values : {&own_, &file_.values}) {
      if (const Expr* value = find_value(*values, name)) return of(*value, hops + 1);
    }
    const auto found = file_.imports.find(name);
    if (found == file_.imports.end()) return {};
    const Import& import = *found->second;
    if (!import.name.empty()) return fmt::format("{}.{}", import.module, import.name);
    // `import torch.fx` binds "torch", `import torch.nn.functional as F` all of it.
    return import.module.starts_with(std::string(name) + ".") ? std::string(name) : import.module;
  }

  const GivenNames& file_;
  const GivenValues own_;
};

bool makes_graph(const std::string& called) {
  constexpr std::array<std::string_view, 5> kMakers{"torch.fx.Graph", "torch.fx.GraphModule", "torch.fx.symbolic_trace",
                                                    "inspect.Signature", "inspect.Parameter"};
  return std::ranges::find(kMakers, called) != kMakers.end();
}

/// Finds the statements of one body that have to do with graphs that are built.
class Noting {
 public:
  Noting(const GivenNames& file, const std::vector<Statement>& body, Names builders)
      : dotted_(file, body), graphs_(std::move(builders)) {}

  bool is_built(const Statement& statement) {
    const bool may_be = statement.kind == StatementKind::Assign || statement.kind == StatementKind::Evaluate ||
                        statement.kind == StatementKind::Return;
    if (!may_be || statement.value == nullptr) return false;
    const auto targets_one = [&](const Expr* target) {
      return target->kind == ExprKind::Attribute && concerns(*target->children[0]);
    };
    if (!concerns(*statement.value) && !std::ranges::any_of(statement.targets, targets_one)) return false;
    for (const Expr* target : statement.targets)
      if (target->kind == ExprKind::Name) graphs_.insert(target->name);
    return true;
  }

 private:
  bool concerns(const Expr& expr) const {
    if (expr.kind == ExprKind::Name) return graphs_.contains(expr.name);
    if (expr.kind == ExprKind::Call && makes_graph(dotted_.of(*expr.children[0]))) return true;
    const auto concerned = [&](const Expr* child) { return child != nullptr && concerns(*child); };
    return std::ranges::any_of(expr.children, concerned);
  }

  Dotted dotted_;
  Names graphs_;  // names of graphs, their nodes, and functions that give graphs
};

/// Writes the calls that build one graph as statements.
class Writing {
 public:
  Writing(const PlanProgram& program, const std::vector<Statement>& body, std::string_view graph)
      : program_(program), file_(program), body_(body), dotted_(file_, body), graph_(graph) {}

  Result<std::string> run() {
    Result<void> read_all;
    const Expr* first = nullptr;
    for_each_statement(body_, [&](const Statement& statement) {
      if (statement.builds_graph && first == nullptr) first = statement.value;
      if (!read_all || statement.value == nullptr || statement.value->kind != ExprKind::Call) return;
      const bool has_name = statement.targets.size() == 1 && statement.targets[0]->kind == ExprKind::Name;
      read_all = read(*statement.value, has_name ? statement.targets[0]->name : std::string_view());
    });
    PASSNET_TRY_VOID(read_all);
    if (!returned_) return wrong(*first, "the graph has no output");
    std::string text(begin_ - 1, '\n');
    text += fmt::format("def pattern({}):", fmt::join(inputs_, ", "));
    uint32_t line = begin_;
    for (const auto& [at, statement] : statements_) {
      text += std::string(std::max<uint32_t>(at, line + 1) - line, '\n') + "    " + statement;
      line = std::max(at, line + 1);
    }
    return text + "\n";
  }

 private:
  Error wrong(const Expr& expr, const std::string& what) const {
    return bad_pass(fmt::format("a pattern built with torch.fx.Graph: {}", what), program_.locate(expr.offset))
        .with_hint("write 'def pattern(x): …' in the graph language of model.py");
  }

  Result<void> read(const Expr& call, std::string_view name) {
    const Expr& callee = *call.children[0];
    if (dotted_.of(callee) == "torch.fx.Graph" && (graph_.empty() || graph_ == name)) {
      graph_ = name;
      begin_ = program_.locate(call.offset).line;
      return {};
    }
    if (!is_mine(callee)) return {};
    if (callee.name == "output") return write_output(call);
    PASSNET_TRY(std::string node, write_node(call));
    if (!name.empty()) nodes_[name] = std::move(node);
    return {};
  }

  /// Returns whether `callee` is a method of the graph that is built.
  bool is_mine(const Expr& callee) const {
    return begin_ != 0 && callee.kind == ExprKind::Attribute && callee.children[0]->kind == ExprKind::Name &&
           callee.children[0]->name == graph_;
  }

  /// Returns what stands for the node that a call adds.
  Result<std::string> write_node(const Expr& call) {
    const std::string_view method = call.children[0]->name;
    if (method == "placeholder") return write_input(call);
    if (method == "call_function" || method == "call_method") return write_call(call);
    return wrong(call, fmt::format("found '{}.{}()'", graph_, method));
  }

  void add(const Expr& at, std::string statement) {
    statements_.emplace_back(program_.locate(at.offset).line, std::move(statement));
  }

  Result<std::string> write_input(const Expr& call) {
    const auto* text = call.children.size() < 2 ? nullptr : get_if<std::string>(call.children[1]->value);
    if (text == nullptr || !is_identifier(*text)) return wrong(call, "the name of an input is no identifier");
    if (text->starts_with(kPrefix)) return wrong(call, fmt::format("an input named '{}'", *text));
    inputs_.push_back(*text);
    return *text;
  }

  Result<void> write_output(const Expr& call) {
    const Expr* value = argument(call, 1, "result");
    if (value == nullptr) return wrong(call, "the graph has no output");
    PASSNET_TRY(const std::string text, print(*value));
    returned_ = true;
    add(call, "return " + text);
    return {};
  }

  static const Expr* argument(const Expr& call, size_t position, std::string_view keyword) {
    if (position < call.children.size()) return call.children[position];
    const auto found = std::ranges::find(call.keywords, keyword, &KeywordExpr::name);
    return found == call.keywords.end() ? nullptr : found->value;
  }

  Result<std::string> write_call(const Expr& call) {
    const Expr* target = call.children.size() > 1 ? call.children[1] : nullptr;
    const Expr *args = argument(call, 2, "args"), *keywords = argument(call, 3, "kwargs");
    if (target == nullptr) return wrong(call, "a node without a target");
    std::vector<std::string> words;
    if (args != nullptr) {
      if (args->kind != ExprKind::Tuple && args->kind != ExprKind::List)
        return wrong(*args, "arguments that are no tuple");
      for (const Expr* child : args->children) {
        PASSNET_TRY(std::string word, print(*child));
        words.push_back(std::move(word));
      }
    }
    const size_t positional = words.size();
    if (keywords != nullptr) {
      if (keywords->kind != ExprKind::Dict) return wrong(*keywords, "keyword arguments that are no dict");
      for (size_t i = 0; i + 1 < keywords->children.size(); i += 2) {
        const auto* key = get_if<std::string>(keywords->children[i]->value);
        if (key == nullptr) return wrong(*keywords, "the name of an argument is no string");
        PASSNET_TRY(const std::string word, print(*keywords->children[i + 1]));
        words.push_back(fmt::format("{}={}", *key, word));
      }
    }
    const std::string node = fmt::format("{}{}", kPrefix, statements_.size());
    PASSNET_TRY(const std::string text, call.children[0]->name == "call_method"
                                            ? method_text(*target, words, positional, node)
                                            : function_text(call, *target, words, node));
    add(call, text);
    return node;
  }

  Result<std::string> method_text(const Expr& target, const std::vector<std::string>& words, size_t positional,
                                  const std::string& node) const {
    const auto* method = get_if<std::string>(target.value);
    if (method == nullptr || positional == 0) return wrong(target, "a method without a name or an object");
    return fmt::format("{} = {}.{}({})", node, words[0], *method, fmt::join(words.begin() + 1, words.end(), ", "));
  }

  /// In-place operators are a statement of their own, before the one that names the result.
  Result<std::string> function_text(const Expr& call, const Expr& target, const std::vector<std::string>& words,
                                    const std::string& node) {
    static const std::map<std::string_view, std::string_view> kOperators = {
        {"add", "+"},  {"sub", "-"},    {"mul", "*"},  {"truediv", "/"}, {"floordiv", "//"}, {"mod", "%"},
        {"pow", "**"}, {"matmul", "@"}, {"and_", "&"}, {"or_", "|"},     {"lt", "<"},        {"le", "<="},
        {"gt", ">"},   {"ge", ">="},    {"eq", "=="},  {"ne", "!="}};
    const std::string function = dotted_.of(target);
    if (function.empty()) return wrong(target, "the target of a node is no name of PyTorch or of operator");
    if (function.starts_with("operator.") && words.size() == 2) {
      const std::string_view name = std::string_view(function).substr(9);
      if (name == "getitem") return fmt::format("{} = {}[{}]", node, words[0], words[1]);
      if (const auto found = kOperators.find(name); found != kOperators.end())
        return fmt::format("{} = {} {} {}", node, words[0], found->second, words[1]);
      if (const auto found = kOperators.find(name.substr(1)); name.starts_with('i') && found != kOperators.end()) {
        add(call, fmt::format("{} {}= {}", words[0], found->second, words[1]));
        return fmt::format("{} = {}", node, words[0]);
      }
    }
    return fmt::format("{} = {}({})", node, function, fmt::join(words, ", "));
  }

  Result<std::string> print(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::Literal: return print_literal(expr);
      case ExprKind::Tuple:
      case ExprKind::List: return print_items(expr);
      case ExprKind::Unary: {
        PASSNET_TRY(const std::string operand, print(*expr.children[0]));
        if (expr.op == Operator::Negative) return "-" + operand;
        break;
      }
      case ExprKind::Name:
        if (const auto node = nodes_.find(expr.name); node != nodes_.end()) return node->second;
        return std::string(expr.name);
      case ExprKind::Attribute:
        if (std::string dotted = dotted_.of(expr); !dotted.empty()) return dotted;
        break;
      case ExprKind::Call:
        if (dotted_.of(*expr.children[0]) == "torch.device") return print_device(expr);
        if (is_mine(*expr.children[0])) return write_node(expr);
        break;
      default: break;
    }
    return wrong(expr, "an argument that is neither a node nor a constant");
  }

  Result<std::string> print_literal(const Expr& expr) const {
    if (const auto* number = get_if<int64_t>(expr.value)) return fmt::format("{}", *number);
    if (const auto* number = get_if<double>(expr.value)) return fx::print_float(*number);
    if (const auto* flag = get_if<bool>(expr.value)) return std::string(*flag ? "True" : "False");
    if (const auto* text = get_if<std::string>(expr.value)) return quoted(*text);
    if (get_if<NoneValue>(expr.value)) return std::string("None");
    return wrong(expr, "an argument that is neither a node nor a constant");
  }

  Result<std::string> print_items(const Expr& expr) {
    std::string text = expr.kind == ExprKind::List ? "[" : "(";
    for (const Expr* child : expr.children) {
      PASSNET_TRY(const std::string item, print(*child));
      text += item + ",";
    }
    return text + (expr.kind == ExprKind::List ? "]" : ")");
  }

  Result<std::string> print_device(const Expr& call) {
    const Expr *type = argument(call, 1, "type"), *index = argument(call, 2, "index");
    if (type == nullptr) return wrong(call, "a device without a type");
    PASSNET_TRY(std::string text, print(*type));
    text = "device(type=" + text;
    if (index != nullptr) {
      PASSNET_TRY(const std::string number, print(*index));
      text += ", index=" + number;
    }
    return text + ")";
  }

  const PlanProgram& program_;
  const GivenNames file_;
  const std::vector<Statement>& body_;
  Dotted dotted_;
  std::string_view graph_;                                // the variable that holds it; empty: the first that is made
  uint32_t begin_ = 0;                                    // the line where it is made
  static constexpr std::string_view kPrefix = "_built_";  // of names of nodes, which no input has
  std::vector<std::string> inputs_;
  std::map<std::string_view, std::string> nodes_;  // by variable
  std::vector<std::pair<uint32_t, std::string>> statements_;
  bool returned_ = false;
};

/// Where a name of a file is made: it, or what it imports.
struct Place {
  const PlanProgram* in = nullptr;
  std::string_view name;
};

Place follow(const PlanFiles& files, Place place) {
  for (int hops = 0; hops < kMostHops; ++hops) {
    const Expr* value = find_value(values_of(place.in->body), place.name);
    if (value != nullptr && value->kind == ExprKind::Name) {
      place.name = value->name;
      continue;
    }
    if (value != nullptr || place.in->find_function(place.name) != nullptr) return place;
    const auto import = std::ranges::find(place.in->imports, place.name, &Import::bound);
    const PlanProgram* from = import == place.in->imports.end() ? nullptr : files.find(import->module);
    if (from == nullptr || import->name.empty()) return {};
    place = {from, import->name};
  }
  return {};
}

Result<BuiltPattern> write(const PlanProgram& program, const std::vector<Statement>& body, std::string_view graph) {
  if (!builds_graph(body)) return BuiltPattern();
  PASSNET_TRY(std::string text, Writing(program, body, graph).run());
  return BuiltPattern{&program, std::move(text)};
}

/// The graph that a call of a function of the files gives.
Result<BuiltPattern> write_function(const PlanFiles& files, const PlanProgram& in, const Expr& call) {
  if (call.children[0]->kind != ExprKind::Name) return BuiltPattern();
  Place place{&in, call.children[0]->name};
  if (in.find_function(place.name) == nullptr) place = follow(files, place);
  const Function* function = place.in == nullptr ? nullptr : place.in->find_function(place.name);
  if (function == nullptr) return BuiltPattern();
  return write(*place.in, function->body, {});
}

}  // namespace

void note_built_graphs(PlanProgram& program) {
  const GivenNames file(program);
  Names builders;
  for (Function& function : program.functions) {
    Noting noting(file, function.body, {});
    for_each_statement(function.body, [&](Statement& statement) {
      statement.builds_graph = noting.is_built(statement);
      if (statement.builds_graph) builders.insert(function.name);
    });
  }
  Noting noting(file, program.body, builders);
  for (Statement& statement : program.body) {
    const bool is_made = statement.kind == StatementKind::Assign && names(statement, "pattern") &&
                         statement.value->kind == ExprKind::Call;
    statement.builds_graph = noting.is_built(statement) || is_made;
  }
}

Result<BuiltPattern> find_built_pattern(const PlanFiles& files) {
  const Place place = follow(files, {files.own.get(), "pattern"});
  const Expr* value = place.in == nullptr ? nullptr : find_value(values_of(place.in->body), place.name);
  if (value == nullptr || value->kind != ExprKind::Call) return BuiltPattern();
  const PlanProgram& in = *place.in;
  if (Dotted(GivenNames(in), {}).of(*value->children[0]) != "torch.fx.GraphModule")
    return write_function(files, in, *value);
  const Expr* graph = value->children.size() > 2 ? value->children[2] : nullptr;
  if (graph != nullptr && graph->kind == ExprKind::Call) return write_function(files, in, *graph);
  if (graph != nullptr && graph->kind == ExprKind::Name) return write(in, in.body, graph->name);
  return BuiltPattern();
}

}  // namespace passnet::pass
