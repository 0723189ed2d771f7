#include "rewrite/prepared.h"

#include <fmt/format.h>

#include <algorithm>

namespace passnet::rewrite {

using ir::NodeId;

namespace {

std::string_view kind_prefix(ir::NodeKind kind) {
  switch (kind) {
    case ir::NodeKind::CallFunction: return "function:";
    case ir::NodeKind::CallMethod: return "method:";
    case ir::NodeKind::Operator: return "operator:";
    case ir::NodeKind::Attribute: return "attribute:";
    case ir::NodeKind::Placeholder:
    case ir::NodeKind::Output: break;
  }
  return "";
}

/// The call as it is written: positional arguments, then keywords sorted by name.
ir::CanonicalCall literal_call(ir::Graph& graph, NodeId id, std::string_view name) {
  ir::CanonicalCall call;
  call.name = name;
  call.args.assign(graph.args(id).begin(), graph.args(id).end());
  for (size_t i = 0; i < call.args.size(); ++i) call.names.push_back(graph.intern(std::to_string(i)));
  std::vector<ir::Keyword> keywords(graph.keywords(id).begin(), graph.keywords(id).end());
  std::sort(keywords.begin(), keywords.end(),
            [](const ir::Keyword& a, const ir::Keyword& b) { return a.name < b.name; });
  for (const ir::Keyword& keyword : keywords) {
    call.args.push_back(keyword.value);
    call.names.push_back(keyword.name);
  }
  return call;
}

}  // namespace

PreparedGraph::PreparedGraph(ir::Graph& graph, const MatchOptions& options)
    : graph_(graph), options_(options), names_(graph.size()), calls_(graph.size()), has_call_(graph.size()) {
  std::unordered_map<std::string, std::string_view> spelled;  // names of operators without a row
  for (NodeId id = 0; id < graph.size(); ++id) {
    const ir::Node& node = graph.node(id);
    if (node.kind == ir::NodeKind::Placeholder || node.kind == ir::NodeKind::Output) continue;
    std::string_view name = options.strict ? std::string_view{} : ir::canonical_name(node);
    if (name.empty()) {
      std::string text = std::string(kind_prefix(node.kind)) + std::string(node.target);
      std::string_view& kept = spelled[text];
      if (kept.empty()) kept = graph.intern(text);
      name = kept;
    }
    names_[id] = name;
    index_[name].push_back(id);
  }
}

const ir::CanonicalCall& PreparedGraph::call(NodeId id, std::optional<Error>* error) {
  if (has_call_[id]) return calls_[id];
  has_call_[id] = true;
  if (options_.strict) return calls_[id] = literal_call(graph_, id, names_[id]);
  auto call = ir::canonicalize(graph_, id);
  if (call) return calls_[id] = std::move(*call);
  if (error) *error = std::move(call).error();
  return calls_[id] = literal_call(graph_, id, names_[id]);
}

std::span<const NodeId> PreparedGraph::calls_of(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? std::span<const NodeId>{} : std::span<const NodeId>(found->second);
}

std::vector<std::string_view> PreparedGraph::operators() const {
  std::vector<std::string_view> names;
  for (const auto& entry : index_) names.push_back(entry.first);
  std::sort(names.begin(), names.end());
  return names;
}

std::span<const NodeId> PreparedGraph::users(NodeId id) {
  if (first_user_.empty()) {
    const auto lists = ir::users(graph_);
    first_user_.assign(1, 0);
    for (const auto& list : lists) {
      users_.insert(users_.end(), list.begin(), list.end());
      first_user_.push_back(static_cast<uint32_t>(users_.size()));
    }
  }
  return {users_.data() + first_user_[id], first_user_[id + 1] - first_user_[id]};
}

SourceLoc PreparedGraph::locate(NodeId id) const {
  if (!graph_.source) return {graph_.file, 0, 0};
  const std::string& text = *graph_.source;
  if (line_starts_.empty()) {
    line_starts_.push_back(0);
    for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
      line_starts_.push_back(static_cast<uint32_t>(at + 1));
  }
  const uint32_t offset = std::min(graph_.node(id).offset, static_cast<uint32_t>(text.size()));
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return {graph_.file, static_cast<uint32_t>(next - line_starts_.begin()), offset - *(next - 1) + 1};
}

std::string PreparedGraph::at_line(NodeId id) const {
  const uint32_t line = locate(id).line;
  return line == 0 ? "" : fmt::format(" at line {}", line);
}

const Order& PreparedGraph::order() {
  if (!order_) order_.emplace(graph_);
  return *order_;
}

}  // namespace passnet::rewrite
