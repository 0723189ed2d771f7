// Calls in canonical form: binds arguments to the parameters of the operator table.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/text/strings.h"
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

/// Binds the arguments of one call to the slots of one row.
class Binder {
 public:
  Binder(const Graph& graph, NodeId id) : graph_(graph), id_(id), args_(graph.args(id)) {
    for (const Keyword& keyword : graph.keywords(id)) keywords_.push_back(keyword.name);
  }

  /// The slot of each argument: of positional arguments, then of keywords.
  Result<std::vector<uint16_t>> run(const Binding& binding) const {
    Assignment made = bind_arguments(binding.slots, args_.size(), keywords_, other_keyword);
    if (made.misfit && made.misfit->reason != Misfit::Reason::Missing) return explain(binding, *made.misfit);
    std::vector<const Arg*> given(binding.slots.size(), nullptr);  // by slot; of a variadic one, the last
    for (size_t i = 0; i < made.slots.size(); ++i)
      given[made.slots[i]] = i < args_.size() ? &args_[i] : &graph_.keywords(id_)[i - args_.size()].value;
    const size_t checked = made.misfit ? made.misfit->place : given.size();
    for (size_t i = 0; i < checked; ++i) {
      const Slot& slot = binding.slots[i];
      if (given[i] == nullptr || fits(graph_, *given[i], slot.fit)) continue;
      return error(fmt::format("argument '{}' of {}: found {}, expected {}", slot.call_name, name(binding),
                               describe(*given[i]), describe(slot.fit)));
    }
    if (made.misfit) return explain(binding, *made.misfit);
    return std::move(made.slots);
  }

 private:
  static std::string_view name(const Binding& binding) { return binding.op->signature.name; }
  Error error(std::string message) const { return bad_input(std::move(message), graph_.locate(graph_.node(id_))); }

  Error explain(const Binding& binding, const Misfit& misfit) const {
    switch (misfit.reason) {
      case Misfit::Reason::TooMany:
        return error(fmt::format("too many arguments of {}: found {}, expected at most {}", name(binding), args_.size(),
                                 misfit.place));
      case Misfit::Reason::Unknown: return unknown_keyword(binding, keywords_[misfit.place]);
      case Misfit::Reason::Twice:
        return error(
            fmt::format("argument '{}' of {} is given twice", binding.slots[misfit.place].call_name, name(binding)));
      case Misfit::Reason::Missing: break;
    }
    return error(fmt::format("{} needs argument '{}'", name(binding), binding.slots[misfit.place].call_name));
  }

  Error unknown_keyword(const Binding& binding, std::string_view keyword) const {
    std::vector<std::string_view> known;
    for (const Slot& slot : binding.slots) {
      if (!slot.fixed) known.push_back(slot.call_name);
    }
    const std::string_view nearest = nearest_name(keyword, known);
    std::string hint = nearest.empty() ? fmt::format("its arguments are: {}", fmt::join(known, ", "))
                                       : fmt::format("did you mean '{}'?", nearest);
    return error(fmt::format("{} has no argument '{}'", name(binding), keyword)).with_hint(std::move(hint));
  }

  const Graph& graph_;
  const NodeId id_;
  const std::span<const Arg> args_;
  std::vector<std::string_view> keywords_;
};

const std::vector<Binding>& bindings_of(const Node& node, const OpTable& table) {
  return table.bindings(node.kind, node.target);
}

/// A call and the row that it was bound to.
struct Bound {
  const Binding* binding = nullptr;
  std::vector<uint16_t> slots;
};

/// By the first row that fits; the error is that of the first row.
Result<Bound> bind_call(const Graph& graph, NodeId id, const std::vector<Binding>& bindings) {
  const Binder binder(graph, id);
  Result<std::vector<uint16_t>> first = binder.run(bindings.front());
  if (first) return Bound{&bindings.front(), std::move(*first)};
  for (size_t i = 1; i < bindings.size(); ++i) {
    if (auto slots = binder.run(bindings[i])) return Bound{&bindings[i], std::move(*slots)};
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

Result<CanonicalCall> canonicalize(Graph& graph, NodeId id, const OpTable& table) {
  const auto& bindings = bindings_of(graph.node(id), table);
  if (bindings.empty()) return opaque_call(graph, id);
  PASSNET_TRY(const Bound bound, bind_call(graph, id, bindings));
  return build_call(graph, id, bound);
}

std::vector<std::string_view> argument_parameters(const Graph& graph, NodeId id) {
  const auto& bindings = bindings_of(graph.node(id), op_table());
  if (bindings.empty()) return {};
  const Result<Bound> bound = bind_call(graph, id, bindings);
  if (!bound) return {};
  std::vector<std::string_view> names;
  for (const uint16_t place : bound->slots) {
    const Slot& slot = bound->binding->slots[place];
    names.push_back(slot.canonical == Slot::kIgnored ? std::string_view{} : slot.name);
  }
  return names;
}

const Arg* find_argument(const Graph& graph, NodeId id, std::string_view parameter) {
  const std::vector<std::string_view> names = argument_parameters(graph, id);
  const auto place = static_cast<size_t>(std::ranges::find(names, parameter) - names.begin());
  const size_t positional = graph.args(id).size();
  if (place == names.size()) return nullptr;
  return place < positional ? &graph.args(id)[place] : &graph.keywords(id)[place - positional].value;
}

bool overwrites_input(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto& bindings = bindings_of(node, op_table());
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
