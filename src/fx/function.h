// A function of the graph language: signature and straight-line body -> graph. Internal to fx/.
#pragma once

#include <string_view>
#include <vector>

#include "fx/expression.h"
#include "fx/lexer.h"
#include "fx/scope.h"
#include "ir/graph.h"

namespace passnet::fx {

/// What differs between `forward` of a model.py and a function of a pass file.
struct FunctionRules {
  bool is_method = false;       // the first parameter is `self`, which holds nothing
  bool free_constants = false;  // `bias = None` may name a new constant; in a model it only ends lives
};

class FunctionReader {
 public:
  FunctionReader(Lexer& lexer, Scope& scope, ir::Graph& graph, FunctionRules rules)
      : lexer_(lexer), scope_(scope), graph_(graph), rules_(rules), expressions_(lexer, scope, graph) {}

  /// Reads from `def` to the end of the last line of the body. indent: column of `def`.
  void read(uint32_t indent);

 private:
  void parameters();
  void parameter();
  void body(uint32_t indent);
  bool line();
  void statement();
  void return_statement();
  void assignment(std::string_view first);
  void assign(const ir::Arg& value, ir::NodeId first_new);
  void name_to_name(std::string_view source);
  void end_lives();
  void in_place(std::string_view name, const OperatorRow& row);
  void store(std::string_view name, const char* at);
  void unpack();
  void expression_statement(std::string_view name, const char* at);
  void bind(std::string_view name, const ir::Arg& value, bool is_new);
  bool parenthesized_target();
  bool check_target(std::string_view name);
  std::string_view skip_annotation(std::string_view stops);
  void name_the_rest();

  Lexer& lexer_;
  Scope& scope_;
  ir::Graph& graph_;
  const FunctionRules rules_;
  ExpressionReader expressions_;
  std::vector<std::string_view> targets_;  // of the assignment being read
  std::string_view mutated_;               // the name the statement before changed in place; empty when it did not
  bool only_aliases_ = true;               // no statement but aliases so far
};

}  // namespace passnet::fx
