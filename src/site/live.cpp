#include "site/live.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/json/json.h"
#include "base/text/parse_number.h"
#include "run/keep/load_records.h"
#include "site/site.h"

namespace passnet::site {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

namespace {

/// Empty: the run has no record yet.
std::string state_of(const fs::path& run) {
  const Result<std::vector<fs::path>> files = run::find_record_files(run);
  std::string state;
  if (!files) return state;
  for (const fs::path& file : *files) {
    struct stat found {};
    if (::stat(file.c_str(), &found) != 0 || found.st_size == 0) continue;
    state += fmt::format("{} {} {}.{}\n", file.string(), found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec);
  }
  return state;
}

uint64_t milliseconds_now() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
}

/// VERSION of "since=VERSION"; 0: another query.
uint64_t version_in(std::string_view query) {
  constexpr std::string_view kName = "since=";
  return query.starts_with(kName) ? parse_number<uint64_t>(query.substr(kName.size())).value_or(0) : 0;
}

const char* type_of(const fs::path& file) {
  const std::string ending = file.extension().string();
  if (ending == ".html") return "text/html; charset=utf-8";
  if (ending == ".css") return "text/css; charset=utf-8";
  if (ending == ".js") return "text/javascript; charset=utf-8";
  return ending == ".json" ? "application/json" : "text/plain; charset=utf-8";
}

http::Reply page_at(const fs::path& pages, const std::string& path) {
  const fs::path file = path.empty() ? "index.html" : path;
  Result<std::string> text = read_beneath(pages, file, FileKind::Lines);
  if (!text) return {404, "no such page\n", "text/plain; charset=utf-8"};
  return {200, std::move(*text), type_of(file)};
}

}  // namespace

LiveSite::LiveSite(std::vector<std::string> runs, size_t threads, TemporaryDirectory pages)
    : arguments_(std::move(runs)), threads_(threads), pages_(std::move(pages)) {}

Result<std::unique_ptr<LiveSite>> LiveSite::make(std::vector<std::string> runs, size_t threads) {
  PASSNET_TRY(TemporaryDirectory pages, TemporaryDirectory::make("passnet-pages-"));
  PASSNET_TRY(const std::vector<NamedRun> given, runs_in(runs));
  for (const NamedRun& run : given) {
    if (!directory_exists(run.path) && !file_exists(run.path))
      return bad_input(fmt::format("'{}' is no directory, expected a run or a directory of runs", run.path.string()));
  }
  std::unique_ptr<LiveSite> site(new LiveSite(std::move(runs), threads, std::move(pages)));
  PASSNET_TRY_VOID(site->refresh());
  return site;
}

Result<bool> LiveSite::refresh() {
  SiteRequest request;
  request.out = pages_.path();
  request.threads = threads_;
  request.version = std::max<uint64_t>(version_ + 1, milliseconds_now());
  std::string seen;
  PASSNET_TRY(const std::vector<NamedRun> runs, runs_in(arguments_));
  for (const NamedRun& run : runs) {
    const std::string state = state_of(run.path);
    if (!state.empty()) request.runs.push_back(run);
    seen += state;
  }
  if (version_ > 0 && seen == seen_) return false;
  PASSNET_TRY(const Written written, write_site(request));
  seen_ = std::move(seen);
  records_ = written.records;
  version_ = request.version;
  return true;
}

void LiveSite::follow(const std::atomic<bool>& stop, const std::function<void(const Error&)>& say) {
  std::string said;
  while (!stop) {
    const Clock::time_point begin = Clock::now();
    const Result<bool> done = refresh();
    const std::string problem = done ? "" : done.error().message;
    if (!problem.empty() && problem != said) say(done.error());
    said = problem;
    // A fifth of the time at most.
    const Seconds took = Clock::now() - begin;
    for (Seconds left = std::max(Seconds(1), 4 * took); left.count() > 0 && !stop; left -= Seconds(0.1))
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

http::Reply LiveSite::events(const http::ServerRequest& request) const {
  static constexpr std::chrono::seconds kQuiet{15};
  http::Reply reply{200, "", "text/event-stream"};
  reply.stream = [this, since = version_in(request.query), last = Clock::now()]() mutable -> std::string {
    const uint64_t version = version_;
    const bool is_new = version > since;
    // A line without an event shows whether anybody listens still.
    if (!is_new && Clock::now() - last < kQuiet) return {};
    last = Clock::now();
    if (!is_new) return ":\n\n";
    since = version;
    return fmt::format("event: records\ndata: {}\n\n",
                       compact(Json{{"version", version}, {"records", records_.load()}}));
  };
  return reply;
}

std::vector<http::Route> LiveSite::routes() const {
  using Method = http::Route::Method;
  return {
      {Method::Get, "/events", [this](const http::ServerRequest& request) { return events(request); }},
      // Browsers ask for it, and call it an error where there is none.
      {Method::Get, "/favicon.ico",
       [](const http::ServerRequest&) {
         return http::Reply{200, "", "image/x-icon"};
       }},
      {Method::Get, "/", [this](const http::ServerRequest& request) { return page_at(pages_.path(), request.rest); }}};
}

}  // namespace passnet::site
