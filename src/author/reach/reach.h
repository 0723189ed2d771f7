// How far a pass goes beyond the sample that it was written for: where it matches in other graphs, and what it does there.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "author/judge/judge.h"
#include "base/result.h"
#include "ir/graph.h"
#include "pass/source.h"

namespace passnet::author {

struct Reach {
  size_t graphs = 0, matching = 0;  // looked at, and those that it matches in
  size_t evaluated = 0;             // of these
  size_t right = 0, faster = 0;     // of the evaluated ones; what is faster is right too
  size_t declined = 0;              // of the evaluated ones, those that its plan leaves alone
};

/// A graph of a dataset.
struct OtherGraph {
  std::string name;  // one of its own
  std::filesystem::path path;
  ir::Graph graph;
};

/// All graphs of these samples, each once. Errors: of the first one that cannot be read.
Result<std::vector<OtherGraph>> load_others(const std::vector<graphdir::Sample>& samples);

/// The graphs that the pass matches in, by index; milliseconds each. Pools of the graphs may grow. besides: graph
/// directories that are left out: those of its own sample.
/// Returns: also how many were looked at. Errors: BadPass; Resource "interrupted".
struct Matching {
  size_t graphs = 0;
  std::vector<size_t> matching;
};
Result<Matching> find_matching(const pass::Pass& pass, std::vector<OtherGraph>& others,
                               const std::vector<std::filesystem::path>& besides,
                               const std::atomic<bool>* interrupted = nullptr);

/// At most `most` of them, as far from each other as from the ends.
std::vector<size_t> drawn_evenly(const std::vector<size_t>& from, size_t most);

/// Evaluates the pass alone on graphs. is_spent: true: nothing is evaluated any more.
/// Errors: Io; of `evaluate`.
Result<Reach> measure_reach(const pass::Pass& pass, const std::vector<OtherGraph>& others, const Matching& matching,
                            size_t most, const Evaluate& evaluate, const IsSpent& is_spent);

}  // namespace passnet::author
