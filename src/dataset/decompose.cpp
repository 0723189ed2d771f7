#include "dataset/decompose.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "base/file.h"
#include "base/in_order.h"
#include "dataset/cut.h"
#include "dataset/describe.h"
#include "dataset/fusible.h"
#include "dataset/graph_facts.h"
#include "dataset/graph_writer.h"
#include "dataset/identity.h"
#include "dataset/kernel_count.h"
#include "dataset/op_name.h"
#include "dataset/sources.h"
#include "dataset/worker_pool.h"
#include "fx/parser.h"
#include "fx/replay.h"
#include "fx/sample.h"
#include "run/infer.h"
#include "run/session.h"

namespace passnet::dataset {

namespace fs = std::filesystem;

namespace {

constexpr const char* kId = "whole";

struct Whole {
  fs::path path;
  std::string name;  // relative to its root
  std::vector<Range> typical;
};

/// A piece that is a graph of its own.
struct Found {
  Kind kind;
  Range range;
  size_t number;  // among the ranges of its kind
  ir::Graph graph;
  std::vector<fx::TensorMeta> metas;
  std::string identity;
};

/// All that is learnt of one whole graph.
struct Analysis {
  const Whole* whole = nullptr;
  WholeReport report;
  Json facts = Json::object();
  std::vector<Found> found;
};

// Whole graphs below the roots, each once, with the typical ranges that they have together.
Result<std::vector<Whole>> find_wholes(const std::vector<std::string>& roots,
                                       const DecomposeOptions& options) {
  std::vector<Whole> wholes;
  std::vector<std::vector<uint32_t>> sequences;
  std::unordered_map<std::string, uint32_t> numbers;
  const bool with_typical =
      std::find(options.kinds.begin(), options.kinds.end(), Kind::Typical) != options.kinds.end();
  for (const std::string& root : roots) {
    if (!fs::exists(root))
      return bad_input(fmt::format("'{}' does not exist", root))
          .with_hint("give directories with graphs: passnet dataset capture makes some");
    const std::vector<fs::path> paths = fx::find_graph_dirs(root);
    if (paths.empty()) return bad_input(fmt::format("no graph (model.py) at or below '{}'", root));
    for (const fs::path& path : paths) {
      const fs::path relative = path.lexically_relative(root);
      wholes.push_back(
          {path,
           relative == "." ? fs::absolute(path).lexically_normal().filename().string() : relative.string(),
           {}});
      if (!with_typical) continue;
      sequences.emplace_back();
      // One that cannot be read has no operators here; its error is told when it is its turn.
      if (const Result<ir::Graph> graph = fx::load_model((path / "model.py").string())) {
        for (const std::string& op : op_names(*graph))
          sequences.back().push_back(numbers.try_emplace(op, numbers.size()).first->second);
      }
    }
  }
  if (with_typical) {
    std::vector<std::vector<Range>> ranges = typical_ranges(sequences, options.typical);
    for (size_t i = 0; i < wholes.size(); ++i) wholes[i].typical = std::move(ranges[i]);
  }
  return wholes;
}

std::vector<int64_t> elements_of(const ir::Graph& graph, const Json& values) {
  std::vector<int64_t> elements(graph.size(), -1);
  for (ir::NodeId id = 0; id < graph.size(); ++id) {
    const auto value = values.find(std::string(graph.node(id).name));
    if (value == values.end() || !value->contains("shape")) continue;
    elements[id] = 1;
    for (const Json& size : value->at("shape")) elements[id] *= size.get<int64_t>();
  }
  return elements;
}

std::vector<Range> ranges_of(Kind kind, const Whole& whole, const ir::Graph& graph, const Json& types) {
  switch (kind) {
    case Kind::Typical:
      return whole.typical;
    case Kind::Fusible:
      return fusible_ranges(kernel_counts(graph, elements_of(graph, types)));
    case Kind::SoleOp:
      break;
  }
  std::vector<Range> ranges;
  for (size_t i = 0; i < body_size(graph); ++i) ranges.push_back({i, i + 1});
  return ranges;
}

class WholeAnalysis {
 public:
  WholeAnalysis(const Whole& whole, run::Worker& worker, const DecomposeOptions& options)
      : whole_(whole),
        worker_(worker),
        options_(options),
        timeout_(static_cast<int64_t>(options.timeout_s * 1000)) {}

  Result<void> into(Analysis& analysis) {
    PASSNET_TRY(const fx::GraphDir graph, fx::load_graph_dir(whole_.path));
    analysis.facts = read_facts(whole_.path);
    if (auto loaded = run::load_graph(worker_, kId, graph.graph, {}, {}, timeout_); !loaded)
      return loaded.error().error;
    auto types = run::infer_types(worker_, kId, graph, timeout_);
    if (!types) return types.error().error;
    Json values = std::move(types->values);

    struct Cut {
      Kind kind;
      Range range;
      size_t number;
      Piece piece;
    };
    std::vector<Cut> cuts;
    for (const Kind kind : options_.kinds) {
      const std::vector<Range> ranges = ranges_of(kind, whole_, graph.graph, values);
      analysis.report.pieces[std::string(name(kind))] = ranges.size();
      for (size_t i = 0; i < ranges.size(); ++i)
        cuts.push_back({kind, ranges[i], i, cut(graph.graph, ranges[i])});
    }
    std::vector<std::string> wanted;
    for (const Cut& one : cuts) {
      for (const ir::NodeId input : one.piece.inputs) {
        const ir::Node& node = graph.graph.node(input);
        if (node.kind != ir::NodeKind::Placeholder) wanted.emplace_back(node.name);
      }
    }
    if (options_.measure) {
      auto measured = measure(graph, std::move(wanted));
      if (measured)
        values = std::move(*measured);
      else
        analysis.report.not_measured = to_string(measured.error().error);
    }
    for (Cut& one : cuts) {
      if (one.piece.outputs.empty()) {
        ++analysis.report.left_out["nothing uses its results"];
        continue;
      }
      Result<std::vector<fx::TensorMeta>> metas = describe_inputs(one.piece, graph, values);
      if (!metas) {
        ++analysis.report.left_out[metas.error().message];
        continue;
      }
      std::string identity = identity_hash(one.piece.graph);
      analysis.found.push_back({one.kind, one.range, one.number, std::move(one.piece.graph),
                                std::move(*metas), std::move(identity)});
    }
    return {};
  }

