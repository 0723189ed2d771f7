#include "site/site.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/file/file.h"
#include "record/session.h"
#include "report/html_style.h"
#include "site/pages.h"

namespace passnet::site {

namespace fs = std::filesystem;

namespace {

/// Writes pages one after the other; the first error ends it.
class Writer {
 public:
  Writer(const SiteRequest& request, const Board& board) : request_(request), board_(board) {}

  Result<void> page(const std::string& path, const std::string& title, const std::string& body) {
    ++pages;
    return file(
        path, render_page({path, title, !request_.store.empty(), !request_.selftest.empty(), request_.version}, body));
  }
  Result<void> file(const std::string& path, std::string_view text) { return write_file(request_.out / path, text); }

  Result<void> leaderboard() {
    PASSNET_TRY_VOID(file("style.css", std::string(report::html_style()) + std::string(site_style())));
    PASSNET_TRY_VOID(file("site.js", site_script()));
    PASSNET_TRY_VOID(page("index.html", "Leaderboard", render_index(board_)));
    PASSNET_TRY_VOID(page("tasks.html", "Tasks", render_tasks(board_)));
    return file("data/board.json", dump(board_json(board_), 1) + "\n");
  }

  Result<void> entries() {
    for (size_t i = 0; i < board_.entries.size(); ++i)
      PASSNET_TRY_VOID(page(entry_path(board_.entries[i]), board_.entries[i].name, render_entry(board_, i)));
    std::map<Pair, Estimate> speeds;
    for (const Pair& pair : pairs_of(board_)) {
      const Entry &a = board_.entries[pair.first], &b = board_.entries[pair.second];
      const PairPage of_pair = render_pair(board_, pair);
      speeds[pair] = of_pair.speed;
      PASSNET_TRY_VOID(page(pair_path(a, b), a.name + " and " + b.name, of_pair.html));
    }
    return page("compare.html", "Compare", render_pairs(board_, speeds));
  }

  Result<void> tasks() {
    for (const Task& task : board_.tasks) {
      std::map<size_t, report::SampleSources> sources;
      for (const auto& [entry, path] : task.files) {
        sources[entry] = sources_of(task, entry, path);
        PASSNET_TRY_VOID(copy_records(task, entry, path));
      }
      PASSNET_TRY_VOID(page(task_path(task), task.name, render_task(board_, task, sources)));
    }
    return {};
  }

  Result<void> lines() {
    std::string text;
    for (const Task& task : board_.tasks) {
      for (const Graph& graph : task.graphs) {
        for (const auto& [entry, digest] : graph.records)
          text += compact(line_of(board_.entries[entry], task, graph, *digest)) + "\n";
      }
    }
    return file("data/graphs.jsonl", text);
  }

  Result<void> history() {
    if (request_.store.empty()) return {};
    PASSNET_TRY(store::Store store, store::Store::open(request_.store));
    constexpr size_t kMostRuns = 1000;
    PASSNET_TRY(const std::vector<store::StoredRun> runs, store.runs({.limit = kMostRuns}));
    return page("history.html", "History", render_history(board_, runs));
  }

  Result<void> attacks() {
    if (request_.selftest.empty()) return {};
    std::vector<Attacks> judges;
    for (const std::string& argument : request_.selftest) {
      const size_t equals = argument.find('=');
      const std::string path = equals == std::string::npos ? argument : argument.substr(equals + 1);
      PASSNET_TRY(const std::string text, read_file(path, FileKind::Lines));
      PASSNET_TRY(Json json, parse_json(text, path));
      judges.push_back({equals == std::string::npos ? "PassNet" : argument.substr(0, equals),
                        std::make_shared<const Json>(std::move(json))});
    }
    PASSNET_TRY(const std::string body, render_attacks(judges));
    PASSNET_TRY_VOID(page("attacks.html", "Attacks", body));
    Json all = Json::object();
    for (const Attacks& judge : judges) all[valid_utf8(judge.judge)] = *judge.selftest;
    return file("data/attacks.json", dump(all, 1) + "\n");
  }

  size_t pages = 0;

 private:
  static Json number_or_null(double value) { return value > 0 ? Json(value) : Json(); }
  static Json line_of(const Entry& entry, const Task& task, const Graph& graph, const store::Digest& digest) {
    const record::ComparedSide& side = digest.compared.side;
    const bool timed = has_ratio(digest);
    Json line = Json::object();
    auto& fields = line.get_ref<Json::object_t&>();
    const auto put = [&](const char* key, Json value) { fields.emplace_back(key, std::move(value)); };
    put("entry", valid_utf8(entry.name));
    put("device", valid_utf8(entry.hardware));
    put("compiler", valid_utf8(digest.compiler));
    put("task", valid_utf8(task.name));
    put("graph", valid_utf8(graph.name));
    put("kind", graph.kind.empty() ? Json() : Json(valid_utf8(graph.kind)));
    put("dtype", valid_utf8(graph.dtype));
    put("verdict", valid_utf8(side.headline));
    put("correct", side.correct);
    put("counts", digest.left_out == record::LeftOut::No);
    put("speedup", timed ? Json(side.speedup) : Json());
    put("low", timed && side.interval.known() ? Json(side.interval.low) : Json());
    put("high", timed && side.interval.known() ? Json(side.interval.high) : Json());
    put("before_us", number_or_null(digest.reference_us));
    put("after_us", number_or_null(digest.candidate_us));
    put("limit_us", digest.limit ? Json(digest.limit->us) : Json());
    put("bound", digest.limit ? Json(record::to_string(digest.limit->bound)) : Json());
    put("isolation", digest.isolation);
    put("started", valid_utf8(digest.started));
    put("records", records_path(entry, task));
    return line;
  }

  /// Passes and graphs beside the records.
  static report::SampleSources sources_of(const Task& task, size_t entry, const fs::path& path) {
    std::vector<std::string> graphs;
    for (const Graph& graph : task.graphs) {
      if (graph.records.contains(entry)) graphs.push_back(graph.name);
    }
    const fs::path sample = path.parent_path();
    return report::load_sample_sources(sample.parent_path(), sample.filename().string(), graphs);
  }

  Result<void> copy_records(const Task& task, size_t entry, const fs::path& path) {
    const Entry& of = board_.entries[entry];
    const auto copy = [&](const fs::path& directory, const char* name, const std::string& to) -> Result<void> {
      PASSNET_TRY(const std::string text, read_beneath(directory, name, FileKind::Lines));
      return file(to, text);
    };
    PASSNET_TRY_VOID(copy(path.parent_path(), path.filename().c_str(), records_path(of, task)));
    const fs::path run = path.parent_path().parent_path();
    if (!entry_exists(run / record::kSessionsFile) || !copied_.insert(entry).second) return {};
    return copy(run, record::kSessionsFile, fmt::format("records/{}/{}", of.slug, record::kSessionsFile));
  }

  const SiteRequest& request_;
  const Board& board_;
  std::set<size_t> copied_;  // entries whose sessions are there
};

}  // namespace

Result<Written> write_site(const SiteRequest& request) {
  PASSNET_TRY(const Board board, load_board(request.runs, request.threads));
  Writer writer(request, board);
  PASSNET_TRY_VOID(writer.tasks());
  PASSNET_TRY_VOID(writer.entries());
  PASSNET_TRY_VOID(writer.lines());
  PASSNET_TRY_VOID(writer.history());
  PASSNET_TRY_VOID(writer.attacks());
  PASSNET_TRY_VOID(writer.leaderboard());
  return Written{board.entries.size(), board.tasks.size(), board.records, writer.pages};
}

}  // namespace passnet::site
