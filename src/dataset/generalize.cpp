#include "dataset/generalize.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "analysis/identity.h"
#include "base/file/file.h"
#include "base/file/leftovers.h"
#include "base/file/line_file.h"
#include "base/hash.h"
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
#include "run/batch/job.h"
#include "run/worker/requests.h"

namespace passnet::dataset {

namespace {

/// What most models for pictures divide their sizes by.
constexpr int64_t kPictureStep = 32;

std::string rules_of(const Model& model, const GeneralizeOptions& options) {
  std::string rules =
      fmt::format("{} {} {} {} {}", options.variants, options.max_bytes, options.check, options.search_s, options.run);
  for (const fs::path& path : model.paths) {
    for (const char* file : {"model.py", "weight_meta.py", "input_meta.py", "input_tensor_constraints.py"}) {
      const Result<std::string> text = read_beneath(path, file, FileKind::Graph);
      rules += fmt::format("\n{}\n{}", file, text ? *text : "");
    }
  }
  return sha256_hex(rules);
}

std::vector<int64_t> examples_of(std::span<const DataSymbol> symbols) {
  std::vector<int64_t> examples;
  for (const DataSymbol& symbol : symbols) examples.push_back(symbol.example);
  return examples;
}

/// Captures of one model, and what is found of the first, which is made anew at other sizes.
struct Capture {
  const Model& model;
  run::Worker& worker;
  std::chrono::milliseconds timeout;
  std::vector<graphdir::GraphDir> all;           // all records are among their weights
  std::vector<const graphdir::GraphDir*> alike;  // the first, and those that its integers have to give, too
  Json facts;
  Typing typing;
  std::vector<DataSymbol> symbols = {};           // that may change
  std::vector<analysis::NodeSizes> changes = {};  // of its integers, so that it fits other sizes of the symbols

