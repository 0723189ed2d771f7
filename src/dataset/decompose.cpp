#include "dataset/decompose.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include "analysis/cut.h"
#include "analysis/identity.h"
#include "analysis/kernel_count.h"
#include "analysis/op_name.h"
#include "base/file/file.h"
#include "base/file/leftovers.h"
#include "base/file/line_file.h"
#include "base/hash.h"
#include "dataset/captures.h"
#include "dataset/decompose_journal.h"
#include "dataset/pieces/describe.h"
#include "dataset/pieces/fusible.h"
#include "dataset/pieces/sources.h"
#include "fx/syntax/parser.h"
#include "graphdir/graph_facts.h"
#include "graphdir/graph_writer.h"
#include "graphdir/inputs/replay.h"
#include "graphdir/sample.h"
#include "run/batch/job.h"
#include "run/worker/requests.h"

namespace passnet::dataset {

namespace {

constexpr const char* kGraph = run::SlotWorkers::kGraph;

struct Whole {
  fs::path path;
  std::string name;  // relative to its root
  std::vector<analysis::Range> typical;
};

/// A piece that can be written.
struct Found {
  FoundRange range;
  ir::Graph graph;
  std::vector<graphdir::TensorMeta> metas;
};

/// All that is learnt of one whole graph.
struct Analysis {
  JournalLine line;  // its found ranges are not in yet
  Json facts = Json::object();
  std::vector<Found> found;
};

// Whole graphs below the roots, each once, with the typical ranges that they have together.
Result<std::vector<Whole>> find_wholes(const std::vector<std::string>& roots, const DecomposeOptions& options) {
  std::vector<Whole> wholes;
  std::vector<std::vector<uint32_t>> sequences;
  std::unordered_map<std::string, uint32_t> numbers;
  const bool with_typical =
      std::find(options.kinds.begin(), options.kinds.end(), graphdir::Kind::Typical) != options.kinds.end();
  PASSNET_TRY(const std::vector<RootedGraph> graphs, find_graphs(roots));
  for (const RootedGraph& graph : graphs) {
    wholes.push_back({graph.path, graph.name, {}});
    if (!with_typical) continue;
    sequences.emplace_back();
    // One that cannot be read has no operators here; its error is told when it is its turn.
    if (const Result<ir::Graph> loaded = fx::load_model((graph.path / "model.py").string())) {
      for (const std::string& op : analysis::op_names(*loaded))
        sequences.back().push_back(numbers.try_emplace(op, numbers.size()).first->second);
    }
  }
  if (with_typical) {
    std::vector<std::vector<analysis::Range>> ranges = typical_ranges(sequences, options.typical);
    for (size_t i = 0; i < wholes.size(); ++i) wholes[i].typical = std::move(ranges[i]);
  }
  // Typical ranges are those of all graphs: each shard finds the same.
  std::erase_if(wholes, [&](const Whole& whole) { return !options.shard.holds(whole.name); });
  return wholes;
}

std::vector<int64_t> elements_of(const ir::Values& values) {
  std::vector<int64_t> elements;
  for (const ir::Value& value : values) elements.push_back(value.tensor() != nullptr ? value.tensor()->numel() : -1);
  return elements;
}

std::vector<analysis::Range> ranges_of(graphdir::Kind kind, const Whole& whole, const ir::Graph& graph,
                                       const ir::Values& types) {
  switch (kind) {
    case graphdir::Kind::Typical: return whole.typical;
    case graphdir::Kind::Fusible: return fusible_ranges(analysis::kernel_counts(graph, elements_of(types)));
    case graphdir::Kind::SoleOp: break;
  }
  std::vector<analysis::Range> ranges;
  for (size_t i = 0; i < analysis::body_size(graph); ++i) ranges.push_back({i, i + 1});
  return ranges;
}

std::string rules_of(const Whole& whole, const DecomposeOptions& options) {
  const Result<std::string> text = read_beneath(whole.path, "model.py", FileKind::Graph);
  // The number changes with the model of kernels (kernel_count.h), which decides on ranges too.
  std::string rules = fmt::format("2 {} {}", text ? *text : "", options.measure);
  for (const graphdir::Kind kind : options.kinds) rules += fmt::format(" {}", name(kind));
  for (const analysis::Range& range : whole.typical) rules += fmt::format(" {}:{}", range.start, range.end);
  return sha256_hex(rules);
}

/// A range cut out, as the range `number` of its kind.
struct Cut {
  graphdir::Kind kind;
  analysis::Range range;
  size_t number;
  analysis::Piece piece;
};

std::vector<Cut> pieces_of(const Whole& whole, const ir::Graph& graph, const ir::Values& values,
                           const DecomposeOptions& options, WholeReport& report) {
  std::vector<Cut> cuts;
  for (const graphdir::Kind kind : options.kinds) {
    const std::vector<analysis::Range> ranges = ranges_of(kind, whole, graph, values);
    report.pieces[std::string(name(kind))] = ranges.size();
    for (size_t i = 0; i < ranges.size(); ++i) cuts.push_back({kind, ranges[i], i, analysis::cut(graph, ranges[i])});
  }
  return cuts;
}

// The values of one call, with statistics of those that pieces start from.
Result<ir::Values> measure(run::Worker& worker, const graphdir::GraphDir& graph, const std::vector<Cut>& cuts,
                           std::chrono::milliseconds timeout) {
  std::vector<std::string> wanted;
  for (const Cut& one : cuts) std::ranges::move(computed_inputs(one.piece, graph.graph), std::back_inserter(wanted));
  PASSNET_TRY_VOID(run::replay_inputs(worker, kGraph, graph, graphdir::kReplaySeed, timeout));
  return run::trace_graph(worker, kGraph, graph.graph, timeout, wanted);
}

// Fills in what is learnt of a whole graph; of one that cannot be decomposed, what was learnt until then.
Result<void> analyse_in(run::Worker& worker, const Whole& whole, const DecomposeOptions& options, Analysis& analysis) {
  const std::chrono::milliseconds timeout(static_cast<int64_t>(options.timeout_s * 1000));
  WholeReport& report = analysis.line.report;
  PASSNET_TRY(const graphdir::GraphDir graph, graphdir::load_graph_dir(whole.path));
  analysis.facts = graphdir::read_facts(whole.path);
  PASSNET_TRY_VOID(run::load_graph(worker, kGraph, graph.graph, {}, {}, timeout));
  PASSNET_TRY(ir::Values values, run::infer_types(worker, kGraph, graph, timeout));
  std::vector<Cut> cuts = pieces_of(whole, graph.graph, values, options, report);
  if (options.measure) {
    Result<ir::Values> measured = measure(worker, graph, cuts, timeout);
    if (measured)
      values = std::move(*measured);
    else
      report.not_measured = to_string(measured.error());
  }
  for (Cut& one : cuts) {
    if (one.piece.outputs.empty()) {
      ++report.left_out["nothing uses its results"];
      continue;
    }
    Result<std::vector<graphdir::TensorMeta>> metas = describe_inputs(one.piece, graph, values);
    if (!metas) {
      ++report.left_out[metas.error().message];
      continue;
    }
    std::string identity = analysis::identity_hash(one.piece.graph);
    analysis.found.push_back(
        {{one.kind, one.range, one.number, std::move(identity), false}, std::move(one.piece.graph), std::move(*metas)});
  }
  return {};
}

Analysis analyse(const Whole& whole, run::SlotWorkers& workers, size_t slot, const DecomposeOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  Analysis analysis;
  WholeReport& report = analysis.line.report;
  report.graph = whole.name;
  analysis.line.rules = rules_of(whole, options);
  const Result<void> done =
      workers.with(slot, [&](run::Worker& worker) { return analyse_in(worker, whole, options, analysis); });
  if (!done) report.error = to_string(done.error());
  analysis.line.shape = analysis.facts.value("shape", "");
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return analysis;
}

/// What has been written: the first of equal pieces, and where all of them come from.
class Unique {
 public:
  Unique(fs::path out, const std::vector<graphdir::Kind>& kinds) : out_(std::move(out)), kinds_(kinds) {}

