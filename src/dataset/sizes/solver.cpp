#include "dataset/sizes/solver.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "dataset/sizes/limits.h"

namespace passnet::dataset {

using ir::kNoNode;
using ir::NodeId;

namespace {

constexpr int kRounds = 400;      // types inferred at all trials
constexpr size_t kSuspects = 24;  // nodes whose next best assignments are tried for a misfit
constexpr size_t kNextBest = 4;   // of each

class Solving {
 public:
  Solving(const ir::Graph& graph, const analysis::ValueShapes& shapes, const SizeTrials& trials)
      : graph_(graph),
        trials_(trials),
        probes_(1 + trials.captured.size()),
        now_(graph.size()),
        slots_(graph.size()),
        alternatives_(graph.size()) {
    probes_[0] = shapes;
    for (NodeId id = 0; id < graph.size(); ++id) {
      if (graph.node(id).kind != ir::NodeKind::Placeholder) slots_[id] = analysis::size_slots(graph, id, shapes);
    }
  }

  Result<SizeSolution> run(std::vector<analysis::NodeSizes> start) {
    for (analysis::NodeSizes& change : start) now_[change.node] = std::move(change.sizes);
    for (size_t i = 0; i < trials_.captured.size(); ++i) {
      if (trials_.captured[i] == nullptr) {
        open_.push_back(i);
        continue;
      }
      const size_t here[] = {i};
      PASSNET_TRY(std::vector<analysis::ValueShapes> found, trials_.infer(*trials_.captured[i], here));
      probes_[1 + i] = std::move(found.front());
    }
    std::string over;
    while ((over = why_over()).empty()) {
      PASSNET_TRY_VOID(infer());
      unsolved_.reset();
      if (walk()) continue;
      if (unsolved_) return solution(unsolved_);
      const std::optional<Misfit> misfit = first_misfit();
      if (!misfit) return solution(unseen());
      PASSNET_TRY(const bool helped, try_next_best(*misfit));
      if (!helped && why_over().empty()) return solution(misfit);
    }
    return solution(Misfit{kNoNode, over});
  }

 private:
  std::vector<analysis::NodeSizes> changes() const {
    std::vector<analysis::NodeSizes> changes;
    for (NodeId id = 0; id < graph_.size(); ++id) {
      if (!now_[id].empty()) changes.push_back({id, slots_[id], now_[id]});
    }
    return changes;
  }

  std::string why_over() const {
    return rounds_ >= kRounds ? fmt::format("no end after {} rounds", kRounds) : trials_.why_over();
  }

  SizeSolution solution(std::optional<Misfit> misfit) const { return {changes(), std::move(misfit)}; }

  Result<void> infer() {
    ++rounds_;
    const ir::Graph graph = analysis::with_size_calls(graph_, changes());
    PASSNET_TRY(std::vector<analysis::ValueShapes> found, trials_.infer(graph, open_));
    for (size_t i = 0; i < open_.size(); ++i) probes_[1 + open_[i]] = std::move(found[i]);
    return {};
  }

  bool known(NodeId id) const {
    return std::ranges::all_of(probes_,
                               [&](const analysis::ValueShapes& shapes) { return shapes.unknown[id].empty(); });
  }

  /// Gives each node that is fed by what is known its best assignment; those behind a change get what a like
  /// node has. True when anything changed.
  bool walk() {
    SizePool pool;
    std::vector<bool> stale(graph_.size());  // follows from a change made in this walk
    bool changed = false;
    for (NodeId id = 0; id < graph_.size(); ++id) {
      bool inputs_known = true;
      for_each_input(graph_, graph_.node(id), [&](NodeId input) {
        stale[id] = stale[id] || stale[input];
        inputs_known = inputs_known && known(input);
      });
      if (!slots_[id].empty()) {
        const Assignment before = now_[id];
        if (stale[id] || !inputs_known)
          imitate(id);
        else
          decide(id, pool);
        if (unsolved_) return false;
        if (now_[id] != before && !(stale[id] || !inputs_known)) stale[id] = changed = true;
      }
      if (!stale[id] && known(id) && probes_[0].shape[id]) pool.add(id, probes_);
    }
    return changed;
  }

  // Equal for nodes of repeated blocks: the statement without names, and the shapes of its inputs.
  std::string key(NodeId id) const {
    const ir::Node& node = graph_.node(id);
    std::string key = fmt::format("{} {}", static_cast<int>(node.kind), node.target);
    for (const analysis::SizeSlot& slot : slots_[id]) key += fmt::format(" {}@{}", slot.value, slot.ordinal);
    for_each_input(graph_, node, [&](NodeId input) {
      const auto& shape = probes_[0].shape[input];
      key += shape ? fmt::format(" [{}]", fmt::join(*shape, ",")) : std::string(" ?");
    });
    return key;
  }

  void decide(NodeId id, const SizePool& pool) {
    std::vector<std::vector<int64_t>> required(probes_.size());
    for (size_t i = 0; i < trials_.captured.size(); ++i) {
      if (trials_.captured[i] == nullptr) continue;
      for (const analysis::SizeSlot& slot : analysis::size_slots(*trials_.captured[i], id, probes_[1 + i]))
        required[1 + i].push_back(slot.value);
      if (required[1 + i].size() != slots_[id].size()) required[1 + i].clear();
    }
    std::vector<Assignment> found = size_assignments(graph_, id, slots_[id], probes_, pool, required);
    const std::string like = key(id);
    if (found.empty()) {
      const bool must = std::ranges::any_of(required, [](const auto& values) { return !values.empty(); });
      if (must) unsolved_ = Misfit{id, "no size in the graph gives what the other capture has"};
      return;
    }
    const auto chosen = chosen_.find(like);
    const size_t index = chosen == chosen_.end() ? 0 : std::min(chosen->second, found.size() - 1);
    now_[id] = found[index];
    alternatives_[id] = std::move(found);
    latest_[like] = id;
  }

