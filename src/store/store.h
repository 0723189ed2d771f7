// Records of many runs in one SQLite file, and what is asked of them. The file holds nothing that records do not say:
// delete it and add the runs again to make it anew.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/score/compare.h"
#include "sqlite/database.h"
#include "store/digest.h"

namespace passnet::store {

/// A run, with what a leaderboard says of it.
struct StoredRun {
  int64_t id = 0;
  std::string path, name;  // absolute; the last part of it
  std::string started;     // of the first of its records
  std::string compiler, device, hardware, isolation, version;
  std::string graphs;  // hash over the names of its graphs: runs that share it were given the same work
  int64_t records = 0, counted = 0, correct = 0, fast = 0, applied = 0, abstained = 0;
  std::optional<double> speedup;  // geometric mean; none: of no graph
  double score = 1, seconds = 0;
};

/// A record in a run, for lists and histories.
struct StoredRecord {
  int64_t run = 0;
  std::string sample, graph, verdict, dtype, started, run_name;
  double ratio = 0;  // 0: none
  record::Interval interval;
  double reference_us = 0, candidate_us = 0, limit_us = 0;
};

struct RunFilter {
  std::string device = {}, compiler = {};  // empty: any. device: as in records, "cpu"
  size_t limit = 50;
};
struct RecordFilter {
  std::string sample = {}, verdict = {};  // empty: any
  size_t limit = 50;
};
/// Runs to be removed: each of its conditions that is set has to hold.
struct PruneRequest {
  std::vector<int64_t> runs = {};    // these alone; empty: all
  std::optional<int64_t> keep = {};  // but for so many of the newest of each name on each hardware
};

class Store {
 public:
  /// Makes the file where there is none. Errors: Io; BadInput: not a store, or one of another version.
  static Result<Store> open_or_create(const std::filesystem::path& file);
  /// For reading. Errors: also BadInput: there is no such file.
  static Result<Store> open(const std::filesystem::path& file);

  /// Reads a run into the store, in one transaction; in place of what is there of a run at the same path.
  /// Errors: as read_digests; Io. Nothing changes after an error.
  Result<StoredRun> add(const std::filesystem::path& run, size_t threads);
  /// Returns: how many runs were removed. Errors: Io.
  Result<size_t> prune(const PruneRequest& request);

  /// text: an id, a path, or a name, of which the newest run counts. Errors: BadInput: there is no such run.
  Result<StoredRun> find(const std::string& text);
  /// The newest first.
  Result<std::vector<StoredRun>> runs(const RunFilter& filter);
  /// The records of a run, by sample and graph as they came first.
  Result<std::vector<StoredRecord>> records(int64_t run, const RecordFilter& filter);
  /// What became of each graph from one run to the other.
  Result<record::RunComparison> compare(int64_t a, int64_t b);
  /// The records of a sample's graphs over all runs, the newest first. graph: empty: each.
  Result<std::vector<StoredRecord>> history(const std::string& sample, const std::string& graph, size_t limit);

  sqlite::Database& database() { return database_; }

 private:
  explicit Store(sqlite::Database database) : database_(std::move(database)) {}
  Result<void> check_version(const std::filesystem::path& file);
  Result<StoredRun> insert(const std::filesystem::path& run, size_t threads);
  Result<void> remove(int64_t run);
  Result<void> read_side(int64_t run, record::ComparedRun& side);

  sqlite::Database database_;
};

// What the queries ask, for a test that SQLite answers each by an index.
namespace sql {
inline constexpr const char* kRecordColumns =
    "SELECT record.run, graph.sample, graph.name, verdict, dtype, record.started, run.name, ratio, low, high, "
    "reference_us, candidate_us, limit_us ";
inline constexpr const char* kRecords =
    "FROM record JOIN graph ON graph.id = record.graph JOIN run ON run.id = record.run WHERE record.run = ?";
/// Named, as SQLite would choose the primary key, which knows no verdicts.
inline constexpr const char* kRecordsOfVerdict =
    "FROM record INDEXED BY record_verdict JOIN graph ON graph.id = record.graph JOIN run ON run.id = record.run "
    "WHERE record.run = ? AND record.verdict = ?";
/// CROSS: the few graphs of the sample first, then their records.
inline constexpr const char* kRecordsOfSample =
    "FROM graph CROSS JOIN record ON record.run = ? AND record.graph = graph.id JOIN run ON run.id = record.run "
    "WHERE graph.sample = ?";
inline constexpr const char* kHistory =
    "FROM graph CROSS JOIN record ON record.graph = graph.id JOIN run ON run.id = record.run WHERE graph.sample = ?";
inline constexpr const char* kSide =
    "SELECT graph.sample, graph.name, verdict, correct, noisy, ratio, low, high, flags, machine FROM record "
    "JOIN graph ON graph.id = record.graph WHERE record.run = ?";
}  // namespace sql

}  // namespace passnet::store
