// Calls in canonical form: binds arguments to the parameters of the operator table.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/strings.h"
#include "ir/ops/binding.h"
#include "ir/ops/table.h"

namespace passnet::ir {

namespace {

bool is_container(const Arg& arg) { return arg.kind == ArgKind::Tuple || arg.kind == ArgKind::List; }

std::string_view describe(const Arg& arg) {
  switch (arg.kind) {
    case ArgKind::None: return "None";
    case ArgKind::Node: return "a value";
    case ArgKind::Bool: return "a bool";
    case ArgKind::Int: return "an int";
    case ArgKind::Float: return "a float";
    case ArgKind::String: return "a string";
    case ArgKind::DType: return "a dtype";
    case ArgKind::Device: return "a device";
    case ArgKind::Constant: return "a torch constant";
    case ArgKind::Ellipsis: return "an ellipsis";
    case ArgKind::Slice: return "a slice";
    case ArgKind::Tuple: return "a tuple";
    case ArgKind::List: return "a list";
  }
  return "?";
}

std::string_view describe(Fit fit) {
  switch (fit) {
    case Fit::Anything: return "anything";
    case Fit::Tensor: return "a tensor";
    case Fit::Int: return "an int";
    case Fit::DType: return "a dtype";
    case Fit::Device: return "a device";
    case Fit::None: return "None";
  }
  return "?";
}

bool is_attribute(const Graph& graph, const Arg& arg, std::string_view target) {
  return arg.kind == ArgKind::Node && graph.node(arg.node).kind == NodeKind::Attribute &&
         graph.node(arg.node).target == target;
}

/// A parameter of a pattern, which may stand for any constant.
bool is_parameter(const Graph& graph, const Arg& arg) {
  return arg.kind == ArgKind::Node && graph.node(arg.node).kind == NodeKind::Placeholder;
}

bool fits(const Graph& graph, const Arg& arg, Fit fit) {
  const bool dtype = arg.kind == ArgKind::DType || is_attribute(graph, arg, "dtype");
  const bool device = arg.kind == ArgKind::Device || arg.kind == ArgKind::String || is_attribute(graph, arg, "device");
  switch (fit) {
    case Fit::Anything: return true;
    case Fit::Tensor: return arg.kind == ArgKind::Node && !dtype && !device;
    case Fit::Int: return arg.kind == ArgKind::Int || arg.kind == ArgKind::None;
    case Fit::DType: return dtype || arg.kind == ArgKind::None || is_parameter(graph, arg);
    case Fit::Device: return device || arg.kind == ArgKind::None;
    case Fit::None: return arg.kind == ArgKind::None;
  }
  return false;
}

bool needs_rewrite(const Graph& graph, const Arg& arg, bool to_float) {
  if (arg.kind == ArgKind::List) return true;
  if (to_float && arg.kind == ArgKind::Int) return true;
  if (!is_container(arg)) return false;
  const auto elements = graph.elements(arg);
  return std::any_of(elements.begin(), elements.end(),
                     [&](const Arg& element) { return needs_rewrite(graph, element, to_float); });
}

/// Lists become tuples and, for floats, ints become floats; at every depth. Shares the elements where it can.
Arg normalize(Graph& graph, Arg arg, bool to_float) {
  if (to_float && arg.kind == ArgKind::Int) return Arg::of_float(static_cast<double>(arg.integer));
  if (!is_container(arg)) return arg;
  arg.kind = ArgKind::Tuple;
  if (!needs_rewrite(graph, arg, to_float)) return arg;
  std::vector<Arg> elements(graph.elements(arg).begin(), graph.elements(arg).end());
  for (Arg& element : elements) element = normalize(graph, element, to_float);
  return graph.make_container(ArgKind::Tuple, elements);
}

/// 3 -> (3,) or (3, 3); (3,) -> (3, 3); () -> None.
Arg normalize_ints(Graph& graph, Arg arg, uint8_t length) {
  arg = normalize(graph, arg, false);
  if (arg.kind == ArgKind::Tuple && arg.count == 0) return Arg::none();
  const bool scalar = arg.kind == ArgKind::Int || (arg.kind == ArgKind::Node && length > 0);
  const bool spread = arg.kind == ArgKind::Tuple && arg.count == 1 && length > 1;
  if (!scalar && !spread) return arg;
  const std::vector<Arg> elements(std::max<size_t>(length, 1), scalar ? arg : graph.elements(arg)[0]);
  return graph.make_container(ArgKind::Tuple, elements);
}

Arg normalize(Graph& graph, const Arg& arg, ParameterKind kind, uint8_t length) {
  switch (kind) {
    case ParameterKind::Any: return normalize(graph, arg, false);
    case ParameterKind::Float: return normalize(graph, arg, true);
    case ParameterKind::Ints: return normalize_ints(graph, arg, length);
    case ParameterKind::Index: return arg;
  }
  return arg;
}

Arg instantiate(Graph& graph, const Literal& literal) {
  return literal.elements.empty() ? literal.value : graph.make_container(ArgKind::Tuple, literal.elements);
}

/// NumPy's names for PyTorch's parameters, which PyTorch takes too, and the `self` of schemas.
std::string_view alias(std::string_view keyword) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kAliases = {{{"self", "input"},
                                                                                             {"axis", "dim"},
                                                                                             {"keepdims", "keepdim"},
                                                                                             {"x", "input"},
                                                                                             {"a", "input"},
                                                                                             {"x1", "input"},
                                                                                             {"x2", "other"}}};
  for (const auto& [from, to] : kAliases) {
    if (keyword == from) return to;
  }
  return {};
}

const Slot* find_slot(const Binding& binding, std::string_view keyword) {
  for (const Slot& slot : binding.slots) {
    if (slot.call_name == keyword && !slot.fixed) return &slot;
  }
  const std::string_view other = alias(keyword);
  return other.empty() ? nullptr : find_slot(binding, other);
}

/// Finds the slot of one row that each argument of one call belongs to: of positional arguments, then of keywords.
class Binder {
 public:
  Binder(const Graph& graph, NodeId id, const Binding& binding)
      : graph_(graph), id_(id), binding_(binding), given_(binding.slots.size(), nullptr) {}

