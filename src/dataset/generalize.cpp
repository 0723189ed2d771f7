#include "dataset/generalize.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "analysis/identity.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/line_file.h"
#include "dataset/captures.h"
#include "dataset/generalize_journal.h"
#include "dataset/screen.h"
#include "dataset/sizes/data_symbols.h"
#include "dataset/sizes/limits.h"
#include "dataset/sizes/solver.h"
#include "dataset/sizes/typing.h"
#include "dataset/sizes/variant_sizes.h"
#include "fx/print.h"
#include "graphdir/graph_facts.h"
#include "graphdir/graph_writer.h"
#include "graphdir/sample.h"
#include "run/job.h"
#include "run/worker/requests.h"

namespace passnet::dataset {

namespace fs = std::filesystem;

namespace {

constexpr const char* kGeneralizeId = "whole";
/// What most models for pictures divide their sizes by.
constexpr int64_t kPictureStep = 32;

std::string generalize_rules(const Model& model, const GeneralizeOptions& options) {
  std::string rules =
      fmt::format("{} {} {} {} {}", options.variants, options.max_bytes, options.check, options.search_s, options.run);
  for (const fs::path& path : model.paths) {
    for (const char* file : {"model.py", "weight_meta.py", "input_meta.py", "input_tensor_constraints.py"}) {
      const Result<std::string> text = read_file(path / file);
      rules += fmt::format("\n{}\n{}", file, text ? *text : "");
    }
  }
  return sha256_hex(rules);
}

class Generalizing {
 public:
  Generalizing(const Model& model, fs::path out, run::Worker& worker, const GeneralizeOptions& options,
               GeneralizeReport& report)
      : model_(model),
        out_(std::move(out)),
        worker_(worker),
        options_(options),
        timeout_(static_cast<int64_t>(options.timeout_s * 1000)),
        search_end_(std::chrono::steady_clock::now() + std::chrono::duration<double>(options.search_s)),
        report_(report) {}

  Result<void> run() {
    for (const fs::path& path : model_.paths) {
      PASSNET_TRY(graphdir::GraphDir capture, graphdir::load_graph_dir(path));
      std::ranges::move(capture.inputs, std::back_inserter(capture.weights));
      capture.inputs.clear();
      captures_.push_back(std::move(capture));
    }
    facts_ = graphdir::read_facts(model_.paths.front());
    typing_.emplace(graph(), worker_, kGeneralizeId, timeout_);
    PASSNET_TRY_VOID(typing_->infer_captured(metas()));
    std::vector<const graphdir::GraphDir*> alike{&captures_.front()};
    for (size_t i = 1; i < captures_.size() && !options_.check; ++i) {
      if (is_like_first(captures_[i])) alike.push_back(&captures_[i]);
    }
    graphdir::Constraints constraints;
    if (!options_.check) {
      PASSNET_TRY(constraints, read_constraints());
    }
    others_.assign(alike.begin() + 1, alike.end());
    PASSNET_TRY_VOID(choose_symbols(find_symbols(alike, constraints)));
    for (size_t k = 0; k < symbols_.size(); ++k) report_.symbols[fmt::format("S{}", k)] = symbols_[k].example;
    report_rewritten();
    return options_.check ? compare() : write_variants();
  }

 private:
  const ir::Graph& graph() const { return captures_.front().graph; }
  const std::vector<graphdir::TensorMeta>& metas() const { return captures_.front().weights; }

  void report_rewritten() {
    for (const analysis::NodeSizes& change : changes_) {
      const ir::Node& node = graph().node(change.node);
      for (size_t i = 0; i < change.slots.size(); ++i) {
        if (change.sizes[i].is_constant()) continue;
        report_.rewritten.push_back(fmt::format("{}: {} {} = {}", node.name, node.target, change.slots[i].value,
                                                to_string(change.sizes[i], graph())));
      }
    }
  }

  // The same nodes, but for integers.
  bool is_like_first(const graphdir::GraphDir& other) const {
    if (analysis::structure_hash(graph()) != analysis::structure_hash(other.graph) ||
        other.graph.size() != graph().size() || other.weights.size() != metas().size())
      return false;
    for (ir::NodeId id = 0; id < graph().size(); ++id) {
      if (graph().node(id).target != other.graph.node(id).target || graph().node(id).name != other.graph.node(id).name)
        return false;
    }
    for (size_t i = 0; i < metas().size(); ++i) {
      if (metas()[i].shape.size() != other.weights[i].shape.size()) return false;
    }
    return true;
  }

