#include "cluster/merge.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/hash.h"
#include "base/shard.h"
#include "base/text/strings.h"
#include "cluster/new_directory.h"
#include "record/chain.h"
#include "record/score/aggregated_score.h"
#include "record/session.h"
#include "run/keep/run_directory.h"

namespace passnet::cluster {

namespace {

using record::SessionLine;

/// A run that is merged, while nobody writes to it.
struct OpenRun {
  fs::path path;
  UniqueFd lock;
  std::string text = {};  // of run.jsonl, whole lines
  std::vector<SessionLine> sessions = {};
};

/// Facts of a source run that the merged run keeps.
struct Part {
  fs::path path;
  std::string text;
  record::Session last;  // session
  std::string head;
  int64_t sessions = 0;
  std::vector<std::string> samples = {};  // taken
};

/// A sample of one run, once its records hold.
struct PartSample {
  size_t part = 0;
  size_t records = 0;
  std::string last;  // when its last record was started
};

/// Nobody writes to the run while the lock is held. Errors: Resource: somebody does.
Result<UniqueFd> lock_run(const fs::path& run) {
  const fs::path path = run / ".lock";
  UniqueFd lock(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!lock || ::flock(lock.get(), LOCK_SH | LOCK_NB) == 0) return lock;  // a copy of a run has no lock
  return resource_error(fmt::format("'{}' is being written by another run", run.string())).with_hint("wait for it");
}

Result<OpenRun> open_run(const fs::path& given) {
  OpenRun run{run::run_at(given), {}};
  const fs::path file = run.path / record::kSessionsFile;
  if (!entry_exists(file))
    return bad_input(fmt::format("no {} in '{}', expected the --out of 'passnet eval'", record::kSessionsFile,
                                 run.path.string()))
        .with_hint("its shard has not begun, or was written by an older version");
  PASSNET_TRY(run.lock, lock_run(run.path));
  PASSNET_TRY(run.text, read_beneath(run.path, record::kSessionsFile, FileKind::Lines));
  PASSNET_TRY(run.sessions, record::sessions_from_text(run.text, file.string()));
  run.text.resize(run.text.rfind('\n') + 1);
  if (run.sessions.empty()) return bad_input(fmt::format("no session in '{}'", file.string()));
  return run;
}

/// Holds all records to the machine, versions and options of the first.
class OneKind {
 public:
  /// Errors: BadInput: the record was made otherwise.
  Result<void> check(const record::RunRecord& record, const fs::path& run) {
    const std::string name = fmt::format("'{}' ({}/{})", run.string(), record.sample, record.graph);
    if (!record.provenance)
      return bad_input(fmt::format("{}: the record does not say what it was made of, as those of older versions", name))
          .with_hint("evaluate the sample again");
    record::Provenance now = *record.provenance;
    now.graph = now.passes = now.kernels = {};
    now.options.seed = 0;  // any will do that was not asked for
    now.options.timeout_s = 0;
    if (!first_) {
      first_ = std::move(now);
      first_name_ = name;
      first_seed_given_ = record.seed_given;
      return {};
    }
    if (first_->options == now.options && first_->versions == now.versions && first_seed_given_ == record.seed_given)
      return {};
    std::vector<std::string> found;
    for (const record::Difference& difference : record::differences(*first_, now)) found.push_back(difference.text);
    if (first_seed_given_ != record.seed_given)
      found.push_back(record.seed_given ? "--seed was given, and was not" : "--seed was not given, and was");
    return bad_input(fmt::format("{} was made otherwise than {}: {}", name, first_name_, join(found, "; ")))
        .with_hint("a score is of one kind of machine, one version and the same options: merge those apart");
  }

 private:
  std::optional<record::Provenance> first_;  // without its sources
  std::string first_name_;
  bool first_seed_given_ = false;
};

Result<record::Seal> seal_of(const fs::path& sample) {
  if (!entry_exists(sample / record::kScoreFile)) return record::Seal();
  PASSNET_TRY(const std::string score, read_beneath(sample, record::kScoreFile, FileKind::Lines));
  return record::seal_from_text(score, (sample / record::kScoreFile).string());
}

// Checks records and their chain. text: of records.jsonl.
Result<PartSample> check_sample(const OpenRun& run, const fs::path& sample, std::string_view text, OneKind& kind) {
  PartSample found;
  Result<void> same;
  PASSNET_TRY(record::Seal seal, seal_of(sample));
  const std::string file = (sample / record::kRecordsFile).string();
  PASSNET_TRY(const record::Chain chain, record::check_chain({.sample = sample.filename().string(),
                                                              .file = file,
                                                              .lines = record::lines_of(text),
                                                              .sessions = &run.sessions,
                                                              .seal = std::move(seal)},
                                                             [&](const record::RunRecord& record) {
                                                               if (same) same = kind.check(record, run.path);
                                                               found.last = std::max(found.last, record.started);
                                                               ++found.records;
                                                             }));
  PASSNET_TRY_VOID(record::first_problem(chain));
  PASSNET_TRY_VOID(same);
  if (chain.unchained == 0) return found;
  return bad_input(fmt::format("{} records without a place in the chain, as those of older versions", chain.unchained),
                   SourceLoc{file})
      .with_hint("evaluate the sample again");
}

// Copies the regular files of a sample; its records are written as they were checked.
Result<void> copy_sample(const fs::path& from, const fs::path& to, std::string_view records) {
  std::error_code failed;
  fs::recursive_directory_iterator entry(from, failed);
  for (; !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
    std::error_code ignored;
    if (entry->is_symlink(ignored) || !entry->is_regular_file(ignored)) continue;
    const fs::path file = entry->path().lexically_relative(from);
    if (file == record::kRecordsFile) continue;
    PASSNET_TRY(const std::string text, read_beneath(from, file, FileKind::Lines));
    PASSNET_TRY_VOID(write_file(to / file, std::string_view(text)));
  }
  if (failed) return io_error("read", from.string(), failed.value());
  return write_file(to / record::kRecordsFile, records);
}

/// Puts runs into a new directory, one after the other.
class Merging {
 public:
  Merging(const MergeRequest& request, const fs::path& out) : request_(request), out_(out) {}