  Result<std::vector<uint16_t>> run() {
    PASSNET_TRY_VOID(bind_positional());
    PASSNET_TRY_VOID(bind_keywords());
    PASSNET_TRY_VOID(check());
    return std::move(slots_);
  }

 private:
  std::string_view name() const { return binding_.op->signature.name; }
  Error error(std::string message) const { return bad_input(std::move(message), graph_.locate(graph_.node(id_))); }
  void give(size_t slot, const Arg& arg) {
    given_[slot] = &arg;
    slots_.push_back(static_cast<uint16_t>(slot));
  }

  Result<void> bind_positional() {
    const auto args = graph_.args(id_);
    size_t next = 0;
    for (size_t i = 0; i < args.size(); ++i) {
      while (next < binding_.slots.size() && binding_.slots[next].fixed) ++next;
      if (next == binding_.slots.size() || binding_.slots[next].keyword_only)
        return error(fmt::format("too many arguments of {}: found {}, expected at most {}", name(), args.size(), i));
      give(next, args[i]);
      if (!binding_.slots[next].variadic) ++next;
    }
    return {};
  }

  Result<void> bind_keywords() {
    for (const Keyword& keyword : graph_.keywords(id_)) {
      const Slot* slot = find_slot(binding_, keyword.name);
      if (!slot) return unknown_keyword(keyword.name);
      const auto place = static_cast<size_t>(slot - binding_.slots.data());
      if (given_[place] != nullptr)
        return error(fmt::format("argument '{}' of {} is given twice", slot->call_name, name()));
      give(place, keyword.value);
    }
    return {};
  }

