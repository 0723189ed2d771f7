// A run checked against itself: do its records, sessions, scores and seeds hold together, and are the samples still what
// they were? docs/records.md, "The chain", says what that proves.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace passnet::run {

struct VerifiedSample {
  std::string sample, head;  // head: SHA-256 of the last record's line; empty: none
  size_t records = 0, unchained = 0;
  std::vector<std::string> problems;  // what cannot be of a run that nobody has touched
  std::vector<std::string> missing;   // what the run set out to do and has not done, or not been able to
  std::vector<std::string> changed;   // files of the sample that are no longer those of a record
  std::vector<std::string> remarks;   // what could not be checked

  /// "broken", "incomplete", "unchained", "changed" or "ok": the first that fits.
  const char* result() const;
};

struct VerifiedRun {
  std::string path;  // of its directory
  size_t sessions = 0;
  /// SHA-256 of the heads of run.jsonl and of all samples: kept elsewhere, it tells this run from every other.
  std::string head;
  std::vector<std::string> problems;  // of run.jsonl; then no sample is checked
  std::vector<VerifiedSample> samples;

  bool is(const char* result) const;  // of any sample
};

/// path: of a run, or of a directory of runs (their latest). Errors: Io; BadInput (no run is there).
Result<VerifiedRun> verify_run(const std::filesystem::path& path);

}  // namespace passnet::run
