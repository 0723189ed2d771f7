#include "dataset/official/rebuild.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <tuple>

#include "analysis/op_name.h"
#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/text/strings.h"
#include "dataset/official/piece_records.h"
#include "dataset/official/variant.h"
#include "dataset/official/whole.h"
#include "graphdir/entry_script.h"
#include "run/worker/worker.h"

namespace passnet::dataset::official {

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
  Result<std::vector<GraphReport>> run(const fs::path& models);

 private:
  using Graphs = std::span<const ListedGraph* const>;
  Result<void> run_variant(Variants& variants, const Whole& whole, Graphs graphs);
  Result<void> run_graph(const ListedGraph& graph, Variants& variants, const Variant& variant, const Whole& whole);
  Result<void> measure(Variants& variants, const Whole& whole);
  static std::set<ir::NodeId> inputs_of(const Variant& variant, Graphs graphs);
  // Interruption and full disks end the job; what else goes wrong is the graph's own. otherwise: the outcome where the
  // error names none.
  Result<void> note(Graphs graphs, const Error& error, Outcome otherwise);
  // Figures that are missing are assumed.
  Result<void> note_not_measured(const Result<void>& done);

  const ModelGraphs& model_;
  const fs::path& out_;
  const RebuildOptions& options_;
  run::Worker& worker_;
  std::vector<GraphReport> reports_;
  std::string not_measured_;
};

bool ends_the_job(const Error& error) { return error.failure == "interrupted" || error.kind == Error::Kind::Io; }

Result<void> ModelRebuild::note(Graphs graphs, const Error& error, Outcome otherwise) {
  if (ends_the_job(error)) return error;
  Outcome outcome = otherwise;
  for (const Outcome one : {Outcome::RangeOutside, Outcome::PropagationFailed, Outcome::UnknownInput}) {
    if (error.failure == name(one)) outcome = one;
  }
  for (const ListedGraph* graph : graphs) reports_.push_back({graph->path, outcome, error.message, {}});
  return {};
}

Result<void> ModelRebuild::note_not_measured(const Result<void>& done) {
  if (done) return {};
  if (ends_the_job(done.error())) return done.error();
  if (not_measured_.empty()) not_measured_ = "not measured: " + done.error().message;
  return {};
}

Result<std::vector<GraphReport>> ModelRebuild::run(const fs::path& models) {
  const std::optional<fs::path> place = find_model(models, model_.model);
  if (!place) {
    const std::string why =
        fmt::format("found no model.py in {}, nor in the same without 'samples'", (models / model_.model).string());
    for (const ListedGraph* graph : model_.graphs) reports_.push_back({graph->path, Outcome::NoModel, why, {}});
    return std::move(reports_);
  }
  const Result<Whole> whole = load_whole(*place);
  if (!whole) {
    for (const ListedGraph* graph : model_.graphs)
      reports_.push_back({graph->path, Outcome::NoModel, to_string(whole.error()), {}});
    return std::move(reports_);
  }
  Variants variants(*whole, worker_, std::chrono::milliseconds(static_cast<int64_t>(options_.timeout_s * 1000)));
  if (options_.measure) PASSNET_TRY_VOID(measure(variants, *whole));
  const auto& graphs = model_.graphs;
  for (auto first = graphs.begin(); first != graphs.end();) {
    const auto last = std::find_if(first, graphs.end(),
                                   [&](const ListedGraph* graph) { return graph->variant != (*first)->variant; });
    PASSNET_TRY_VOID(run_variant(variants, *whole, {first, last}));
    first = last;
  }
  return std::move(reports_);
}

std::set<ir::NodeId> ModelRebuild::inputs_of(const Variant& variant, Graphs graphs) {
  std::set<ir::NodeId> inputs;
  for (const ListedGraph* graph : graphs) {
    if (graph->range.start < analysis::body_size(variant.graph)) inputs.merge(computed_inputs(variant, graph->range));
  }
  return inputs;
}

Result<void> ModelRebuild::measure(Variants& variants, const Whole& whole) {
  const Variant captured{whole.dir.graph, traced_names(whole.dir.graph), {}, {}};
  return note_not_measured(variants.measure(inputs_of(captured, model_.graphs)));
}

Result<void> ModelRebuild::run_variant(Variants& variants, const Whole& whole, Graphs graphs) {
  Result<Variant> variant = variants.at(graphs.front()->variant);
  if (!variant) return note(graphs, variant.error(), Outcome::PropagationFailed);
  if (options_.measure)
    PASSNET_TRY_VOID(note_not_measured(variants.add_figures(*variant, inputs_of(*variant, graphs))));
  for (const ListedGraph* graph : graphs) PASSNET_TRY_VOID(run_graph(*graph, variants, *variant, whole));
  return {};
}

