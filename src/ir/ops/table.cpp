// Reads table_rows.h into a lookup from spelling to operator, once.
#include "ir/ops/table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <limits>
#include <string>
#include <unordered_map>

#include "base/check.h"
#include "base/strings.h"
#include "ir/ops/binding.h"
#include "ir/ops/table_rows.h"

namespace passnet::ir {

namespace {

using Bindings = std::vector<Binding>;
using Spellings = std::unordered_map<std::string_view, Bindings>;

struct Table {
  std::deque<std::string> texts;                            // what views of expanded spellings point to
  std::deque<Operator> operators;                           // stable addresses
  std::unordered_map<std::string_view, Operator*> by_name;  // canonical name -> operator
  Spellings functions, methods, operators_of_python, attributes;
  std::vector<std::string_view> targets;  // known_targets()

  std::string_view keep(std::string text) { return texts.emplace_back(std::move(text)); }
};

std::string_view strip(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

bool has_word(std::string_view words, std::string_view word) {
  const auto parts = split(words, ' ');
  return std::find(parts.begin(), parts.end(), word) != parts.end();
}

/// Splits at top-level commas and trims.
std::vector<std::string_view> split_parameters(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      if (const auto part = trim(text.substr(start, i - start)); !part.empty()) parts.push_back(part);
      start = i + 1;
    }
  }
  return parts;
}

/// None, True, False, ints, floats, 'text', (tuples of those), torch.float32, torch.contiguous_format.
Literal parse_literal(std::string_view text) {
  Literal literal;
  if (text == "None") return literal;
  if (text == "True" || text == "False") {
    literal.value = Arg::of_bool(text == "True");
  } else if (text.starts_with('\'')) {
    literal.value = Arg::of_text(ArgKind::String, text.substr(1, text.size() - 2));
  } else if (text.starts_with('(')) {
    for (const auto part : split_parameters(text.substr(1, text.size() - 2)))
      literal.elements.push_back(parse_literal(part).value);
    literal.value = Arg::of_elements(ArgKind::Tuple, 0, static_cast<uint32_t>(literal.elements.size()));
  } else if (const auto dtype = text.starts_with("torch.") ? parse_dtype(text) : std::nullopt) {
    literal.value = Arg::of_dtype(*dtype);
  } else if (text.starts_with("torch.")) {
    literal.value = Arg::of_text(ArgKind::Constant, text);
  } else if (text.find_first_of(".e") == std::string_view::npos) {
    int64_t value = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value).ptr;
    PASSNET_CHECK(end == text.data() + text.size(), "operator table: bad literal " + quoted(text));
    literal.value = Arg::of_int(value);
  } else {
    double value = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value).ptr;
    PASSNET_CHECK(end == text.data() + text.size(), "operator table: bad literal " + quoted(text));
    literal.value = Arg::of_float(value);
  }
  return literal;
}

void set_kind(Slot& slot, std::string_view kind) {
  if (kind == "f")
    slot.kind = ParameterKind::Float;
  else if (kind == "x")
    slot.kind = ParameterKind::Index;
  else if (kind == "il" || kind == "i1" || kind == "i2" || kind == "i3") {
    slot.kind = ParameterKind::Ints;
    slot.length = kind == "il" ? uint8_t{0} : static_cast<uint8_t>(kind[1] - '0');
  } else if (kind == "tensor")
    slot.fit = Fit::Tensor;
  else if (kind == "int")
    slot.fit = Fit::Int;
  else if (kind == "dtype")
    slot.fit = Fit::DType;
  else if (kind == "device")
    slot.fit = Fit::Device;
  else if (kind == "none")
    slot.fit = Fit::None;
  else
    PASSNET_CHECK(kind.empty(), "operator table: unknown kind " + quoted(kind));
}

struct ParsedSlot {
  Slot slot;
  std::string_view canonical_name;
  std::string_view default_text;
};

/// One parameter: [*~!]name[@call_name][:kind][=default].
ParsedSlot parse_slot(std::string_view text, bool keyword_only) {
  ParsedSlot parsed;
  Slot& slot = parsed.slot;
  slot.variadic = text.starts_with('*');
  const bool ignored = text.starts_with('~');
  slot.fixed = text.starts_with('!');
  if (slot.variadic || ignored || slot.fixed) text.remove_prefix(1);
  if (const size_t equals = text.find('='); equals != std::string_view::npos) {
    parsed.default_text = text.substr(equals + 1);
    slot.value = parse_literal(parsed.default_text);
    slot.required = false;
    text = text.substr(0, equals);
  }
  if (const size_t colon = text.find(':'); colon != std::string_view::npos) {
    set_kind(slot, text.substr(colon + 1));
    text = text.substr(0, colon);
  }
  if (slot.value.value.kind == ArgKind::Float) slot.kind = ParameterKind::Float;
  const size_t at = text.find('@');
  parsed.canonical_name = text.substr(0, at);
  slot.call_name = at == std::string_view::npos ? text : text.substr(at + 1);
  slot.canonical = ignored ? Slot::kIgnored : uint16_t{0};
  slot.keyword_only = keyword_only;
  return parsed;
}

