// What `passnet graph stats` counts: the operators of many graphs, one graph after the other.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/json.h"
#include "ir/graph.h"

namespace passnet::graphdir {

/// How often an operator occurs.
struct OperatorCount {
  ir::NodeKind kind;
  std::string target;
  size_t calls = 0;
  size_t graphs = 0;  // in how many graphs it occurs
};

/// Totals over graphs; sums of it can be added.
class GraphStats {
 public:
  GraphStats() = default;
  /// Of one graph.
  explicit GraphStats(const ir::Graph& graph);
  void add(const GraphStats& other);

  size_t graphs = 0, nodes = 0, placeholders = 0, outputs = 0;
  /// Calls of all operators of a kind.
  size_t calls(ir::NodeKind kind) const;
  /// Most calls first, then by kind and name.
  std::vector<OperatorCount> operators() const;

 private:
  struct Count {
    size_t calls = 0, graphs = 0;
  };
  struct Less {  // also of views, so that counting copies no names
    using is_transparent = void;
    bool operator()(const auto& a, const auto& b) const {
      return a.first != b.first ? a.first < b.first : std::string_view(a.second) < std::string_view(b.second);
    }
  };
  std::map<std::pair<ir::NodeKind, std::string>, Count, Less> counts_;
};

/// {"graphs", "nodes", "placeholders", "outputs", "calls", "kinds": {kind: calls},
/// "operators": [{"kind", "target", "calls", "share", "graphs"}, …]}; share: of all calls, 0 to 1.
Json to_json(const GraphStats& stats);

/// A table: calls, share of all calls as number and bar, graphs, operator; then the calls by kind.
std::string render_stats(const GraphStats& stats);

/// "function", "method", "operator", "attribute", "placeholder", "output".
std::string_view kind_name(ir::NodeKind kind);

}  // namespace passnet::graphdir
