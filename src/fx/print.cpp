#include "fx/print.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <set>
#include <vector>

#include "base/check.h"
#include "fx/operators.h"

namespace passnet::fx {

using ir::Arg;
using ir::ArgKind;
using ir::Node;
using ir::NodeId;
using ir::NodeKind;

namespace {

constexpr std::string_view kIndent = "        ";

// What the printed names need besides `import torch`.
struct Imports {
  bool device = false, inf = false, nan = false;
  std::set<std::string_view> modules;
};

class Printer {
 public:
  explicit Printer(const ir::Graph& graph) : graph_(graph) {}

  void arg(const Arg& value);
  /// The node as one statement, or two joined by `separator`. later_use: the first argument is read again
  /// after it.
  void statement(const Node& node, bool later_use, std::string_view separator);
  void put(std::string_view text) { out_ += text; }
  std::string& text() { return out_; }
  const Imports& imports() const { return imports_; }

 private:
  void device(std::string_view value);
  void elements(const Arg& container, char open, char close);
  void object(const Arg& value);
  void arguments(std::span<const Arg> args, std::span<const ir::Keyword> keywords);
  bool operator_symbol(const Node& node, const OperatorRow& row);
  bool mutation(const Node& node, const OperatorRow& row, std::string_view separator);
  void operator_function(const Node& node, const OperatorRow& row);