  Error unknown_keyword(std::string_view keyword) const {
    std::vector<std::string_view> known;
    std::string list;
    for (const Slot& slot : binding_.slots) {
      if (slot.fixed) continue;
      known.push_back(slot.call_name);
      list += (list.empty() ? "" : ", ") + std::string(slot.call_name);
    }
    const std::string_view nearest = nearest_name(keyword, known);
    std::string hint =
        nearest.empty() ? fmt::format("its arguments are: {}", list) : fmt::format("did you mean '{}'?", nearest);
    return error(fmt::format("{} has no argument '{}'", name(), keyword)).with_hint(std::move(hint));
  }

  Result<void> check() const {
    for (size_t i = 0; i < binding_.slots.size(); ++i) {
      const Slot& slot = binding_.slots[i];
      if (given_[i] == nullptr) {
        if (slot.required && !slot.variadic)
          return error(fmt::format("{} needs argument '{}'", name(), slot.call_name));
      } else if (!fits(graph_, *given_[i], slot.fit)) {
        return error(fmt::format("argument '{}' of {}: found {}, expected {}", slot.call_name, name(),
                                 describe(*given_[i]), describe(slot.fit)));
      }
    }
    return {};
  }

  const Graph& graph_;
  NodeId id_;
  const Binding& binding_;
  std::vector<const Arg*> given_;  // by slot; of a variadic one, the last
  std::vector<uint16_t> slots_;
};

/// A call and the row that it was bound to.
struct Bound {
  const Binding* binding = nullptr;
  std::vector<uint16_t> slots;
};

/// By the first row that fits; the error is that of the first row.
Result<Bound> bind_call(const Graph& graph, NodeId id, const std::vector<Binding>& bindings) {
  Result<std::vector<uint16_t>> first = Binder(graph, id, bindings.front()).run();
  if (first) return Bound{&bindings.front(), std::move(*first)};
  for (size_t i = 1; i < bindings.size(); ++i) {
    if (auto slots = Binder(graph, id, bindings[i]).run()) return Bound{&bindings[i], std::move(*slots)};
  }
  return std::move(first).error();
}

/// By slot: what was given, positional arguments of a variadic one as a tuple.
std::vector<std::optional<Arg>> given_values(Graph& graph, NodeId id, const Bound& bound) {
  std::vector<std::optional<Arg>> given(bound.binding->slots.size());
  const std::vector<Arg> args(graph.args(id).begin(), graph.args(id).end());
  for (size_t i = 0; i < args.size(); ++i) {
    std::optional<Arg>& value = given[bound.slots[i]];
    value = args[i];
    if (!bound.binding->slots[bound.slots[i]].variadic) continue;
    const std::span<const Arg> rest = std::span(args).subspan(i);
    if (rest.size() > 1 || !is_container(rest[0])) value = graph.make_container(ArgKind::Tuple, rest);
    break;
  }
  const auto keywords = graph.keywords(id);
  for (size_t i = 0; i < keywords.size(); ++i) given[bound.slots[args.size() + i]] = keywords[i].value;
  return given;
}

CanonicalCall build_call(Graph& graph, NodeId id, const Bound& bound) {
  const Binding& binding = *bound.binding;
  const Operator& op = *binding.op;
  const std::vector<std::optional<Arg>> given = given_values(graph, id, bound);
  CanonicalCall call;
  call.name = op.signature.name;
  call.signature = &op.signature;
  call.args.reserve(op.parameters.size());
  call.names.reserve(op.parameters.size());
  std::vector<uint16_t> source(op.parameters.size(), Slot::kIgnored);
  for (size_t i = 0; i < binding.slots.size(); ++i) {
    if (binding.slots[i].canonical != Slot::kIgnored) source[binding.slots[i].canonical] = static_cast<uint16_t>(i);
  }
  for (size_t p = 0; p < op.parameters.size(); ++p) {
    const bool own = source[p] == Slot::kIgnored;
    const Slot* slot = own ? nullptr : &binding.slots[source[p]];
    const Arg arg = !own && given[source[p]]
                        ? *given[source[p]]
                        : instantiate(graph, own || (slot->required && !slot->fixed) ? op.defaults[p] : slot->value);
    call.args.push_back(
        normalize(graph, arg, own ? op.parameters[p].kind : slot->kind, own ? op.lengths[p] : slot->length));
    call.names.push_back(op.parameters[p].name);
  }
  if (op.signature.commutative && call.args[0].kind != ArgKind::Node && call.args[1].kind == ArgKind::Node)
    std::swap(call.args[0], call.args[1]);
  return call;
}

/// A call of something the table does not know: arguments as they stand, keywords by name.
CanonicalCall opaque_call(Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  static constexpr std::array<std::string_view, 6> kPrefix = {
      "placeholder:", "function:", "method:", "operator:", "attribute:", "output:"};
  static constexpr std::array<std::string_view, 8> kPositions = {"0", "1", "2", "3", "4", "5", "6", "7"};
  CanonicalCall call;
  call.name = graph.intern(std::string(kPrefix[static_cast<size_t>(node.kind)]) + std::string(node.target));
  const std::vector<Arg> args(graph.args(node).begin(), graph.args(node).end());
  for (size_t i = 0; i < args.size(); ++i) {
    call.args.push_back(normalize(graph, args[i], false));
    call.names.push_back(i < kPositions.size() ? kPositions[i] : graph.intern(std::to_string(i)));
  }
  std::vector<Keyword> keywords(graph.keywords(node).begin(), graph.keywords(node).end());
  std::sort(keywords.begin(), keywords.end(), [](const Keyword& a, const Keyword& b) { return a.name < b.name; });
  for (const Keyword& keyword : keywords) {
    call.args.push_back(normalize(graph, keyword.value, false));
    call.names.push_back(keyword.name);
  }
  return call;
}

}  // namespace

