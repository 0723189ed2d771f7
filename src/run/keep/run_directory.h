// Where a run puts its records: a directory of its own below passnet-out/, with `latest` beside it, or the one that was
// asked for. One run at a time writes to it, and nothing that is there is overwritten unasked. docs/records.md
// describes it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/result.h"

namespace passnet::run {

/// Runs without --out make their directories below this, in the working directory.
inline constexpr const char* kRunsDirectory = "passnet-out";
/// In the directory of a sample, what upstream prints.
inline constexpr const char* kLogFile = "validation.log";
/// In the directory of runs, a link to the last of them.
inline constexpr const char* kLatestRun = "latest";

struct RunRequest {
  std::filesystem::path out;  // empty: a new one below `runs`, or with resume runs/latest
  std::filesystem::path runs = kRunsDirectory;
  std::vector<std::string> samples;  // names of what will be evaluated
  bool resume = false;               // go on with what is there
  bool force = false;                // start over: what runs before left there is deleted
};

class RunDirectory {
 public:
  /// Makes and locks the directory. resume without `out` starts a new one when there is no latest. Errors: BadInput (it
  /// holds records, and neither resume nor force; runs/latest is of other samples), Resource (another run writes to
  /// it), Io.
  static Result<RunDirectory> open(const RunRequest& request);

  /// Lets runs/latest be this run, unless `out` was given. REQUIRES: it holds a record. Errors: Io.
  Result<void> become_latest() const;
  const std::filesystem::path& path() const { return path_; }
  /// For people: runs/latest while that is this directory, else path().
  std::filesystem::path shown() const;

 private:
  std::filesystem::path path_, latest_;
  UniqueFd lock_;
};

/// The run at a path: itself, or the latest of a directory of runs, to which its link has to lead by a name beside it.
std::filesystem::path run_at(const std::filesystem::path& path);

/// "2026-11-21T23-40-05-NAME": what a new run directory is called. now: seconds since 1970, shown in UTC.
std::string run_directory_name(int64_t now, const std::vector<std::string>& samples);

}  // namespace passnet::run
