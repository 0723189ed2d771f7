#include "run/keep/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "base/file/leftovers.h"
#include "base/file/paths.h"
#include "base/text/strings.h"
#include "record/session.h"

namespace passnet::run {

namespace {

/// What a run writes into the directory of a sample.
constexpr const char* kSampleFiles[] = {record::kRecordsFile, record::kSupersededFile, record::kScoreFile, kLogFile};

/// Directories of samples in a run directory that hold a record, by name.
std::vector<fs::path> samples_with_records(const fs::path& directory) {
  std::vector<fs::path> found;
  const Result<std::vector<fs::path>> entries = list_directory(directory);
  if (!entries) return found;
  for (const fs::path& entry : *entries) {
    std::error_code failed;
    const auto size = fs::file_size(entry / record::kRecordsFile, failed);
    if (!failed && size > 0) found.push_back(entry);
  }
  return found;
}

std::string names_of(const std::vector<fs::path>& directories) {
  std::vector<std::string> names;
  for (size_t i = 0; i < directories.size() && i < 3; ++i) names.push_back(quoted(directories[i].filename().string()));
  if (directories.size() > names.size()) names.push_back(fmt::format("{} more", directories.size() - names.size()));
  return join(names, ", ");
}

Result<UniqueFd> lock_directory(const fs::path& directory) {
  const fs::path path = directory / ".lock";
  UniqueFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
  if (!lock) return io_error("open", path.string(), errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return resource_error(fmt::format("'{}' is being written by another run", directory.string()))
        .with_hint("wait for it, or give this run its own --out");
  }
  return lock;
}

/// A directory that nobody else has: two runs that start in one second get one each.
Result<fs::path> make_new(const RunRequest& request) {
  PASSNET_TRY_VOID(make_directories(request.runs));
  const std::string name = run_directory_name(std::time(nullptr), request.samples);
  for (int attempt = 1;; ++attempt) {
    const fs::path path = request.runs / (attempt == 1 ? name : fmt::format("{}-{}", name, attempt));
    std::error_code failed;
    if (fs::create_directory(path, failed)) return path;
    if (failed) return io_error("create", path.string(), failed.value());
  }
}

/// Renamed into place, so that there is always a latest. Errors: Io; BadInput when something else has the name.
Result<void> check_link(const fs::path& latest) {
  std::error_code failed;
  if (!entry_exists(latest) || fs::is_symlink(latest, failed)) return {};
  return bad_input(fmt::format("'{}' is no link to the latest run", latest.string()))
      .with_hint("move it away, or give this run its own --out");
}

Result<void> point_latest_at(const fs::path& path, const fs::path& latest) {
  std::error_code failed;
  const fs::path partial = latest.parent_path() / fmt::format(".{}.{}", latest.filename().string(), ::getpid());
  fs::remove(partial, failed);
  fs::create_directory_symlink(path.filename(), partial, failed);
  if (failed) return io_error("create", partial.string(), failed.value());
  fs::rename(partial, latest, failed);
  if (failed) return io_error("rename to", latest.string(), failed.value());
  for (fs::directory_iterator at(latest.parent_path(), failed), end; !failed && at != end; at.increment(failed)) {
    std::error_code ignored;
    if (is_leftover(at->path())) fs::remove(at->path(), ignored);
  }
  return {};
}

/// Deletes what runs wrote, and nothing else that may lie there.
Result<void> clear(const fs::path& directory) {
  std::error_code failed;
  for (const fs::path& sample : samples_with_records(directory)) {
    for (const char* file : kSampleFiles) {
      if (fs::remove(sample / file, failed); failed)
        return io_error("remove", (sample / file).string(), failed.value());
    }
    fs::remove(sample, failed);  // stays when something else is in it
  }
  for (const char* file : {record::kSessionsFile, "report.html"}) fs::remove(directory / file, failed);
  return {};
}

Result<void> check_free(const fs::path& directory, const RunRequest& request) {
  if (!request.resume && entry_exists(directory / kLatestRun)) {
    return bad_input(fmt::format("'{}' holds directories of runs, not one run", directory.string()))
        .with_hint("leave --out away for a new one in there, or give another --out");
  }
  const std::vector<fs::path> samples = samples_with_records(directory);
  if (samples.empty() || request.resume) return {};
  return bad_input(fmt::format("'{}' holds the records of another run, of {}", directory.string(), names_of(samples)))
      .with_hint("--resume goes on with it, --force deletes them and starts over; or give another --out");
}

/// Without --out nobody has said which run is meant, so the latest must be one of these samples.
Result<void> check_latest(const fs::path& directory, const RunRequest& request) {
  const std::vector<fs::path> samples = samples_with_records(directory);
  const bool known = std::any_of(samples.begin(), samples.end(), [&](const fs::path& sample) {
    return std::find(request.samples.begin(), request.samples.end(), sample.filename().string()) !=
           request.samples.end();
  });
  if (samples.empty() || known) return {};
  return bad_input(fmt::format("the latest run, '{}', is of {}", directory.string(), names_of(samples)))
      .with_hint("name the run to go on with by --out, or leave --resume away");
}

}  // namespace

fs::path run_at(const fs::path& path) {
  const fs::path latest = path / kLatestRun;
  std::error_code no_link;
  const fs::path target = fs::read_symlink(latest, no_link);
  if (no_link) return entry_exists(latest) ? latest : path;
  return target == target.filename() && target != ".." ? latest : path;
}

std::string run_directory_name(int64_t now, const std::vector<std::string>& samples) {
  const std::time_t seconds = now;
  std::tm fields{};
  ::gmtime_r(&seconds, &fields);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H-%M-%S", &fields);
  std::string what = samples.size() == 1 ? samples[0] : fmt::format("{}-samples", samples.size());
  if (what.size() > 100) what.resize(100);
  return fmt::format("{}-{}", stamp, what);
}

Result<RunDirectory> RunDirectory::open(const RunRequest& request) {
  RunDirectory run;
  const fs::path latest = request.runs / kLatestRun;
  std::error_code failed;
  if (!request.out.empty()) {
    run.path_ = request.out;
    PASSNET_TRY_VOID(make_directories(run.path_));
  } else if (request.resume && directory_exists(latest)) {
    // By its own name: latest may point elsewhere before this run is done.
    run.path_ = request.runs / fs::canonical(latest, failed).filename();
    run.latest_ = latest;
    PASSNET_TRY_VOID(check_latest(run.path_, request));
  } else {
    PASSNET_TRY(run.path_, make_new(request));
    run.latest_ = latest;
  }
  PASSNET_TRY(run.lock_, lock_directory(run.path_));
  remove_leftovers(run.path_);
  if (request.force) PASSNET_TRY_VOID(clear(run.path_));
  PASSNET_TRY_VOID(check_free(run.path_, request));
  if (!run.latest_.empty()) PASSNET_TRY_VOID(check_link(run.latest_));
  return run;
}

Result<void> RunDirectory::become_latest() const {
  return latest_.empty() ? Result<void>() : point_latest_at(path_, latest_);
}

fs::path RunDirectory::shown() const {
  std::error_code failed;
  return !latest_.empty() && fs::equivalent(latest_, path_, failed) ? latest_ : path_;
}

}  // namespace passnet::run