Result<CanonicalCall> canonicalize(Graph& graph, NodeId id) {
  const auto& bindings = find_bindings(graph.node(id));
  if (bindings.empty()) return opaque_call(graph, id);
  PASSNET_TRY(const Bound bound, bind_call(graph, id, bindings));
  return build_call(graph, id, bound);
}

std::vector<std::string_view> argument_parameters(const Graph& graph, NodeId id) {
  const auto& bindings = find_bindings(graph.node(id));
  if (bindings.empty()) return {};
  const Result<Bound> bound = bind_call(graph, id, bindings);
  if (!bound) return {};
  std::vector<std::string_view> names;
  for (const uint16_t place : bound->slots) {
    const Slot& slot = bound->binding->slots[place];
    names.push_back(slot.canonical == Slot::kIgnored ? std::string_view{}
                                                     : bound->binding->op->parameters[slot.canonical].name);
  }
  return names;
}

bool overwrites_input(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto& bindings = find_bindings(node);
  if (bindings.empty()) {
    const bool call = node.kind == NodeKind::CallFunction || node.kind == NodeKind::CallMethod;
    return call && node.target.ends_with('_') && !node.target.ends_with("__") && node.arg_count > 0;
  }
  const OpSignature& signature = bindings.front().op->signature;
  if (!signature.in_place_parameter.empty()) return true;
  if (signature.in_place_flag.empty()) return false;
  const auto& slots = bindings.front().slots;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].call_name != signature.in_place_flag) continue;
    if (slots[i].fixed) return slots[i].value.value.boolean;
    if (i < node.arg_count && !slots[i].keyword_only)
      return graph.args(node)[i].kind == ArgKind::Bool && graph.args(node)[i].boolean;
    for (const Keyword& keyword : graph.keywords(node)) {
      if (keyword.name == signature.in_place_flag) return keyword.value.kind == ArgKind::Bool && keyword.value.boolean;
    }
  }
  return false;
}

}  // namespace passnet::ir
