#include "dataset/hub/hub.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/identity.h"
#include "analysis/op_name.h"
#include "base/file/file.h"
#include "base/file/line_file.h"
#include "base/file/paths.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/text/strings.h"
#include "base/version.h"
#include "dataset/catalog/sample_list.h"
#include "dataset/hub/texts.h"
#include "graphdir/graph_facts.h"
#include "graphdir/sample.h"
#include "run/batch/job.h"

namespace passnet::dataset {

namespace {

constexpr size_t kBatchBytes = 4 << 20;  // of lines that are written and synced at once

/// A column of the rows, all of text.
struct Column {
  const char *name, *what;
};
constexpr Column kColumns[] = {
    {"sample", "name of the sample"},
    {"graph", "name of the graph in its sample"},
    {"kind", "sole_op, fusible, typical or full"},
    {"dtype", "element type that the graph computes in"},
    {"operators", "its operators in order, views too"},
    {"structure", "hash of operators and connections, without shapes; graphs of one sample share it"},
    {"source", "library of the model"},
    {"model", "name of the model there"},
    {"library_version", "version of the library"},
    {"licence", "licence of the library or model; unknown where nothing says it"},
    {"model_py", "the graph: a torch.nn.Module as torch.fx prints it"},
    {"weight_meta_py", "shape, dtype and statistics of each weight"},
    {"input_meta_py", "the same of inputs whose values count; may be empty"},
};

/// The rows of one sample.
struct SampleRows {
  std::string path, lines;
  std::map<std::string, size_t> licences;
};

/// The Hub's rule for "USER/NAME".
Result<void> check_name(const std::string& name) {
  const std::vector<std::string_view> parts = split(name, '/');
  const auto is_part = [](std::string_view part) {
    return !part.empty() && part.size() <= 96 && part.find("..") == std::string_view::npos &&
           part.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
               std::string_view::npos;
  };
  if (parts.size() == 2 && std::ranges::all_of(parts, is_part)) return {};
  return bad_input(fmt::format(
      "{} is no repository of the Hub, expected USER/NAME of letters, digits, '.', '_' and '-'", quoted(name)));
}

/// The text of a file beside a graph; empty where there is none.
Result<std::string> text_beside(const fs::path& graph, const char* name) {
  if (!entry_exists(graph / name)) return std::string();
  return read_beneath(graph, name, FileKind::Graph);
}

Result<SampleRows> rows_of(const fs::path& dataset, const std::string& path) {
  SampleRows rows{path, {}, {}};
  PASSNET_TRY(const graphdir::Sample sample, graphdir::load_sample(dataset / path));
  for (size_t i = 0; i < sample.graph_paths.size(); ++i) {
    const fs::path& place = sample.graph_paths[i];
    PASSNET_TRY(const graphdir::GraphDir graph, graphdir::load_graph_dir(place));
    const Json facts = graphdir::read_facts(place);
    std::string licence = graphdir::text_of(facts, "licence");
    if (licence.empty()) licence = "unknown";
    ++rows.licences[licence];
    Json row{{"sample", sample.name},
             {"graph", sample.graph_names[i]},
             {"kind", graphdir::kind_of(facts, dataset, place)},
             {"dtype", graphdir::text_of(facts, "data_type")},
             {"operators", join(analysis::op_names(graph.graph), " ")},
             {"structure", analysis::structure_hash(graph.graph)},
             {"source", graphdir::text_of(facts, "source")},
             {"model", graphdir::text_of(facts, "model_name")},
             {"library_version", graphdir::text_of(facts, "library_version")},
             {"licence", licence}};
    for (const auto& [key, file] : {std::pair{"model_py", "model.py"},
                                    {"weight_meta_py", "weight_meta.py"},
                                    {"input_meta_py", "input_meta.py"}}) {
      PASSNET_TRY(row[key], text_beside(place, file));
    }
    rows.lines += dump(row) + "\n";
  }
  return rows;
}

/// A file of rows that is written in batches, and its hash.
class RowFile {
 public:
  explicit RowFile(LineFile file) : file_(std::move(file)) {}

  Result<void> add(std::string_view lines) {
    hash_.add(lines);
    waiting_ += lines;
    return waiting_.size() < kBatchBytes ? Result<void>() : flush();
  }

  /// Returns the SHA-256 of the file, which is complete.
  Result<std::string> finish() {
    PASSNET_TRY_VOID(flush());
    return hash_.hex();
  }

 private:
  Result<void> flush() {
    if (waiting_.empty()) return {};
    waiting_.pop_back();  // append() ends the last line
    PASSNET_TRY_VOID(file_.append(waiting_));
    waiting_.clear();
    return {};
  }

