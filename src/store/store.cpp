#include "store/store.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file/paths.h"
#include "base/hash.h"
#include "record/score/score.h"
#include "record/score/summary.h"
#include "run/keep/run_directory.h"
#include "store/flags.h"
#include "store/load.h"

namespace passnet::store {

using sqlite::Cell;
using sqlite::Database;
using sqlite::Statement;

namespace {

/// 1: limit_us of memory alone.
constexpr int64_t kStoreVersion = 2;
/// PRAGMA application_id: "PNst".
constexpr int64_t kApplication = 0x504e7374;

constexpr const char* kTables = R"(
CREATE TABLE run(id INTEGER PRIMARY KEY, path TEXT UNIQUE, name TEXT, started TEXT, compiler TEXT, device TEXT,
                 hardware TEXT, isolation TEXT, version TEXT, graphs TEXT, records INTEGER, counted INTEGER,
                 correct INTEGER, fast INTEGER, applied INTEGER, abstained INTEGER, speedup REAL, score REAL, seconds REAL);
CREATE TABLE graph(id INTEGER PRIMARY KEY, sample TEXT, name TEXT, UNIQUE(sample, name));
CREATE TABLE record(run INTEGER, graph INTEGER, verdict TEXT, dtype TEXT, started TEXT, correct INTEGER, noisy INTEGER,
                    ratio REAL, low REAL, high REAL, reference_us REAL, candidate_us REAL, limit_us REAL, flags INTEGER,
                    machine TEXT, PRIMARY KEY(run, graph)) WITHOUT ROWID;
CREATE INDEX run_started ON run(started);
CREATE INDEX run_name ON run(name, started);
CREATE INDEX record_graph ON record(graph, run);
CREATE INDEX record_verdict ON record(run, verdict);
)";

/// What a run comes to, put together from its records.
class Totals {
 public:
  void add(const Digest& digest) {
    ++run.records;
    run.seconds += digest.seconds;
    if (run.started.empty() || digest.started < run.started) run.started = digest.started;
    if (run.compiler.empty()) {
      run.compiler = digest.compiler;
      run.device = digest.device;
      run.hardware = digest.hardware;
    }
    // A graph that failed early says neither.
    if (run.isolation.empty()) run.isolation = digest.isolation;
    if (run.version.empty()) run.version = digest.version;
    if (digest.left_out == record::LeftOut::No) counted_.push_back(digest.counted);
  }
  void finish() {
    std::vector<record::Verdict> verdicts;
    for (const record::Counted& one : counted_) verdicts.push_back(one.verdict);
    const record::Score score = record::score(verdicts);
    const record::Summary summary = record::summary_of(counted_);
    run.counted = score.total;
    run.correct = score.correct;
    run.fast = summary.fast;
    run.applied = summary.reach->applied;
    run.abstained = summary.reach->declined + summary.reach->unmatched;
    run.speedup = score.geomean_speedup;
    run.score = score.aggregated_linear;
  }
  StoredRun run;

 private:
  std::vector<record::Counted> counted_;
};

Cell cell(std::optional<double> value) { return value ? Cell(*value) : Cell(); }

/// Ids of graphs, kept for as long as a run is read.
class Graphs {
 public:
  static Result<Graphs> of(Database& database) {
    Graphs graphs;
    PASSNET_TRY(graphs.find_, database.prepare("SELECT id FROM graph WHERE sample = ? AND name = ?"));
    PASSNET_TRY(graphs.add_, database.prepare("INSERT INTO graph(sample, name) VALUES(?, ?) RETURNING id"));
    return graphs;
  }
  Result<int64_t> id_of(const std::string& sample, const std::string& name) {
    PASSNET_TRY(auto rows, find_.rows({sample, name}));
    if (rows.empty()) {
      PASSNET_TRY(rows, add_.rows({sample, name}));
    }
    return std::get<int64_t>(rows.at(0).at(0));
  }

 private:
  Statement find_, add_;
};

std::vector<Cell> cells_of(int64_t run, int64_t graph, const Digest& digest) {
  const record::ComparedSide& side = digest.compared.side;
  return {run,
          graph,
          side.headline,
          digest.dtype,
          digest.started,
          int64_t{side.correct},
          int64_t{side.noisy},
          side.speedup,
          side.interval.low,
          side.interval.high,
          digest.reference_us,
          digest.candidate_us,
          digest.limit ? digest.limit->us : 0,
          flags_of(digest.compared),
          digest.compared.environment_failure};
}

}  // namespace

Result<void> Store::check_version(const fs::path& file) {
  PASSNET_TRY(Statement application, database_.prepare("PRAGMA application_id"));
  PASSNET_TRY(Statement version, database_.prepare("PRAGMA user_version"));
  PASSNET_TRY(const auto found, application.rows());
  PASSNET_TRY(const auto number, version.rows());
  if (found.at(0).at(0) != Cell(kApplication))
    return bad_input(fmt::format("'{}' is a database, and no store of 'passnet store'", file.string()));
  if (number.at(0).at(0) != Cell(kStoreVersion))
    return bad_input(fmt::format("store '{}' has version {}, expected {}", file.string(),
                                 std::get<int64_t>(number.at(0).at(0)), kStoreVersion))
        .with_hint("delete it, and add the runs again");
  return {};
}