  /// Checks every sample of the run, and copies it; one that the run takes the place of is replaced.
  /// Errors: as merge_runs.
  Result<void> add(const fs::path& given) {
    PASSNET_TRY(const OpenRun run, open_run(given));
    const SessionLine& last = run.sessions.back();
    const auto same = std::ranges::find(parts_, last.sha256, &Part::head);
    if (same != parts_.end())
      return bad_input(fmt::format("'{}' and '{}' are the same run", same->path.string(), run.path.string()))
          .with_hint("name each run once");
    for (const SessionLine& line : run.sessions) note_shard(line.session.shard);
    parts_.push_back({run.path, run.text, last.session, last.sha256, static_cast<int64_t>(run.sessions.size())});
    PASSNET_TRY(const std::vector<fs::path> entries, list_directory(run.path));
    for (const fs::path& sample : entries) {
      if (entry_exists(sample / record::kRecordsFile)) PASSNET_TRY_VOID(add_sample(run, sample));
    }
    return {};
  }

  /// The lines of all runs, and the line that joins them. REQUIRES: there is a run.
  Result<Merged> finish() {
    merged_.runs = parts_.size();
    merged_.samples = taken_.size();
    merged_.missing = missing_shards();
    for (const auto& [name, sample] : taken_) {
      parts_[sample.part].samples.push_back(name);
      merged_.records += sample.records;
    }
    std::string text;
    record::Session session;
    for (Part& part : parts_) {
      text += part.text;
      session.number += part.sessions;
      // The same runs give the same run, whoever merges them, and when.
      session.started = std::max(session.started, part.last.started);
      session.merged.push_back({part.sessions, part.head, std::move(part.samples)});
    }
    session.previous = parts_.back().head;
    text += record::session_line(session) + "\n";
    PASSNET_TRY_VOID(write_file(out_ / record::kSessionsFile, std::string_view(text)));
    return std::move(merged_);
  }

 private:
  Result<void> add_sample(const OpenRun& run, const fs::path& sample) {
    const std::string name = sample.filename().string();
    PASSNET_TRY(const std::string text, read_beneath(sample, record::kRecordsFile, FileKind::Lines));
    PASSNET_TRY(PartSample found, check_sample(run, sample, text, kind_));
    found.part = parts_.size() - 1;
    PASSNET_TRY(const bool is_taken, take(name, std::move(found)));
    if (!is_taken) return {};
    PASSNET_TRY_VOID(remove_directory(out_ / name));
    return copy_sample(sample, out_ / name, text);
  }

  /// Errors: BadInput: an earlier run has the sample, and nobody says which to take.
  Result<bool> take(const std::string& name, PartSample sample) {
    const auto [known, is_new] = taken_.try_emplace(name, sample);
    if (is_new) return true;
    const fs::path &before = parts_[known->second.part].path, &now = parts_.back().path;
    if (!request_.latest)
      return bad_input(fmt::format("'{}' and '{}' both hold records of {}, expected each sample in one run",
                                   before.string(), now.string(), quoted(name)))
          .with_hint("--latest takes the records that were started last");
    const bool is_later = sample.last >= known->second.last;
    merged_.left[name] = is_later ? before : now;
    if (is_later) known->second = std::move(sample);
    return is_later;
  }

  void note_shard(const std::string& text) {
    const Result<Shard> shard = parse_shard(text, [](const char*) { return std::string(); });
    if (shard) shards_[shard->count].insert(shard->index);
  }

  // "3/8" for each shard of 8 that no session is of, where one is of another.
  std::vector<std::string> missing_shards() const {
    std::vector<std::string> missing;
    for (const auto& [count, indices] : shards_) {
      for (int index = 1; index <= count; ++index) {
        if (!indices.contains(index)) missing.push_back(to_string(Shard{index, count}));
      }
    }
    return missing;
  }

  const MergeRequest& request_;
  const fs::path& out_;
  OneKind kind_;
  std::vector<Part> parts_;
  std::map<std::string, PartSample> taken_;  // by name
  std::map<int, std::set<int>> shards_;      // index by count
  Merged merged_;
};

}  // namespace

Result<Merged> merge_runs(const MergeRequest& request) {
  if (request.runs.empty()) return bad_input("found no run, expected one or more");
  PASSNET_TRY(NewDirectory out, NewDirectory::begin(request.out));
  Merging merging(request, out.partial());
  for (const fs::path& run : request.runs) PASSNET_TRY_VOID(merging.add(run));
  PASSNET_TRY(Merged merged, merging.finish());
  PASSNET_TRY_VOID(out.finish());
  return merged;
}

}  // namespace passnet::cluster
