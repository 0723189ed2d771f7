// A function of the graph language: signature and straight-line body -> graph. Internal to fx/.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "fx/syntax/expression.h"
#include "fx/syntax/lexer.h"
#include "fx/syntax/scope.h"
#include "ir/graph.h"

namespace passnet::fx {

/// What differs between `forward` of a model.py and a function of a pass file.
struct FunctionRules {
  bool is_method = false;       // the first parameter is `self`, which holds nothing
  bool free_constants = false;  // `bias = None` may name a new constant; in a model it only ends lives
};

/// What statements leave to the one after them, where `z = x` may name a node instead of making an alias.
struct StatementEffect {
  std::string_view mutated = {};  // the name whose value the last of them changed in place; empty when it did not
  bool only_aliases = false;      // none made a node: they gave names to what there was, or took them away
};

class FunctionReader {
 public:
  /// lambdas: that it may call; null: none.
  FunctionReader(Lexer& lexer, Scope& scope, ir::Graph& graph, FunctionRules rules, Lambdas* lambdas = nullptr)
      : lexer_(lexer), scope_(scope), graph_(graph), rules_(rules), expressions_(lexer, scope, graph, lambdas) {}

  /// Reads from `def` to the end of the last line of the body. indent: column of `def`.
  void read(uint32_t indent);

 private:
  void parameters();
  void parameter();
  void body(uint32_t indent);
  bool line(StatementEffect& before);
  void return_statement();

  /// These read one statement and return its effect, which means nothing after an error. before: of those before it.
  StatementEffect statement(const StatementEffect& before);
  StatementEffect assignment(std::string_view first, const StatementEffect& before);
  StatementEffect in_place(std::string_view name, const OperatorRow& row);
  StatementEffect store(std::string_view name, const char* at);
  StatementEffect unpack();
  StatementEffect expression_statement(std::string_view name, const char* at);

  using Targets = std::span<const std::string_view>;  // of one assignment
  void assign(Targets targets, const ir::Arg& value, ir::NodeId first_new);
  /// A name, or targets of the items of a tuple.
  struct Unpacked {
    std::string_view name;
    std::vector<Unpacked> items = {};
  };
  bool read_target(Unpacked& target, int depth);
  bool read_targets(std::vector<Unpacked>& targets, char close, int depth, bool& has_comma);
  bool at_unpacking();
  void unpack_into(const std::vector<Unpacked>& targets, const ir::Arg& value, const char* at);
  void name_to_name(Targets targets, std::string_view source, const StatementEffect& before);
  void end_lives(Targets targets);
  void bind(std::string_view name, const ir::Arg& value, bool is_new);
  std::string_view parenthesized_target();
  bool check_target(std::string_view name);
  std::string_view skip_annotation(std::string_view stops);
  void name_the_rest();

  Lexer& lexer_;
  Scope& scope_;
  ir::Graph& graph_;
  const FunctionRules rules_;
  ExpressionReader expressions_;
  std::vector<std::string_view> target_memory_;  // of the targets of an assignment, so that none allocates its own
};

}  // namespace passnet::fx