  // What the latest like node has, seen from here.
  void imitate(NodeId id) {
    const auto model = latest_.find(key(id));
    if (model == latest_.end() || model->second == id) return;
    std::vector<NodeId> theirs, ours;
    for_each_input(graph_, graph_.node(model->second), [&](NodeId input) { theirs.push_back(input); });
    for_each_input(graph_, graph_.node(id), [&](NodeId input) { ours.push_back(input); });
    const auto move = [&](analysis::Dim& dim) {
      const auto place = std::ranges::find(theirs, dim.node);
      if (place != theirs.end()) {
        dim.node = ours[static_cast<size_t>(place - theirs.begin())];
      } else if (model->second < id) {
        const NodeId moved = dim.node + (id - model->second);
        if (probes_[0].shape[moved] == probes_[0].shape[dim.node]) dim.node = moved;
      }
    };
    Assignment assignment = now_[model->second];
    for (size_t i = 0; i < assignment.size(); ++i) {
      for (analysis::Dim& dim : assignment[i].factors) move(dim);
      for (analysis::Dim& dim : assignment[i].divisors) move(dim);
      const auto in_reach = [&](const analysis::Dim& dim) { return dim.node < id; };
      if (!std::ranges::all_of(assignment[i].factors, in_reach) ||
          !std::ranges::all_of(assignment[i].divisors, in_reach) ||
          evaluate(assignment[i], probes_[0]) != slots_[id][i].value)
        return;
    }
    now_[id] = std::move(assignment);
  }

  std::optional<Misfit> first_misfit() const {
    std::optional<Misfit> first;
    for (size_t i = 1; i < probes_.size(); ++i) {
      for (NodeId id = 0; id < graph_.size() && (!first || id < first->node); ++id) {
        if (probes_[0].unknown[id].empty() && !probes_[i].unknown[id].empty())
          first = Misfit{id, probes_[i].unknown[id]};
      }
    }
    return first;
  }

  // What shapes do not tell: sizes behind data that is not known, and integers that are no sizes but follow
  // from some.
  std::optional<Misfit> unseen() const {
    for (NodeId id = graph_.placeholder_count(); id < graph_.size(); ++id) {
      std::string why;
      for_each_input(graph_, graph_.node(id), [&](NodeId input) {
        if (!probes_[0].unknown[input].empty()) why = "its input " + probes_[0].unknown[input];
      });
      const bool telling =
          std::ranges::any_of(slots_[id], [](const analysis::SizeSlot& slot) { return slot.value > 1; });
      if (!telling) why.clear();
      for (size_t i = 1; i < probes_.size() && why.empty(); ++i)
        why = depends_on_size(graph_, id, probes_[0], probes_[i]);
      if (why.empty() && !now_[id].empty() && open_.size() == trials_.captured.size())
        why = is_open(graph_, id, slots_[id], now_[id]);
      if (!why.empty()) return Misfit{id, why};
    }
    return std::nullopt;
  }

  // The nodes that lead to a misfit, the nearest first, with one node for all that are alike.
  std::vector<NodeId> suspects(NodeId misfit) const {
    std::vector<bool> leads(graph_.size());
    leads[misfit] = true;
    std::vector<NodeId> found;
    std::map<std::string, bool> seen;
    for (NodeId id = misfit + 1; id-- > 0 && found.size() < kSuspects;) {
      if (!leads[id]) continue;
      for_each_input(graph_, graph_.node(id), [&](NodeId input) { leads[input] = true; });
      if (alternatives_[id].size() > 1 && seen.try_emplace(key(id), true).second) found.push_back(id);
    }
    return found;
  }

  Result<bool> try_next_best(const Misfit& misfit) {
    for (const NodeId id : suspects(misfit.node)) {
      const std::string like = key(id);
      const size_t before = chosen_[like];
      const std::vector<Assignment> alternatives = alternatives_[id];
      const std::vector<Assignment> kept = now_;
      for (size_t next = before + 1; next < alternatives.size() && next <= before + kNextBest; ++next) {
        for (NodeId other = 0; other <= misfit.node; ++other) {
          if (other == id ||
              (!alternatives_[other].empty() && next < alternatives_[other].size() && key(other) == like))
            now_[other] = alternatives_[other][next];
        }
        if (!why_over().empty()) return false;
        PASSNET_TRY_VOID(infer());
        const std::optional<Misfit> then = first_misfit();
        if (!then || then->node > misfit.node) {
          chosen_[like] = next;
          return true;
        }
        now_ = kept;
      }
    }
    return false;
  }

  const ir::Graph& graph_;
  const SizeTrials& trials_;
  Probes probes_;                                       // the first: as captured
  std::vector<size_t> open_;                            // trials without a capture
  std::vector<Assignment> now_;                         // by node id; empty: the integers stay
  std::vector<std::vector<analysis::SizeSlot>> slots_;  // by node id
  std::vector<std::vector<Assignment>> alternatives_;   // by node id, of the last decision
  std::unordered_map<std::string, size_t> chosen_;      // by key: which of the alternatives; the first by default
  std::unordered_map<std::string, NodeId> latest_;      // by key: the last node that was decided
  std::optional<Misfit> unsolved_;
  int rounds_ = 0;
};

}  // namespace

Result<SizeSolution> solve_sizes(const ir::Graph& graph, const analysis::ValueShapes& shapes, const SizeTrials& trials,
                                 std::vector<analysis::NodeSizes> start) {
  return Solving(graph, shapes, trials).run(std::move(start));
}

}  // namespace passnet::dataset