  /// Of the lines of earlier runs those whose pieces, or the first of their equals, are all there.
  std::map<std::string, JournalLine> held(std::map<std::string, JournalLine> lines) const {
    for (size_t before = lines.size() + 1; lines.size() < before;) {
      before = lines.size();
      std::unordered_set<std::string> there;
      for (const auto& [graph, line] : lines) {
        for (const FoundRange& found : line.found) {
          if (found.written && entry_exists(path_of(graph, found))) there.insert(key_of(line, found));
        }
      }
      std::erase_if(lines, [&](const auto& item) {
        const JournalLine& line = item.second;
        return std::any_of(line.found.begin(), line.found.end(),
                           [&](const FoundRange& found) { return !there.contains(key_of(line, found)); });
      });
    }
    return lines;
  }

  /// What earlier runs wrote.
  void add(const std::map<std::string, JournalLine>& lines) {
    for (const auto& [graph, line] : lines) {
      for (const FoundRange& found : line.found) {
        Entry& entry = entries_[key_of(line, found)];
        if (found.written) entry.path = path_of(graph, found);
        entry.add(graph, found.range);
      }
    }
  }

  /// Writes the pieces that are new in place of what there may be of the graph, and completes the line.
  Result<void> add(Analysis& analysis) {
    JournalLine& line = analysis.line;
    std::error_code ignored;
    for (const graphdir::Kind kind : kinds_) fs::remove_all(directory_of(line.report.graph, kind), ignored);
    for (Found& piece : analysis.found) {
      const auto [place, is_new] = entries_.try_emplace(key_of(line, piece.range));
      Entry& entry = place->second;
      entry.add(line.report.graph, piece.range.range);
      if (is_new) {
        entry.path = path_of(line.report.graph, piece.range);
        Json facts = analysis.facts;
        facts["kind"] = name(piece.range.kind);
        facts["identity"] = piece.range.identity;
        PASSNET_TRY_VOID(
            graphdir::write_graph_dir(entry.path, {piece.graph, piece.metas, facts, to_json(entry.sources)}));
        ++line.report.written[std::string(name(piece.range.kind))];
        piece.range.written = true;
      }
      line.found.push_back(std::move(piece.range));
    }
    return {};
  }

