#include "fx/syntax/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/check.h"

namespace passnet::fx {

using ir::Arg;
using ir::ArgKind;
using ir::Node;
using ir::NodeKind;

namespace {

bool is_number(const Arg& value) { return value.kind == ArgKind::Int || value.kind == ArgKind::Float; }

bool is_negative(const Arg& value) {
  return (value.kind == ArgKind::Int && value.integer < 0) ||
         (value.kind == ArgKind::Float && std::signbit(value.real));
}

}  // namespace

void StatementPrinter::text_literal(std::string_view value) {
  // Python's repr takes double quotes only where that saves an escape.
  const bool single = style_ != TextStyle::Formatted &&
                      (value.find('\'') == std::string_view::npos || value.find('"') != std::string_view::npos);
  append_string(out_, value, single ? '\'' : '"');
}

bool StatementPrinter::can_hide(std::string_view name) { return name == "device" || name == "inf" || name == "nan"; }

/// Returns whether a parameter has the name.
bool StatementPrinter::is_hidden(std::string_view name) const {
  for (ir::NodeId id = 0; id < graph_.placeholder_count(); ++id)
    if (graph_.node(id).target == name) return true;
  return false;
}

void StatementPrinter::real(double value) {
  if (std::isfinite(value)) return append_float(out_, value);
  const bool is_inf = std::isinf(value);
  if (is_hidden(is_inf ? "inf" : "nan"))
    return put(std::signbit(value) ? "-torch." : "torch."), put(is_inf ? "inf" : "nan");
  (is_inf ? needs_.inf : needs_.nan) = true;
  append_float(out_, value);
}

void StatementPrinter::device(std::string_view value) {
  if (is_hidden("device"))
    put("torch.");
  else
    needs_.device = true;
  const size_t colon = value.find(':');
  put("device(type="), text_literal(value.substr(0, colon));
  if (colon != std::string_view::npos) put(", index="), put(value.substr(colon + 1));
  put(")");
}

void StatementPrinter::list(const Arg& container) {
  bool first = true;
  for (const Arg& element : graph_.elements(container)) {
    if (!first) out_ += ", ";
    first = false;
    arg(element);
  }
  if (container.kind == ArgKind::Tuple && container.count == 1) out_ += ',';
}

void StatementPrinter::elements(const Arg& container, char open, char close) {
  out_ += open;
  list(container);
  out_ += close;
}

void StatementPrinter::arg(const Arg& value) {
  switch (value.kind) {
    case ArgKind::None: out_ += "None"; return;
    case ArgKind::Node: out_ += graph_.node(value.node).name; return;
    case ArgKind::Bool: out_ += value.boolean ? "True" : "False"; return;
    case ArgKind::Int: put(fmt::format_int(value.integer).c_str()); return;
    case ArgKind::Float: return real(value.real);
    case ArgKind::String: text_literal(value.string()); return;
    case ArgKind::DType: out_ += "torch.", out_ += ir::name(value.dtype); return;
    case ArgKind::Device: return device(value.string());
    case ArgKind::Constant: out_ += value.string(); return;
    case ArgKind::Ellipsis: out_ += "Ellipsis"; return;
    case ArgKind::Slice: out_ += "slice"; return elements(value, '(', ')');
    case ArgKind::Tuple: return elements(value, '(', ')');
    case ArgKind::List: return elements(value, '[', ']');
  }
}

// What stands before `.name` or `[index]`: literals need brackets there.
void StatementPrinter::object(const Arg& value) {
  const bool plain = value.kind == ArgKind::Node || value.kind == ArgKind::Tuple || value.kind == ArgKind::List ||
                     value.kind == ArgKind::String;
  if (!plain) out_ += '(';
  arg(value);
  if (!plain) out_ += ')';
}

// "[i]", "[(i, j)]" or "[i, j]".
void StatementPrinter::index(const Arg& value) {
  out_ += '[';
  if (style_ == TextStyle::Unparsed && value.kind == ArgKind::Tuple && value.count > 0)
    list(value);
  else
    arg(value);
  out_ += ']';
}

void StatementPrinter::arguments(std::span<const Arg> args, std::span<const ir::Keyword> keywords) {
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
    out_ += style_ == TextStyle::Unparsed ? "=" : " = ";
    arg(keyword.value);
  }
  out_ += ')';
}

