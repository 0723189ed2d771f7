// Reads rows into a lookup from spelling to operator, once.
#include "ir/ops/table.h"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <string>
#include <unordered_map>

#include "base/check.h"
#include "base/text/strings.h"
#include "ir/ops/binding.h"
#include "ir/ops/table_rows.h"

namespace passnet::ir {

namespace {

using Bindings = std::vector<Binding>;
using Spellings = std::unordered_map<std::string_view, Bindings>;

}  // namespace

struct OpTable::Data {
  std::deque<std::string> texts;                            // what views of expanded spellings point to
  std::deque<Operator> operators;                           // stable addresses
  std::unordered_map<std::string_view, Operator*> by_name;  // canonical name -> operator
  Spellings functions, methods, operators_of_python, attributes;
  std::vector<std::string_view> targets;

  std::string_view keep(std::string text) { return texts.emplace_back(std::move(text)); }
};

namespace {

using Table = OpTable::Data;

std::string_view strip(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

bool has_word(std::string_view words, std::string_view word) {
  const auto parts = split(words, ' ');
  return std::find(parts.begin(), parts.end(), word) != parts.end();
}

/// The value whose word is among the flags: words in the order of the enumeration.
template <class Value, size_t N>
Value word_among(std::string_view flags, const std::string_view (&words)[N], Value otherwise) {
  const auto* found = std::ranges::find_if(words, [&](std::string_view word) { return has_word(flags, word); });
  return found == std::end(words) ? otherwise : static_cast<Value>(found - std::begin(words));
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

KernelClass kernel_class_of(std::string_view flags) {
  static constexpr std::string_view kWords[] = {"free", "pointwise", "stencil", "reduce", "library"};
  return word_among(flags, kWords, has_word(flags, "view") ? KernelClass::Free : KernelClass::Pointwise);
}

FlopRule flop_rule_of(std::string_view flags) {
  static constexpr std::string_view kWords[] = {"elements", "product",   "convolution", "transposed",
                                                "addend",   "attention", "einsum"};
  return word_among(flags, kWords, FlopRule::Elements);
}

Operator& add_operator(Table& table, const OpRow& row, const std::vector<Slot>& slots) {
  Operator& op = table.operators.emplace_back();
  op.signature.name = row.name;
  for (const Slot& slot : slots) {
    if (slot.canonical == Slot::kIgnored) continue;
    op.parameters.push_back({slot.name, slot.required, slot.default_text, slot.variadic, slot.kind, slot.role});
    op.defaults.push_back(slot.value);
    op.lengths.push_back(slot.length);
    if (slot.name == "inplace") op.signature.in_place_flag = "inplace";
  }
  const std::string_view flags = row.flags;
  op.signature.parameters = op.parameters;
  op.signature.view = has_word(flags, "view");
  op.signature.keep = has_word(flags, "keep");
  op.signature.barrier = has_word(flags, "barrier");
  op.signature.commutative = has_word(flags, "commutative");
  op.signature.uniform = has_word(flags, "uniform");
  op.signature.positions = has_word(flags, "positions");
  op.signature.kernel = kernel_class_of(flags);
  op.signature.flops = flop_rule_of(flags);
  if (has_word(flags, "writes")) op.signature.in_place_parameter = op.parameters.front().name;
  table.by_name.emplace(op.signature.name, &op);
  return op;
}

/// The operator a spelling of `row` names: the row's own, or its in-place sibling.
const Operator& operator_of(Table& table, const OpRow& row, bool in_place, const std::vector<Slot>& slots) {
  const auto own = table.by_name.find(row.name);
  const Operator& base = own != table.by_name.end() ? *own->second : add_operator(table, row, slots);
  const bool by_flag = !base.signature.in_place_flag.empty();
  if (!in_place || by_flag || base.signature.name.ends_with('_')) return base;
  const std::string name = std::string(row.name) + "_";
  if (const auto found = table.by_name.find(name); found != table.by_name.end()) return *found->second;
  Operator& sibling = table.operators.emplace_back(base);
  for (Parameter& parameter : sibling.parameters) parameter.role = Role::None;
  sibling.signature.name = table.keep(name);
  sibling.signature.parameters = sibling.parameters;
  sibling.signature.in_place_parameter = sibling.parameters.front().name;
  sibling.signature.commutative = sibling.signature.uniform = sibling.signature.positions = false;
  sibling.signature.view = true;
  table.by_name.emplace(sibling.signature.name, &sibling);
  return sibling;
}

/// One way to call `op`: its slots with the places and kinds of the canonical parameters.
Binding make_binding(const OpRow& row, const Operator& op, std::vector<Slot> slots, bool in_place) {
  for (Slot& slot : slots) {
    if (slot.canonical == Slot::kIgnored) continue;
    const auto found = std::ranges::find(op.parameters, slot.name, &Parameter::name);
    PASSNET_CHECK(found != op.parameters.end(),
                  "operator table: " + std::string(op.signature.name) + " has no parameter " + quoted(slot.name));
    slot.canonical = static_cast<uint16_t>(found - op.parameters.begin());
    if (slot.kind == ParameterKind::Any && found->kind != ParameterKind::Float) {
      slot.kind = found->kind;
      slot.length = op.lengths[slot.canonical];
    }
  }
  return {&op, std::move(slots), row.lowering, in_place, has_word(row.flags, "wrap")};
}

void add_spelling(Table& table, const OpRow& row, const std::string& spelling, const std::vector<Slot>& slots) {
  const bool in_place = is_in_place(spelling);
  Binding binding = make_binding(row, operator_of(table, row, in_place, slots), slots, in_place);
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

const Bindings kNoBindings;

const Bindings& lookup(const Spellings& spellings, std::string_view target) {
  const auto found = spellings.find(target);
  return found == spellings.end() ? kNoBindings : found->second;
}

/// "torch.ops.aten.add.Tensor": the same as torch.add, Tensor.add or torch._C._nn.add.
const Bindings& lookup_aten(const Table& table, std::string_view target) {
  const std::string_view rest = strip(target, "torch.ops.aten.");
  const std::string name(rest.substr(0, rest.find('.')));
  for (const char* module : {"torch.ops.aten.", "torch.", "torch._C._nn."}) {
    if (const Bindings& found = lookup(table.functions, module + name); !found.empty()) return found;
  }
  return lookup(table.methods, name);
}

}  // namespace

OpTable::OpTable(std::span<const OpRow> rows) : data_(std::make_unique<Data>()) {
  for (const OpRow& row : rows) {
    const auto slots = parse_signature(row.parameters);
    for (const auto token : split(row.spellings, ' ')) add_spelling(*data_, row, expand(token, row.name), slots);
  }
  std::sort(data_->targets.begin(), data_->targets.end());
}

OpTable::~OpTable() = default;

const std::vector<Binding>& OpTable::bindings(NodeKind kind, std::string_view target) const {
  switch (kind) {
    case NodeKind::CallFunction: {
      const Bindings& found = lookup(data_->functions, target);
      return found.empty() && target.starts_with("torch.ops.aten.") ? lookup_aten(*data_, target) : found;
    }
    case NodeKind::CallMethod: return lookup(data_->methods, target);
    case NodeKind::Operator: return lookup(data_->operators_of_python, target);
    case NodeKind::Attribute: return lookup(data_->attributes, target);
    case NodeKind::Placeholder:
    case NodeKind::Output: break;
  }
  return kNoBindings;
}

std::span<const std::string_view> OpTable::targets() const { return data_->targets; }

std::vector<const OpSignature*> OpTable::operators() const {
  std::vector<const OpSignature*> all;
  for (const Operator& op : data_->operators) all.push_back(&op.signature);
  return all;
}

const OpTable& op_table() {
  static const OpTable instance(kOpRows);
  return instance;
}

const Parameter* OpSignature::find(std::string_view parameter) const {
  const auto found = std::ranges::find(parameters, parameter, &Parameter::name);
  return found == parameters.end() ? nullptr : &*found;
}

const OpSignature* find_signature(const Node& node, const OpTable& table) {
  const Bindings& bindings = table.bindings(node.kind, node.target);
  return bindings.empty() ? nullptr : &bindings.front().op->signature;
}

std::string_view canonical_name(const Node& node) {
  const OpSignature* signature = find_signature(node);
  return signature ? signature->name : std::string_view{};
}

bool wraps_number(std::string_view aten_name) {
  const Bindings& bindings = op_table().bindings(NodeKind::CallFunction, "torch.ops.aten." + std::string(aten_name));
  return !bindings.empty() && bindings.front().wraps_number;
}

std::string_view nearest_target(NodeKind kind, std::string_view target) {
  const bool method = kind == NodeKind::CallMethod;
  std::vector<std::string_view> candidates, same_last;
  const std::string_view last = target.substr(target.rfind('.') + 1);
  for (std::string_view known : op_table().targets()) {
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