  /// The sources of pieces that were found more than once.
  Result<void> write_sources() const {
    for (const auto& [key, entry] : entries_) {
      if (entry.count < 2) continue;
      PASSNET_TRY_VOID(
          write_file(entry.path / "subgraph_sources.json", graphdir::print_indented(to_json(entry.sources))));
    }
    return {};
  }

 private:
  struct Entry {
    fs::path path;
    Sources sources;
    size_t count = 0;

    void add(const std::string& graph, analysis::Range range) {
      sources[graph].insert(range);
      ++count;
    }
  };
  // Pieces of graphs captured at other shapes are kept beside each other: they are variants.
  static std::string key_of(const JournalLine& line, const FoundRange& found) {
    return fmt::format("{} {} {}", name(found.kind), line.shape, found.identity);
  }
  fs::path directory_of(const std::string& graph, graphdir::Kind kind) const {
    return out_ / name(kind) / graph / "_decomposed";
  }
  fs::path path_of(const std::string& graph, const FoundRange& found) const {
    return directory_of(graph, found.kind) / fmt::format("{}_start{}_end{}_{}", fs::path(graph).filename().string(),
                                                         found.range.start, found.range.end, found.number);
  }
  const fs::path out_;
  const std::vector<graphdir::Kind>& kinds_;
  std::unordered_map<std::string, Entry> entries_;
};

// Of the lines of earlier runs those of graphs that need not be decomposed again.
std::map<std::string, JournalLine> still_valid(std::map<std::string, JournalLine> lines,
                                               const std::vector<Whole>& wholes, const DecomposeOptions& options) {
  for (const Whole& whole : wholes) {
    const auto line = lines.find(whole.name);
    if (line != lines.end() && line->second.rules != rules_of(whole, options)) lines.erase(line);
  }
  std::erase_if(lines, [](const auto& line) {
    return !line.second.report.error.empty() || !line.second.report.not_measured.empty();
  });
  return lines;
}

}  // namespace

Result<void> decompose(const std::vector<std::string>& roots, const fs::path& out, const DecomposeOptions& options,
                       const std::function<void(const WholeReport&)>& finished) {
  PASSNET_TRY(const std::vector<Whole> wholes, find_wholes(roots, options));
  remove_leftovers(out);
  PASSNET_TRY(LineFile journal, LineFile::open(out / "decompose.jsonl", true));
  Unique unique(out, options.kinds);
  const std::map<std::string, JournalLine> earlier =
      unique.held(still_valid(read_decompose_journal(journal.kept()), wholes, options));
  unique.add(earlier);
  const run::JobOptions job{options.jobs, options.interrupted};
  run::SlotWorkers workers(job);
  run::JobSteps<Whole, Analysis, JournalLine> steps;
  steps.find = [&](const Whole& whole) { return run::find_line(earlier, whole.name); };
  steps.work = [&](const Whole& whole, size_t slot) { return analyse(whole, workers, slot, options); };
  steps.keep = [&](Analysis& analysis) -> Result<const JournalLine*> {
    const WholeReport& report = analysis.line.report;
    const bool cut_short = job.is_interrupted() && !(report.error.empty() && report.not_measured.empty());
    if (cut_short) return nullptr;
    PASSNET_TRY_VOID(unique.add(analysis));
    return &analysis.line;
  };
  steps.finished = [&](const JournalLine& line) { finished(line.report); };
  const Result<void> done = run::run_job(std::span(wholes), journal, job, steps);
  if (done || job.is_interrupted()) PASSNET_TRY_VOID(unique.write_sources());
  return done;
}

}  // namespace passnet::dataset