  Result<graphdir::Constraints> read_constraints() const {
    const fs::path file = model_.paths.front() / "input_tensor_constraints.py";
    if (!entry_exists(file)) return graphdir::Constraints();
    PASSNET_TRY(const std::string text, read_file(file));
    return graphdir::parse_constraints(file.string(), text);
  }

  // Each symbol twice alone, then all together. steps: by symbol; 0 doubles the size, which keeps whatever
  // divided it.
  static std::vector<std::vector<int64_t>> trial_values(std::span<const DataSymbol> symbols,
                                                        std::span<const int64_t> steps) {
    std::vector<int64_t> examples, all;
    std::vector<std::vector<int64_t>> rows;
    for (const DataSymbol& symbol : symbols) examples.push_back(symbol.example);
    for (size_t k = 0; k < symbols.size(); ++k) {
      const int64_t example = symbols[k].example;
      const int64_t step = steps[k] > 0 ? steps[k] : example;
      const int64_t others[] = {example == 1 ? 3 : example + step, example == 1 ? 5 : example + 2 * step};
      for (const int64_t value : others) {
        rows.push_back(examples);
        rows.back()[k] = value;
      }
    }
    if (symbols.size() > 1) {
      rows.push_back(examples);
      for (size_t k = 0; k < symbols.size(); ++k) rows.back()[k] = rows[2 * k][k];
    }
    return rows;
  }

  SizeTrials trials_for(std::span<const DataSymbol> symbols, std::span<const int64_t> steps) {
    std::vector<std::vector<graphdir::TensorMeta>> records;
    SizeTrials trials;
    for (const graphdir::GraphDir* other : others_) {
      records.push_back(other->weights);
      trials.captured.push_back(&other->graph);
    }
    for (const std::vector<int64_t>& values : trial_values(symbols, steps)) {
      records.push_back(resized(metas(), symbols, values));
      trials.captured.push_back(nullptr);
    }
    trials.infer = [this, records = std::move(records)](
                       const ir::Graph& graph,
                       std::span<const size_t> wanted) -> Result<std::vector<analysis::ValueShapes>> {
      std::vector<analysis::ValueShapes> found;
      for (const size_t trial : wanted) {
        PASSNET_TRY(Types types,
                    trial == wanted.front() ? typing_->at(graph, records[trial]) : typing_->also_at(records[trial]));
        found.push_back(std::move(types.shapes));
      }
      return found;
    };
    trials.why_over = [this] {
      const bool over = std::chrono::steady_clock::now() >= search_end_;
      return over ? fmt::format("not settled within {} s", options_.search_s) : std::string();
    };
    return trials;
  }

  // One after the other, as upstream does: a symbol stays when the graph can be made to fit it and those
  // before.
  Result<void> choose_symbols(const std::vector<DataSymbol>& candidates) {
    std::vector<int64_t> steps;
    for (const DataSymbol& candidate : candidates) {
      std::vector<DataSymbol> tried = symbols_;
      tried.push_back(candidate);
      steps.push_back(0);
      PASSNET_TRY(SizeSolution solution, solve_sizes(graph(), typing_->captured(), trials_for(tried, steps), changes_));
      // Where twice the size is beyond a table, or of another remainder.
      steps.back() = candidate.is_of_pictures ? kPictureStep : candidate.example / 4;
      if (solution.misfit && steps.back() > 1 && candidate.example > steps.back()) {
        PASSNET_TRY(SizeSolution again, solve_sizes(graph(), typing_->captured(), trials_for(tried, steps), changes_));
        if (!again.misfit || again.misfit->node == ir::kNoNode) solution = std::move(again);  // or cut short
      } else {
        steps.back() = 0;
      }
      if (solution.misfit) {
        steps.pop_back();
        report_.dropped.push_back(fmt::format("{}: {}", candidate.example, describe(*solution.misfit)));
        continue;
      }
      symbols_ = std::move(tried);
      changes_ = std::move(solution.changes);
    }
    return {};
  }

  std::string describe(const Misfit& misfit) const {
    if (misfit.node == ir::kNoNode) return misfit.why;
    return fmt::format("{}: {}", fx::print_node(graph(), graph().node(misfit.node)), misfit.why);
  }

