#include "author/define/operators.h"

#include <fmt/format.h>

#include <map>
#include <variant>

#include "author/define/pointwise_rows.h"
#include "base/text/strings.h"

namespace passnet::author {

namespace {

using Definition = std::variant<Operator*, UnaryOperator*>;

struct OperatorRow {
  std::string_view names;
  Definition define;
};

#define PASSNET_OPERATOR_ROW(define, names) {names, &op::define},
constexpr OperatorRow kOperators[] = {PASSNET_AUTHOR_OPERATORS(PASSNET_OPERATOR_ROW, PASSNET_OPERATOR_ROW)};

const std::map<std::string_view, Definition>& operators() {
  static const std::map<std::string_view, Definition> all = [] {
    std::map<std::string_view, Definition> made;
    for (const PointwiseRow& row : pointwise_rows()) made.emplace(row.name, &op::pointwise);
    for (const OperatorRow& row : kOperators) {
      for (const std::string_view name : split(row.names, ' ')) made[name] = row.define;
    }
    return made;
  }();
  return all;
}

}  // namespace

Result<void> define_operator(Context& c, const Arguments& call) {
  const auto found = operators().find(call.name());
  if (found == operators().end())
    return unsupported(fmt::format("no kernel can be written for {}", quoted(call.name())));
  if (const auto* plain = std::get_if<Operator*>(&found->second)) return (*plain)(c, call);
  PASSNET_TRY(const TensorId x, c.tensor(call.at("input")));
  return std::get<UnaryOperator*>(found->second)(c, call, x);
}

std::vector<std::string_view> defined_operators() {
  std::vector<std::string_view> names;
  for (const auto& [name, define] : operators()) names.push_back(name);
  return names;
}

}  // namespace passnet::author
