// Prints the operator table as the Markdown table of docs/operators.md: one line per operator, in the table's order.
#include <fmt/format.h>

#include <array>
#include <map>

#include "base/text/strings.h"
#include "ir/ops/table_rows.h"

namespace passnet::ir {
namespace {

std::string_view word(KernelClass kernel) {
  static constexpr std::array<std::string_view, 5> kWords = {"free", "pointwise", "stencil", "reduce", "library"};
  return kWords[static_cast<size_t>(kernel)];
}

std::string_view word(FlopRule rule) {
  static constexpr std::array<std::string_view, 7> kWords = {"",       "product",   "convolution", "transposed",
                                                             "addend", "attention", "einsum"};
  return kWords[static_cast<size_t>(rule)];
}

/// "size: create" of `*size%create`, for each parameter with a role.
std::string roles(std::string_view signature) {
  std::string text;
  for (const std::string_view part : split_arguments(signature)) {
    const size_t at = part.find('%');
    if (at == std::string_view::npos) continue;
    const std::string_view role = part.substr(at + 1, part.find('=') - at - 1);
    const std::string_view name = part.substr(0, part.find_first_of(":%"));
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name.starts_with('*') ? name.substr(1) : name, role);
  }
  return text;
}

std::string parameters(const OpSignature& op) {
  std::string text;
  for (const Parameter& parameter : op.parameters) {
    text += fmt::format("{}{}{}{}{}", text.empty() ? "" : ", ", parameter.variadic ? "*" : "", parameter.name,
                        parameter.required ? "" : "=", parameter.default_text);
  }
  return text;
}

std::string traits(const OpSignature& op) {
  std::string text(word(op.kernel));
  const auto add = [&](bool holds, std::string_view trait) {
    if (holds) text += fmt::format(", {}", trait);
  };
  add(op.view, "view");
  add(op.commutative, "commutative");
  add(!op.in_place_parameter.empty(), "writes");
  add(op.keep, "keep");
  add(op.barrier, "barrier");
  add(op.uniform, "uniform");
  add(op.positions, "positions");
  add(op.flops != FlopRule::Elements, word(op.flops));
  return text;
}

/// In a cell of a table, as code; empty stays empty.
std::string code(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? "\\|" : std::string(1, c);
  return escaped.empty() ? "" : "`" + escaped + "`";
}

void print_table() {
  struct Line {
    std::string spellings, lowering, roles;
  };
  std::map<std::string_view, Line> lines;
  for (const OpRow& row : kOpRows) {
    Line& line = lines[row.name];
    for (const std::string_view spelling : split(row.spellings, ' ')) {
      if ((" " + line.spellings + " ").find(fmt::format(" {} ", spelling)) == std::string::npos)
        line.spellings += fmt::format("{}{}", line.spellings.empty() ? "" : " ", spelling);
    }
    if (row.lowering[0] != 0)
      line.lowering +=
          fmt::format("{}{}: {}", line.lowering.empty() ? "" : "; ", code(row.spellings), code(row.lowering));
    if (line.roles.empty()) line.roles = roles(row.parameters);
  }
  fmt::print("| operator | spellings | parameters | what holds of it | sizes | in ATen |\n|---|---|---|---|---|---|\n");
  for (const OpSignature* op : op_table().operators()) {
    const auto line = lines.find(op->name);
    if (line == lines.end()) continue;  // an in-place form stands with its operator
    fmt::print("| {} | {} | {} | {} | {} | {} |\n", code(op->name), code(line->second.spellings), code(parameters(*op)),
               traits(*op), line->second.roles, line->second.lowering);
  }
}

}  // namespace
}  // namespace passnet::ir

int main() { passnet::ir::print_table(); }