Result<Store> Store::open(const fs::path& file) {
  if (!path_exists(file))
    return bad_input(fmt::format("there is no store at '{}'", file.string()))
        .with_hint("make it: passnet store add RUN --store " + file.string());
  PASSNET_TRY(Database database, Database::open(file.string()));
  Store store(std::move(database));
  PASSNET_TRY_VOID(store.check_version(file));
  return store;
}

Result<Store> Store::open_or_create(const fs::path& file) {
  const bool is_new = !path_exists(file);
  if (is_new && file.has_parent_path()) {
    PASSNET_TRY_VOID(make_directories(file.parent_path()));
  }
  PASSNET_TRY(Database database, Database::create(file.string()));
  Store store(std::move(database));
  // What is lost when the machine stops can be made anew.
  PASSNET_TRY_VOID(store.database_.execute("PRAGMA synchronous=OFF; PRAGMA cache_size=-262144;"));
  if (is_new) {
    PASSNET_TRY_VOID(store.database_.execute(fmt::format(
        "BEGIN; {} PRAGMA application_id={}; PRAGMA user_version={}; COMMIT;", kTables, kApplication, kStoreVersion)));
  }
  PASSNET_TRY_VOID(store.check_version(file));
  return store;
}

Result<void> Store::remove(int64_t run) {
  for (const char* sql : {"DELETE FROM record WHERE run = ?", "DELETE FROM run WHERE id = ?"}) {
    PASSNET_TRY(Statement statement, database_.prepare(sql));
    PASSNET_TRY_VOID(statement.run({run}));
  }
  return {};
}

Result<StoredRun> Store::insert(const fs::path& path, size_t threads) {
  const std::string root = absolute_path(run::run_at(path)).string();
  PASSNET_TRY(Statement known, database_.prepare("SELECT id FROM run WHERE path = ?"));
  PASSNET_TRY(const auto rows, known.rows({root}));
  for (const auto& row : rows) PASSNET_TRY_VOID(remove(std::get<int64_t>(row.at(0))));
  PASSNET_TRY(Statement add_run, database_.prepare("INSERT INTO run(path) VALUES(?) RETURNING id"));
  PASSNET_TRY(const auto added, add_run.rows({root}));
  const int64_t id = std::get<int64_t>(added.at(0).at(0));
  PASSNET_TRY(Graphs graphs, Graphs::of(database_));
  PASSNET_TRY(Statement add_record,
              database_.prepare("INSERT OR REPLACE INTO record VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
  Totals totals;
  uint64_t work = 0;
  const auto add = [&](const fs::path&, std::vector<Digest> digests) -> Result<void> {
    for (const Digest& digest : digests) {
      const std::string name = digest.compared.sample + "/" + digest.compared.graph;
      work ^= fast_hash(name.data(), name.size());
      PASSNET_TRY(const int64_t graph, graphs.id_of(digest.compared.sample, digest.compared.graph));
      PASSNET_TRY_VOID(add_record.run(cells_of(id, graph, digest)));
      totals.add(digest);
    }
    return {};
  };
  PASSNET_TRY_VOID(read_digests(path, threads, add));
  totals.finish();
  StoredRun& run = totals.run;
  run.id = id;
  run.path = root;
  run.name = fs::path(root).filename().string();
  run.graphs = fmt::format("{:016x}", work);
  PASSNET_TRY(Statement fill,
              database_.prepare("UPDATE run SET name=?, started=?, compiler=?, device=?, hardware=?, isolation=?, "
                                "version=?, graphs=?, records=?, counted=?, correct=?, fast=?, applied=?, "
                                "abstained=?, speedup=?, score=?, seconds=? WHERE id=?"));
  PASSNET_TRY_VOID(fill.run({run.name, run.started, run.compiler, run.device, run.hardware, run.isolation, run.version,
                             run.graphs, run.records, run.counted, run.correct, run.fast, run.applied, run.abstained,
                             cell(run.speedup), run.score, run.seconds, id}));
  return std::move(run);
}

Result<StoredRun> Store::add(const fs::path& path, size_t threads) {
  PASSNET_TRY_VOID(database_.execute("BEGIN IMMEDIATE"));
  Result<StoredRun> run = insert(path, threads);
  PASSNET_TRY_VOID(database_.execute(run ? "COMMIT" : "ROLLBACK"));
  return run;
}

Result<size_t> Store::prune(const PruneRequest& request) {
  std::string sql =
      "SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY name, hardware ORDER BY started DESC, id "
      "DESC) AS place FROM run) WHERE 1";
  std::vector<Cell> values;
  if (request.keep) {
    sql += " AND place > ?";
    values.emplace_back(*request.keep);
  }
  PASSNET_TRY(Statement chosen, database_.prepare(sql));
  PASSNET_TRY(const auto rows, chosen.rows(values));
  size_t removed = 0;
  PASSNET_TRY_VOID(database_.execute("BEGIN IMMEDIATE"));
  for (const auto& row : rows) {
    const int64_t id = std::get<int64_t>(row.at(0));
    if (!request.runs.empty() && std::ranges::find(request.runs, id) == request.runs.end()) continue;
    PASSNET_TRY_VOID(remove(id));
    ++removed;
  }
  PASSNET_TRY_VOID(database_.execute(
      "DELETE FROM graph WHERE NOT EXISTS (SELECT 1 FROM record WHERE record.graph = graph.id); COMMIT; VACUUM"));
  return removed;
}

}  // namespace passnet::store
