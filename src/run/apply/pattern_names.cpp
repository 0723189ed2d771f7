#include "run/apply/pattern_names.h"

#include <nlohmann/json.hpp>

#include "ir/ops/table.h"
#include "run/worker/ask.h"

namespace passnet::run {

namespace {

bool may_be_unknown(const ir::Node& node) {
  const bool by_name = node.kind == ir::NodeKind::CallFunction || node.kind == ir::NodeKind::CallMethod;
  return by_name && ir::find_signature(node) == nullptr;
}

Result<void> check_name(const ir::Graph& pattern, const ir::Node& node, Worker& worker,
                        std::chrono::milliseconds timeout) {
  if (!worker.alive()) PASSNET_TRY_VOID(worker.start());
  const bool method = node.kind == ir::NodeKind::CallMethod;
  const auto answer = ask(worker, protocol::CheckTarget{std::string(node.target), method}, timeout);
  if (answer) return {};
  if (answer.error().failure != "unsupported") return answer.error();
  return bad_pass(answer.error().message, pattern.locate(node)).with_hint(answer.error().hint);
}

}  // namespace

Result<void> check_pattern_names(const std::vector<pass::Pass>& passes, Worker& worker,
                                 std::chrono::milliseconds timeout) {
  for (const pass::Pass& pass : passes) {
    for (const ir::Node& node : pass.pattern.nodes()) {
      if (!may_be_unknown(node)) continue;
      PASSNET_TRY_VOID(check_name(pass.pattern, node, worker, timeout));
    }
  }
  return {};
}

}  // namespace passnet::run