std::vector<ParsedSlot> parse_slots(std::string_view text) {
  std::vector<ParsedSlot> slots;
  bool keyword_only = false;
  for (const auto part : split_parameters(text)) {
    if (part == "*") {
      keyword_only = true;
      continue;
    }
    slots.push_back(parse_slot(part, keyword_only));
    keyword_only |= slots.back().slot.variadic;
  }
  return slots;
}

/// `Tensor.add_`, `Tensor.__iadd__`, `op:+=`; not `==`, not `@=` (tensors have no in-place matmul).
bool is_in_place(std::string_view spelling) {
  if (spelling.starts_with("op:")) {
    static constexpr std::array kNot = {"op:==", "op:!=", "op:<=", "op:>=", "op:@="};
    return spelling.ends_with('=') && std::find(kNot.begin(), kNot.end(), spelling) == kNot.end();
  }
  const std::string_view name = spelling.substr(spelling.rfind('.') + 1);
  if (name.ends_with("__")) return name.starts_with("__i") && name != "__invert__";
  return name.ends_with('_');
}

/// `F` -> "torch.nn.functional.NAME", `T_` -> "Tensor.NAME_", "nn.x" -> "torch._C._nn.x".
std::string expand(std::string_view token, std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kModules = {
      {{"torch", "torch."},
       {"F", "torch.nn.functional."},
       {"T", "Tensor."},
       {"nn", "torch._C._nn."},
       {"fn", "torch.functional."}}};
  for (const auto& [abbreviation, module] : kModules) {
    const std::string_view rest = token.starts_with(abbreviation) ? token.substr(abbreviation.size()) : "?";
    if (rest.empty()) return std::string(module) + std::string(name);
    if (rest == "_") return std::string(module) + std::string(name) + "_";
    if (rest.starts_with('.') && abbreviation != "torch") return std::string(module) + std::string(rest.substr(1));
  }
  return std::string(token);
}

KernelClass kernel_class_of(const OpRow& row) {
  static constexpr std::array<std::pair<std::string_view, KernelClass>, 5> kClasses = {
      {{"free", KernelClass::Free},
       {"pointwise", KernelClass::Pointwise},
       {"stencil", KernelClass::Stencil},
       {"reduce", KernelClass::Reduction},
       {"library", KernelClass::Library}}};
  for (const auto& [word, kernel] : kClasses) {
    if (has_word(row.flags, word)) return kernel;
  }
  return has_word(row.flags, "view") ? KernelClass::Free : KernelClass::Pointwise;
}

Operator& add_operator(Table& table, const OpRow& row, std::string_view name, const std::vector<ParsedSlot>& slots) {
  Operator& op = table.operators.emplace_back();
  op.signature.name = name;
  for (const ParsedSlot& parsed : slots) {
    const Slot& slot = parsed.slot;
    if (slot.canonical == Slot::kIgnored) continue;
    op.parameters.push_back({parsed.canonical_name, slot.required, parsed.default_text, slot.variadic, slot.kind});
    op.defaults.push_back(slot.value);
    op.lengths.push_back(slot.length);
    if (parsed.canonical_name == "inplace") op.signature.in_place_flag = "inplace";
  }
  op.signature.parameters = op.parameters;
  op.signature.view = has_word(row.flags, "view");
  op.signature.keep = has_word(row.flags, "keep");
  op.signature.barrier = has_word(row.flags, "barrier");
  op.signature.commutative = has_word(row.flags, "commutative");
  op.signature.kernel = kernel_class_of(row);
  if (has_word(row.flags, "writes")) op.signature.in_place_parameter = op.parameters.front().name;
  table.by_name.emplace(name, &op);
  return op;
}

/// The operator a spelling of `row` names: the row's own, or its in-place sibling.
const Operator& operator_of(Table& table, const OpRow& row, bool in_place, const std::vector<ParsedSlot>& slots) {
  const auto own = table.by_name.find(row.name);
  const Operator& base = own != table.by_name.end() ? *own->second : add_operator(table, row, row.name, slots);
  const bool by_flag = !base.signature.in_place_flag.empty();
  if (!in_place || by_flag || base.signature.name.ends_with('_')) return base;
  const std::string name = std::string(row.name) + "_";
  if (const auto found = table.by_name.find(name); found != table.by_name.end()) return *found->second;
  Operator& sibling = table.operators.emplace_back(base);
  sibling.signature.name = table.keep(name);
  sibling.signature.parameters = sibling.parameters;
  sibling.signature.in_place_parameter = sibling.parameters.front().name;
  sibling.signature.commutative = false;
  sibling.signature.view = true;
  table.by_name.emplace(sibling.signature.name, &sibling);
  return sibling;
}

