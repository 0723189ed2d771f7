#include "dataset/official/rebuild.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "analysis/op_name.h"
#include "base/file.h"
#include "dataset/official/piece.h"
#include "dataset/official/piece_records.h"
#include "dataset/official/variant.h"
#include "dataset/official/whole.h"
#include "dataset/official/written_graph.h"
#include "fx/print.h"
#include "run/worker/worker.h"

namespace passnet::dataset::official {

namespace fs = std::filesystem;

namespace {

/// The listed graphs of one model, sorted by variant, range and element type.
struct ModelGraphs {
  std::string model;
  std::vector<const ListedGraph*> graphs;
};

std::vector<ModelGraphs> by_model(const std::vector<Task>& tasks) {
  std::map<std::string, std::vector<const ListedGraph*>> models;
  std::set<std::string_view> seen;
  for (const Task& task : tasks) {
    for (const ListedGraph& graph : task.graphs) {
      if (seen.insert(graph.path).second) models[graph.model].push_back(&graph);
    }
  }
  std::vector<ModelGraphs> sorted;
  for (auto& [model, graphs] : models) {
    std::ranges::sort(graphs, {}, [](const ListedGraph* graph) {
      return std::tuple(graph->variant, graph->range, graph->dtype, graph->path);
    });
    sorted.push_back({model, std::move(graphs)});
  }
  return sorted;
}

std::optional<fs::path> find_model(const fs::path& models, const std::string& model) {
  fs::path without_samples;
  for (const fs::path& part : fs::path(model)) {
    if (!without_samples.empty() || part != "samples") without_samples /= part;
  }
  for (const fs::path& place : {models / model, models / without_samples}) {
    if (entry_exists(place / "model.py")) return place;
  }
  return std::nullopt;
}

/// One model at work.
class ModelRebuild {
 public:
  ModelRebuild(const ModelGraphs& model, const fs::path& out, const RebuildOptions& options, run::Worker& worker)
      : model_(model), out_(out), options_(options), worker_(worker) {}

  /// A report for each listed graph. Errors: Io, interrupted.
  Result<void> run(const fs::path& models, std::vector<GraphReport>& reports);

 private:
  Result<void> run_variant(Variants& variants, const Whole& whole, std::span<const ListedGraph* const> graphs);
  Result<void> write(const ListedGraph& graph, const analysis::Piece& piece, const Variant& variant,
                     std::vector<PieceRecord> records, Variants& variants, const Whole& whole);
  std::set<ir::NodeId> computed_inputs(const Variant& variant, std::span<const ListedGraph* const> graphs) const;
  // Interruption and full disks end the job; what else goes wrong is a graph's own.
  Result<void> note(const ListedGraph& graph, Outcome outcome, const Error& error);
  void note(const ListedGraph& graph, Outcome outcome, std::string why) {
    reports_->push_back({graph.path, outcome, std::move(why), {}});
  }

