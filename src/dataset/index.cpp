#include "dataset/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "base/in_order.h"
#include "base/strings.h"
#include "dataset/database.h"
#include "dataset/graph_facts.h"
#include "dataset/identity.h"
#include "dataset/kind.h"
#include "dataset/op_name.h"
#include "fx/graph_walk.h"
#include "fx/replay.h"
#include "fx/sample.h"

namespace passnet::dataset {

namespace fs = std::filesystem;

namespace {

constexpr const char* kTables = R"(
CREATE TABLE graph(path TEXT PRIMARY KEY, sample TEXT, split TEXT, kind TEXT, dtype TEXT, ops INTEGER, op_names TEXT,
                   bytes INTEGER, structure TEXT, source TEXT, model TEXT, library_version TEXT, licence TEXT, shape TEXT);
CREATE TABLE operator(path TEXT, name TEXT, calls INTEGER);
CREATE INDEX operator_name ON operator(name, path);
)";

/// A row of the table of graphs, with its operators.
struct Row {
  std::string path;
  std::optional<Error> error;
  std::string sample, kind, dtype, op_names, structure, source, model, library_version, licence, shape;
  int64_t ops = 0, bytes = 0;
  std::map<std::string, int64_t> calls;
};

std::string text_of(const Json& facts, const char* key) {
  const auto found = facts.find(key);
  return found != facts.end() && found->is_string() ? found->get<std::string>() : "";
}

// The kind that graph_net.json names, or else a directory above, as upstream lays its trees out.
std::string kind_of(const Json& facts, const fs::path& relative) {
  if (std::string named = text_of(facts, "kind"); !named.empty()) return named;
  for (const fs::path& part : relative) {
    const std::string name = part.string();
    for (const Kind kind : kKinds) {
      if (name.starts_with(dataset::name(kind))) return std::string(dataset::name(kind));
    }
    if (name == "_decomposed") return "subgraph";
  }
  return "full";
}

// The nearest directory above that has a graph_list.txt; "" when none has.
std::string sample_of(const fs::path& root, const fs::path& relative) {
  for (fs::path above = relative.parent_path(); !above.empty(); above = above.parent_path()) {
    if (fs::exists(root / above / "graph_list.txt")) return above.string();
  }
  return "";
}

// The element type of most of the inputs' bytes.
std::string dtype_of(const fx::GraphDir& graph) {
  std::map<std::string, double> bytes;
  for (const fx::TensorMeta& meta : graph.weights)
    bytes[std::string(ir::name(meta.dtype))] += fx::input_bytes({meta});
  const auto most = std::max_element(bytes.begin(), bytes.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == bytes.end() ? "" : most->first;
}

Row read_row(const fs::path& root, const fx::GraphWalk::Found& found) {
  Row row;
  const fs::path relative = found.path.lexically_relative(root);
  row.path = relative.string();
  row.error = found.error;
  if (row.error) return row;
  const Result<fx::GraphDir> graph = fx::load_graph_dir(found.path);
  if (!graph) {
    row.error = graph.error();
    return row;
  }
  const Json facts = read_facts(found.path);
  row.sample = sample_of(root, relative);
  row.kind = kind_of(facts, relative);
  row.dtype = text_of(facts, "data_type");
  if (row.dtype.empty()) row.dtype = dtype_of(*graph);
  const std::vector<std::string> names = op_names(graph->graph);
  row.ops = static_cast<int64_t>(names.size());
  row.op_names = join(names, " ");
  for (const std::string& name : names) ++row.calls[name];
  row.bytes = static_cast<int64_t>(fx::input_bytes(graph->weights) + fx::input_bytes(graph->inputs));
  row.structure = structure_hash(graph->graph);
  row.source = text_of(facts, "source");
  row.model = text_of(facts, "model_name");
  row.library_version = text_of(facts, "library_version");
  row.licence = text_of(facts, "licence");
  row.shape = text_of(facts, "shape");
  return row;
}

// By sample: the list that names it.
std::map<std::string, std::string> read_splits(const fs::path& root) {
  std::map<std::string, std::string> splits;
  for (const char* split_name : {"train", "eval"}) {
    const Result<std::string> text = read_file(root / "lists" / fmt::format("{}.txt", split_name));
    if (!text) continue;
    for (const std::string_view line : split(*text, '\n')) {
      if (!line.empty()) splits[(fs::path("lists") / line).lexically_normal().string()] = split_name;
    }
  }
  return splits;
}

Cell cell(const std::string& text) { return text.empty() ? Cell() : Cell(text); }

}  // namespace

Result<IndexReport> write_index(const fs::path& root, const fs::path& file, const IndexOptions& options,
                                const std::function<void(const std::string&)>& counted) {
  const fs::path partial = file.string() + ".partial";
  std::error_code ignored;
  fs::remove(partial, ignored);
  PASSNET_TRY(Database database, Database::create(partial.string()));
  PASSNET_TRY_VOID(database.execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;"));
  PASSNET_TRY_VOID(database.execute(kTables));
  PASSNET_TRY(Statement add_graph, database.prepare("INSERT INTO graph VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
  PASSNET_TRY(Statement add_operator, database.prepare("INSERT INTO operator VALUES(?,?,?)"));

  const std::map<std::string, std::string> splits = read_splits(root);
  IndexReport report;
  std::set<std::string> samples;
  std::optional<Error> failed;
  fx::GraphWalk walk({root.string()});
  const auto is_over = [&] {
    return failed.has_value() || (options.interrupted != nullptr && *options.interrupted);
  };
  const auto store = [&](const Row& row) -> Result<void> {
    const auto listed = splits.find(row.sample);
    if (!row.sample.empty()) samples.insert(row.sample);
    PASSNET_TRY_VOID(add_graph.run(
        {row.path, cell(row.sample), listed == splits.end() ? Cell() : Cell(listed->second), row.kind,
         cell(row.dtype), row.ops, row.op_names, row.bytes, row.structure, cell(row.source), cell(row.model),
         cell(row.library_version), cell(row.licence), cell(row.shape)}));
    for (const auto& [name, calls] : row.calls) PASSNET_TRY_VOID(add_operator.run({row.path, name, calls}));
    return {};
  };
  map_in_order([&] { return is_over() ? std::optional<fx::GraphWalk::Found>() : walk.next(); },
               [&](const fx::GraphWalk::Found& found) { return read_row(root, found); },
               [&](const Row& row) {
                 if (failed) return;
                 if (row.error) {
                   report.failed.push_back(fmt::format("{}: {}", row.path, row.error->message));
                 } else if (const Result<void> done = store(row); !done) {
                   failed = done.error();
                 } else {
                   ++report.graphs;
                   counted(row.path);
                 }
               },
               static_cast<size_t>(options.jobs));
  if (!failed && options.interrupted != nullptr && *options.interrupted)
    failed = resource_error("interrupted");
  if (!failed && report.graphs == 0)
    failed = bad_input(fmt::format("no graph at or below '{}' can be read", root.string()));
  if (!failed) {
    if (const Result<void> done = database.execute("COMMIT;"); !done) failed = done.error();
  }
  if (failed) {
    fs::remove(partial, ignored);
    return std::move(*failed);
  }
  report.samples = samples.size();
  std::error_code problem;
  fs::rename(partial, file, problem);
  if (problem) return io_error("rename", partial.string(), problem.value());
  return report;
}

Result<std::vector<IndexedGraph>> find_graphs(const fs::path& index, const GraphQuery& query) {
  std::string sql = "SELECT path, kind, dtype, source, model, split, ops, bytes FROM graph WHERE 1";
  std::vector<Cell> values;
  const auto require = [&](const char* condition, Cell value) {
    sql += fmt::format(" AND {}", condition);
    values.push_back(std::move(value));
  };
  const std::pair<const char*, const std::string*> texts[] = {{"kind = ?", &query.kind},
                                                              {"dtype = ?", &query.dtype},
                                                              {"source = ?", &query.source},
                                                              {"split = ?", &query.split}};
  for (const auto& [condition, text] : texts) {
    if (!text->empty()) require(condition, *text);
  }
  const std::pair<const char*, const std::optional<int64_t>*> bounds[] = {{"bytes >= ?", &query.min_bytes},
                                                                          {"bytes <= ?", &query.max_bytes},
                                                                          {"ops >= ?", &query.min_ops},
                                                                          {"ops <= ?", &query.max_ops}};
  for (const auto& [condition, bound] : bounds) {
    if (*bound) require(condition, **bound);
  }
  for (const std::string& name : query.contains)
    require("path IN (SELECT path FROM operator WHERE name = ?)", name);
  PASSNET_TRY(Database database, Database::open(index.string()));
  PASSNET_TRY(Statement statement, database.prepare(sql + " ORDER BY path"));
  PASSNET_TRY(const auto rows, statement.rows(values));
  const auto text = [](const Cell& value) {
    return std::holds_alternative<std::string>(value) ? std::get<std::string>(value) : "";
  };
  std::vector<IndexedGraph> found;
  for (const auto& row : rows)
    found.push_back({text(row[0]), text(row[1]), text(row[2]), text(row[3]), text(row[4]), text(row[5]),
                     std::get<int64_t>(row[6]), std::get<int64_t>(row[7])});
  return found;
}

Result<Json> index_stats(const fs::path& index) {
  PASSNET_TRY(Database database, Database::open(index.string()));
  const auto query = [&](const std::string& sql) -> Result<Json> {
    PASSNET_TRY(Statement statement, database.prepare(sql));
    PASSNET_TRY(const auto rows, statement.rows());
    Json list = Json::array();
    for (const auto& row : rows) {
      Json line = Json::array();
      for (const Cell& value : row) {
        if (const auto* integer = std::get_if<int64_t>(&value))
          line.push_back(*integer);
        else if (const auto* text = std::get_if<std::string>(&value))
          line.push_back(*text);
        else
          line.push_back(nullptr);
      }
      list.push_back(std::move(line));
    }
    return list;
  };
  PASSNET_TRY(const Json totals,
              query("SELECT count(*), count(DISTINCT sample), count(DISTINCT structure) FROM graph"));
  Json stats{{"graphs", totals[0][0]},
             {"samples", totals[0][1]},
             {"structures", totals[0][2]},
             {"by", Json::object()}};
  for (const char* column : {"kind", "dtype", "source", "split"}) {
    PASSNET_TRY(
        stats["by"][column],
        query(fmt::format("SELECT {0}, count(*) AS n FROM graph GROUP BY {0} ORDER BY n DESC, {0}", column)));
  }
  PASSNET_TRY(
      stats["by"]["size"],
      query("SELECT CASE WHEN bytes < 1024 THEN 'below 1 KB' WHEN bytes < 1048576 THEN '1 KB to 1 MB' "
            "WHEN bytes < 67108864 THEN '1 to 64 MB' ELSE '64 MB and more' END AS size, count(*) FROM graph "
            "GROUP BY size ORDER BY min(bytes)"));
  PASSNET_TRY(
      stats["operators"],
      query("SELECT name, sum(calls) AS n, count(*) FROM operator GROUP BY name ORDER BY n DESC, name"));
  return stats;
}

}  // namespace passnet::dataset
