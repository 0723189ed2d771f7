#include "cluster/merge.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/file.h"
#include "base/hash.h"
#include "base/paths.h"
#include "base/shard.h"
#include "base/strings.h"
#include "cluster/new_directory.h"
#include "record/aggregated_score.h"
#include "record/chain.h"
#include "record/session.h"
#include "run/keep/run_directory.h"

namespace passnet::cluster {

namespace {

namespace fs = std::filesystem;
using record::SessionLine;

/// A run that is merged.
struct Part {
  fs::path path;
  std::string text;  // of run.jsonl, whole lines
  std::vector<SessionLine> sessions;
  UniqueFd lock;
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

Result<Part> load_part(const fs::path& given) {
  Part part{run::run_at(given), {}, {}, {}};
  const fs::path file = part.path / record::kSessionsFile;
  if (!entry_exists(file))
    return bad_input(fmt::format("no {} in '{}', expected the --out of 'passnet eval'", record::kSessionsFile,
                                 part.path.string()))
        .with_hint("its shard has not begun, or was written by an older version");
  PASSNET_TRY(part.lock, lock_run(part.path));
  PASSNET_TRY(part.text, read_beneath(part.path, record::kSessionsFile, FileKind::Lines));
  PASSNET_TRY(part.sessions, record::sessions_from_text(part.text, file.string()));
  part.text.resize(part.text.rfind('\n') + 1);
  if (part.sessions.empty()) return bad_input(fmt::format("no session in '{}'", file.string()));
  return part;
}

Result<std::vector<Part>> load_parts(const MergeRequest& request) {
  std::vector<Part> parts;
  std::map<std::string, fs::path> known;  // by the hash of the last session
  for (const fs::path& path : request.runs) {
    PASSNET_TRY(Part part, load_part(path));
    const auto [same, is_new] = known.emplace(part.sessions.back().sha256, part.path);
    if (!is_new)
      return bad_input(fmt::format("'{}' and '{}' are the same run", same->second.string(), part.path.string()))
          .with_hint("name each run once");
    parts.push_back(std::move(part));
  }
  return parts;
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
Result<PartSample> check_sample(const Part& part, const fs::path& sample, std::string_view text, OneKind& kind) {
  PartSample found;
  Result<void> same;
  PASSNET_TRY(record::Seal seal, seal_of(sample));
  const std::string file = (sample / record::kRecordsFile).string();
  PASSNET_TRY(const record::Chain chain, record::check_chain({.sample = sample.filename().string(),
                                                              .file = file,
                                                              .lines = record::lines_of(text),
                                                              .sessions = &part.sessions,
                                                              .seal = std::move(seal)},
                                                             [&](const record::RunRecord& record) {
                                                               if (same) same = kind.check(record, part.path);
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

Error doubled(const std::string& sample, const fs::path& one, const fs::path& other) {
  return bad_input(fmt::format("'{}' and '{}' both hold records of {}, expected each sample in one run", one.string(),
                               other.string(), quoted(sample)))
      .with_hint("--latest takes the records that were started last");
}

/// Samples of all parts, by name, those that are taken.
using Taken = std::map<std::string, PartSample>;

Result<void> take(const std::string& name, PartSample sample, const std::vector<Part>& parts,
                  const MergeRequest& request, Taken& taken, Merged& merged) {
  const auto [known, is_new] = taken.try_emplace(name, sample);
  if (is_new) return {};
  const fs::path &before = parts[known->second.part].path, &now = parts[sample.part].path;
  if (!request.latest) return doubled(name, before, now);
  const bool is_later = sample.last >= known->second.last;
  merged.left[name] = is_later ? before : now;
  if (is_later) known->second = std::move(sample);
  return {};
}

// Checks every sample of every part, and copies it; one that a later part takes the place of is replaced.
Result<Taken> copy_samples(const std::vector<Part>& parts, const MergeRequest& request, const fs::path& out,
                           Merged& merged) {
  Taken taken;
  OneKind kind;
  for (size_t i = 0; i < parts.size(); ++i) {
    PASSNET_TRY(const std::vector<fs::path> entries, list_directory(parts[i].path));
    for (const fs::path& sample : entries) {
      if (!entry_exists(sample / record::kRecordsFile)) continue;
      const std::string name = sample.filename().string();
      PASSNET_TRY(const std::string text, read_beneath(sample, record::kRecordsFile, FileKind::Lines));
      PASSNET_TRY(PartSample found, check_sample(parts[i], sample, text, kind));
      found.part = i;
      PASSNET_TRY_VOID(take(name, std::move(found), parts, request, taken, merged));
      if (taken.at(name).part != i) continue;
      PASSNET_TRY_VOID(remove_directory(out / name));
      PASSNET_TRY_VOID(copy_sample(sample, out / name, text));
    }
  }
  return taken;
}

// "3/8" for each shard of 8 that no session is of, where one is of another.
std::vector<std::string> missing_shards(const std::vector<Part>& parts) {
  std::map<int, std::set<int>> found;  // index by count
  for (const Part& part : parts) {
    for (const SessionLine& line : part.sessions) {
      const Result<Shard> shard = parse_shard(line.session.shard, [](const char*) { return std::string(); });
      if (shard) found[shard->count].insert(shard->index);
    }
  }
  std::vector<std::string> missing;
  for (const auto& [count, indices] : found) {
    for (int index = 1; index <= count; ++index) {
      if (!indices.contains(index)) missing.push_back(to_string(Shard{index, count}));
    }
  }
  return missing;
}

// All lines of the parts, and the line that joins them.
std::string joined_sessions(const std::vector<Part>& parts) {
  record::Session session;
  std::string text;
  int64_t lines = 0;
  for (const Part& part : parts) {
    text += part.text;
    lines += static_cast<int64_t>(part.sessions.size());
    // The same runs give the same run, whoever merges them, and when.
    session.started = std::max(session.started, part.sessions.back().session.started);
    session.merged.push_back({static_cast<int64_t>(part.sessions.size()), part.sessions.back().sha256, part.samples});
  }
  session.number = lines + 1;
  session.previous = parts.back().sessions.back().sha256;
  return text + record::session_line(session) + "\n";
}

}  // namespace

Result<Merged> merge_runs(const MergeRequest& request) {
  PASSNET_TRY(std::vector<Part> parts, load_parts(request));
  if (parts.empty()) return bad_input("found no run, expected one or more");
  PASSNET_TRY(NewDirectory out, NewDirectory::begin(request.out));
  Merged merged;
  PASSNET_TRY(const Taken taken, copy_samples(parts, request, out.partial(), merged));
  for (const auto& [name, sample] : taken) {
    parts[sample.part].samples.push_back(name);
    merged.records += sample.records;
  }
  PASSNET_TRY_VOID(write_file(out.partial() / record::kSessionsFile, std::string_view(joined_sessions(parts))));
  PASSNET_TRY_VOID(out.finish());
  merged.runs = parts.size();
  merged.samples = taken.size();
  merged.missing = missing_shards(parts);
  return merged;
}

}  // namespace passnet::cluster