  const ModelGraphs& model_;
  const fs::path& out_;
  const RebuildOptions& options_;
  run::Worker& worker_;
  std::vector<GraphReport>* reports_ = nullptr;
  std::string not_measured_;
};

// Of the nodes of a range; empty when all fit.
std::string first_misfit(const Variant& variant, analysis::Range range) {
  for (size_t i = range.start; i < std::min(range.end, analysis::body_size(variant.graph)); ++i) {
    const ir::NodeId id = analysis::body_node(variant.graph, i);
    if (!variant.misfits[id].empty())
      return fmt::format("{}: {}", fx::print_node(variant.graph, variant.graph.node(id)), variant.misfits[id]);
  }
  return {};
}

bool begins_within(const ListedGraph& graph, const ir::Graph& whole) {
  return graph.range.start < analysis::body_size(whole);
}

Result<void> ModelRebuild::note(const ListedGraph& graph, Outcome outcome, const Error& error) {
  if (error.failure == "interrupted") return error;
  note(graph, outcome, to_string(error));
  return {};
}

Result<void> ModelRebuild::run(const fs::path& models, std::vector<GraphReport>& reports) {
  reports_ = &reports;
  const std::optional<fs::path> place = find_model(models, model_.model);
  Result<Whole> whole = place ? load_whole(*place)
                              : bad_input(fmt::format("{} has no such model: found neither {} nor the same without "
                                                      "'samples'",
                                                      models.string(), (models / model_.model).string()));
  if (!whole) {
    for (const ListedGraph* graph : model_.graphs) PASSNET_TRY_VOID(note(*graph, Outcome::NoModel, whole.error()));
    return {};
  }
  Variants variants(*whole, worker_, std::chrono::milliseconds(static_cast<int64_t>(options_.timeout_s * 1000)));
  std::vector<const ListedGraph*> graphs;
  for (const ListedGraph* graph : model_.graphs) {
    if (begins_within(*graph, whole->dir.graph))
      graphs.push_back(graph);
    else
      note(*graph, Outcome::RangeOutside,
           fmt::format("the range begins at node {}, the model has {}", graph->range.start,
                       analysis::body_size(whole->dir.graph)));
  }
  if (options_.measure) {
    Variant captured{whole->dir.graph, traced_names(whole->dir.graph), {}, {}};
    const Result<void> measured = variants.measure(computed_inputs(captured, graphs));
    if (!measured && measured.error().failure == "interrupted") return measured.error();
    if (!measured) not_measured_ = "not measured: " + to_string(measured.error());
  }
  for (auto first = graphs.begin(); first != graphs.end();) {
    const auto last = std::find_if(first, graphs.end(),
                                   [&](const ListedGraph* graph) { return graph->variant != (*first)->variant; });
    PASSNET_TRY_VOID(run_variant(variants, *whole, {first, last}));
    first = last;
  }
  return {};
}

std::set<ir::NodeId> ModelRebuild::computed_inputs(const Variant& variant,
                                                   std::span<const ListedGraph* const> graphs) const {
  std::set<ir::NodeId> computed;
  for (const ListedGraph* graph : graphs) {
    for (const ir::NodeId input : cut_piece(variant.graph, variant.names, graph->range).inputs) {
      if (input >= variant.graph.placeholder_count()) computed.insert(input);
    }
  }
  return computed;
}

Result<void> ModelRebuild::run_variant(Variants& variants, const Whole& whole,
                                       std::span<const ListedGraph* const> graphs) {
  Result<Variant> variant = variants.at(graphs.front()->variant);
  if (!variant) {
    for (const ListedGraph* graph : graphs) PASSNET_TRY_VOID(note(*graph, Outcome::PropagationFailed, variant.error()));
    return {};
  }
  if (options_.measure) {
    const Result<void> figures = variants.add_figures(*variant, computed_inputs(*variant, graphs));
    if (!figures && figures.error().failure == "interrupted") return figures.error();
    if (!figures && not_measured_.empty()) not_measured_ = "not measured: " + to_string(figures.error());
  }
  for (const ListedGraph* graph : graphs) {
    if (const std::string misfit = first_misfit(*variant, graph->range); !misfit.empty()) {
      note(*graph, Outcome::PropagationFailed, misfit);
      continue;
    }
    const analysis::Piece piece = cut_piece(variant->graph, variant->names, graph->range);
    Result<std::vector<PieceRecord>> records = piece_records(piece, variant->graph, variant->names, variant->values);
    if (!records) {
      PASSNET_TRY_VOID(note(*graph, Outcome::UnknownInput, records.error()));
      continue;
    }
    PASSNET_TRY_VOID(write(*graph, piece, *variant, std::move(*records), variants, whole));
  }
  return {};
}

Result<void> ModelRebuild::write(const ListedGraph& graph, const analysis::Piece& piece, const Variant& variant,
                                 std::vector<PieceRecord> records, Variants& variants, const Whole& whole) {
  const Result<WrittenGraph> written = written_graph(piece, analysis::body_node(variant.graph, graph.range.start),
                                                     variant, std::move(records), graph.dtype, variants);
  if (!written) return note(graph, Outcome::PropagationFailed, written.error());
  const std::string weights = print_records(written->records);
  const NamedContent files[] = {{"model.py", written->model},
                                {"weight_meta.py", weights},
                                {"input_meta.py", ""},
                                {"graph_net.json", whole.facts_text},
                                {"graph_hash.txt", written->hash}};
  const fs::path place = out_ / graph.path;
  std::error_code ignored;
  fs::remove_all(place, ignored);
  PASSNET_TRY_VOID(write_directory(place, files));
  GraphReport& report = reports_->emplace_back(GraphReport{graph.path, Outcome::Cut, not_measured_, {}});
  for (const PieceRecord& record : written->records)
    report.records[std::string(name(record.origin))].push_back(record.meta.name);
  return {};
}

// The files of a task as they are, and a link through which the lines of its list lead to graphs.
Result<void> write_task(const Task& task, const fs::path& out) {
  const fs::path place = out / "tasks" / task.id;
  std::string list;
  for (const ListedGraph& graph : task.graphs) list += graph.path + "\n";
  PASSNET_TRY_VOID(write_file(place / "graph_list.txt", list));
  for (const char* file : {"sample_uids.txt", ".ignore"}) {
    if (!entry_exists(task.directory / file)) continue;
    PASSNET_TRY(const std::string text, read_file(task.directory / file));
    PASSNET_TRY_VOID(write_file(place / file, text));
  }
  std::error_code status;
  if (entry_exists(place / "graphs")) return {};
  fs::create_directory_symlink(
      fs::absolute(out / "graphs").lexically_normal().lexically_relative(fs::absolute(place).lexically_normal()),
      place / "graphs", status);
  if (status) return io_error("cannot create", (place / "graphs").string(), status.value());
  return {};
}

}  // namespace

std::string_view name(Outcome outcome) {
  switch (outcome) {
    case Outcome::Cut: return "cut";
    case Outcome::NoModel: return "no model";
    case Outcome::RangeOutside: return "range outside";
    case Outcome::PropagationFailed: return "propagation failed";
    case Outcome::UnknownInput: return "input of unknown size";
  }
  return "unknown";
}

Json to_json(const GraphReport& report) {
  Json json{{"graph", report.graph}, {"outcome", name(report.outcome)}};
  if (!report.why.empty()) json["why"] = report.why;
  if (report.outcome == Outcome::Cut) json["records"] = report.records;
  return json;
}

Result<void> rebuild(const std::vector<Task>& tasks, const fs::path& models, const fs::path& out,
                     const RebuildOptions& options, const std::function<void(const GraphReport&)>& finished) {
  for (const Task& task : tasks) PASSNET_TRY_VOID(write_task(task, out));
  const std::vector<ModelGraphs> sorted = by_model(tasks);
  const run::JobOptions job{options.jobs, options.interrupted};
  run::SlotWorkers workers(job);
  std::map<std::string, std::string> lines;
  PASSNET_TRY_VOID(run::for_each_item(
      std::span(sorted), job,
      [&](const ModelGraphs& model, size_t slot) -> Result<std::vector<GraphReport>> {
        std::vector<GraphReport> reports;
        PASSNET_TRY_VOID(workers.with(
            slot, [&](run::Worker& worker) { return ModelRebuild(model, out, options, worker).run(models, reports); }));
        return reports;
      },
      [&](std::vector<GraphReport> reports) -> Result<void> {
        for (const GraphReport& report : reports) {
          lines.emplace(report.graph, dump(to_json(report)));
          finished(report);
        }
        return {};
      }));
  std::string manifest;
  for (const auto& [graph, line] : lines) manifest += line + "\n";
  return write_file(out / "manifest.jsonl", manifest);
}

}  // namespace passnet::dataset::official