Result<void> ModelRebuild::run_graph(const ListedGraph& graph, Variants& variants, const Variant& variant,
                                     const Whole& whole) {
  const Result<OfficialGraph> made = cut(variants, variant, graph.range, graph.dtype);
  const ListedGraph* const listed[] = {&graph};
  if (!made) return note(listed, made.error(), Outcome::PropagationFailed);
  const fs::path place = out_ / graph.path;
  std::error_code ignored;
  fs::remove_all(place, ignored);
  PASSNET_TRY_VOID(write(*made, whole, place));
  GraphReport& report = reports_.emplace_back(GraphReport{graph.path, Outcome::Cut, not_measured_, {}});
  for (const PieceRecord& record : made->records)
    report.records[std::string(name(record.origin))].push_back(record.meta.name);
  return {};
}

// The files of a task as they are, and what makes it a sample to write passes for.
Result<void> write_task(const Task& task, const fs::path& out) {
  const fs::path place = out / "tasks" / task.id;
  PASSNET_TRY(const std::string list, read_file(task.list, FileKind::Graph));
  PASSNET_TRY_VOID(write_file(place / "graph_list.txt", list));
  for (const char* name : {"sample_uids.txt", ".ignore"}) {
    const fs::path file = task.list.parent_path() / name;
    if (!entry_exists(file)) continue;
    PASSNET_TRY(const std::string text, read_file(file, FileKind::Graph));
    PASSNET_TRY_VOID(write_file(place / name, text));
  }
  PASSNET_TRY_VOID(graphdir::write_entry_script(place));
  const fs::path passes = place / "pass_dir/sorted_output_pass_rule_names.json";
  if (!entry_exists(passes)) PASSNET_TRY_VOID(write_file(passes, std::string_view("[]\n")));
  return {};
}

// Gives a file a second name, or copies it where the file system has no hard links.
Result<void> link_file(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  fs::create_hard_link(from, to, failed);
  if (failed) fs::copy_file(from, to, failed);
  if (failed) return io_error("copy", from.string(), failed.value());
  return {};
}

// The graphs of a task's list in the task: a link to their directory would not be followed.
Result<void> link_graphs(const Task& task, const fs::path& out) {
  const fs::path place = out / "tasks" / task.id;
  PASSNET_TRY_VOID(remove_directory(place / "graphs"));
  for (const ListedGraph& graph : task.graphs) {
    if (!entry_exists(out / graph.path)) continue;  // it was not cut
    PASSNET_TRY_VOID(make_directories(place / graph.path));
    PASSNET_TRY(const std::vector<fs::path> files, list_directory(out / graph.path));
    for (const fs::path& file : files) PASSNET_TRY_VOID(link_file(file, place / graph.path / file.filename()));
  }
  return {};
}

}  // namespace

Json to_json(const GraphReport& report) {
  Json json{{"graph", report.graph}, {"outcome", name(report.outcome)}};
  if (!report.why.empty()) json["why"] = report.why;
  if (report.outcome == Outcome::Cut) json["records"] = report.records;
  return json;
}

Result<void> rebuild(const std::vector<Task>& tasks, const fs::path& models, const fs::path& out,
                     const RebuildOptions& options, const std::function<void(const GraphReport&)>& finished) {
  if (!directory_exists(models))
    return bad_input(fmt::format("{} is no directory, expected a checkout of GraphNet", quoted(models.string(), 400)));
  for (const Task& task : tasks) PASSNET_TRY_VOID(write_task(task, out));
  const std::vector<ModelGraphs> sorted = by_model(tasks);
  const run::JobOptions job{options.jobs, options.interrupted};
  run::SlotWorkers workers(job);
  std::map<std::string, std::string> lines;
  PASSNET_TRY_VOID(run::for_each_item(
      std::span(sorted), job,
      [&](const ModelGraphs& model, size_t slot) -> Result<std::vector<GraphReport>> {
        std::vector<GraphReport> reports;
        PASSNET_TRY_VOID(workers.with(slot, [&](run::Worker& worker) -> Result<void> {
          PASSNET_TRY(reports, ModelRebuild(model, out, options, worker).run(models));
          return {};
        }));
        return reports;
      },
      [&](std::vector<GraphReport> reports) -> Result<void> {
        for (const GraphReport& report : reports) {
          lines.emplace(report.graph, dump(to_json(report)));
          finished(report);
        }
        return {};
      }));
  for (const Task& task : tasks) PASSNET_TRY_VOID(link_graphs(task, out));
  std::string manifest;
  for (const auto& [graph, line] : lines) manifest += line + "\n";
  return write_file(out / "manifest.jsonl", manifest);
}

}  // namespace passnet::dataset::official
