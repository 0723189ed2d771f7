#include "ir/ops/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/check.h"
#include "base/text/strings.h"
#include "ir/ops/aten.h"
#include "ir/ops/binding.h"
#include "ir/ops/python_rows.h"
#include "ir/ops/refused_targets.h"
#include "ir/ops/table.h"

namespace passnet::ir {

namespace {

constexpr std::string_view kAtenSpelling = "torch.ops.aten.";

using Signatures = std::unordered_map<std::string, std::vector<Slot>>;

Signatures read_signatures() {
  Signatures signatures;
  for (const PythonRow& row : kPythonRows) {
    for (const std::string_view spelling : split(row.spellings, ' ')) {
      std::string name = spelling.starts_with("F.") ? fmt::format("torch.nn.functional.{}", spelling.substr(2))
                                                    : std::string(spelling);
      const bool is_new = signatures.emplace(std::move(name), parse_signature(row.signature)).second;
      PASSNET_CHECK(is_new, fmt::format("{} has two signatures", spelling));
    }
  }
  return signatures;
}

std::string to_string(std::span<const Slot> signature) {
  std::string text;
  for (const Slot& slot : signature) {
    if (slot.fixed) continue;
    text += fmt::format("{}{}{}{}{}", text.empty() ? "" : ", ", slot.variadic ? "*" : "", slot.call_name,
                        slot.default_text.empty() ? "" : "=", slot.default_text);
  }
  return text;
}

/// The names of arguments that PyTorch's Python layer takes itself, whatever the operator.
bool is_of_every_operator(std::string_view keyword) {
  return keyword == "requires_grad" || keyword == "device" || keyword == "out";
}

std::string spelling_of(NodeKind kind, std::string_view target) {
  return kind == NodeKind::CallMethod ? fmt::format("Tensor.{}", target) : std::string(target);
}

/// The same function by its other name: "torch.norm" is torch.functional.norm. Empty: it has none.
std::string other_spelling(NodeKind kind, std::string_view target) {
  const TorchModule* const module = kind == NodeKind::CallFunction ? torch_module_of(target) : nullptr;
  if (module == nullptr || module->same.empty()) return {};
  return fmt::format("{}{}", module->same, target.substr(module->prefix.size()));
}

class CallCheck {
 public:
  CallCheck(const Graph& graph, NodeId id) : node_(graph.node(id)), positional_(graph.args(id).size()) {
    for (const Keyword& keyword : graph.keywords(id)) keywords_.push_back(keyword.name);
  }

  Result<void> run() {
    const std::string spelling = spelling_of(node_.kind, node_.target);
    if (const auto* own = python_signature(spelling)) return bind(spelling, *own);
    const std::string name = aten_name(node_.kind, node_.target);
    const bool is_aten = node_.target.starts_with(kAtenSpelling);
    const auto& rows = op_table().bindings(node_.kind, node_.target);
    if (!is_aten && !rows.empty()) return bind_rows(spelling, rows);
    if (const std::string other = other_spelling(node_.kind, node_.target); !other.empty()) {
      if (const auto* own = python_signature(other)) return bind(spelling, *own);
    }
    if (aten_row(name) == nullptr && rows.empty()) return unknown_call(node_.kind, node_.target);
    return {};
  }

 private:
  Result<void> bind(std::string_view function, std::span<const Slot> signature) const {
    const Assignment made = bind_arguments(signature, positional_, keywords_);
    if (made.misfit) return misfit_error(function, signature, *made.misfit, positional_, keywords_);
    return {};
  }

  /// By any row: which one is meant may depend on the types of values.
  Result<void> bind_rows(std::string_view function, const std::vector<Binding>& rows) {
    std::erase_if(keywords_, is_of_every_operator);
    std::optional<Misfit> first;
    for (const Binding& row : rows) {
      const Assignment made = bind_arguments(row.slots, positional_, keywords_, other_keyword);
      if (!made.misfit) return {};
      if (!first) first = made.misfit;
    }
    return misfit_error(function, rows.front().slots, *first, positional_, keywords_);
  }

  const Node& node_;
  const size_t positional_;
  std::vector<std::string_view> keywords_;
};

}  // namespace

const std::vector<Slot>* python_signature(std::string_view spelling) {
  static const Signatures kSignatures = read_signatures();
  const auto found = kSignatures.find(std::string(spelling));
  return found == kSignatures.end() ? nullptr : &found->second;
}

Error misfit_error(std::string_view function, std::span<const Slot> signature, const Misfit& misfit, size_t positional,
                   std::span<const std::string_view> keywords) {
  switch (misfit.reason) {
    case Misfit::Reason::TooMany:
      return bad_input(fmt::format("{}() takes at most {} positional arguments, found {}", function,
                                   std::ranges::count(signature, false, &Slot::keyword_only), positional));
    case Misfit::Reason::Unknown:
      return bad_input(fmt::format("{}() has no parameter '{}'", function, keywords[misfit.place]))
          .with_hint(fmt::format("it takes: {}", to_string(signature)));
    case Misfit::Reason::Twice:
      return bad_input(fmt::format("{}() got parameter '{}' twice", function, signature[misfit.place].call_name));
    case Misfit::Reason::Missing: break;
  }
  return bad_input(fmt::format("{}() misses parameter '{}'", function, signature[misfit.place].call_name));
}

Error unknown_call(NodeKind kind, std::string_view target) {
  const std::string_view word = kind == NodeKind::CallMethod ? "method" : "operator";
  const bool is_aten = kind == NodeKind::CallFunction && target.starts_with(kAtenSpelling);
  if (const std::string_view reason = is_aten ? "" : refusal_reason(spelling_of(kind, target)); !reason.empty())
    return unsupported(fmt::format("{} '{}' is not run: {}", word, target, reason));
  const std::string_view near = nearest_target(kind, target);
  std::string hint;
  if (near == target)
    hint = "PassNet knows its signature, but cannot run it yet";
  else if (!near.empty())
    hint = fmt::format("did you mean '{}'?", near);
  return unsupported(fmt::format("unknown {} '{}'", word, target)).with_hint(std::move(hint));
}

Result<void> check_calls(const Graph& graph) {
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    if (node.kind != NodeKind::CallFunction && node.kind != NodeKind::CallMethod) continue;
    if (Result<void> checked = CallCheck(graph, id).run(); !checked) {
      Error error = std::move(checked).error();
      error.at = graph.locate(node);
      return error;
    }
  }
  return {};
}

}  // namespace passnet::ir
