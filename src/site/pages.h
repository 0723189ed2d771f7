// The pages of a site, each from values alone: HTML for the body of a page.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "report/sources.h"
#include "site/board.h"
#include "site/page.h"
#include "store/store.h"

namespace passnet::site {

// Paths below the site.
std::string task_path(const Task& task);
std::string entry_path(const Entry& entry);
std::string pair_path(const Entry& a, const Entry& b);
/// A copy of the records that a number is made of.
std::string records_path(const Entry& entry, const Task& task);

/// The leaderboard: a row for each entry, which the script filters by device, compiler, kind of graph and element type.
std::string render_index(const Board& board);
/// The same for machines: data/board.json.
Json board_json(const Board& board);

/// Geometric means over the graphs of a task that have a ratio.
struct TaskSpeed {
  double ratio = 0;
  record::Interval interval;  // of the ends of the intervals
  double limit = 0;           // share of the machine's limit; 0: not known
  size_t correct = 0;         // graphs, with a ratio or without
};
/// none: no graph of the task has a ratio.
std::optional<TaskSpeed> speed_on(const Task& task, size_t entry);
size_t record_count(const Task& task);

std::string render_tasks(const Board& board);
/// sources: by entry, of the task (report::load_sources).
std::string render_task(const Board& board, const Task& task, const std::map<size_t, report::SampleSources>& sources);

std::string render_entry(const Board& board, size_t entry);

/// Two entries of one device, by position.
using Pair = std::pair<size_t, size_t>;
/// All pairs of entries of one device; of more than kMostPairs those with the best entry, and neighbours in rank.
inline constexpr size_t kMostPairs = 66;
std::vector<Pair> pairs_of(const Board& board);
struct PairPage {
  std::string html;
  Estimate speed;  // of the second over the first
};
PairPage render_pair(const Board& board, const Pair& pair);
/// A row for each pair, and a form that leads to a pair's page.
std::string render_pairs(const Board& board, const std::map<Pair, Estimate>& speeds);

/// runs: of a store. Those that were given the same graphs on the same hardware share a chart.
std::string render_history(const Board& board, const std::vector<store::StoredRun>& runs);

/// What `passnet selftest --json` printed, or another judge in that form.
struct Attacks {
  std::string judge;
  std::shared_ptr<const Json> selftest;
};
/// Errors: BadInput: not of that form.
Result<std::string> render_attacks(const std::vector<Attacks>& judges);

/// Code of passes and graphs, each text once.
std::string render_sources(const Board& board, const Task& task,
                           const std::map<size_t, report::SampleSources>& sources);

}  // namespace passnet::site