  LineFile file_;
  std::string waiting_;
  Sha256 hash_;
};

/// A file of rows, for the metadata.
struct WrittenSplit {
  std::string name, path, sha256;
  size_t graphs = 0;
};

Result<std::vector<std::string>> listed_samples(const fs::path& dataset, const std::string& split) {
  const fs::path list = dataset / "lists" / (split + ".txt");
  if (!entry_exists(list))
    return bad_input(fmt::format("'{}' is not there", list.string()))
        .with_hint("'passnet dataset split' makes the lists of a dataset");
  PASSNET_TRY(PathList listed, read_list(list, dataset));
  if (!listed.missing.empty())
    return bad_input(
        fmt::format("'{}' names {}, which is not in the dataset", list.string(), quoted(listed.missing[0], 200)));
  return std::move(listed.paths);
}

Result<WrittenSplit> write_split_rows(const fs::path& dataset, const fs::path& out, const std::string& name,
                                      const HubOptions& options, const std::function<void(const std::string&)>& counted,
                                      HubReport& report) {
  PASSNET_TRY(const std::vector<std::string> samples, listed_samples(dataset, name));
  WrittenSplit written{name, fmt::format("data/{}.jsonl", name), {}, 0};
  PASSNET_TRY(LineFile file, LineFile::open(out / written.path, false));
  RowFile rows(std::move(file));
  PASSNET_TRY_VOID(run::for_each_item(
      std::span(samples), options.tree, [&](const std::string& path, size_t) { return rows_of(dataset, path); },
      [&](SampleRows made) -> Result<void> {
        for (const auto& [licence, graphs] : made.licences) {
          report.licences[licence] += graphs;
          written.graphs += graphs;
        }
        counted(made.path);
        return rows.add(made.lines);
      }));
  PASSNET_TRY(written.sha256, rows.finish());
  report.splits[name] = written.graphs;
  return written;
}

std::string card_of(const std::vector<WrittenSplit>& splits, const HubReport& report, const HubOptions& options) {
  std::string files, counts, licences, columns;
  for (const WrittenSplit& split : splits) {
    files += fmt::format("      - split: {}\n        path: {}\n", split.name, split.path);
    counts += fmt::format("| {} | {} |\n", split.name, split.graphs);
  }
  for (const auto& [licence, graphs] : report.licences) licences += fmt::format("| {} | {} |\n", licence, graphs);
  for (const Column& column : kColumns) columns += fmt::format("| `{}` | {} |\n", column.name, column.what);
  return fmt::format(hub::kCard, fmt::arg("name", options.name), fmt::arg("files", files), fmt::arg("counts", counts),
                     fmt::arg("licences", licences), fmt::arg("columns", columns), fmt::arg("version", kVersion));
}

Json fields_of(const std::string& split, const std::string& file) {
  Json fields = Json::array();
  for (const Column& column : kColumns) {
    fields.push_back({{"@type", "cr:Field"},
                      {"@id", fmt::format("{}/{}", split, column.name)},
                      {"name", column.name},
                      {"description", column.what},
                      {"dataType", "sc:Text"},
                      {"source", {{"fileObject", {{"@id", file}}}, {"extract", {{"column", column.name}}}}}});
  }
  return fields;
}

/// Croissant 1.0 says what the files are, and the columns of their rows.
Json croissant_of(const std::vector<WrittenSplit>& splits, const HubOptions& options) {
  Json files = Json::array(), sets = Json::array();
  for (const WrittenSplit& split : splits) {
    const std::string file = split.name + "-rows";
    files.push_back({{"@type", "cr:FileObject"},
                     {"@id", file},
                     {"name", file},
                     {"contentUrl", split.path},
                     {"encodingFormat", "application/jsonlines"},
                     {"sha256", split.sha256}});
    sets.push_back({{"@type", "cr:RecordSet"},
                    {"@id", split.name},
                    {"name", split.name},
                    {"description", counted(split.graphs, "graph")},
                    {"field", fields_of(split.name, file)}});
  }
  return {{"@context", try_parse_json(hub::kCroissantContext)},
          {"@type", "sc:Dataset"},
          {"name", options.name.substr(options.name.find('/') + 1)},
          {"description", hub::kDescription},
          {"conformsTo", "http://mlcommons.org/croissant/1.0"},
          {"url", "https://huggingface.co/datasets/" + options.name},
          {"license", "by graph, in the column licence"},
          {"version", kVersion},
          {"distribution", std::move(files)},
          {"recordSet", std::move(sets)}};
}

}  // namespace

Result<HubReport> write_hub(const fs::path& dataset, const fs::path& out, const HubOptions& options,
                            const std::function<void(const std::string& path)>& counted) {
  PASSNET_TRY_VOID(check_name(options.name));
  PASSNET_TRY_VOID(require_empty(out));
  HubReport report;
  std::vector<WrittenSplit> splits;
  for (const char* split : {"train", "eval"}) {
    PASSNET_TRY(WrittenSplit written, write_split_rows(dataset, out, split, options, counted, report));
    splits.push_back(std::move(written));
  }
  PASSNET_TRY_VOID(write_file(out / "croissant.json", dump(croissant_of(splits, options), 2) + "\n"));
  PASSNET_TRY_VOID(write_file(out / "parquet.sql", std::string_view(hub::kParquet)));
  PASSNET_TRY_VOID(write_file(out / "README.md", card_of(splits, report, options)));
  return report;
}

}  // namespace passnet::dataset