 private:
  run::Answer<Json> measure(const fx::GraphDir& graph, std::vector<std::string> wanted) {
    run::Answer<run::Bundle> inputs = run::replay_inputs(worker_, kId, graph, fx::kReplaySeed, timeout_);
    if (!inputs) return tl::unexpected(std::move(inputs).error());
    if (auto set = run::set_inputs(worker_, kId, *inputs, timeout_); !set)
      return tl::unexpected(std::move(set).error());
    return run::trace_values(worker_, kId, wanted, timeout_);
  }

  const Whole& whole_;
  run::Worker& worker_;
  const DecomposeOptions& options_;
  const std::chrono::milliseconds timeout_;
};

Analysis analyse(const Whole& whole, WorkerPool& workers, const DecomposeOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  Analysis analysis;
  analysis.whole = &whole;
  analysis.report.graph = whole.name;
  Result<std::unique_ptr<run::Worker>> worker = workers.take();
  if (!worker) {
    analysis.report.error = to_string(worker.error());
    return analysis;
  }
  if (const Result<void> done = WholeAnalysis(whole, **worker, options).into(analysis); !done)
    analysis.report.error = to_string(done.error());
  if ((*worker)->alive()) (void)run::unload_graph(**worker, kId, std::chrono::seconds(60)).has_value();
  workers.give_back(std::move(*worker));
  analysis.report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return analysis;
}

/// What has been written: the first of equal pieces, and where all of them come from.
class Unique {
 public:
  explicit Unique(fs::path out) : out_(std::move(out)) {}

  Result<void> add(Analysis& analysis) {
    // Pieces of graphs captured at other shapes are kept beside each other: they are variants.
    const std::string shapes = analysis.facts.value("shape", "");
    for (Found& piece : analysis.found) {
      const std::string key = fmt::format("{} {} {}", name(piece.kind), shapes, piece.identity);
      const auto [place, is_new] = entries_.try_emplace(key, Entry{path_of(*analysis.whole, piece), {}, 0});
      Entry& entry = place->second;
      entry.sources[analysis.whole->name].insert(piece.range);
      ++entry.count;
      if (!is_new) continue;
      Json facts = analysis.facts;
      facts["kind"] = name(piece.kind);
      facts["identity"] = piece.identity;
      PASSNET_TRY_VOID(
          write_graph_dir(entry.path, {piece.graph, piece.metas, facts, to_json(entry.sources)}));
      ++analysis.report.written[std::string(name(piece.kind))];
    }
    return {};
  }

  /// The sources of pieces that were found more than once.
  Result<void> write_sources() const {
    for (const auto& [key, entry] : entries_) {
      if (entry.count < 2) continue;
      PASSNET_TRY_VOID(
          write_file(entry.path / "subgraph_sources.json", print_indented(to_json(entry.sources))));
    }
    return {};
  }

 private:
  struct Entry {
    fs::path path;
    Sources sources;
    size_t count = 0;
  };
  fs::path path_of(const Whole& whole, const Found& piece) const {
    const std::string model = fs::path(whole.name).filename().string();
    return out_ / name(piece.kind) / whole.name / "_decomposed" /
           fmt::format("{}_start{}_end{}_{}", model, piece.range.start, piece.range.end, piece.number);
  }
  fs::path out_;
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace

Json to_json(const WholeReport& report) {
  Json json{{"graph", report.graph},
            {"pieces", report.pieces},
            {"written", report.written},
            {"left_out", report.left_out},
            {"seconds", report.seconds}};
  if (!report.error.empty()) json["error"] = report.error;
  if (!report.not_measured.empty()) json["not_measured"] = report.not_measured;
  return json;
}

Result<void> decompose(const std::vector<std::string>& roots, const fs::path& out,
                       const DecomposeOptions& options,
                       const std::function<void(const WholeReport&)>& finished) {
  PASSNET_TRY(const std::vector<Whole> wholes, find_wholes(roots, options));
  WorkerPool workers(options.interrupted);
  Unique unique(out);
  std::string journal;
  Result<void> failed;
  size_t next = 0;
  const auto is_over = [&] { return !failed || (options.interrupted != nullptr && *options.interrupted); };
  map_in_order(
      [&]() -> std::optional<const Whole*> {
        return next < wholes.size() && !is_over() ? std::optional(&wholes[next++]) : std::nullopt;
      },
      [&](const Whole* whole) { return analyse(*whole, workers, options); },
      [&](Analysis analysis) {
        if (is_over()) return;
        failed = unique.add(analysis);
        journal += dump(to_json(analysis.report)) + "\n";
        finished(analysis.report);
      },
      static_cast<size_t>(options.jobs));
  PASSNET_TRY_VOID(failed);
  PASSNET_TRY_VOID(unique.write_sources());
  PASSNET_TRY_VOID(write_file(out / "decompose.jsonl", journal));
  if (options.interrupted != nullptr && *options.interrupted) return resource_error("interrupted");
  return {};
}

}  // namespace passnet::dataset