  /// The graph at other sizes, or why it is not there.
  struct Variant {
    std::optional<ir::Graph> graph;
    std::vector<graphdir::TensorMeta> metas;
    int64_t largest_bytes = 0;
    std::string refused;
  };
  Result<Variant> variant_at(const std::vector<int64_t>& values) {
    Variant variant;
    variant.metas = resized(metas(), symbols_, values);
    PASSNET_TRY(const Types types, typing_->at(analysis::with_size_calls(graph(), changes_), variant.metas));
    for (ir::NodeId id = graph().placeholder_count(); id < graph().size(); ++id) {
      std::string why = typing_->captured().unknown[id].empty() ? types.shapes.unknown[id] : "";
      if (why.empty()) why = depends_on_size(graph(), id, typing_->captured(), types.shapes);
      if (why.empty()) continue;
      variant.refused = describe({id, std::move(why)});
      return variant;
    }
    variant.largest_bytes = types.largest_bytes;
    variant.graph = analysis::with_sizes_at(graph(), changes_, types.shapes);
    if (!variant.graph) variant.refused = "a size would be no integer";
    return variant;
  }

  Result<void> compare() {
    for (size_t i = 1; i < captures_.size(); ++i) {
      PASSNET_TRY(std::string verdict, compare_with(captures_[i]));
      report_.compared[model_.names[i]] = std::move(verdict);
    }
    return {};
  }

  Result<std::string> compare_with(const graphdir::GraphDir& other) {
    const auto values = values_in(metas(), symbols_, other.weights);
    if (symbols_.empty() && report_.dropped.empty()) return std::string("refused: no data input has a size");
    if (!values) {
      const std::string dropped = report_.dropped.empty() ? "" : ": " + report_.dropped.back();
      return "refused: its sizes are not those of the symbols" + dropped;
    }
    PASSNET_TRY(const Variant variant, variant_at(*values));
    if (!variant.graph) return "refused: " + variant.refused;
    if (analysis::identity_hash(*variant.graph) == analysis::identity_hash(other.graph)) return std::string("exact");
    if (std::ranges::equal(symbols_, *values, {}, &DataSymbol::example))
      return std::string("refused: its inputs have the sizes of the first, its numbers do not");
    return "different: " + difference(*variant.graph, other.graph);
  }

  // The first statement that differs, both ways.
  static std::string difference(const ir::Graph& made, const ir::Graph& captured) {
    for (ir::NodeId id = 0; id < std::min(made.size(), captured.size()); ++id) {
      const std::string ours = fx::print_node(made, made.node(id)),
                        theirs = fx::print_node(captured, captured.node(id));
      if (ours != theirs) return fmt::format("{}  captured: {}", ours, theirs);
    }
    return fmt::format("{} nodes, captured: {}", made.size(), captured.size());
  }

  Result<void> write_variants() {
    std::vector<std::vector<int64_t>> captured;
    for (const graphdir::GraphDir& capture : captures_) {
      if (const auto values = values_in(metas(), symbols_, capture.weights)) captured.push_back(*values);
    }
    std::vector<int64_t> examples;
    for (const DataSymbol& symbol : symbols_) examples.push_back(symbol.example);
    const std::string signature = graphdir::signature(constraints_of(metas(), symbols_, examples));
    for (const std::vector<int64_t>& values : variant_sizes(signature, symbols_)) {
      if (report_.written.size() == options_.variants) break;
      if (options_.interrupted != nullptr && *options_.interrupted) return resource_error("interrupted");
      if (std::ranges::find(captured, values) == captured.end()) PASSNET_TRY_VOID(write_variant(values));
    }
    return {};
  }

  Result<void> write_variant(const std::vector<int64_t>& values) {
    const std::string before = facts_.value("shape", "");
    const std::string shape = shape_name(before, symbols_, values);
    PASSNET_TRY(const Variant variant, variant_at(values));
    if (!variant.graph) {
      report_.skipped.push_back(fmt::format("{}: {}", shape, variant.refused));
      return {};
    }
    if (variant.largest_bytes > options_.max_bytes) {
      report_.skipped.push_back(fmt::format("{}: its largest value has {} bytes, at most {} are wanted (--max-bytes)",
                                            shape, variant.largest_bytes, options_.max_bytes));
      return {};
    }
    Json facts = facts_;
    facts["shape"] = shape;
    facts["generalized_from"] = model_.names.front();
    facts["symbols"] = Json::object();
    for (size_t k = 0; k < values.size(); ++k) facts["symbols"][fmt::format("S{}", k)] = values[k];
    update_input_shapes(facts, variant.metas);
    const std::string constraints = graphdir::print_constraints(constraints_of(variant.metas, symbols_, values));
    const std::string name = with_shape(model_.names.front(), before, shape);
    PASSNET_TRY_VOID(graphdir::write_graph_dir(
        out_ / name, {*variant.graph, variant.metas, facts, Json(), constraints, graphdir::HashRule::Graph}));
    PASSNET_TRY(const std::string refused, refused_by_run(out_ / name));
    if (refused.empty()) {
      report_.written.push_back(name);
    } else {
      std::error_code ignored;
      fs::remove_all(out_ / name, ignored);
      report_.skipped.push_back(fmt::format("{}: it does not run: {}", shape, refused));
    }
    return {};
  }

