#include "dataset/dedup.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "analysis/identity.h"
#include "analysis/op_name.h"
#include "base/file/file.h"
#include "base/file/leftovers.h"
#include "base/file/line_file.h"
#include "base/file/paths.h"
#include "base/json/json_object.h"
#include "base/text/strings.h"
#include "dataset/pieces/sources.h"
#include "fx/syntax/parser.h"
#include "graphdir/graph_facts.h"
#include "graphdir/sample.h"
#include "run/batch/job.h"

namespace passnet::dataset {

namespace {

/// A line of OUT/dedup.jsonl: where in OUT a graph is that is not at its own path, or its equal.
struct DedupLine {
  std::string tree, graph, kept;
  bool renamed = false;  // it was copied, else an equal graph was
};

}  // namespace

}  // namespace passnet::dataset

namespace passnet {

PASSNET_JSON_FIELDS(dataset::DedupLine, "equal graph", PASSNET_FIELDS(tree, graph, kept) PASSNET_FIELDS_IF_SET(renamed))

}  // namespace passnet

namespace passnet::dataset {

namespace {

constexpr const char* kMarker = "dedup.json";
constexpr const char* kJournal = "dedup.jsonl";
constexpr const char* kPartial = ".partial";  // in OUT: directories that are being copied

/// A graph of a tree, as it was read.
struct TreeGraph {
  fs::path directory;
  std::string path;  // below its tree
  std::string key;   // equal for equal graphs
  Sources sources;
  std::optional<Error> error;
};

/// A graph of OUT.
struct Kept {
  fs::path from;     // the directory to copy; empty when it is there since an earlier run
  std::string path;  // below OUT
  Sources own, merged;
};

/// OUT as it is to be: all graphs that it has and gets, and which graphs are equal to them.
struct Merge {
  std::set<std::string> trees_before;             // that earlier runs read
  std::map<std::string, DedupLine> lines_before;  // by name_of
  std::vector<DedupLine> lines = {};              // of this run
  std::vector<Kept> kept = {};
  std::unordered_map<std::string, size_t> by_key = {};
  std::set<std::string> taken = {};  // paths
  DedupReport report = {};
};

std::string name_of(const DedupLine& line) { return line.tree + "\n" + line.graph; }

Result<std::string> key_of(const fs::path& directory, EqualBy rule) {
  if (rule == EqualBy::Identity) {
    PASSNET_TRY(const graphdir::GraphDir graph, graphdir::load_graph_dir(directory));
    return analysis::typed_identity_hash(graph);
  }
  PASSNET_TRY(const std::string text, read_beneath(directory, "graph_hash.txt", FileKind::Line));
  if (trim(text).empty())
    return bad_input("the file is empty, expected a hash", SourceLoc{(directory / "graph_hash.txt").string(), 0, 0});
  return std::string(trim(text));
}

Result<Sources> sources_of(const fs::path& directory, const std::string& path) {
  PASSNET_TRY(std::optional<Sources> written, load_sources(directory));
  if (written) return std::move(*written);
  if (std::optional<Sources> said = sources_by_path(path)) return std::move(*said);
  PASSNET_TRY(const ir::Graph whole, fx::load_model((directory / "model.py").string()));
  return Sources{{path, {analysis::Range{0, analysis::body_size(whole)}}}};
}

Result<void> read_into(TreeGraph& graph, EqualBy rule) {
  PASSNET_TRY(graph.key, key_of(graph.directory, rule));
  PASSNET_TRY(graph.sources, sources_of(graph.directory, graph.path));
  return {};
}

fs::path resolved(const fs::path& path) {
  std::error_code failed;
  return fs::weakly_canonical(absolute_path(path), failed);
}

// Whether `inner` is `outer` or lies below it.
bool contains(const fs::path& outer, const fs::path& inner) {
  const fs::path relative = resolved(inner).lexically_relative(resolved(outer));
  return !relative.empty() && *relative.begin() != "..";
}

Result<void> check_places(const std::vector<std::string>& trees, const fs::path& out) {
  for (size_t i = 0; i < trees.size(); ++i) {
    if (!directory_exists(trees[i])) return bad_input(fmt::format("'{}' is no directory", trees[i]));
    if (contains(trees[i], out) || contains(out, trees[i]))
      return bad_input(fmt::format("OUT '{}' and the input '{}' lie within each other", out.string(), trees[i]))
          .with_hint("inputs are never changed: give a place beside them");
    for (size_t other = 0; other < i; ++other) {
      if (contains(trees[i], trees[other]) || contains(trees[other], trees[i]))
        return bad_input(fmt::format("the inputs '{}' and '{}' lie within each other", trees[other], trees[i]));
    }
  }
  return {};
}

// Nothing is there, but for the empty journal of a run that was stopped before it copied anything.
bool is_unused(const fs::path& out) {
  const Result<std::vector<fs::path>> entries = list_directory(out);
  if (!entries) return !entry_exists(out);
  return std::ranges::all_of(*entries, [](const fs::path& entry) {
    std::error_code failed;
    return entry.filename() == kJournal && fs::is_empty(entry, failed);
  });
}

// The trees that earlier runs read into OUT. Errors: BadInput: something else made it, or another rule.
Result<std::set<std::string>> trees_in(const fs::path& out, EqualBy rule) {
  std::set<std::string> trees;
  if (is_unused(out)) return trees;
  const Result<std::string> text = read_beneath(out, kMarker, FileKind::Facts);
  const Json marker = text ? try_parse_json(*text) : Json();
  if (!marker.is_object() || !marker.contains("equal_by") || !marker.contains("trees"))
    return bad_input(fmt::format("'{}' holds something that this command did not make", out.string()))
        .with_hint("give an empty or new directory with --out");
  if (marker["equal_by"] != name(rule))
    return bad_input(
        fmt::format("'{}' was made by {}, found --by {}", out.string(), dump(marker["equal_by"]), name(rule)));
  for (const Json& tree : marker["trees"]) {
    if (tree.is_string()) trees.insert(tree.get<std::string>());
  }
  return trees;
}

Result<void> write_marker(const fs::path& out, EqualBy rule, std::set<std::string> trees_before,
                          const std::vector<std::string>& trees) {
  trees_before.insert(trees.begin(), trees.end());
  return write_file(out / kMarker, graphdir::print_indented(Json{{"equal_by", name(rule)}, {"trees", trees_before}}));
}

// A graph of OUT since an earlier run.
void add_existing(Merge& merge, TreeGraph graph) {
  merge.taken.insert(graph.path);
  if (graph.error) return;
  merge.by_key.try_emplace(std::move(graph.key), merge.kept.size());
  merge.kept.push_back({{}, std::move(graph.path), graph.sources, graph.sources});
}

// The beginning of the path that has to be called otherwise, for nothing looks for graphs within a graph's directory:
// where another graph lies, or the whole path with graphs below it; empty: nothing is in the way.
std::string obstacle(const std::set<std::string>& taken, const std::string& path) {
  for (fs::path above = path; !above.empty(); above = above.parent_path()) {
    if (taken.contains(above.string())) return above.string();
  }
  const auto below = taken.lower_bound(path + "/");
  return below != taken.end() && below->starts_with(path + "/") ? path : "";
}

std::string free_path(const std::set<std::string>& taken, const std::string& wanted) {
  const std::string beginning = obstacle(taken, wanted);
  std::string path = wanted;
  for (int number = 2; !obstacle(taken, path).empty(); ++number)
    path = fmt::format("{}_{}{}", beginning, number, wanted.substr(beginning.size()));
  return path;
}

// A graph that has no equal yet, at its own path or the next that is free.
void keep(Merge& merge, const std::string& tree, TreeGraph graph) {
  std::string path = free_path(merge.taken, graph.path);
  const bool renamed = path != graph.path;
  if (renamed) merge.lines.push_back({tree, graph.path, path, true});
  ++merge.report.added;
  merge.report.renamed += renamed;
  merge.taken.insert(path);
  merge.kept.push_back({std::move(graph.directory), std::move(path), graph.sources, graph.sources});
}

void add(Merge& merge, const std::string& tree, TreeGraph graph) {
  ++merge.report.graphs;
  const auto [place, is_new] = merge.by_key.try_emplace(graph.key, merge.kept.size());
  if (is_new) return keep(merge, tree, std::move(graph));
  Kept& kept = merge.kept[place->second];
  for (const auto& [whole, ranges] : graph.sources) kept.merged[whole].insert(ranges.begin(), ranges.end());
  const bool is_the_copied_one = kept.from.empty() && kept.path == graph.path && merge.trees_before.contains(tree);
  DedupLine line{tree, graph.path, kept.path};
  if (is_the_copied_one || merge.lines_before.contains(name_of(line))) {
    ++merge.report.there;
    return;
  }
  ++merge.report.duplicates;
  merge.lines.push_back(std::move(line));
}

// Regular files and the directories they lie in, without links.
Result<void> copy_files(const fs::path& from, const fs::path& to) {
  PASSNET_TRY_VOID(make_directories(to));
  PASSNET_TRY(const std::vector<fs::path> entries, list_directory(from));
  for (const fs::path& entry : entries) {
    const fs::path target = to / entry.filename();
    std::error_code failed;
    const fs::file_status kind = fs::symlink_status(entry, failed);
    if (failed) return io_error("copy", entry.string(), failed.value());
    if (kind.type() == fs::file_type::regular) {
      PASSNET_TRY(const std::string text, read_beneath(from, entry.filename(), FileKind::Graph));
      PASSNET_TRY_VOID(write_file(target, text));
    } else if (kind.type() == fs::file_type::directory) {
      PASSNET_TRY_VOID(copy_files(entry, target));
    }
  }
  return {};
}

// A new graph appears as a whole; of one that is there only the sources may change.
// slot: no other graph is being written with the same.
Result<void> write_kept(const fs::path& out, const Kept& kept, size_t slot) {
  const bool changed = kept.merged != kept.own;
  const std::string sources = changed ? graphdir::print_indented(to_json(kept.merged)) : "";
  if (kept.from.empty())
    return changed ? write_file(out / kept.path / "subgraph_sources.json", sources) : Result<void>();
  const fs::path partial = out / kPartial / std::to_string(slot), place = out / kept.path;
  PASSNET_TRY_VOID(copy_files(kept.from, partial));
  if (changed) PASSNET_TRY_VOID(write_file(partial / "subgraph_sources.json", sources));
  std::error_code failed;
  fs::create_directories(place.parent_path(), failed);
  fs::rename(partial, place, failed);
  if (failed) return io_error("rename", partial.string(), failed.value());
  return {};
}

Result<void> write_all(const fs::path& out, const std::vector<Kept>& kept, const run::JobOptions& job) {
  Result<void> done = run::for_each_item(std::span(kept), job,
                                         [&](const Kept& one, size_t slot) { return write_kept(out, one, slot); });
  std::error_code ignored;
  fs::remove_all(out / kPartial, ignored);
  return done;
}

// sink(graph) for each graph at or below `root`.
Result<void> read_tree(const fs::path& root, const DedupOptions& options, const std::function<void(TreeGraph)>& sink) {
  return graphdir::for_each_graph(
      root, options.tree,
      [&](const graphdir::GraphWalk::Found& found) {
        TreeGraph graph{found.path, graphdir::path_below(root, found.path), {}, {}, found.error};
        if (graph.error) return graph;
        if (const Result<void> read = read_into(graph, options.by); !read) graph.error = read.error();
        return graph;
      },
      [&](TreeGraph graph) -> Result<void> {
        sink(std::move(graph));
        return {};
      });
}

}  // namespace

std::string_view name(EqualBy rule) { return rule == EqualBy::Identity ? "identity" : "hash"; }
std::optional<EqualBy> parse_equal_by(std::string_view text) {
  for (const EqualBy rule : {EqualBy::Identity, EqualBy::Hash}) {
    if (text == name(rule)) return rule;
  }
  return std::nullopt;
}

Result<DedupReport> deduplicate(const std::vector<std::string>& trees, const fs::path& out, const DedupOptions& options,
                                const std::function<void(const std::string&)>& counted) {
  PASSNET_TRY_VOID(check_places(trees, out));
  PASSNET_TRY(std::set<std::string> trees_before, trees_in(out, options.by));
  remove_leftovers(out);
  PASSNET_TRY(LineFile journal, LineFile::open(out / kJournal, true));
  std::error_code ignored;
  fs::remove_all(out / kPartial, ignored);
  Merge merge{std::move(trees_before), run::last_lines<DedupLine>(journal.kept(), name_of)};
  PASSNET_TRY_VOID(read_tree(out, options, [&](TreeGraph graph) { add_existing(merge, std::move(graph)); }));
  for (const std::string& tree : trees) {
    PASSNET_TRY_VOID(read_tree(tree, options, [&](TreeGraph graph) {
      counted(graph.path);
      if (graph.error)
        merge.report.failed.push_back(fmt::format("{}: {}", graph.path, to_string(*graph.error)));
      else
        add(merge, tree, std::move(graph));
    }));
  }
  // Before anything is copied, so that a run that goes on knows where it comes from.
  PASSNET_TRY_VOID(write_marker(out, options.by, merge.trees_before, trees));
  PASSNET_TRY_VOID(write_all(out, merge.kept, options.tree));
  std::vector<std::string> lines;
  for (const DedupLine& line : merge.lines) lines.push_back(dump(to_json_object(line)));
  if (!lines.empty()) PASSNET_TRY_VOID(journal.append(join(lines, "\n")));
  return std::move(merge.report);
}

}  // namespace passnet::dataset
