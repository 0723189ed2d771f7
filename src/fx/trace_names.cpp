#include "fx/trace_names.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>

#include "fx/syntax/operators.h"

namespace passnet::fx {

using ir::ArgKind;
using ir::NodeId;
using ir::NodeKind;

namespace {

// Names of Python and of torch.fx that no node may have; it gets a number instead.
bool is_taken_by_python(std::string_view name) {
  static const std::unordered_set<std::string_view> names{
      "abs",        "aiter",      "all",     "and",       "anext",        "any",      "as",         "ascii",
      "assert",     "async",      "await",   "bin",       "bool",         "break",    "breakpoint", "bytearray",
      "bytes",      "callable",   "chr",     "class",     "classmethod",  "compile",  "complex",    "continue",
      "copyright",  "credits",    "def",     "del",       "delattr",      "device",   "dict",       "dir",
      "divmod",     "elif",       "else",    "enumerate", "eval",         "except",   "exec",       "exit",
      "filter",     "finally",    "float",   "for",       "format",       "from",     "frozenset",  "fx_pytree",
      "getattr",    "global",     "globals", "hasattr",   "hash",         "help",     "hex",        "id",
      "if",         "import",     "in",      "inf",       "input",        "int",      "is",         "isinstance",
      "issubclass", "iter",       "lambda",  "len",       "license",      "list",     "locals",     "map",
      "max",        "memoryview", "min",     "nan",       "next",         "nonlocal", "not",        "object",
      "oct",        "open",       "or",      "ord",       "pass",         "pow",      "print",      "property",
      "pytree",     "quit",       "raise",   "range",     "repr",         "return",   "reversed",   "round",
      "set",        "setattr",    "slice",   "sorted",    "staticmethod", "str",      "sum",        "super",
      "torch",      "try",        "tuple",   "type",      "vars",         "while",    "with",       "yield",
      "zip"};
  return names.contains(name);
}

struct Numbered {
  std::string_view base;
  std::optional<uint64_t> number;
};

// "x_8": "x" and 8.
Numbered split_number(std::string_view name) {
  const size_t mark = name.find_last_not_of("0123456789");
  if (mark == std::string_view::npos || mark == 0 || mark + 1 == name.size() || name[mark] != '_') return {name, {}};
  uint64_t number = 0;
  const char* end = name.data() + name.size();
  if (std::from_chars(name.data() + mark + 1, end, number).ec != std::errc{}) return {name, {}};
  return {name.substr(0, mark), number};
}

}  // namespace

std::string Namespace::create(std::string candidate) {
  const Numbered given = split_number(candidate);
  const std::string base(given.base);
  uint64_t number = given.number.value_or(0);
  if (numbering_ == Numbering::FromItself) {
    if (number == 0) number = counts_[base];
  } else if (!given.number || used_.contains(candidate)) {
    // The count is looked up under the whole name, which has none where it ends with a number.
    const auto count = counts_.find(candidate);
    number = count == counts_.end() ? 0 : count->second;
  }
  while (used_.contains(candidate) || is_taken_by_python(candidate)) candidate = fmt::format("{}_{}", base, ++number);
  used_.insert(candidate);
  counts_[base] = number;
  return candidate;
}

std::string name_of_target(const ir::Node& node) {
  if (node.kind == NodeKind::Operator) {
    const OperatorRow* row = find_operator(node.target);
    return std::string(row == nullptr ? node.target : row->function);
  }
  if (node.kind == NodeKind::Attribute) return "getattr";
  std::string_view target = node.target;
  if (const size_t overload = target.rfind('.');
      target.starts_with("torch.ops.") && overload != std::string_view::npos) {
    target = target.substr(target.rfind('.', overload - 1) + 1);
  } else {
    target = target.substr(target.rfind('.') + 1);
  }
  if (node.kind == NodeKind::CallMethod && target.size() > 4 && target.starts_with("__") && target.ends_with("__"))
    target = target.substr(2, target.size() - 4);
  std::string name;
  for (size_t i = 0; i < target.size(); ++i) {
    const auto byte = static_cast<unsigned char>(target[i]);
    if (std::isupper(byte) && i > 0 && std::islower(static_cast<unsigned char>(target[i - 1]))) name += '_';
    name += std::isalnum(byte) ? static_cast<char>(std::tolower(byte)) : '_';
  }
  return name;
}

TraceNames::TraceNames(const ir::Graph& graph, Numbering numbering)
    : graph_(graph), is_scalar_(graph.size()), names_(numbering) {
  for (NodeId id = 0; id < graph.placeholder_count(); ++id) names_.create(std::string(graph.node(id).name));
}

bool TraceNames::gives_scalar(const ir::Node& node) const {
  if (node.kind == NodeKind::CallMethod) return node.target == "item";
  if (node.kind == NodeKind::CallFunction)
    return node.target == "torch.Size" || node.target.starts_with("torch.sym_") ||
           node.target.ends_with(".sym_size.int");
  bool scalar = node.kind == NodeKind::Operator, any = false;
  for_each_input(graph_, node, [&](NodeId input) { any = true, scalar = scalar && is_scalar_[input]; });
  return scalar && any;
}

std::string TraceNames::next(NodeId id, bool keeps_call_name) {
  const ir::Node& node = graph_.node(id);
  is_scalar_[id] = gives_scalar(node);
  std::string name = names_.create(name_of_target(node));
  const OperatorRow* row = node.kind == NodeKind::Operator ? find_operator(node.target) : nullptr;
  if (keeps_call_name || is_scalar_[id] || (row != nullptr && row->form == OperatorForm::SetItem)) return name;
  const auto args = graph_.args(node);
  const bool changes_node =
      row != nullptr && row->form == OperatorForm::InPlace && !args.empty() && args[0].kind == ArgKind::Node;
  const std::string_view variable = changes_node ? graph_.node(args[0].node).name : node.name;
  return variable == name ? name : names_.create(std::string(variable));
}

}  // namespace passnet::fx
