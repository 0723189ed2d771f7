// What is asked of a store. Each query is answered by an index.
#include <fmt/format.h>

#include "base/file/paths.h"
#include "base/text/parse_number.h"
#include "base/text/strings.h"
#include "store/flags.h"
#include "store/store.h"

namespace passnet::store {

using sqlite::Cell;
using sqlite::Statement;

namespace {

/// The cells of a row, one after the other. A cell of another type than the store writes is empty.
class Row {
 public:
  explicit Row(const std::vector<Cell>& cells) : cells_(cells) {}
  std::string text() { return take<std::string>(); }
  int64_t integer() { return take<int64_t>(); }
  double real() { return take<double>(); }
  std::optional<double> maybe_real() {
    const auto* found = std::get_if<double>(&cells_.at(next_++));
    return found != nullptr ? std::optional(*found) : std::nullopt;
  }

 private:
  template <class T>
  T take() {
    const auto* found = std::get_if<T>(&cells_.at(next_++));
    return found != nullptr ? *found : T{};
  }
  const std::vector<Cell>& cells_;
  size_t next_ = 0;
};

constexpr const char* kRunColumns =
    "SELECT id, path, name, started, compiler, device, hardware, isolation, version, graphs, records, counted, "
    "correct, "
    "fast, applied, abstained, speedup, score, seconds FROM run ";

StoredRun run_of(const std::vector<Cell>& cells) {
  Row row(cells);
  StoredRun run;
  run.id = row.integer();
  for (std::string* text : {&run.path, &run.name, &run.started, &run.compiler, &run.device, &run.hardware,
                            &run.isolation, &run.version, &run.graphs})
    *text = row.text();
  for (int64_t* number : {&run.records, &run.counted, &run.correct, &run.fast, &run.applied, &run.abstained})
    *number = row.integer();
  run.speedup = row.maybe_real();
  run.score = row.real();
  run.seconds = row.real();
  return run;
}

StoredRecord record_of(const std::vector<Cell>& cells) {
  Row row(cells);
  StoredRecord record;
  record.run = row.integer();
  for (std::string* text :
       {&record.sample, &record.graph, &record.verdict, &record.dtype, &record.started, &record.run_name})
    *text = row.text();
  for (double* number : {&record.ratio, &record.interval.low, &record.interval.high, &record.reference_us,
                         &record.candidate_us, &record.limit_us})
    *number = row.real();
  return record;
}

Result<std::vector<StoredRecord>> records_of(sqlite::Database& database, const std::string& sql,
                                             const std::vector<Cell>& values) {
  PASSNET_TRY(Statement statement, database.prepare(sql));
  PASSNET_TRY(const auto rows, statement.rows(values));
  std::vector<StoredRecord> records;
  for (const auto& row : rows) records.push_back(record_of(row));
  return records;
}

Cell limit_of(size_t limit) { return static_cast<int64_t>(limit); }

}  // namespace

Result<StoredRun> Store::find(const std::string& text) {
  std::vector<std::pair<const char*, Cell>> ways;
  if (const std::optional<int64_t> id = parse_number<int64_t>(text)) ways.emplace_back("WHERE id = ?", *id);
  ways.emplace_back("WHERE path = ?", absolute_path(text).string());
  ways.emplace_back("WHERE name = ? ORDER BY started DESC, id DESC LIMIT 1", text);
  for (const auto& [condition, value] : ways) {
    PASSNET_TRY(Statement statement, database_.prepare(std::string(kRunColumns) + condition));
    PASSNET_TRY(const auto rows, statement.rows({value}));
    if (!rows.empty()) return run_of(rows.front());
  }
  return bad_input(fmt::format("no run {} in the store, expected an id, a path or a name", quoted(text)))
      .with_hint("'passnet store list' shows them");
}

Result<std::vector<StoredRun>> Store::runs(const RunFilter& filter) {
  std::string sql = std::string(kRunColumns) + "WHERE 1";
  std::vector<Cell> values;
  const std::pair<const char*, const std::string*> conditions[] = {{"device", &filter.device},
                                                                   {"compiler", &filter.compiler}};
  for (const auto& [column, value] : conditions) {
    if (value->empty()) continue;
    sql += fmt::format(" AND {} = ?", column);
    values.emplace_back(*value);
  }
  values.push_back(limit_of(filter.limit));
  PASSNET_TRY(Statement statement, database_.prepare(sql + " ORDER BY started DESC, id DESC LIMIT ?"));
  PASSNET_TRY(const auto rows, statement.rows(values));
  std::vector<StoredRun> runs;
  for (const auto& row : rows) runs.push_back(run_of(row));
  return runs;
}

Result<std::vector<StoredRecord>> Store::records(int64_t run, const RecordFilter& filter) {
  const bool of_sample = !filter.sample.empty(), of_verdict = !filter.verdict.empty();
  std::string sql = sql::kRecordColumns;
  sql += of_sample ? sql::kRecordsOfSample : of_verdict ? sql::kRecordsOfVerdict : sql::kRecords;
  if (of_sample && of_verdict) sql += " AND record.verdict = ?";
  std::vector<Cell> values{run};
  if (of_sample) values.emplace_back(filter.sample);
  if (of_verdict) values.emplace_back(filter.verdict);
  values.push_back(limit_of(filter.limit));
  return records_of(database_, sql + " ORDER BY record.graph LIMIT ?", values);
}

Result<std::vector<StoredRecord>> Store::history(const std::string& sample, const std::string& graph, size_t limit) {
  std::string sql = std::string(sql::kRecordColumns) + sql::kHistory;
  std::vector<Cell> values{sample};
  if (!graph.empty()) {
    sql += " AND graph.name = ?";
    values.emplace_back(graph);
  }
  values.push_back(limit_of(limit));
  return records_of(database_, sql + " ORDER BY record.started DESC, record.run DESC LIMIT ?", values);
}

Result<void> Store::read_side(int64_t run, record::ComparedRun& side) {
  PASSNET_TRY(Statement statement, database_.prepare(sql::kSide));
  PASSNET_TRY(const auto rows, statement.rows({run}));
  for (const auto& cells : rows) {
    Row row(cells);
    record::ComparedRecord record;
    record.sample = row.text();
    record.graph = row.text();
    record.side.headline = row.text();
    record.side.correct = row.integer() != 0;
    record.side.noisy = row.integer() != 0;
    record.side.speedup = row.real();
    record.side.interval.low = row.real();
    record.side.interval.high = row.real();
    set_flags(record, row.integer());
    record.environment_failure = row.text();
    side.add(std::move(record));
  }
  return {};
}

Result<record::RunComparison> Store::compare(int64_t a, int64_t b) {
  record::ComparedRun in_a, in_b;
  PASSNET_TRY_VOID(read_side(a, in_a));
  PASSNET_TRY_VOID(read_side(b, in_b));
  record::RunComparison compared = record::compare_runs(std::move(in_a), std::move(in_b));
  compared.differences.clear();  // the store does not hold what runs were made of
  return compared;
}

}  // namespace passnet::store
