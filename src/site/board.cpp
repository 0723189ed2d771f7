#include "site/board.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/hash.h"
#include "base/text/strings.h"
#include "record/session.h"
#include "record/stats.h"
#include "run/keep/run_directory.h"
#include "store/load.h"

namespace passnet::site {

namespace fs = std::filesystem;

namespace {

// Tasks point into entries, which therefore move and are never copied.
static_assert(std::is_nothrow_move_constructible_v<Entry>);

constexpr size_t kLongestSlug = 80;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

/// dollars of `passnet agent run`, whose results.json lies in the run.
std::optional<double> dollars_of(const fs::path& run) {
  const Result<std::string> text = read_beneath(run, "results.json", FileKind::Lines);
  if (!text) return std::nullopt;
  const Json json = try_parse_json(*text);
  if (!json.is_object() || !json.contains("cost") || !json.at("cost").is_number()) return std::nullopt;
  return json.at("cost").get<double>();
}

/// "float16" where the name of a graph says so.
std::string dtype_in(const std::string& name) {
  for (const char* dtype : {"bfloat16", "float16", "float32", "float64"}) {
    if (name.find(dtype) != std::string::npos) return dtype;
  }
  return "other";
}

void tell(const store::Digest& digest, Entry& entry) {
  if (entry.compiler.empty()) {
    entry.compiler = digest.compiler;
    entry.device = digest.device;
    entry.hardware = digest.hardware;
  }
  if (entry.isolation.empty()) entry.isolation = digest.isolation;
  if (entry.version.empty()) entry.version = digest.version;
  if (entry.started.empty() || digest.started < entry.started) entry.started = digest.started;
  entry.seconds += digest.seconds;
  ++entry.headlines[digest.compared.side.headline];
}

const char* word_of(record::LeftOut left) {
  switch (left) {
    case record::LeftOut::No: return "";
    case record::LeftOut::Disturbed: return "disturbed";
    case record::LeftOut::MachineFailed: return "not evaluated";
    case record::LeftOut::NoWork: return "an answer without work passes";
    case record::LeftOut::BelowFloor: return "below the floor";
    case record::LeftOut::Uneven: return "uneven";
    case record::LeftOut::HostCode: return "host code in Python";
    case record::LeftOut::Unconfined: return "not confined";
  }
  return "";
}

/// Collects records by task and graph.
class Tasks {
 public:
  void add(size_t entry, const fs::path& file, const store::Digest& digest) {
    Place& place = places_[digest.compared.sample];
    place.files[entry] = file;
    Graph& graph = place.graphs[digest.compared.graph];
    graph.records[entry] = &digest;
    if (graph.dtype.empty()) graph.dtype = digest.dtype;
    if (graph.kind.empty()) graph.kind = digest.kind;
  }
  std::vector<Task> take() {
    std::vector<Task> tasks;
    Slugs slugs;
    for (auto& [name, place] : places_) {
      Task& task = tasks.emplace_back();
      task.name = name;
      task.slug = slugs.of(name);
      task.files = std::move(place.files);
      Slugs graph_slugs;
      for (auto& [graph_name, graph] : place.graphs) {
        graph.name = graph_name;
        graph.slug = graph_slugs.of(graph_name);
        if (graph.dtype.empty()) graph.dtype = dtype_in(graph_name);
        task.graphs.push_back(std::move(graph));
      }
    }
    return tasks;
  }

