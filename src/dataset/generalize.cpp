#include "dataset/generalize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/file.h"
#include "base/in_order.h"
#include "dataset/data_symbols.h"
#include "dataset/graph_facts.h"
#include "dataset/graph_writer.h"
#include "dataset/identity.h"
#include "dataset/size_solver.h"
#include "dataset/variant_sizes.h"
#include "dataset/worker_pool.h"
#include "fx/print.h"
#include "fx/sample.h"
#include "ir/op_table.h"
#include "run/infer.h"
#include "run/session.h"

namespace passnet::dataset {

namespace fs = std::filesystem;

namespace {

constexpr const char* kId = "whole";
/// What most models for pictures divide their sizes by.
constexpr int64_t kPictureStep = 32;

/// Captures of one model, or of one piece of it.
struct Model {
  std::vector<fs::path> paths;
  std::vector<std::string> names;  // relative to their root
};

/// Shapes and sizes at one choice of inputs.
struct Types {
  ValueShapes shapes;
  int64_t largest_bytes = 0;  // of a value that is computed
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The path of a capture with something else in place of its shape: `toy/b4_r32/subgraph_0` ->
/// `toy/NEW/subgraph_0`. Where the path does not have the shape, behind it.
std::string with_shape(const std::string& path, const std::string& shape, const std::string& other) {
  fs::path made;
  bool found = false;
  for (const fs::path& part : fs::path(path)) {
    const bool is_shape = !shape.empty() && !found && part == shape;
    found |= is_shape;
    made /= is_shape ? fs::path(other) : part;
  }
  return (found ? made : made / other).string();
}

Result<std::vector<Model>> find_models(const std::vector<std::string>& roots) {
  std::vector<Model> models;
  std::map<std::string, size_t> by_key;
  for (const std::string& root : roots) {
    if (!fs::exists(root))
      return bad_input(fmt::format("'{}' does not exist", root))
          .with_hint("give directories with graphs: passnet dataset capture makes some");
    const std::vector<fs::path> paths = fx::find_graph_dirs(root);
    if (paths.empty()) return bad_input(fmt::format("no graph (model.py) at or below '{}'", root));
    for (const fs::path& path : paths) {
      const fs::path relative = path.lexically_relative(root);
      const std::string name =
          relative == "." ? fs::absolute(path).lexically_normal().filename().string() : relative.string();
      const std::string shape = read_facts(path).value("shape", "");
      const std::string key =
          fmt::format("{}\n{}", root, shape.empty() ? name : with_shape(name, shape, "*"));
      const auto [place, is_new] = by_key.try_emplace(key, models.size());
      if (is_new) models.emplace_back();
      models[place->second].paths.push_back(path);
      models[place->second].names.push_back(name);
    }
  }
  return models;
}

Types read_types(const ir::Graph& graph, const Json& values) {
  Types types;
  types.shapes = {std::vector<std::optional<std::vector<int64_t>>>(graph.size()),
                  std::vector<std::string>(graph.size()), std::vector<bool>(graph.size())};
  for (ir::NodeId id = 0; id < graph.size(); ++id) {
    const auto value = values.find(std::string(graph.node(id).name));
    if (value == values.end()) continue;
    if (const auto unknown = value->find("unknown"); unknown != value->end()) {
      types.shapes.unknown[id] = first_line(unknown->get<std::string>());
    } else if (value->contains("shape")) {
      types.shapes.shape[id] = value->at("shape").get<std::vector<int64_t>>();
      const std::string dtype = value->at("dtype").get<std::string>();
      types.shapes.integral[id] = dtype.starts_with("int") || dtype.starts_with("uint");
      int64_t bytes = ir::parse_dtype(dtype) ? ir::size_bytes(*ir::parse_dtype(dtype)) : 8;
      for (const int64_t size : *types.shapes.shape[id]) bytes *= size;
      if (graph.node(id).kind != ir::NodeKind::Placeholder)
        types.largest_bytes = std::max(types.largest_bytes, bytes);
    }
  }
  return types;
}

/// The value that an operator takes under this name or in this place.
ir::NodeId operand(const ir::Graph& graph, ir::NodeId id, size_t place, std::string_view name) {
  const std::span<const ir::Arg> args = graph.args(id);
  if (place < args.size() && args[place].kind == ir::ArgKind::Node) return args[place].node;
  for (const ir::Keyword& keyword : graph.keywords(id)) {
    if (keyword.name == name && keyword.value.kind == ir::ArgKind::Node) return keyword.value.node;
  }
  return ir::kNoNode;
}

/// What leaves a range a range of positions.
constexpr std::string_view kPositionOperators[] = {"add",     "contiguous", "cumsum",    "expand",
                                                   "getitem", "mul",        "repeat",    "reshape",
                                                   "to",      "type_as",    "unsqueeze", "view"};
static_assert(std::ranges::is_sorted(kPositionOperators));

/// The value counts positions: a range, or a sum of ones, with little done to it.
bool counts_positions(const ir::Graph& graph, ir::NodeId id) {
  bool counted = false;
  while (id != ir::kNoNode && graph.node(id).kind != ir::NodeKind::Placeholder) {
    const std::string_view op = ir::canonical_name(graph.node(id));
    if (op == "arange") return true;
    counted |= op == "cumsum";
    if (!std::ranges::binary_search(kPositionOperators, op)) break;
    id = operand(graph, id, 0, "input");
  }
  return counted;
}

/// What types alone do not refuse but a run does: an attention mask of other sizes, more positions than a
/// table has rows. shapes: of the graph as captured, which runs.
std::string refused_by_run(const ir::Graph& graph, ir::NodeId id, const ValueShapes& captured,
                           const ValueShapes& shapes) {
  const std::string_view op = ir::canonical_name(graph.node(id));
  const auto shape = [&](size_t place, std::string_view name,
                         const ValueShapes& of) -> const std::vector<int64_t>* {
    const ir::NodeId node = operand(graph, id, place, name);
    return node == ir::kNoNode || !of.shape[node] || of.shape[node]->empty() ? nullptr : &*of.shape[node];
  };
  if (op == "scaled_dot_product_attention") {
    const auto *query = shape(0, "query", shapes), *key = shape(1, "key", shapes),
               *mask = shape(3, "attn_mask", shapes);
    if (query == nullptr || key == nullptr || mask == nullptr || query->size() < 2 || key->size() < 2)
      return {};
    std::vector<int64_t> scores = *query;
    scores.back() = (*key)[key->size() - 2];
    for (size_t i = 1; i <= std::min(scores.size(), mask->size()); ++i) {
      const int64_t size = (*mask)[mask->size() - i];
      if (size != 1 && size != scores[scores.size() - i])
        return fmt::format("a mask of size {} for scores of size {}", size, scores[scores.size() - i]);
    }
  } else if (op == "embedding") {
    const auto *indices = shape(0, "input", shapes), *before = shape(0, "input", captured),
               *table = shape(1, "weight", shapes);
    if (indices == nullptr || before == nullptr || table == nullptr) return {};
    if (indices->back() > table->front() && before->back() <= table->front() &&
        counts_positions(graph, operand(graph, id, 0, "input")))
      return fmt::format("{} positions for a table of {} rows", indices->back(), table->front());
  }
  return {};
}

/// `b1_r224` with 2 and 256 for its symbols 1 and 224: `b2_r256`; where it does not say them, `s0_2_s1_256`.
std::string shape_name(const std::string& shape, std::span<const DataSymbol> symbols,
                       std::span<const int64_t> values) {
  std::string made;
  std::vector<bool> named(symbols.size());
  for (size_t i = 0; i < shape.size();) {
    size_t end = i;
    while (end < shape.size() && std::isdigit(static_cast<unsigned char>(shape[end])) != 0) ++end;
    if (end == i) {
      made += shape[i++];
      continue;
    }
    std::string number = shape.substr(i, end - i);
    for (size_t k = 0; k < symbols.size(); ++k) {
      if (number != std::to_string(symbols[k].example)) continue;
      number = std::to_string(values[k]);
      named[k] = true;
      break;
    }
    made += number;
    i = end;
  }
  if (!std::ranges::all_of(named, [](bool is) { return is; })) {
    made.clear();
    for (size_t k = 0; k < values.size(); ++k)
      made += fmt::format("{}s{}_{}", k > 0 ? "_" : "", k, values[k]);
  }
  return made;
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
        report_(report) {}

  Result<void> run() {
    for (const fs::path& path : model_.paths) {
      PASSNET_TRY(fx::GraphDir capture, fx::load_graph_dir(path));
      std::ranges::move(capture.inputs, std::back_inserter(capture.weights));
      capture.inputs.clear();
      captures_.push_back(std::move(capture));
    }
    facts_ = read_facts(model_.paths.front());
    PASSNET_TRY(base_types_, types_at(graph(), metas()));
    std::vector<const fx::GraphDir*> alike{&captures_.front()};
    for (size_t i = 1; i < captures_.size() && !options_.check; ++i) {
      if (is_like_first(captures_[i])) alike.push_back(&captures_[i]);
    }
    fx::Constraints constraints;
    if (!options_.check) {
      PASSNET_TRY(constraints, read_constraints());
    }
    others_.assign(alike.begin() + 1, alike.end());
    PASSNET_TRY_VOID(choose_symbols(find_symbols(alike, constraints)));
    for (size_t k = 0; k < symbols_.size(); ++k) report_.symbols[fmt::format("S{}", k)] = symbols_[k].example;
    for (const NodeSizes& change : changes_) {
      for (size_t i = 0; i < change.slots.size(); ++i) {
        if (!change.sizes[i].is_constant())
          report_.rewritten.push_back(fmt::format("{}: {} {} = {}", graph().node(change.node).name,
                                                  graph().node(change.node).target, change.slots[i].value,
                                                  to_string(change.sizes[i], graph())));
      }
    }
    return options_.check ? compare() : write_variants();
  }

 private:
  const ir::Graph& graph() const { return captures_.front().graph; }
  const std::vector<fx::TensorMeta>& metas() const { return captures_.front().weights; }

  // The same nodes, but for integers.
  bool is_like_first(const fx::GraphDir& other) const {
    if (structure_hash(graph()) != structure_hash(other.graph) || other.graph.size() != graph().size() ||
        other.weights.size() != metas().size())
      return false;
    for (ir::NodeId id = 0; id < graph().size(); ++id) {
      if (graph().node(id).target != other.graph.node(id).target ||
          graph().node(id).name != other.graph.node(id).name)
        return false;
    }
    for (size_t i = 0; i < metas().size(); ++i) {
      if (metas()[i].shape.size() != other.weights[i].shape.size()) return false;
    }
    return true;
  }

  Result<fx::Constraints> read_constraints() const {
    const fs::path file = model_.paths.front() / "input_tensor_constraints.py";
    if (!entry_exists(file)) return fx::Constraints();
    PASSNET_TRY(const std::string text, read_file(file));
    return fx::parse_constraints(file.string(), text);
  }

  Result<Types> types_at(const ir::Graph& graph, const std::vector<fx::TensorMeta>& metas) {
    if (!worker_.alive()) PASSNET_TRY_VOID(worker_.start());
    if (auto loaded = run::load_graph(worker_, kId, graph, {}, {}, timeout_); !loaded)
      return loaded.error().error;
    return loaded_types_at(graph, metas);
  }
  Result<Types> loaded_types_at(const ir::Graph& graph, const std::vector<fx::TensorMeta>& metas) {
    auto inferred = run::infer_types(worker_, kId, graph, {fx::print_meta(metas), ""}, timeout_);
    if (!inferred) return inferred.error().error;
    Types types = read_types(this->graph(), inferred->values);
    for (ir::NodeId id = this->graph().placeholder_count();
         !base_types_.shapes.shape.empty() && id < types.shapes.unknown.size(); ++id) {
      if (types.shapes.unknown[id].empty())
        types.shapes.unknown[id] = refused_by_run(this->graph(), id, base_types_.shapes, types.shapes);
    }
    return types;
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
    std::vector<std::vector<fx::TensorMeta>> records;
    SizeTrials trials;
    for (const fx::GraphDir* other : others_) {
      records.push_back(other->weights);
      trials.captured.push_back(&other->graph);
    }
    for (const std::vector<int64_t>& values : trial_values(symbols, steps)) {
      records.push_back(resized(metas(), symbols, values));
      trials.captured.push_back(nullptr);
    }
    trials.infer = [this, records = std::move(records)](
                       const ir::Graph& graph,
                       std::span<const size_t> wanted) -> Result<std::vector<ValueShapes>> {
      std::vector<ValueShapes> found;
      for (const size_t trial : wanted) {
        PASSNET_TRY(Types types, trial == wanted.front() ? types_at(graph, records[trial])
                                                         : loaded_types_at(graph, records[trial]));
        found.push_back(std::move(types.shapes));
      }
      return found;
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
      PASSNET_TRY(SizeSolution solution,
                  solve_sizes(graph(), base_types_.shapes, trials_for(tried, steps), changes_));
      // Where twice the size is beyond a table, or of another remainder.
      steps.back() = candidate.is_of_pictures ? kPictureStep : candidate.example / 4;
      if (solution.misfit && steps.back() > 1 && candidate.example > steps.back()) {
        PASSNET_TRY(SizeSolution again,
                    solve_sizes(graph(), base_types_.shapes, trials_for(tried, steps), changes_));
        if (!again.misfit) solution = std::move(again);
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
    std::vector<fx::TensorMeta> metas;
    int64_t largest_bytes = 0;
    std::string refused;
  };
  Result<Variant> variant_at(const std::vector<int64_t>& values) {
    Variant variant;
    variant.metas = resized(metas(), symbols_, values);
    PASSNET_TRY(const Types types, types_at(with_size_calls(graph(), changes_), variant.metas));
    for (ir::NodeId id = 0; id < graph().size(); ++id) {
      if (types.shapes.unknown[id].empty() || !base_types_.shapes.unknown[id].empty()) continue;
      variant.refused = describe({id, types.shapes.unknown[id]});
      return variant;
    }
    variant.largest_bytes = types.largest_bytes;
    variant.graph = with_sizes_at(graph(), changes_, types.shapes);
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

  Result<std::string> compare_with(const fx::GraphDir& other) {
    const auto values = values_in(metas(), symbols_, other.weights);
    if (symbols_.empty() && report_.dropped.empty()) return std::string("refused: no data input has a size");
    if (!values) {
      const std::string dropped = report_.dropped.empty() ? "" : ": " + report_.dropped.back();
      return "refused: its sizes are not those of the symbols" + dropped;
    }
    PASSNET_TRY(const Variant variant, variant_at(*values));
    if (!variant.graph) return "refused: " + variant.refused;
    if (identity_hash(*variant.graph) == identity_hash(other.graph)) return std::string("exact");
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
    for (const fx::GraphDir& capture : captures_) {
      if (const auto values = values_in(metas(), symbols_, capture.weights)) captured.push_back(*values);
    }
    std::unique_ptr<bool[]> pictures(new bool[symbols_.size()]);
    std::vector<int64_t> examples;
    for (size_t k = 0; k < symbols_.size(); ++k) {
      pictures[k] = symbols_[k].is_of_pictures;
      examples.push_back(symbols_[k].example);
    }
    const std::string signature = fx::signature(constraints_of(metas(), symbols_, examples));
    for (const std::vector<int64_t>& values : variant_sizes(signature, {pictures.get(), symbols_.size()})) {
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
      report_.skipped.push_back(
          fmt::format("{}: its largest value has {} bytes, at most {} are wanted (--max-bytes)", shape,
                      variant.largest_bytes, options_.max_bytes));
      return {};
    }
    Json facts = facts_;
    facts["shape"] = shape;
    facts["generalized_from"] = model_.names.front();
    facts["symbols"] = Json::object();
    for (size_t k = 0; k < values.size(); ++k) facts["symbols"][fmt::format("S{}", k)] = values[k];
    update_input_shapes(facts, variant.metas);
    const std::string constraints = fx::print_constraints(constraints_of(variant.metas, symbols_, values));
    const std::string name = with_shape(model_.names.front(), before, shape);
    PASSNET_TRY_VOID(write_graph_dir(
        out_ / name, {*variant.graph, variant.metas, facts, Json(), constraints, fx::HashRule::Graph}));
    report_.written.push_back(name);
    return {};
  }

  // "x": [1, 3, 224, 224], for L_x_.
  static void update_input_shapes(Json& facts, const std::vector<fx::TensorMeta>& metas) {
    const auto shapes = facts.find("input_shapes");
    if (shapes == facts.end() || !shapes->is_object()) return;
    for (const fx::TensorMeta& meta : metas) {
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
  GeneralizeReport& report_;
  std::vector<fx::GraphDir> captures_;       // all records among their weights
  std::vector<const fx::GraphDir*> others_;  // captures that are solved with the first
  Json facts_;
  Types base_types_;
  std::vector<DataSymbol> symbols_;
  std::vector<NodeSizes> changes_;
};

GeneralizeReport generalize_one(const Model& model, const fs::path& out, WorkerPool& workers,
                                const GeneralizeOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  GeneralizeReport report;
  report.graph = model.names.front();
  Result<std::unique_ptr<run::Worker>> worker = workers.take();
  if (!worker) {
    report.error = to_string(worker.error());
    return report;
  }
  if (const Result<void> done = Generalizing(model, out, **worker, options, report).run(); !done)
    report.error = to_string(done.error());
  if ((*worker)->alive()) (void)run::unload_graph(**worker, kId, std::chrono::seconds(60)).has_value();
  workers.give_back(std::move(*worker));
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

}  // namespace

Json to_json(const GeneralizeReport& report) {
  Json json{{"graph", report.graph},         {"symbols", report.symbols}, {"dropped", report.dropped},
            {"rewritten", report.rewritten}, {"written", report.written}, {"skipped", report.skipped},
            {"seconds", report.seconds}};
  if (!report.error.empty()) json["error"] = report.error;
  if (!report.compared.empty()) json["compared"] = report.compared;
  return json;
}

Result<void> generalize(const std::vector<std::string>& roots, const fs::path& out,
                        const GeneralizeOptions& options,
                        const std::function<void(const GeneralizeReport&)>& finished) {
  PASSNET_TRY(const std::vector<Model> models, find_models(roots));
  WorkerPool workers(options.interrupted);
  std::string journal;
  size_t next = 0;
  const auto is_over = [&] { return options.interrupted != nullptr && *options.interrupted; };
  map_in_order(
      [&]() -> std::optional<const Model*> {
        return next < models.size() && !is_over() ? std::optional(&models[next++]) : std::nullopt;
      },
      [&](const Model* model) { return generalize_one(*model, out, workers, options); },
      [&](const GeneralizeReport& report) {
        if (is_over()) return;
        journal += dump(to_json(report)) + "\n";
        finished(report);
      },
      static_cast<size_t>(options.jobs));
  PASSNET_TRY_VOID(write_file(out / "generalize.jsonl", journal));
  if (is_over()) return resource_error("interrupted");
  return {};
}

}  // namespace passnet::dataset