Binding bind(const Operator& op, const std::vector<ParsedSlot>& slots) {
  Binding binding;
  binding.op = &op;
  for (const ParsedSlot& parsed : slots) {
    Slot slot = parsed.slot;
    if (slot.canonical != Slot::kIgnored) {
      const auto found = std::find_if(op.parameters.begin(), op.parameters.end(),
                                      [&](const Parameter& p) { return p.name == parsed.canonical_name; });
      PASSNET_CHECK(found != op.parameters.end(), "operator table: " + std::string(op.signature.name) +
                                                      " has no parameter " + quoted(parsed.canonical_name));
      slot.canonical = static_cast<uint16_t>(found - op.parameters.begin());
      if (slot.kind == ParameterKind::Any && found->kind != ParameterKind::Float) {
        slot.kind = found->kind;
        slot.length = op.lengths[slot.canonical];
      }
    }
    binding.slots.push_back(std::move(slot));
  }
  return binding;
}

void add_spelling(Table& table, const OpRow& row, const std::string& spelling, const std::vector<ParsedSlot>& slots) {
  Binding binding = bind(operator_of(table, row, is_in_place(spelling), slots), slots);
  const std::string_view text = table.keep(spelling);
  Spellings* map = &table.functions;
  std::string_view key = text;
  if (text.starts_with("Tensor.")) map = &table.methods;
  if (text.starts_with("op:")) map = &table.operators_of_python;
  if (text.starts_with("attr:")) map = &table.attributes;
  if (map != &table.functions) key = text.substr(text.find_first_of(".:") + 1);
  Bindings& bindings = (*map)[key];
  PASSNET_CHECK(bindings.empty() || bindings.front().op == binding.op,
                "operator table: " + quoted(text) + " names two operators");
  if (bindings.empty() && (map == &table.functions || map == &table.methods)) table.targets.push_back(text);
  bindings.push_back(std::move(binding));
}

Table build_table() {
  Table table;
  for (const OpRow& row : kOpRows) {
    const auto slots = parse_slots(row.parameters);
    for (const auto token : split(row.spellings, ' ')) add_spelling(table, row, expand(token, row.name), slots);
  }
  std::sort(table.targets.begin(), table.targets.end());
  return table;
}

const Table& table() {
  static const Table instance = build_table();
  return instance;
}

const Bindings kNoBindings;

const Bindings& lookup(const Spellings& spellings, std::string_view target) {
  const auto found = spellings.find(target);
  return found == spellings.end() ? kNoBindings : found->second;
}

/// "torch.ops.aten.add.Tensor": the same as torch.add, Tensor.add or torch._C._nn.add.
const Bindings& lookup_aten(std::string_view target) {
  const std::string_view rest = strip(target, "torch.ops.aten.");
  const std::string name(rest.substr(0, rest.find('.')));
  for (const char* module : {"torch.ops.aten.", "torch.", "torch._C._nn."}) {
    if (const Bindings& found = lookup(table().functions, module + name); !found.empty()) return found;
  }
  return lookup(table().methods, name);
}

}  // namespace

const Bindings& find_bindings(const Node& node) {
  switch (node.kind) {
    case NodeKind::CallFunction: {
      const Bindings& found = lookup(table().functions, node.target);
      return found.empty() && node.target.starts_with("torch.ops.aten.") ? lookup_aten(node.target) : found;
    }
    case NodeKind::CallMethod: return lookup(table().methods, node.target);
    case NodeKind::Operator: return lookup(table().operators_of_python, node.target);
    case NodeKind::Attribute: return lookup(table().attributes, node.target);
    case NodeKind::Placeholder:
    case NodeKind::Output: break;
  }
  return kNoBindings;
}

const OpSignature* find_signature(const Node& node) {
  const Bindings& bindings = find_bindings(node);
  return bindings.empty() ? nullptr : &bindings.front().op->signature;
}

std::string_view canonical_name(const Node& node) {
  const OpSignature* signature = find_signature(node);
  return signature ? signature->name : std::string_view{};
}

std::span<const std::string_view> known_targets() { return table().targets; }

std::string_view nearest_target(NodeKind kind, std::string_view target) {
  const bool method = kind == NodeKind::CallMethod;
  std::vector<std::string_view> candidates, same_last;
  const std::string_view last = target.substr(target.rfind('.') + 1);
  for (std::string_view known : known_targets()) {
    if (known.starts_with("Tensor.") != method) continue;
    if (method) known.remove_prefix(std::string_view("Tensor.").size());
    candidates.push_back(known);
    if (known.substr(known.rfind('.') + 1) == last) same_last.push_back(known);
  }
  if (same_last.empty()) return nearest_name(target, candidates);
  return *std::min_element(same_last.begin(), same_last.end(), [&](std::string_view a, std::string_view b) {
    constexpr size_t kFar = std::numeric_limits<uint8_t>::max();
    return edit_distance(target, a, kFar) < edit_distance(target, b, kFar);
  });
}

}  // namespace passnet::ir