 private:
  struct Place {
    std::map<std::string, Graph> graphs;
    std::map<size_t, fs::path> files;
  };
  std::map<std::string, Place> places_;
};

Slice slice_of(const std::vector<Task>& tasks, size_t entry, const std::string& kind, const std::string& dtype) {
  Slice slice;
  slice.kind = kind;
  slice.dtype = dtype;
  std::vector<record::Counted> counted;
  std::vector<record::Verdict> verdicts;
  std::vector<double> shares;
  for (const Task& task : tasks) {
    for (const Graph& graph : task.graphs) {
      const auto found = graph.records.find(entry);
      if (found == graph.records.end() || (!dtype.empty() && graph.dtype != dtype)) continue;
      if (!kind.empty() && graph.kind != kind) continue;
      const store::Digest& digest = *found->second;
      ++slice.records;
      if (digest.left_out != record::LeftOut::No) continue;
      counted.push_back(digest.counted);
      verdicts.push_back(digest.counted.verdict);
      if (has_ratio(digest) && store::limit_share(digest) > 0) shares.push_back(store::limit_share(digest));
    }
  }
  slice.score = record::score(verdicts);
  slice.summary = record::summary_of(counted);
  if (!shares.empty()) slice.limit = record::geometric_mean(shares);
  return slice;
}

void complete(Board& board) {
  std::set<std::string> kinds, dtypes;
  for (const Task& task : board.tasks) {
    for (const Graph& graph : task.graphs) {
      dtypes.insert(graph.dtype);
      if (!graph.kind.empty()) kinds.insert(graph.kind);
    }
  }
  board.kinds.assign(kinds.begin(), kinds.end());
  board.dtypes.assign(dtypes.begin(), dtypes.end());
  kinds.insert("");  // all come first
  dtypes.insert("");
  for (size_t i = 0; i < board.entries.size(); ++i) {
    Entry& entry = board.entries[i];
    for (const std::string& kind : kinds) {
      for (const std::string& dtype : dtypes) entry.slices.push_back(slice_of(board.tasks, i, kind, dtype));
    }
    Ratios ratios;
    for (const Task& task : board.tasks) {
      if (std::vector<double> of_task = ratios_of(task, i); !of_task.empty()) ratios[task.name] = std::move(of_task);
    }
    entry.speed = estimate(ratios);
  }
}

/// Sorts the entries, and gives what names them by position the new positions.
void rank_entries(Board& board) {
  std::vector<size_t> order(board.entries.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, [&](size_t x, size_t y) {
    const Entry &a = board.entries[x], &b = board.entries[y];
    if (a.hardware != b.hardware) return a.hardware < b.hardware;
    return a.all().score.aggregated > b.all().score.aggregated;
  });
  std::vector<size_t> place(order.size());
  std::vector<Entry> sorted;
  for (size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sorted.push_back(std::move(board.entries[order[i]]));
    const bool same = i > 0 && sorted[i - 1].hardware == sorted[i].hardware;
    sorted[i].rank = same ? sorted[i - 1].rank + 1 : 1;
  }
  board.entries = std::move(sorted);
  for (Task& task : board.tasks) {
    std::map<size_t, fs::path> files;
    for (auto& [entry, file] : task.files) files[place[entry]] = std::move(file);
    task.files = std::move(files);
    for (Graph& graph : task.graphs) {
      std::map<size_t, const store::Digest*> records;
      for (const auto& [entry, digest] : graph.records) records[place[entry]] = digest;
      graph.records = std::move(records);
    }
  }
}

}  // namespace

std::string Slugs::of(const std::string& name) {
  std::string slug;
  for (const char c : name.substr(0, kLongestSlug)) slug += is_plain(c) ? c : '_';
  if (slug != name || slug.empty() || slug.front() == '.')
    slug = fmt::format("x{}-{:08x}", slug, fast_hash(name.data(), name.size()) & 0xffffffff);
  return numbered(slug, [&](const std::string& one) { return taken_.insert(lower(one)).second; });
}

bool has_ratio(const store::Digest& digest) {
  return digest.left_out == record::LeftOut::No && digest.compared.side.correct && digest.compared.side.speedup > 0;
}

std::vector<double> ratios_of(const Task& task, size_t entry) {
  std::vector<double> ratios;
  for (const Graph& graph : task.graphs) {
    const auto found = graph.records.find(entry);
    if (found != graph.records.end() && has_ratio(*found->second))
      ratios.push_back(found->second->compared.side.speedup);
  }
  return ratios;
}

Result<std::vector<NamedRun>> runs_in(const std::string& argument) {
  std::string name;
  fs::path path = argument;
  if (const size_t equals = argument.find('='); equals != std::string::npos && !path_exists(argument)) {
    name = argument.substr(0, equals);
    path = argument.substr(equals + 1);
  }
  const auto is_run = [](const fs::path& one) { return entry_exists(one / record::kSessionsFile); };
  const bool is_given = !directory_exists(path) || is_run(path) || !name.empty();
  std::vector<NamedRun> runs;
  if (!is_given) {
    PASSNET_TRY(const std::vector<fs::path> entries, list_directory(path));
    for (const fs::path& entry : entries) {
      std::error_code ignored;
      if (is_run(entry) && !fs::is_symlink(entry, ignored)) runs.push_back({entry.filename().string(), entry});
    }
  }
  if (!runs.empty()) return runs;
  const fs::path root = run::run_at(path);
  return std::vector<NamedRun>{{name.empty() ? absolute_path(root).filename().string() : name, root}};
}

Result<std::vector<NamedRun>> runs_in(const std::vector<std::string>& arguments) {
  std::vector<NamedRun> runs;
  for (const std::string& argument : arguments) {
    PASSNET_TRY(const std::vector<NamedRun> found, runs_in(argument));
    runs.insert(runs.end(), found.begin(), found.end());
  }
  return runs;
}

Result<Board> load_board(const std::vector<NamedRun>& runs, size_t threads) {
  Board board;
  Tasks tasks;
  Slugs slugs;
  std::set<std::string> names;
  for (const NamedRun& run : runs) {
    const size_t number = board.entries.size();
    Entry& entry = board.entries.emplace_back();
    entry.name = numbered(run.name, [&](const std::string& name) { return names.insert(name).second; });
    entry.slug = slugs.of(entry.name);
    entry.run = run.path;
    entry.dollars = dollars_of(run.path);
    PASSNET_TRY_VOID(store::read_digests(run.path, threads,
                                         [&](const fs::path& file, std::vector<store::Digest> digests) -> Result<void> {
                                           for (store::Digest& digest : digests) {
                                             const store::Digest& kept = entry.digests.emplace_back(std::move(digest));
                                             tell(kept, entry);
                                             if (kept.left_out != record::LeftOut::No)
                                               ++entry.left_out[word_of(kept.left_out)];
                                             tasks.add(number, file, kept);
                                           }
                                           return {};
                                         }));
    board.records += entry.digests.size();
  }
  board.tasks = tasks.take();
  complete(board);
  rank_entries(board);
  return board;
}

}  // namespace passnet::site