  const ir::Graph& graph_;
  std::string out_;
  Imports imports_;
};

void Printer::device(std::string_view value) {
  imports_.device = true;
  const size_t colon = value.find(':');
  if (colon == std::string_view::npos)
    out_ += fmt::format("device(type=\"{}\")", value);
  else
    out_ += fmt::format("device(type=\"{}\", index={})", value.substr(0, colon), value.substr(colon + 1));
}

void Printer::elements(const Arg& container, char open, char close) {
  out_ += open;
  bool first = true;
  for (const Arg& element : graph_.elements(container)) {
    if (!first) out_ += ", ";
    first = false;
    arg(element);
  }
  if (container.kind == ArgKind::Tuple && container.count == 1) out_ += ',';
  out_ += close;
}

void Printer::arg(const Arg& value) {
  switch (value.kind) {
    case ArgKind::None:
      out_ += "None";
      return;
    case ArgKind::Node:
      out_ += graph_.node(value.node).name;
      return;
    case ArgKind::Bool:
      out_ += value.boolean ? "True" : "False";
      return;
    case ArgKind::Int:
      fmt::format_to(std::back_inserter(out_), "{}", value.integer);
      return;
    case ArgKind::Float:
      imports_.inf = imports_.inf || std::isinf(value.real);
      imports_.nan = imports_.nan || std::isnan(value.real);
      out_ += print_float(value.real);
      return;
    case ArgKind::String:
      out_ += print_string(value.string());
      return;
    case ArgKind::DType:
      out_ += "torch.", out_ += ir::name(value.dtype);
      return;
    case ArgKind::Device:
      return device(value.string());
    case ArgKind::Constant:
      out_ += value.string();
      return;
    case ArgKind::Ellipsis:
      out_ += "Ellipsis";
      return;
    case ArgKind::Slice:
      out_ += "slice";
      return elements(value, '(', ')');
    case ArgKind::Tuple:
      return elements(value, '(', ')');
    case ArgKind::List:
      return elements(value, '[', ']');
  }
}

// What stands before `.name` or `[index]`: literals need brackets there.
void Printer::object(const Arg& value) {
  const bool plain = value.kind == ArgKind::Node || value.kind == ArgKind::Tuple ||
                     value.kind == ArgKind::List || value.kind == ArgKind::String;
  if (!plain) out_ += '(';
  arg(value);
  if (!plain) out_ += ')';
}

void Printer::arguments(std::span<const Arg> args, std::span<const ir::Keyword> keywords) {
  out_ += '(';
  bool first = true;
  for (const Arg& value : args) {
    if (!first) out_ += ", ";
    first = false;
    arg(value);
  }
  for (const ir::Keyword& keyword : keywords) {
    if (!first) out_ += ", ";
    first = false;
    out_ += keyword.name;
    out_ += " = ";
    arg(keyword.value);
  }
  out_ += ')';
}

bool is_number(const Arg& value) { return value.kind == ArgKind::Int || value.kind == ArgKind::Float; }

bool is_negative(const Arg& value) {
  return (value.kind == ArgKind::Int && value.integer < 0) ||
         (value.kind == ArgKind::Float && std::signbit(value.real));
}

// `name = a + b` and the like; false when Python's syntax would not read back as this node.
bool Printer::operator_symbol(const Node& node, const OperatorRow& row) {
  const auto args = graph_.args(node);
  if (node.keyword_count != 0) return false;
  if (row.form == OperatorForm::Unary) {
    const bool folds = row.target != "invert" && !args.empty() && is_number(args[0]);
    if (args.size() != 1 || folds) return false;
    put(node.name), put(" = "), put(row.target == "neg" ? "-" : row.target == "pos" ? "+" : "~");
    arg(args[0]);
    return true;
  }
  if (args.size() != 2) return false;
  put(node.name), put(" = ");
  if (row.form == OperatorForm::GetItem) {
    object(args[0]);
    put("["), arg(args[1]), put("]");
    return true;
  }
  if (row.precedence == kPowerPrecedence && is_negative(args[0]))
    object(args[0]);
  else
    arg(args[0]);
  put(" "), put(row.target), put(" ");
  arg(args[1]);
  return true;
}

// `x += y` and `x[i] = v`, then the alias that names the node.
bool Printer::mutation(const Node& node, const OperatorRow& row, std::string_view separator) {
  const auto args = graph_.args(node);
  const bool is_store = row.form == OperatorForm::SetItem;
  if (node.keyword_count != 0 || args.size() != (is_store ? 3u : 2u) || args[0].kind != ArgKind::Node)
    return false;
  arg(args[0]);
  if (is_store) {
    put("["), arg(args[1]), put("] = "), arg(args[2]);
  } else {
    put(" "), put(row.target), put(" "), arg(args[1]);
  }
  put(separator), put(node.name), put(" = "), arg(args[0]);
  return true;
}

void Printer::operator_function(const Node& node, const OperatorRow& row) {
  imports_.modules.insert("operator");
  out_ += fmt::format("{} = operator.{}", node.name, row.function);
  arguments(graph_.args(node), graph_.keywords(node));
}

void Printer::statement(const Node& node, bool later_use, std::string_view separator) {
  const auto args = graph_.args(node);
  switch (node.kind) {
    case NodeKind::Placeholder:
      put(node.name), put(" = "), put(node.target);
      return;
    case NodeKind::Output:
      put("return ");
      if (!args.empty()) arg(args[0]);
      return;
    case NodeKind::CallFunction: {
      const std::string_view root = node.target.substr(0, node.target.find('.'));
      if (root != "torch") imports_.modules.insert(root);
      put(node.name), put(" = "), put(node.target);
      return arguments(args, graph_.keywords(node));
    }
    case NodeKind::CallMethod:
    case NodeKind::Attribute:
      PASSNET_CHECK(!args.empty(), fmt::format("node '{}' has no object", node.name));
      put(node.name), put(" = ");
      object(args[0]);
      put("."), put(node.target);
      if (node.kind == NodeKind::CallMethod) arguments(args.subspan(1), graph_.keywords(node));
      return;
    case NodeKind::Operator: {
      const OperatorRow* row = find_operator(node.target);
      PASSNET_CHECK(row != nullptr,
                    fmt::format("node '{}' has the unknown operator '{}'", node.name, node.target));
      const bool mutates = row->form == OperatorForm::InPlace || row->form == OperatorForm::SetItem;
      const bool rebinds = row->form == OperatorForm::InPlace && later_use;
      const bool done = mutates ? !rebinds && mutation(node, *row, separator) : operator_symbol(node, *row);
      if (!done) operator_function(node, *row);
      return;
    }
  }
}

// "def forward(self, L_x_ : torch.Tensor, …):" and the alias lines.
void print_signature(Printer& printer, const ir::Graph& graph) {
  printer.put("    def forward(self");
  for (NodeId id = 0; id < graph.placeholder_count(); ++id) {
    const Node& node = graph.node(id);
    printer.put(", "), printer.put(node.target);
    if (node.arg_count > 0) printer.put(": "), printer.put(graph.args(node)[0].string());
  }
  printer.put("):\n");
  for (NodeId id = 0; id < graph.placeholder_count(); ++id) {
    const Node& node = graph.node(id);
    if (node.name == node.target) continue;
    printer.put(kIndent);
    printer.statement(node, false, "");
    printer.put("\n");
  }
}

// `a = b = None` for what `node` uses last, and for itself when nothing uses it.
void print_liveness(Printer& printer, const ir::Graph& graph, NodeId id, std::vector<NodeId>& last) {
  bool any = false;
  const auto end = [&](NodeId dead) {
    printer.put(any ? " = " : kIndent);
    printer.put(graph.node(dead).name);
    any = true;
  };
  for_each_input(graph, graph.node(id), [&](NodeId input) {
    if (last[input] != id) return;
    last[input] = ir::kNoNode;
    end(input);
  });
  if (last[id] == ir::kNoNode) end(id);
  if (any) printer.put(" = None\n");
}

}  // namespace

std::string print_model(const ir::Graph& graph) {
  Printer printer(graph);
  print_signature(printer, graph);
  std::vector<NodeId> last = last_uses(graph);
  const std::string separator = fmt::format("\n{}", kIndent);
  for (NodeId id = graph.placeholder_count(); id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    const auto args = graph.args(node);
    const bool later_use = !args.empty() && args[0].kind == ArgKind::Node && last[args[0].node] > id;
    printer.put(kIndent);
    printer.statement(node, later_use, separator);
    printer.put("\n");
    if (node.kind != NodeKind::Output) print_liveness(printer, graph, id, last);
  }
  std::string head = "import torch\n";
  for (std::string_view module : printer.imports().modules) head += fmt::format("import {}\n", module);
  std::string names;
  for (const auto& [used, name] : {std::pair{printer.imports().device, "device"},
                                   {printer.imports().inf, "inf"},
                                   {printer.imports().nan, "nan"}}) {
    if (used) names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  }
  if (!names.empty()) head += fmt::format("from torch import {}\n", names);
  return fmt::format("{}\n\nclass GraphModule(torch.nn.Module):\n{}", head, printer.text());
}

std::string print_node(const ir::Graph& graph, const Node& node) {
  Printer printer(graph);
  printer.statement(node, false, "; ");
  return std::move(printer.text());
}

std::string print_arg(const ir::Graph& graph, const Arg& value) {
  Printer printer(graph);
  printer.arg(value);
  return std::move(printer.text());
}

std::string print_string(std::string_view value) {
  std::string out = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\r')
      out += "\\r";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + '"';
}

// Shortest digits that read back, laid out as Python's repr: positional for exponents -4 to 15.
std::string print_float(double value) {
  if (std::isnan(value)) return std::signbit(value) ? "-nan" : "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[32];
  const auto [stop, status] =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  const std::string_view text{buffer, static_cast<size_t>(stop - buffer)};
  const size_t mark = text.find('e');
  const bool negative = text.front() == '-';
  std::string digits(text.substr(negative, mark - negative));
  if (digits.size() > 1) digits.erase(1, 1);
  int exponent = 0;
  const char* exponent_start = buffer + mark + (text[mark + 1] == '+' ? 2 : 1);
  std::from_chars(exponent_start, stop, exponent);
  const auto count = static_cast<int>(digits.size());
  std::string body;
  if (exponent < -4 || exponent > 15) {
    body = fmt::format("{}{}{}e{:+03d}", digits[0], count > 1 ? "." : "", digits.substr(1), exponent);
  } else if (exponent < 0) {
    body = fmt::format("0.{}{}", std::string(static_cast<size_t>(-exponent - 1), '0'), digits);
  } else if (exponent >= count - 1) {
    body = fmt::format("{}{}.0", digits, std::string(static_cast<size_t>(exponent - count + 1), '0'));
  } else {
    const auto whole = static_cast<size_t>(exponent) + 1;
    body = fmt::format("{}.{}", digits.substr(0, whole), digits.substr(whole));
  }
  return fmt::format("{}{}", negative ? "-" : "", body);
}

}  // namespace passnet::fx