  const ir::Graph& graph() const { return all.front().graph; }
  const std::vector<graphdir::TensorMeta>& metas() const { return all.front().weights; }
};

// The same nodes, but for integers.
bool are_alike(const graphdir::GraphDir& one, const graphdir::GraphDir& other) {
  if (analysis::structure_hash(one.graph) != analysis::structure_hash(other.graph) ||
      other.graph.size() != one.graph.size() || other.weights.size() != one.weights.size())
    return false;
  for (ir::NodeId id = 0; id < one.graph.size(); ++id) {
    const ir::Node &ours = one.graph.node(id), &theirs = other.graph.node(id);
    if (ours.target != theirs.target || ours.name != theirs.name) return false;
  }
  const auto rank = [](const graphdir::TensorMeta& meta) { return meta.shape.size(); };
  return std::ranges::equal(one.weights, other.weights, {}, rank, rank);
}

Result<Capture> load_capture(const Model& model, run::Worker& worker, const GeneralizeOptions& options) {
  std::vector<graphdir::GraphDir> all;
  for (const fs::path& path : model.paths) {
    PASSNET_TRY(graphdir::GraphDir capture, graphdir::load_graph_dir(path));
    std::ranges::move(capture.inputs, std::back_inserter(capture.weights));
    capture.inputs.clear();
    all.push_back(std::move(capture));
  }
  const graphdir::GraphDir& first = all.front();
  std::vector<const graphdir::GraphDir*> alike{&first};
  for (size_t i = 1; i < all.size() && !options.check; ++i) {
    if (are_alike(first, all[i])) alike.push_back(&all[i]);
  }
  const std::chrono::milliseconds timeout(static_cast<int64_t>(options.timeout_s * 1000));
  Typing typing(first.graph, worker, run::SlotWorkers::kGraph, timeout);
  PASSNET_TRY_VOID(typing.infer_captured(first.weights));
  Json facts = graphdir::read_facts(model.paths.front());
  return Capture{model, worker, timeout, std::move(all), std::move(alike), std::move(facts), std::move(typing)};
}

Result<std::vector<DataSymbol>> find_candidates(const Capture& capture, const GeneralizeOptions& options) {
  const fs::path file = capture.model.paths.front() / "input_tensor_constraints.py";
  if (options.check || !entry_exists(file)) return find_symbols(capture.alike, {});
  PASSNET_TRY(const std::string text, read_file(file, FileKind::Graph));
  PASSNET_TRY(const graphdir::Constraints constraints, graphdir::parse_constraints(file.string(), text));
  return find_symbols(capture.alike, constraints);
}

// --- Which symbols may change, and what integers stand for ---

// Each symbol twice alone, then all together. steps: by symbol; 0 doubles the size, which keeps whatever divided it.
std::vector<std::vector<int64_t>> trial_values(std::span<const DataSymbol> symbols, std::span<const int64_t> steps) {
  const std::vector<int64_t> examples = examples_of(symbols);
  std::vector<std::vector<int64_t>> rows;
  for (size_t k = 0; k < symbols.size(); ++k) {
    const int64_t example = examples[k], step = steps[k] > 0 ? steps[k] : example;
    for (const int64_t value : {example == 1 ? 3 : example + step, example == 1 ? 5 : example + 2 * step}) {
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

// The other captures, then the first at other sizes. why_over: as in SizeTrials.
SizeTrials trials_for(Capture& capture, std::span<const DataSymbol> symbols, std::span<const int64_t> steps,
                      std::function<std::string()> why_over) {
  std::vector<std::vector<graphdir::TensorMeta>> records;
  SizeTrials trials;
  for (const graphdir::GraphDir* other : std::span(capture.alike).subspan(1)) {
    records.push_back(other->weights);
    trials.captured.push_back(&other->graph);
  }
  for (const std::vector<int64_t>& values : trial_values(symbols, steps)) {
    records.push_back(resized(capture.metas(), symbols, values));
    trials.captured.push_back(nullptr);
  }
  trials.infer = [&typing = capture.typing, records = std::move(records)](
                     const ir::Graph& graph,
                     std::span<const size_t> wanted) -> Result<std::vector<analysis::ValueShapes>> {
    std::vector<analysis::ValueShapes> found;
    for (const size_t trial : wanted) {
      PASSNET_TRY(Types types,
                  trial == wanted.front() ? typing.at(graph, records[trial]) : typing.also_at(records[trial]));
      found.push_back(std::move(types.shapes));
    }
    return found;
  };
  trials.why_over = std::move(why_over);
  return trials;
}

std::string describe(const ir::Graph& graph, const Misfit& misfit) {
  if (misfit.node == ir::kNoNode) return misfit.why;
  return fmt::format("{}: {}", fx::print_node(graph, graph.node(misfit.node)), misfit.why);
}

// One symbol after the other, as upstream does: one stays when the graph can be made to fit it and those before.
// dropped: gets the sizes that may not change, and why.
Result<void> choose_sizes(Capture& capture, const std::vector<DataSymbol>& candidates,
                          const std::function<std::string()>& why_over, std::vector<std::string>& dropped) {
  std::vector<int64_t> steps;
  for (const DataSymbol& candidate : candidates) {
    std::vector<DataSymbol> tried = capture.symbols;
    tried.push_back(candidate);
    steps.push_back(0);
    const auto solve = [&] {
      return solve_sizes(capture.graph(), capture.typing.captured(), trials_for(capture, tried, steps, why_over),
                         capture.changes);
    };
    PASSNET_TRY(SizeSolution solution, solve());
    // Where twice the size is beyond a table, or of another remainder.
    const int64_t step = candidate.is_of_pictures ? kPictureStep : candidate.example / 4;
    if (solution.misfit && step > 1 && candidate.example > step) {
      steps.back() = step;
      PASSNET_TRY(SizeSolution again, solve());
      if (!again.misfit || again.misfit->node == ir::kNoNode) solution = std::move(again);  // or cut short
    }
    if (solution.misfit) {
      steps.pop_back();
      dropped.push_back(fmt::format("{}: {}", candidate.example, describe(capture.graph(), *solution.misfit)));
      continue;
    }
    capture.symbols = std::move(tried);
    capture.changes = std::move(solution.changes);
  }
  return {};
}

// "name: view 196 = x.size(1)"
std::vector<std::string> rewritten_of(const Capture& capture) {
  std::vector<std::string> rewritten;
  for (const analysis::NodeSizes& change : capture.changes) {
    const ir::Node& node = capture.graph().node(change.node);
    for (size_t i = 0; i < change.slots.size(); ++i) {
      if (change.sizes[i].is_constant()) continue;
      rewritten.push_back(fmt::format("{}: {} {} = {}", node.name, node.target, change.slots[i].value,
                                      to_string(change.sizes[i], capture.graph())));
    }
  }
  return rewritten;
}

// --- Variants ---

/// The graph at other sizes, or why it is not there.
struct Variant {
  std::optional<ir::Graph> graph;
  std::vector<graphdir::TensorMeta> metas;
  int64_t largest_bytes = 0;
  std::string refused;
};

Result<Variant> make_variant(Capture& capture, const std::vector<int64_t>& values) {
  const ir::Graph& graph = capture.graph();
  const analysis::ValueShapes& captured = capture.typing.captured();
  Variant variant;
  variant.metas = resized(capture.metas(), capture.symbols, values);
  PASSNET_TRY(const Types types, capture.typing.at(analysis::with_size_calls(graph, capture.changes), variant.metas));
  for (ir::NodeId id = graph.placeholder_count(); id < graph.size(); ++id) {
    std::string why = captured.unknown[id].empty() ? types.shapes.unknown[id] : "";
    if (why.empty()) why = depends_on_size(graph, id, captured, types.shapes);
    if (why.empty()) continue;
    variant.refused = describe(graph, {id, std::move(why)});
    return variant;
  }
  variant.largest_bytes = types.largest_bytes;
  variant.graph = analysis::with_sizes_at(graph, capture.changes, types.shapes);
  if (!variant.graph) variant.refused = "a size would be no integer";
  return variant;
}

// "x": [1, 3, 224, 224], for L_x_.
void update_input_shapes(Json& facts, const std::vector<graphdir::TensorMeta>& metas) {
  const auto shapes = facts.find("input_shapes");
  if (shapes == facts.end() || !shapes->is_object()) return;
  for (const graphdir::TensorMeta& meta : metas) {
    for (auto& [name, shape] : shapes->items()) {
      if (meta.name == fmt::format("L_{}_", name)) shape = meta.shape;
    }
  }
}

// Returns: "" when it is written to `path`, else why not.
Result<std::string> write_variant(Capture& capture, const std::vector<int64_t>& values, const std::string& shape,
                                  const fs::path& path, const GeneralizeOptions& options) {
  PASSNET_TRY(const Variant variant, make_variant(capture, values));
  if (!variant.graph) return variant.refused;
  if (variant.largest_bytes > options.max_bytes)
    return fmt::format("its largest value has {} bytes, at most {} are wanted (--max-bytes)", variant.largest_bytes,
                       options.max_bytes);
  Json facts = capture.facts;
  facts["shape"] = shape;
  facts["generalized_from"] = capture.model.names.front();
  facts["symbols"] = Json::object();
  for (size_t k = 0; k < values.size(); ++k) facts["symbols"][fmt::format("S{}", k)] = values[k];
  update_input_shapes(facts, variant.metas);
  const std::string constraints = graphdir::print_constraints(constraints_of(variant.metas, capture.symbols, values));
  PASSNET_TRY_VOID(graphdir::write_graph_dir(
      path, {*variant.graph, variant.metas, facts, Json(), constraints, graphdir::HashRule::Graph}));
  if (!options.run) return std::string();
  // Types do not tell whether indices are in range.
  PASSNET_TRY(const graphdir::GraphDir written, graphdir::load_graph_dir(path));
  const std::string refused = try_run(capture.worker, written, capture.timeout);
  if (!capture.worker.alive()) PASSNET_TRY_VOID(capture.worker.start());
  if (refused.empty()) return std::string();
  std::error_code ignored;
  fs::remove_all(path, ignored);
  return "it does not run: " + refused;
}

Result<void> write_variants(Capture& capture, const fs::path& out, const GeneralizeOptions& options,
                            GeneralizeReport& report) {
  std::vector<std::vector<int64_t>> captured;
  for (const graphdir::GraphDir& one : capture.all) {
    if (const auto values = values_in(capture.metas(), capture.symbols, one.weights)) captured.push_back(*values);
  }
  const std::string signature =
      graphdir::signature(constraints_of(capture.metas(), capture.symbols, examples_of(capture.symbols)));
  const std::string before = capture.facts.value("shape", "");
  for (const std::vector<int64_t>& values : variant_sizes(signature, capture.symbols)) {
    if (report.written.size() == options.variants) break;
    if (options.interrupted != nullptr && *options.interrupted) return resource_error("interrupted");
    if (std::ranges::find(captured, values) != captured.end()) continue;
    const std::string shape = shape_name(before, capture.symbols, values);
    const std::string name = with_shape(capture.model.names.front(), before, shape);
    PASSNET_TRY(const std::string skipped, write_variant(capture, values, shape, out / name, options));
    if (skipped.empty())
      report.written.push_back(name);
    else
      report.skipped.push_back(fmt::format("{}: {}", shape, skipped));
  }
  return {};
}

// --- The first capture made what the others are ---

// The first statement that differs, both ways.
std::string difference(const ir::Graph& made, const ir::Graph& captured) {
  for (ir::NodeId id = 0; id < std::min(made.size(), captured.size()); ++id) {
    const std::string ours = fx::print_node(made, made.node(id)), theirs = fx::print_node(captured, captured.node(id));
    if (ours != theirs) return fmt::format("{}  captured: {}", ours, theirs);
  }
  return fmt::format("{} nodes, captured: {}", made.size(), captured.size());
}

// dropped: of the report.
Result<std::string> compare_with(Capture& capture, const graphdir::GraphDir& other,
                                 const std::vector<std::string>& dropped) {
  const auto values = values_in(capture.metas(), capture.symbols, other.weights);
  if (capture.symbols.empty() && dropped.empty()) return std::string("refused: no data input has a size");
  if (!values)
    return "refused: its sizes are not those of the symbols" + (dropped.empty() ? "" : ": " + dropped.back());
  PASSNET_TRY(const Variant variant, make_variant(capture, *values));
  if (!variant.graph) return "refused: " + variant.refused;
  if (analysis::identity_hash(*variant.graph) == analysis::identity_hash(other.graph)) return std::string("exact");
  if (*values == examples_of(capture.symbols))
    return std::string("refused: its inputs have the sizes of the first, its numbers do not");
  return "different: " + difference(*variant.graph, other.graph);
}

Result<void> generalize_in(run::Worker& worker, const Model& model, const fs::path& out,
                           const GeneralizeOptions& options, GeneralizeReport& report) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(options.search_s);
  const auto why_over = [&] {
    const bool over = std::chrono::steady_clock::now() >= end;
    return over ? fmt::format("not settled within {} s", options.search_s) : std::string();
  };
  PASSNET_TRY(Capture capture, load_capture(model, worker, options));
  PASSNET_TRY(const std::vector<DataSymbol> candidates, find_candidates(capture, options));
  PASSNET_TRY_VOID(choose_sizes(capture, candidates, why_over, report.dropped));
  for (size_t k = 0; k < capture.symbols.size(); ++k)
    report.symbols[fmt::format("S{}", k)] = capture.symbols[k].example;
  report.rewritten = rewritten_of(capture);
  if (!options.check) return write_variants(capture, out, options, report);
  for (size_t i = 1; i < capture.all.size(); ++i) {
    PASSNET_TRY(report.compared[model.names[i]], compare_with(capture, capture.all[i], report.dropped));
  }
  return {};
}

GeneralizeLine generalize_one(const Model& model, const fs::path& out, run::SlotWorkers& workers, size_t slot,
                              const GeneralizeOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  GeneralizeLine line;
  line.report.graph = model.names.front();
  line.rules = rules_of(model, options);
  const Result<void> done =
      workers.with(slot, [&](run::Worker& worker) { return generalize_in(worker, model, out, options, line.report); });
  if (!done) line.report.error = to_string(done.error());
  line.report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return line;
}

// The line of an earlier run says what this one would find.
bool still_valid(const GeneralizeLine& line, const Model& model, const fs::path& out,
                 const GeneralizeOptions& options) {
  return line.report.error.empty() && line.rules == rules_of(model, options) &&
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
  remove_leftovers(out);
  PASSNET_TRY(LineFile journal, LineFile::open(out / "generalize.jsonl", true));
  const std::map<std::string, GeneralizeLine> earlier = read_generalize_journal(journal.kept());
  const auto earlier_of = [&](const Model& model) { return run::find_line(earlier, model.names.front()); };
  const run::JobOptions job{options.jobs, options.interrupted};
  run::SlotWorkers workers(job);
  run::JobSteps<Model, GeneralizeLine, GeneralizeLine> steps;
  steps.find = [&](const Model& model) {
    const GeneralizeLine* line = earlier_of(model);
    return line != nullptr && still_valid(*line, model, out, options) ? line : nullptr;
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
