#include "dataset/catalog/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "analysis/identity.h"
#include "analysis/op_name.h"
#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/text/strings.h"
#include "dataset/catalog/sample_list.h"
#include "graphdir/graph_facts.h"
#include "graphdir/inputs/replay.h"
#include "graphdir/sample.h"
#include "sqlite/database.h"

namespace passnet::dataset {

using sqlite::Cell;
using sqlite::Database;
using sqlite::Statement;

namespace {

constexpr const char* kTables = R"(
CREATE TABLE graph(path TEXT PRIMARY KEY, sample TEXT, split TEXT, kind TEXT, dtype TEXT, ops INTEGER, op_names TEXT,
                   bytes INTEGER, structure TEXT, source TEXT, model TEXT, library_version TEXT, licence TEXT, shape TEXT);
CREATE TABLE operator(path TEXT, name TEXT, calls INTEGER);
CREATE TABLE list(name TEXT, path TEXT);
CREATE INDEX operator_name ON operator(name, path);
)";

/// A row of the table of graphs, with its operators.
struct IndexRow {
  std::string path;
  std::optional<Error> error;
  std::string sample, kind, dtype, op_names, structure, source, model, library_version, licence, shape;
  int64_t ops = 0, bytes = 0;
  std::map<std::string, int64_t> calls;
};

// The nearest directory above that has a graph_list.txt; "" when none has.
std::string sample_of(const fs::path& root, const fs::path& relative) {
  for (fs::path above = relative.parent_path(); !above.empty(); above = above.parent_path()) {
    if (path_exists(root / above / "graph_list.txt")) return above.string();
  }
  return "";
}

// The element type of most of the inputs' bytes.
std::string dtype_of(const graphdir::GraphDir& graph) {
  std::map<std::string, double> bytes;
  for (const graphdir::TensorMeta& meta : graph.weights)
    bytes[std::string(ir::name(meta.dtype))] += graphdir::input_bytes({meta});
  const auto most =
      std::max_element(bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == bytes.end() ? "" : most->first;
}

IndexRow read_index_row(const fs::path& root, const graphdir::GraphWalk::Found& found) {
  IndexRow row;
  const fs::path relative = found.path.lexically_relative(root);
  row.path = relative.string();
  row.error = found.error;
  if (row.error) return row;
  const Result<graphdir::GraphDir> graph = graphdir::load_graph_dir(found.path);
  if (!graph) {
    row.error = graph.error();
    return row;
  }
  const Json facts = graphdir::read_facts(found.path);
  row.sample = sample_of(root, relative);
  row.kind = graphdir::kind_of(facts, root, found.path);
  row.dtype = graphdir::text_of(facts, "data_type");
  if (row.dtype.empty()) row.dtype = dtype_of(*graph);
  const std::vector<std::string> names = analysis::op_names(graph->graph);
  row.ops = static_cast<int64_t>(names.size());
  row.op_names = join(names, " ");
  for (const std::string& name : names) ++row.calls[name];
  row.bytes = static_cast<int64_t>(graphdir::input_bytes(graph->weights) + graphdir::input_bytes(graph->inputs));
  row.structure = analysis::structure_hash(graph->graph);
  row.source = graphdir::text_of(facts, "source");
  row.model = graphdir::text_of(facts, "model_name");
  row.library_version = graphdir::text_of(facts, "library_version");
  row.licence = graphdir::text_of(facts, "licence");
  row.shape = graphdir::text_of(facts, "shape");
  return row;
}

/// The lists that name graphs: by path, of a graph or of a directory above it.
class Lists {
 public:
  /// Reads each .txt of a directory, or a file. Errors: BadInput (no such place, a damaged list), Io.
  Result<void> read(const fs::path& given, const fs::path& root) {
    std::vector<fs::path> files{given};
    if (directory_exists(given)) files = texts_in(given);
    if (!path_exists(given) || files.empty())
      return bad_input(fmt::format("found no list at '{}', expected .txt files with a path per line", given.string()));
    for (const fs::path& file : files) {
      PASSNET_TRY(const PathList list, read_list(file, root));
      ListReport report{file.stem().string(), split_of(file.stem().string()), list.paths.size(), list.missing};
      for (const std::string& path : list.paths) named_[path].insert(reports.size());
      reports.push_back(std::move(report));
    }
    return {};
  }

  /// Indices in `reports` of the lists that name the graph.
  std::set<size_t> of(fs::path graph) const {
    std::set<size_t> found;
    for (; !graph.empty(); graph = graph.parent_path()) {
      if (const auto named = named_.find(graph.string()); named != named_.end())
        found.insert(named->second.begin(), named->second.end());
    }
    return found;
  }

  std::vector<ListReport> reports;

 private:
  static std::vector<fs::path> texts_in(const fs::path& directory) {
    Result<std::vector<fs::path>> texts = list_directory(directory);
    if (!texts) return {};
    std::erase_if(*texts, [](const fs::path& path) { return path.extension() != ".txt"; });
    return std::move(*texts);
  }
  // "train" or "eval" when that is a word of the name: "fusible_eval_622_subgraphs".
  static std::string split_of(const std::string& stem) {
    std::string words = stem;
    for (char& letter : words) {
      if (letter == '-' || letter == '.') letter = '_';
    }
    for (const std::string_view word : split(words, '_')) {
      if (word == "train" || word == "eval") return std::string(word);
    }
    return "";
  }
  std::unordered_map<std::string, std::set<size_t>> named_;
};

// Of graphs that both name, evaluation is the safe side.
std::string split_of(const Lists& lists, const std::set<size_t>& listed, IndexReport& report) {
  std::set<std::string> splits;
  for (const size_t list : listed) {
    if (!lists.reports[list].split.empty()) splits.insert(lists.reports[list].split);
  }
  report.in_both += splits.size() > 1;
  return splits.empty() ? "" : *splits.begin();  // "eval" sorts first
}

Cell cell(const std::string& text) { return text.empty() ? Cell() : Cell(text); }

}  // namespace

Result<IndexReport> write_index(const fs::path& root, const fs::path& file, const IndexOptions& options,
                                const std::function<void(const std::string&)>& counted) {
  Lists lists;
  std::vector<fs::path> given = options.lists;
  if (given.empty() && directory_exists(root / "lists")) given.push_back(root / "lists");
  for (const fs::path& list : given) PASSNET_TRY_VOID(lists.read(list, root));

  const fs::path partial = file.string() + ".partial";
  std::error_code ignored;
  fs::remove(partial, ignored);
  PASSNET_TRY(Database database, Database::create(partial.string()));
  PASSNET_TRY_VOID(database.execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;"));
  PASSNET_TRY_VOID(database.execute(kTables));
  PASSNET_TRY(Statement add_graph, database.prepare("INSERT INTO graph VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
  PASSNET_TRY(Statement add_operator, database.prepare("INSERT INTO operator VALUES(?,?,?)"));

  PASSNET_TRY(Statement add_listed, database.prepare("INSERT INTO list VALUES(?,?)"));

  IndexReport report;
  std::set<std::string> samples;
  const auto store = [&](const IndexRow& row) -> Result<void> {
    const std::set<size_t> listed = lists.of(row.path);
    if (!row.sample.empty()) samples.insert(row.sample);
    PASSNET_TRY_VOID(add_graph.run({row.path, cell(row.sample), cell(split_of(lists, listed, report)), row.kind,
                                    cell(row.dtype), row.ops, row.op_names, row.bytes, row.structure, cell(row.source),
                                    cell(row.model), cell(row.library_version), cell(row.licence), cell(row.shape)}));
    for (const auto& [name, calls] : row.calls) PASSNET_TRY_VOID(add_operator.run({row.path, name, calls}));
    for (const size_t list : listed) PASSNET_TRY_VOID(add_listed.run({lists.reports[list].name, row.path}));
    ++report.graphs;
    counted(row.path);
    return {};
  };
  Result<void> done = graphdir::for_each_graph(
      root, options.tree, [&](const graphdir::GraphWalk::Found& found) { return read_index_row(root, found); },
      [&](const IndexRow& row) -> Result<void> {
        if (!row.error) return store(row);
        report.failed.push_back(fmt::format("{}: {}", row.path, row.error->message));
        return {};
      });
  if (done && report.graphs == 0) done = bad_input(fmt::format("no graph at or below '{}' can be read", root.string()));
  if (done) done = database.execute("COMMIT;");
  if (!done) {
    fs::remove(partial, ignored);
    return std::move(done).error();
  }
  report.samples = samples.size();
  report.lists = std::move(lists.reports);
  std::error_code problem;
  fs::rename(partial, file, problem);
  if (problem) return io_error("rename", partial.string(), problem.value());
  return report;
}

Result<std::vector<IndexedGraph>> query_graphs(const fs::path& index, const GraphQuery& query) {
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
  if (!query.list.empty()) require("path IN (SELECT path FROM list WHERE name = ?)", query.list);
  for (const std::string& name : query.contains) require("path IN (SELECT path FROM operator WHERE name = ?)", name);
  PASSNET_TRY(Database database, Database::open(index.string()));
  PASSNET_TRY(Statement statement, database.prepare(sql + " ORDER BY path"));
  PASSNET_TRY(const auto rows, statement.rows(values));
  const auto text = [](const Cell& value) {
    return std::holds_alternative<std::string>(value) ? std::get<std::string>(value) : "";
  };
  std::vector<IndexedGraph> found;
  for (const auto& row : rows) {
    const auto* const ops = std::get_if<int64_t>(&row[6]);
    const auto* const bytes = std::get_if<int64_t>(&row[7]);
    if (ops == nullptr || bytes == nullptr)
      return bad_input(fmt::format("'{}': ops and bytes of graph {} are no whole numbers", index.string(),
                                   quoted(text(row[0]), 200)))
          .with_hint("make the index again with 'passnet dataset index'");
    found.push_back({text(row[0]), text(row[1]), text(row[2]), text(row[3]), text(row[4]), text(row[5]), *ops, *bytes});
  }
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
  Json stats{{"graphs", totals[0][0]}, {"samples", totals[0][1]}, {"structures", totals[0][2]}, {"by", Json::object()}};
  for (const char* column : {"kind", "dtype", "source", "split"}) {
    PASSNET_TRY(stats["by"][column],
                query(fmt::format("SELECT {0}, count(*) AS n FROM graph GROUP BY {0} ORDER BY n DESC, {0}", column)));
  }
  PASSNET_TRY(stats["by"]["list"], query("SELECT name, count(*) AS n FROM list GROUP BY name ORDER BY n DESC, name"));
  PASSNET_TRY(stats["by"]["size"],
              query("SELECT CASE WHEN bytes < 1024 THEN 'below 1 KB' WHEN bytes < 1048576 THEN '1 KB to 1 MB' "
                    "WHEN bytes < 67108864 THEN '1 to 64 MB' ELSE '64 MB and more' END AS size, count(*) FROM graph "
                    "GROUP BY size ORDER BY min(bytes)"));
  PASSNET_TRY(
      stats["operators"],
      query(
          "SELECT name, CAST(sum(calls) AS INTEGER) AS n, count(*) FROM operator GROUP BY name ORDER BY n DESC, name"));
  return stats;
}

}  // namespace passnet::dataset