  // Types do not tell whether indices are in range. "" when it runs.
  Result<std::string> refused_by_run(const fs::path& path) {
    if (!options_.run) return std::string();
    PASSNET_TRY(const graphdir::GraphDir variant, graphdir::load_graph_dir(path));
    std::string refused = try_run(worker_, "variant", variant, timeout_);
    if (!worker_.alive()) PASSNET_TRY_VOID(worker_.start());
    return refused;
  }

  // "x": [1, 3, 224, 224], for L_x_.
  static void update_input_shapes(Json& facts, const std::vector<graphdir::TensorMeta>& metas) {
    const auto shapes = facts.find("input_shapes");
    if (shapes == facts.end() || !shapes->is_object()) return;
    for (const graphdir::TensorMeta& meta : metas) {
      for (auto& [name, shape] : shapes->items()) {
        if (meta.name == fmt::format("L_{}_", name)) shape = meta.shape;
      }
    }
  }

  const Model& model_;
  const fs::path out_;
  run::Worker& worker_;
  const GeneralizeOptions& options_;
  const std::chrono::milliseconds timeout_;
  const std::chrono::time_point<std::chrono::steady_clock, std::chrono::duration<double>> search_end_;
  GeneralizeReport& report_;
  std::vector<graphdir::GraphDir> captures_;       // all records among their weights
  std::vector<const graphdir::GraphDir*> others_;  // captures that are solved with the first
  Json facts_;
  std::optional<Typing> typing_;  // of the first capture
  std::vector<DataSymbol> symbols_;
  std::vector<analysis::NodeSizes> changes_;
};

GeneralizeLine generalize_one(const Model& model, const fs::path& out, run::SlotWorkers& workers, size_t slot,
                              const GeneralizeOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  GeneralizeLine line;
  line.report.graph = model.names.front();
  line.rules = generalize_rules(model, options);
  const Result<void> done = workers.with(slot, kGeneralizeId, [&](run::Worker& worker) {
    return Generalizing(model, out, worker, options, line.report).run();
  });
  if (!done) line.report.error = to_string(done.error());
  line.report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return line;
}

/// A line of an earlier run that says what this one would find.
bool still_generalized(const GeneralizeLine& line, const Model& model, const fs::path& out,
                       const GeneralizeOptions& options) {
  return line.report.error.empty() && line.rules == generalize_rules(model, options) &&
         std::ranges::all_of(line.report.written, [&](const std::string& name) { return entry_exists(out / name); });
}

/// What other rules gave does not stay beside what these give.
void remove_written(const GeneralizeLine& line, const fs::path& out) {
  std::error_code ignored;
  for (const std::string& name : line.report.written) fs::remove_all(out / name, ignored);
}

}  // namespace

Result<void> generalize(const std::vector<std::string>& roots, const fs::path& out, const GeneralizeOptions& options,
                        const std::function<void(const GeneralizeReport&)>& finished) {
  PASSNET_TRY(const std::vector<Model> models, find_models(roots));
  PASSNET_TRY(LineFile journal, LineFile::open(out / "generalize.jsonl", true));
  const std::map<std::string, GeneralizeLine> earlier = read_generalize_journal(journal.kept());
  const auto earlier_of = [&](const Model& model) {
    const auto line = earlier.find(model.names.front());
    return line == earlier.end() ? nullptr : &line->second;
  };
  const run::JobOptions job{options.jobs, options.interrupted};
  run::SlotWorkers workers(job);
  run::JobSteps<Model, GeneralizeLine, GeneralizeLine> steps;
  steps.find = [&](const Model& model) {
    const GeneralizeLine* line = earlier_of(model);
    return line != nullptr && still_generalized(*line, model, out, options) ? line : nullptr;
  };
  steps.work = [&](const Model& model, size_t slot) {
    if (const GeneralizeLine* line = earlier_of(model)) remove_written(*line, out);
    return generalize_one(model, out, workers, slot, options);
  };
  steps.keep = [&](GeneralizeLine& line) {
    const bool cut_short = job.is_interrupted() && !line.report.error.empty();
    return cut_short ? nullptr : &line;
  };
  steps.finished = [&](const GeneralizeLine& line) { finished(line.report); };
  return run::run_job(std::span(models), journal, job, steps);
}

}  // namespace passnet::dataset
