#include "ir/ops/aten.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/text/strings.h"
#include "ir/ops/aten_rows.h"
#include "ir/ops/binding.h"
#include "ir/ops/table.h"

namespace passnet::ir {

namespace {

constexpr std::string_view kAten = "torch.ops.aten.";

constexpr TorchModule kModules[] = {
    {"torch.nn.functional.", "", ""},
    {"torch._C._nn.", "", ""},
    {"torch.functional.", "", ""},
    {"torch._VF.", "torch.", ""},
    {"torch._C._VariableFunctions.", "torch.", ""},
    {"torch._C._linalg.", "", ""},
    {"torch._C._fft.", "", ""},
    {"torch._C._special.", "", ""},
    {"torch.linalg.", "", "linalg_"},
    {"torch.fft.", "", "fft_"},
    {"torch.special.", "", "special_"},
    {"torch.", "torch.functional.", ""},
};

std::unordered_map<std::string_view, const AtenRow*> read_rows() {
  std::unordered_map<std::string_view, const AtenRow*> rows;
  for (const AtenRow& row : kAtenRows) {
    for (const std::string_view name : split(row.names, ' ')) rows.emplace(name, &row);
  }
  return rows;
}

/// ATen's name of what PyTorch's Python calls otherwise.
std::string schema_name(std::string name) {
  if (name == "_segment_reduce") return "segment_reduce";
  return name == "to_sparse_coo" ? "to_sparse" : name;
}

}  // namespace

const AtenRow* aten_row(std::string_view name) {
  static const auto kRows = read_rows();
  const auto found = kRows.find(name);
  return found == kRows.end() ? nullptr : found->second;
}

const TorchModule* torch_module_of(std::string_view target) {
  const auto* const found =
      std::ranges::find_if(kModules, [&](const TorchModule& each) { return target.starts_with(each.prefix); });
  return found == std::end(kModules) ? nullptr : found;
}

std::string aten_name(NodeKind kind, std::string_view target) {
  if (kind == NodeKind::CallMethod) return schema_name(std::string(target));
  if (kind != NodeKind::CallFunction) return {};
  if (target.starts_with(kAten)) {
    target.remove_prefix(kAten.size());
    return std::string(target.substr(0, target.find('.')));
  }
  const TorchModule* const module = torch_module_of(target);
  if (module == nullptr) return {};
  return schema_name(std::string(module->operators) + std::string(target.substr(module->prefix.size())));
}

Result<void> check_operator(NodeKind kind, std::string_view target) {
  const AtenRow* const row = aten_row(aten_name(kind, target));
  if (row == nullptr || *row->reason_class == '\0') return {};
  if (!op_table().bindings(kind, target).empty()) return {};
  const bool method = kind == NodeKind::CallMethod;
  return unsupported(fmt::format("{} '{}' is not run: {} ({})", method ? "method" : "operator", target, row->reason,
                                 row->reason_class))
      .with_hint("docs/operators.md says what a graph may call");
}

Result<void> check_operators(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    if (Result<void> checked = check_operator(node.kind, node.target); !checked) {
      Error error = std::move(checked).error();
      error.at = graph.locate(node);
      return error;
    }
  }
  return {};
}

}  // namespace passnet::ir
