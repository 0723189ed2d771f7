#include "dataset/dedup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "analysis/identity.h"
#include "analysis/op_name.h"
#include "base/file.h"
#include "base/strings.h"
#include "dataset/pieces/sources.h"
#include "fx/parser.h"
#include "graphdir/graph_facts.h"
#include "graphdir/sample.h"

namespace passnet::dataset {

namespace fs = std::filesystem;

namespace {

constexpr const char* kMarker = "dedup.json";
constexpr const char* kJournal = "dedup.jsonl";
constexpr const char* kPartial = ".partial";  // in OUT: directories that are being copied

/// A graph as it was found.
struct Candidate {
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

Result<std::string> key_of(const fs::path& directory, EqualBy rule) {
  if (rule == EqualBy::Identity) {
    PASSNET_TRY(const graphdir::GraphDir graph, graphdir::load_graph_dir(directory));
    return analysis::typed_identity_hash(graph);
  }
  PASSNET_TRY(const std::string text, read_file(directory / "graph_hash.txt"));
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

Result<void> read_into(Candidate& candidate, EqualBy rule) {
  PASSNET_TRY(candidate.key, key_of(candidate.directory, rule));
  PASSNET_TRY(candidate.sources, sources_of(candidate.directory, candidate.path));
  return {};
}

fs::path resolved(const fs::path& path) {
  std::error_code failed;
  return fs::weakly_canonical(fs::absolute(path), failed);
}

// Whether `inner` is `outer` or lies below it.
bool contains(const fs::path& outer, const fs::path& inner) {
  const fs::path relative = resolved(inner).lexically_relative(resolved(outer));
  return !relative.empty() && *relative.begin() != "..";
}

Result<void> check_places(const std::vector<std::string>& trees, const fs::path& out) {
  for (size_t i = 0; i < trees.size(); ++i) {
    if (!fs::is_directory(trees[i])) return bad_input(fmt::format("'{}' is no directory", trees[i]));
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

/// OUT, held for this run alone, and what its dedup.json says: the rule, and the trees that went into it.
class Output {
 public:
  static Result<Output> open(const fs::path& out, EqualBy rule) {
    Output output;
    output.marker_ = out / kMarker;
    output.rule_ = rule;
    std::error_code failed;
    if (fs::exists(out, failed) && !fs::is_empty(out, failed)) PASSNET_TRY_VOID(output.read_marker());
    fs::create_directories(out, failed);
    output.lock_ = UniqueFd(::open(out.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!output.lock_) return io_error("open", out.string(), errno);
    if (::flock(output.lock_.get(), LOCK_EX | LOCK_NB) != 0)
      return resource_error(fmt::format("another run writes to '{}'", out.string()));
    fs::remove_all(out / kPartial, failed);
    return output;
  }

  bool has_read(const std::string& tree) const { return trees_.contains(tree); }

  /// Before anything of the trees is copied, so that a run that goes on knows where it comes from.
  Result<void> remember(const std::vector<std::string>& trees) {
    trees_.insert(trees.begin(), trees.end());
    return write_file(marker_, graphdir::print_indented(Json{{"equal_by", name(rule_)}, {"trees", trees_}}));
  }

 private:
  Result<void> read_marker() {
    const Result<std::string> text = read_file(marker_);
    const Json marker = text ? Json::parse(*text, nullptr, false) : Json();
    const std::string out = marker_.parent_path().string();
    if (!marker.is_object() || !marker.contains("equal_by") || !marker.contains("trees"))
      return bad_input(fmt::format("'{}' holds something that this command did not make", out))
          .with_hint("give an empty or new directory with --out");
    if (marker["equal_by"] != name(rule_))
      return bad_input(fmt::format("'{}' was made by {}, found --by {}", out, dump(marker["equal_by"]), name(rule_)));
    for (const Json& tree : marker["trees"]) {
      if (tree.is_string()) trees_.insert(tree.get<std::string>());
    }
    return {};
  }

  fs::path marker_;
  EqualBy rule_ = EqualBy::Identity;
  std::set<std::string> trees_;
  UniqueFd lock_;
};

/// Lines of OUT/dedup.jsonl, of earlier runs too.
class Journal {
 public:
  explicit Journal(fs::path file) : file_(std::move(file)) {
    const Result<std::string> text = read_file(file_);
    if (!text) return;
    for (const std::string_view line : split(*text, '\n')) {
      const Json json = Json::parse(line, nullptr, false);
      if (!json.is_object()) continue;
      known_.insert(json.value("tree", "") + "\n" + json.value("graph", ""));
      text_ += std::string(line) + "\n";
    }
  }
  bool knows(const std::string& tree, const std::string& graph) const { return known_.contains(tree + "\n" + graph); }
  void add(const std::string& tree, const std::string& graph, const std::string& kept, bool renamed) {
    Json line{{"tree", tree}, {"graph", graph}, {"kept", kept}};
    if (renamed) line["renamed"] = true;
    text_ += dump(line) + "\n";
  }
  Result<void> write() const { return write_file(file_, text_); }

 private:
  fs::path file_;
  std::string text_;
  std::unordered_set<std::string> known_;
};

/// All graphs of OUT, those of this run included, and which graphs are equal to them.
class Merge {
 public:
  Merge(const fs::path& out, const Output& output, DedupReport& report)
      : output_(output), journal_(out / kJournal), report_(report) {}

  void add_existing(Candidate candidate) {
    taken_.insert(candidate.path);
    if (candidate.error) return;
    by_key_.try_emplace(std::move(candidate.key), kept_.size());
    kept_.push_back({{}, std::move(candidate.path), candidate.sources, candidate.sources});
  }

  void add(const std::string& tree, Candidate candidate) {
    ++report_.graphs;
    const auto [place, is_new] = by_key_.try_emplace(std::move(candidate.key), kept_.size());
    if (is_new) {
      keep(tree, std::move(candidate));
      return;
    }
    Kept& kept = kept_[place->second];
    for (const auto& [graph, ranges] : candidate.sources) kept.merged[graph].insert(ranges.begin(), ranges.end());
    const bool is_the_copied_one = kept.from.empty() && kept.path == candidate.path && output_.has_read(tree);
    if (is_the_copied_one || journal_.knows(tree, candidate.path)) {
      ++report_.there;
      return;
    }
    ++report_.duplicates;
    journal_.add(tree, candidate.path, kept.path, false);
  }

  const std::vector<Kept>& kept() const { return kept_; }
  const Journal& journal() const { return journal_; }

 private:
  void keep(const std::string& tree, Candidate candidate) {
    std::string path = candidate.path;
    for (int number = 2; taken_.contains(path); ++number) path = fmt::format("{}_{}", candidate.path, number);
    const bool renamed = path != candidate.path;
    if (renamed) journal_.add(tree, candidate.path, path, true);
    ++report_.added;
    report_.renamed += renamed;
    taken_.insert(path);
    kept_.push_back({std::move(candidate.directory), std::move(path), candidate.sources, candidate.sources});
  }

  const Output& output_;
  Journal journal_;
  DedupReport& report_;
  std::vector<Kept> kept_;
  std::unordered_map<std::string, size_t> by_key_;
  std::unordered_set<std::string> taken_;
};

// Regular files, whatever links there are to them, and the directories they lie in.
Result<void> copy_files(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  fs::create_directories(to, failed);
  if (failed) return io_error("create", to.string(), failed.value());
  for (const fs::directory_entry& entry : fs::directory_iterator(from, failed)) {
    std::error_code problem;
    const fs::path target = to / entry.path().filename();
    if (entry.is_regular_file(problem))
      fs::copy_file(entry.path(), target, problem);
    else if (entry.is_directory(problem) && !entry.is_symlink(problem))
      PASSNET_TRY_VOID(copy_files(entry.path(), target));
    if (problem) return io_error("copy", entry.path().string(), problem.value());
  }
  if (failed) return io_error("read", from.string(), failed.value());
  return {};
}

// A new graph appears as a whole; of one that is there only the sources may change.
Result<void> write_kept(const fs::path& out, const Kept& kept, size_t number) {
  const bool changed = kept.merged != kept.own;
  const std::string sources = changed ? graphdir::print_indented(to_json(kept.merged)) : "";
  if (kept.from.empty())
    return changed ? write_file(out / kept.path / "subgraph_sources.json", sources) : Result<void>();
  const fs::path partial = out / kPartial / std::to_string(number), place = out / kept.path;
  PASSNET_TRY_VOID(copy_files(kept.from, partial));
  if (changed) PASSNET_TRY_VOID(write_file(partial / "subgraph_sources.json", sources));
  std::error_code failed;
  fs::create_directories(place.parent_path(), failed);
  fs::rename(partial, place, failed);
  if (failed) return io_error("rename", partial.string(), failed.value());
  return {};
}

Result<void> write_all(const fs::path& out, const std::vector<Kept>& kept, const graphdir::TreeOptions& tree) {
  size_t next = 0;
  Result<void> done = graphdir::map_until_error(
      [&] { return next < kept.size() ? std::optional(next++) : std::nullopt; },
      [&](size_t i) { return write_kept(out, kept[i], i); }, [](Result<void> written) { return written; }, tree);
  std::error_code ignored;
  fs::remove_all(out / kPartial, ignored);
  return done;
}

// sink(candidate) for each graph at or below `root`.
template <class Sink>
Result<void> read_tree(const fs::path& root, const DedupOptions& options, Sink&& sink) {
  return graphdir::for_each_graph(
      root, options.tree,
      [&](const graphdir::GraphWalk::Found& found) {
        Candidate candidate{found.path, graphdir::path_below(root, found.path), {}, {}, found.error};
        if (candidate.error) return candidate;
        if (const Result<void> read = read_into(candidate, options.by); !read) candidate.error = read.error();
        return candidate;
      },
      std::forward<Sink>(sink));
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
  PASSNET_TRY(Output output, Output::open(out, options.by));
  DedupReport report;
  Merge merge(out, output, report);
  PASSNET_TRY_VOID(read_tree(out, options, [&](Candidate candidate) -> Result<void> {
    merge.add_existing(std::move(candidate));
    return {};
  }));
  for (const std::string& tree : trees) {
    PASSNET_TRY_VOID(read_tree(tree, options, [&](Candidate candidate) -> Result<void> {
      counted(candidate.path);
      if (candidate.error)
        report.failed.push_back(fmt::format("{}: {}", candidate.path, to_string(*candidate.error)));
      else
        merge.add(tree, std::move(candidate));
      return {};
    }));
  }
  PASSNET_TRY_VOID(output.remember(trees));
  PASSNET_TRY_VOID(write_all(out, merge.kept(), options.tree));
  PASSNET_TRY_VOID(merge.journal().write());
  return report;
}

}  // namespace passnet::dataset