// `name = a + b` and the like; false when Python's syntax would not read back as this node.
bool StatementPrinter::operator_symbol(const Node& node, const OperatorRow& row) {
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
    index(args[1]);
    return true;
  }
  if (row.precedence == kPowerPrecedence && is_negative(args[0]))
    object(args[0]);
  else
    arg(args[0]);
  put(" "), put(row.target), put(" ");
  const bool bracket = style_ == TextStyle::Unparsed && row.precedence == kPowerPrecedence && is_negative(args[1]);
  if (bracket) put("(");
  arg(args[1]);
  if (bracket) put(")");
  return true;
}

// `x += y` and `x[i] = v`, then the alias that names the node.
bool StatementPrinter::mutation(const Node& node, const OperatorRow& row, std::string_view separator) {
  const auto args = graph_.args(node);
  const bool is_store = row.form == OperatorForm::SetItem;
  if (node.keyword_count != 0 || args.size() != (is_store ? 3u : 2u) || args[0].kind != ArgKind::Node) return false;
  arg(args[0]);
  if (is_store) {
    index(args[1]);
    put(" = "), arg(args[2]);
  } else {
    put(" "), put(row.target), put(" "), arg(args[1]);
  }
  put(separator), put(node.name), put(" = "), arg(args[0]);
  return true;
}

void StatementPrinter::operator_function(const Node& node, const OperatorRow& row) {
  needs_.modules.insert("operator");
  out_ += fmt::format("{} = operator.{}", node.name, row.function);
  arguments(graph_.args(node), graph_.keywords(node));
}

void StatementPrinter::statement(const Node& node, bool later_use, std::string_view separator) {
  const auto args = graph_.args(node);
  switch (node.kind) {
    case NodeKind::Placeholder: put(node.name), put(" = "), put(node.target); return;
    case NodeKind::Output:
      put("return ");
      if (!args.empty()) arg(args[0]);
      return;
    case NodeKind::CallFunction: {
      const std::string_view root = node.target.substr(0, node.target.find('.'));
      if (root != "torch") needs_.modules.insert(root);
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
      PASSNET_CHECK(row != nullptr, fmt::format("node '{}' has the unknown operator '{}'", node.name, node.target));
      const bool mutates = row->form == OperatorForm::InPlace || row->form == OperatorForm::SetItem;
      const bool rebinds = row->form == OperatorForm::InPlace && later_use;
      const bool done = mutates ? !rebinds && mutation(node, *row, separator) : operator_symbol(node, *row);
      if (!done) operator_function(node, *row);
      return;
    }
  }
}

void append_string(std::string& out, std::string_view value, char quote) {
  out += quote;
  for (char c : value) {
    if (c == quote || c == '\\')
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
  out += quote;
}

// Shortest digits that read back, laid out as Python's repr: positional for exponents -4 to 15.
void append_float(std::string& out, double value) {
  if (std::signbit(value)) out += '-';
  if (std::isnan(value)) return void(out += "nan");
  if (std::isinf(value)) return void(out += "inf");
  char buffer[32];
  const auto [stop, status] =
      std::to_chars(buffer, buffer + sizeof buffer, std::abs(value), std::chars_format::scientific);
  char* const mark = std::find(buffer, stop, 'e');
  int exponent = 0;
  std::from_chars(mark + (mark[1] == '+' ? 2 : 1), stop, exponent);
  // "d.ddd" becomes "dddd": the digits without their point.
  std::string_view digits{buffer, 1};
  if (mark > buffer + 1) {
    buffer[1] = buffer[0];
    digits = {buffer + 1, static_cast<size_t>(mark - buffer - 1)};
  }
  const auto count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent > 15) {
    out += digits[0];
    if (count > 1) out += '.', out += digits.substr(1);
    fmt::format_to(std::back_inserter(out), "e{:+03d}", exponent);
  } else if (exponent < 0) {
    out += "0.", out.append(static_cast<size_t>(-exponent - 1), '0'), out += digits;
  } else if (exponent >= count - 1) {
    out += digits, out.append(static_cast<size_t>(exponent - count + 1), '0'), out += ".0";
  } else {
    const auto whole = static_cast<size_t>(exponent) + 1;
    out += digits.substr(0, whole), out += '.', out += digits.substr(whole);
  }
}

}  // namespace passnet::fx
