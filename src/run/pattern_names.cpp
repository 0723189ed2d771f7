#include "run/pattern_names.h"

#include <nlohmann/json.hpp>

#include "ir/ops/table.h"

namespace passnet::run {

namespace {

bool may_be_unknown(const ir::Node& node) {
  const bool by_name = node.kind == ir::NodeKind::CallFunction || node.kind == ir::NodeKind::CallMethod;
  return by_name && ir::find_signature(node) == nullptr;
}

Answer<void> check_name(const ir::Graph& pattern, const ir::Node& node, Worker& worker,
                        std::chrono::milliseconds timeout) {
  if (!worker.alive()) {
    if (Result<void> started = worker.start(); !started) return tl::unexpected(to_failure(started.error()));
  }
  const bool method = node.kind == ir::NodeKind::CallMethod;
  const Answer<Reply> reply =
      worker.ask({{"do", "check_target"}, {"target", std::string(node.target)}, {"method", method}}, {}, timeout);
  if (reply) return {};
  if (reply.error().kind != "unsupported") return tl::unexpected(reply.error());
  const Error& found = reply.error().error;
  Error error = bad_pass(found.message, pattern.locate(node));
  error.hint = found.hint;
  return tl::unexpected(to_failure(std::move(error)));
}

}  // namespace

Answer<void> check_pattern_names(const std::vector<pass::Pass>& passes, Worker& worker,
                                 std::chrono::milliseconds timeout) {
  for (const pass::Pass& pass : passes) {
    for (const ir::Node& node : pass.pattern.nodes()) {
      if (!may_be_unknown(node)) continue;
      if (Answer<void> checked = check_name(pass.pattern, node, worker, timeout); !checked) return checked;
    }
  }
  return {};
}

}  // namespace passnet::run
