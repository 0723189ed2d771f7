// Expressions of the graph language: text -> argument, adding a node to the graph for each call, operator,
// index and attribute. Internal to fx/; the grammar stands above each function in expression.cpp.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fx/syntax/lexer.h"
#include "fx/syntax/operators.h"
#include "fx/syntax/scope.h"
#include "ir/graph.h"

namespace passnet::fx {

/// A node that has no name yet. base: what it would like to be called; empty: after what it calls.
struct Unnamed {
  ir::NodeId node;
  std::string_view base;
};

/// Lambdas that stand outside the function that is read. A call of one is read as its body.
struct Lambdas {
  Scope names;                                            // what names stand for out there
  std::vector<std::shared_ptr<const std::string>> texts;  // "lambda x: torch.relu(x)"; the graph keeps them, too
  size_t calls = 0;                                       // so far
};

class ExpressionReader {
 public:
  /// lambdas: null: there are none.
  ExpressionReader(Lexer& lexer, Scope& scope, ir::Graph& graph, Lambdas* lambdas)
      : lexer_(lexer), scope_(scope), graph_(graph), lambdas_(lambdas) {}

  ir::Arg expression();
  /// The same where its first name has been read already; the cursor stands behind the blanks after it.
  ir::Arg expression_after(std::string_view name);
  /// One expression, or a tuple when commas follow.
  ir::Arg expression_list() { return tuple_from(expression()); }
  ir::Arg expression_list_after(std::string_view name) { return tuple_from(expression_after(name)); }

  /// While set, `object[index]` at the end of a postfix chain and before `=` makes no node: it becomes
  /// `store`.
  struct Store {
    ir::Arg object, index;
  };
  bool watch_store = false;
  std::optional<Store> store;

  ir::NodeId add(ir::NodeKind kind, std::string_view target, std::span<const ir::Arg> args, const char* at,
                 std::span<const ir::Keyword> keywords = {});
  ir::Arg add_arg(ir::NodeKind kind, std::string_view target, std::initializer_list<ir::Arg> args, const char* at) {
    return ir::Arg::of_node(add(kind, target, {args.begin(), args.size()}, at));
  }
  /// What a name that was read refers to; fails when it has no value.
  const ir::Arg* value_of(std::string_view name);

  std::vector<Unnamed> unnamed;  // in node order

 private:
  ir::Arg tuple_from(const ir::Arg& first) { return lexer_.peek() == ',' ? rest_of_tuple(first) : first; }
  ir::Arg rest_of_tuple(const ir::Arg& first);
  ir::Arg binary(uint8_t precedence);
  ir::Arg climb(ir::Arg left, const char* at, uint8_t precedence);
  ir::Arg unary();
  ir::Arg minus(const char* at);
  ir::Arg power(const ir::Arg& base, const char* at);
  ir::Arg primary();
  ir::Arg name_value(std::string_view name);
  ir::Arg missing_name(std::string_view name);
  ir::Arg item_of(std::string_view name);
  ir::Arg call_lambda(const Binding& lambda, std::string_view name);
  ir::Arg body_of(const std::string& lambda, std::span<const ir::Arg> values, std::string_view name);
  const ir::Arg* function_at(const ir::Arg& object, const ir::Arg& index) const;
  ir::Arg postfix(ir::Arg object, const char* at);
  ir::Arg member(const ir::Arg& object, const char* at);
  ir::Arg subscript();
  ir::Arg subscript_item();
  ir::Arg parenthesis();
  ir::Arg list();
  ir::Arg elements(ir::ArgKind kind, size_t base, char close);
  ir::Arg text(std::string_view prefix);
  ir::Arg dotted(std::string_view path, std::string_view first);
  ir::Arg constant(std::string_view path, const char* at);
  ir::Arg call(std::string_view path, const char* at);

  /// Arguments up to the closing bracket stand on the two stacks from these places on.
  struct Arguments {
    size_t first, first_keyword;
  };
  Arguments arguments();
  void argument(const Arguments& seen);
  void drop(const Arguments& seen) {
    stack_.resize(seen.first);
    keywords_.resize(seen.first_keyword);
  }
  std::span<const ir::Arg> given(const Arguments& seen) const { return std::span(stack_).subspan(seen.first); }
  std::span<const ir::Keyword> named(const Arguments& seen) const {
    return std::span(keywords_).subspan(seen.first_keyword);
  }
  std::optional<ir::Arg> take_out(std::string_view path, const Arguments& seen);
  ir::Arg store_into(const ir::Arg& out, const ir::Arg& result, const char* at);
  ir::Arg device(const Arguments& seen, const char* at);
  ir::Arg slice(const char* at);
  ir::Arg float_of_text(const char* at);

  Lexer& lexer_;
  Scope& scope_;
  ir::Graph& graph_;
  Lambdas* const lambdas_;
  std::optional<uint32_t> place_;  // of all nodes: in a lambda, where it is called
  int depth_ = 0;                  // of lambdas that call lambdas
  std::vector<ir::Arg> stack_;     // arguments and elements being collected
  std::vector<ir::Keyword> keywords_;
  std::string scratch_;
  size_t shared_elements_ = 0;  // elements of constants used by name; bounded, for a graph must not outgrow its text
};

}  // namespace passnet::fx
