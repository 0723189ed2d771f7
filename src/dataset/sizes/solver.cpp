#include "dataset/sizes/solver.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "dataset/sizes/limits.h"

namespace passnet::dataset {

using ir::kNoNode;
using ir::NodeId;

namespace {

constexpr int kRounds = 400;      // types inferred at all trials
constexpr size_t kSuspects = 24;  // nodes whose next best assignments are tried for a misfit
constexpr size_t kNextBest = 4;   // of each

/// The graph as far as it is solved.
struct Solver {
  const ir::Graph& graph;
  const SizeTrials& trials;
  Probes probes;                                       // the first: as captured; then by trial
  std::vector<size_t> open = {};                       // trials without a capture
  std::vector<std::vector<analysis::SizeSlot>> slots;  // by node id
  std::vector<Assignment> now;                         // by node id; empty: the integers stay
  std::vector<std::vector<Assignment>> alternatives;   // by node id, of the last decision
  // By key_of: which of the alternatives is taken, the first by default; the last node that was decided.
  std::unordered_map<std::string, size_t> chosen = {};
  std::unordered_map<std::string, NodeId> latest = {};
  int rounds = 0;
};

Solver solver_of(const ir::Graph& graph, const analysis::ValueShapes& shapes, const SizeTrials& trials,
                 std::vector<analysis::NodeSizes> start) {
  Solver solver{.graph = graph,
                .trials = trials,
                .probes = Probes(1 + trials.captured.size()),
                .slots = std::vector<std::vector<analysis::SizeSlot>>(graph.size()),
                .now = std::vector<Assignment>(graph.size()),
                .alternatives = std::vector<std::vector<Assignment>>(graph.size())};
  solver.probes[0] = shapes;
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (graph.node(id).kind != ir::NodeKind::Placeholder) solver.slots[id] = analysis::size_slots(graph, id, shapes);
  }
  for (size_t i = 0; i < trials.captured.size(); ++i) {
    if (trials.captured[i] == nullptr) solver.open.push_back(i);
  }
  for (analysis::NodeSizes& change : start) solver.now[change.node] = std::move(change.sizes);
  return solver;
}

std::vector<analysis::NodeSizes> changes_of(const Solver& solver) {
  std::vector<analysis::NodeSizes> changes;
  for (NodeId id = 0; id < solver.graph.size(); ++id) {
    if (!solver.now[id].empty()) changes.push_back({id, solver.slots[id], solver.now[id]});
  }
  return changes;
}

std::string why_over(const Solver& solver) {
  return solver.rounds >= kRounds ? fmt::format("no end after {} rounds", kRounds) : solver.trials.why_over();
}

Result<void> infer_captures(Solver& solver) {
  for (size_t i = 0; i < solver.trials.captured.size(); ++i) {
    if (solver.trials.captured[i] == nullptr) continue;
    const size_t here[] = {i};
    PASSNET_TRY(std::vector<analysis::ValueShapes> found, solver.trials.infer(*solver.trials.captured[i], here));
    solver.probes[1 + i] = std::move(found.front());
  }
  return {};
}

Result<void> infer_open(Solver& solver) {
  ++solver.rounds;
  const ir::Graph graph = analysis::with_size_calls(solver.graph, changes_of(solver));
  PASSNET_TRY(std::vector<analysis::ValueShapes> found, solver.trials.infer(graph, solver.open));
  for (size_t i = 0; i < solver.open.size(); ++i) solver.probes[1 + solver.open[i]] = std::move(found[i]);
  return {};
}

bool is_known(const Solver& solver, NodeId id) {
  return std::ranges::all_of(solver.probes, [&](const auto& shapes) { return shapes.unknown[id].empty(); });
}

// Equal for nodes of repeated blocks: the statement without names, and the shapes of its inputs.
std::string key_of(const Solver& solver, NodeId id) {
  const ir::Node& node = solver.graph.node(id);
  std::string key = fmt::format("{} {}", static_cast<int>(node.kind), node.target);
  for (const analysis::SizeSlot& slot : solver.slots[id]) key += fmt::format(" {}@{}", slot.value, slot.ordinal);
  for_each_input(solver.graph, node, [&](NodeId input) {
    const auto& shape = solver.probes[0].shape[input];
    key += shape ? fmt::format(" [{}]", fmt::join(*shape, ",")) : std::string(" ?");
  });
  return key;
}

// The best assignment of a node, given the sizes before it. Returns: why no assignment will do, if so.
std::optional<Misfit> decide(Solver& solver, NodeId id, const SizePool& pool) {
  std::vector<std::vector<int64_t>> required(solver.probes.size());
  for (size_t i = 0; i < solver.trials.captured.size(); ++i) {
    if (solver.trials.captured[i] == nullptr) continue;
    for (const analysis::SizeSlot& slot : analysis::size_slots(*solver.trials.captured[i], id, solver.probes[1 + i]))
      required[1 + i].push_back(slot.value);
    if (required[1 + i].size() != solver.slots[id].size()) required[1 + i].clear();
  }
  std::vector<Assignment> found = size_assignments(solver.graph, id, solver.slots[id], solver.probes, pool, required);
  if (found.empty()) {
    const bool must = std::ranges::any_of(required, [](const auto& values) { return !values.empty(); });
    if (must) return Misfit{id, "no size in the graph gives what the other capture has"};
    return std::nullopt;
  }
  const std::string like = key_of(solver, id);
  const auto chosen = solver.chosen.find(like);
  const size_t index = chosen == solver.chosen.end() ? 0 : std::min(chosen->second, found.size() - 1);
  solver.now[id] = found[index];
  solver.alternatives[id] = std::move(found);
  solver.latest[like] = id;
  return std::nullopt;
}

// Gives a node what the latest like it has, with the sizes of its own inputs in place of those of that node's.
void imitate(Solver& solver, NodeId id) {
  const auto model = solver.latest.find(key_of(solver, id));
  if (model == solver.latest.end() || model->second == id) return;
  const analysis::ValueShapes& captured = solver.probes[0];
  std::vector<NodeId> theirs, ours;
  for_each_input(solver.graph, solver.graph.node(model->second), [&](NodeId input) { theirs.push_back(input); });
  for_each_input(solver.graph, solver.graph.node(id), [&](NodeId input) { ours.push_back(input); });
  const auto move = [&](analysis::Dim& dim) {
    const auto place = std::ranges::find(theirs, dim.node);
    if (place != theirs.end()) {
      dim.node = ours[static_cast<size_t>(place - theirs.begin())];
    } else if (model->second < id) {
      const NodeId moved = dim.node + (id - model->second);
      if (captured.shape[moved] == captured.shape[dim.node]) dim.node = moved;
    }
  };
  Assignment assignment = solver.now[model->second];
  for (size_t i = 0; i < assignment.size(); ++i) {
    std::ranges::for_each(assignment[i].factors, move);
    std::ranges::for_each(assignment[i].divisors, move);
    const auto in_reach = [&](const analysis::Dim& dim) { return dim.node < id; };
    if (!std::ranges::all_of(assignment[i].factors, in_reach) ||
        !std::ranges::all_of(assignment[i].divisors, in_reach) ||
        evaluate(assignment[i], captured) != solver.slots[id][i].value)
      return;
  }
  solver.now[id] = std::move(assignment);
}

struct Walked {
  bool changed = false;            // some assignment is another now
  std::optional<Misfit> unsolved;  // where the walk ended
};

// Gives each node that is fed by what is known its best assignment; those behind a change get what a like node has.
Walked walk(Solver& solver) {
  const ir::Graph& graph = solver.graph;
  SizePool pool;
  std::vector<bool> stale(graph.size());  // follows from a change made in this walk
  Walked walked;
  for (NodeId id = 0; id < graph.size(); ++id) {
    bool inputs_known = true;
    for_each_input(graph, graph.node(id), [&](NodeId input) {
      stale[id] = stale[id] || stale[input];
      inputs_known = inputs_known && is_known(solver, input);
    });
    if (!solver.slots[id].empty() && (stale[id] || !inputs_known)) {
      imitate(solver, id);
    } else if (!solver.slots[id].empty()) {
      const Assignment before = solver.now[id];
      walked.unsolved = decide(solver, id, pool);
      if (walked.unsolved) return walked;
      if (solver.now[id] != before) stale[id] = walked.changed = true;
    }
    if (!stale[id] && is_known(solver, id) && solver.probes[0].shape[id]) pool.add(id, solver.probes);
  }
  return walked;
}

// A node that has a type as captured, and none at a trial.
std::optional<Misfit> first_misfit(const Solver& solver) {
  std::optional<Misfit> first;
  for (size_t i = 1; i < solver.probes.size(); ++i) {
    for (NodeId id = 0; id < solver.graph.size() && (!first || id < first->node); ++id) {
      if (solver.probes[0].unknown[id].empty() && !solver.probes[i].unknown[id].empty())
        first = Misfit{id, solver.probes[i].unknown[id]};
    }
  }
  return first;
}

// What shapes do not tell: sizes that follow from data that is not known, and integers that are not sizes themselves
// but are computed from sizes.
std::optional<Misfit> unseen_misfit(const Solver& solver) {
  for (NodeId id = solver.graph.placeholder_count(); id < solver.graph.size(); ++id) {
    std::string why;
    for_each_input(solver.graph, solver.graph.node(id), [&](NodeId input) {
      if (!solver.probes[0].unknown[input].empty()) why = "its input " + solver.probes[0].unknown[input];
    });
    if (std::ranges::none_of(solver.slots[id], [](const analysis::SizeSlot& slot) { return slot.value > 1; }))
      why.clear();
    for (size_t i = 1; i < solver.probes.size() && why.empty(); ++i)
      why = depends_on_size(solver.graph, id, solver.probes[0], solver.probes[i]);
    if (why.empty() && !solver.now[id].empty() && solver.open.size() == solver.trials.captured.size())
      why = is_open(solver.graph, id, solver.slots[id], solver.now[id]);
    if (!why.empty()) return Misfit{id, why};
  }
  return std::nullopt;
}

// The nodes that lead to a misfit, the nearest first, with one node for all that are alike.
std::vector<NodeId> suspects(const Solver& solver, NodeId misfit) {
  std::vector<bool> leads(solver.graph.size());
  leads[misfit] = true;
  std::vector<NodeId> found;
  std::unordered_set<std::string> seen;
  for (NodeId id = misfit + 1; id-- > 0 && found.size() < kSuspects;) {
    if (!leads[id]) continue;
    for_each_input(solver.graph, solver.graph.node(id), [&](NodeId input) { leads[input] = true; });
    if (solver.alternatives[id].size() > 1 && seen.insert(key_of(solver, id)).second) found.push_back(id);
  }
  return found;
}

// Looks for an assignment of a suspect, and of those like it, with which the graph fits beyond the misfit, and takes it.
// Returns: whether there is one.
Result<bool> try_next_best(Solver& solver, const Misfit& misfit) {
  for (const NodeId id : suspects(solver, misfit.node)) {
    const std::string like = key_of(solver, id);
    const size_t before = solver.chosen[like];
    const std::vector<Assignment> alternatives = solver.alternatives[id];
    const std::vector<Assignment> kept = solver.now;
    for (size_t next = before + 1; next < alternatives.size() && next <= before + kNextBest; ++next) {
      for (NodeId other = 0; other <= misfit.node; ++other) {
        const std::vector<Assignment>& of_other = solver.alternatives[other];
        if (other == id || (next < of_other.size() && key_of(solver, other) == like))
          solver.now[other] = of_other[next];
      }
      if (!why_over(solver).empty()) return false;
      PASSNET_TRY_VOID(infer_open(solver));
      const std::optional<Misfit> then = first_misfit(solver);
      if (!then || then->node > misfit.node) {
        solver.chosen[like] = next;
        return true;
      }
      solver.now = kept;
    }
  }
  return false;
}

// Returns: the misfit that is left, if any.
Result<std::optional<Misfit>> solve(Solver& solver) {
  PASSNET_TRY_VOID(infer_captures(solver));
  std::string over;
  while ((over = why_over(solver)).empty()) {
    PASSNET_TRY_VOID(infer_open(solver));
    const Walked walked = walk(solver);
    if (walked.unsolved) return walked.unsolved;
    if (walked.changed) continue;
    const std::optional<Misfit> misfit = first_misfit(solver);
    if (!misfit) return unseen_misfit(solver);
    PASSNET_TRY(const bool helped, try_next_best(solver, *misfit));
    if (!helped && why_over(solver).empty()) return misfit;
  }
  return std::optional(Misfit{kNoNode, over});
}

}  // namespace

Result<SizeSolution> solve_sizes(const ir::Graph& graph, const analysis::ValueShapes& shapes, const SizeTrials& trials,
                                 std::vector<analysis::NodeSizes> start) {
  Solver solver = solver_of(graph, shapes, trials, std::move(start));
  PASSNET_TRY(std::optional<Misfit> misfit, solve(solver));
  return SizeSolution{changes_of(solver), std::move(misfit)};
}

}  // namespace passnet::dataset
