// One node of a graph as the text of one Python statement, in one of three styles. Internal to fx/.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "fx/syntax/operators.h"
#include "ir/graph.h"

namespace passnet::fx {

/// How strings, devices, keywords and indices are written.
enum class TextStyle : uint8_t {
  Formatted,  // as a formatter leaves them: "tanh", device(type="cuda", index=0), f(x, k = 1), x[(0, 1)]
  Traced,     // as torch.fx generates them: 'tanh', device(type='cuda', index=0), f(x, k = 1), x[(0, 1)]
  Unparsed,   // as Python's ast.unparse prints them: 'tanh', device(type='cuda', index=0), f(x, k=1), x[0, 1]
};

/// Appends statements to one text and remembers which names that text needs.
class StatementPrinter {
 public:
  /// The names a text needs besides `torch`.
  struct Needs {
    bool device = false, inf = false, nan = false;
    std::set<std::string_view> modules;
  };

  explicit StatementPrinter(const ir::Graph& graph, TextStyle style = TextStyle::Formatted)
      : graph_(graph), style_(style) {
    if (graph.source) out_.reserve(graph.source->size());
  }

  /// Returns whether a graph may have a parameter of this name, which texts need: `device`, `inf` or `nan`. The values
  /// are then written as those of torch.
  static bool can_hide(std::string_view name);

  void put(std::string_view text) { out_ += text; }
  void arg(const ir::Arg& value);
  /// The node as one statement, or two joined by `separator`. later_use: the first argument is read again
  /// after it.
  void statement(const ir::Node& node, bool later_use, std::string_view separator);

  std::string& text() { return out_; }
  const Needs& needs() const { return needs_; }

 private:
  bool is_hidden(std::string_view name) const;
  void real(double value);
  void text_literal(std::string_view value);
  void device(std::string_view value);
  void elements(const ir::Arg& container, char open, char close);
  void list(const ir::Arg& container);
  void object(const ir::Arg& value);
  void index(const ir::Arg& value);
  void arguments(std::span<const ir::Arg> args, std::span<const ir::Keyword> keywords);
  bool operator_symbol(const ir::Node& node, const OperatorRow& row);
  bool mutation(const ir::Node& node, const OperatorRow& row, std::string_view separator);
  void operator_function(const ir::Node& node, const OperatorRow& row);

  const ir::Graph& graph_;
  const TextStyle style_;
  std::string out_;
  Needs needs_;
};

/// Appends the text of print_float.
void append_float(std::string& out, double value);
/// Appends a Python string literal; quote: ' or ".
void append_string(std::string& out, std::string_view value, char quote);

}  // namespace passnet::fx
