#include "run/batch/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/hash.h"
#include "base/text/strings.h"
#include "record/chain.h"
#include "record/graph_texts.h"
#include "record/score/aggregated_score.h"
#include "record/score/score.h"
#include "record/shared_provenance.h"
#include "run/apply/select_passes.h"
#include "run/evaluate/candidate_kind.h"
#include "run/evaluate/provenance.h"
#include "run/keep/load_records.h"
#include "run/keep/record_file.h"
#include "run/keep/run_directory.h"

namespace passnet::run {

namespace {

using record::RunRecord;

// "records.jsonl:2: what is wrong", with the path below the run.
std::string text_of(const Error& error) {
  if (!error.at) return error.message;
  const std::string file = fs::path(error.at->file).filename().string();
  return error.at->line == 0 ? fmt::format("{}: {}", file, error.message)
                             : fmt::format("{}:{}: {}", file, error.at->line, error.message);
}

/// The part of a record that is compared with its session, once the chain says which that is.
struct KeptRecord {
  uint64_t seed = 0;
  bool seed_given = false;
  std::string seed_nonce;
  std::shared_ptr<const record::Provenance> made_of;  // null: the record does not say
};

struct SampleRun {
  const fs::path& directory;
  const std::vector<record::SessionLine>& sessions;
  VerifiedSample& found;
  std::vector<KeptRecord> records = {};
  record::SharedProvenances shared = {};
  std::vector<record::Verdict> verdicts = {};
  std::set<std::string> graphs = {};                             // that have a record
  std::map<std::string, Result<graphdir::Sample>> sources = {};  // samples by path, as they are now
  std::set<std::string> changed = {};                            // what of these is another than it was
  record::Chain chain = {};
  std::string log = {};            // validation.log
  std::string_view log_left = {};  // behind the part that the records so far make
  bool is_log_of_records = true;

  std::string file() const { return (directory / record::kRecordsFile).string(); }
  const record::SessionLine* session_of(size_t record) const {
    const auto position = chain.lines[record].session;
    return position ? &sessions[*position] : nullptr;
  }
};

// The hash of a file of the run, where it can be read. Errors: of a file that is there and cannot be.
Result<std::string> hash_of(const SampleRun& run, const fs::path& file) {
  PASSNET_TRY(const std::string text, read_beneath(run.directory, file, FileKind::Kept));
  return sha256_hex(text);
}

void compare_stored(SampleRun& run, const fs::path& file, const std::vector<std::string>& expected) {
  const Result<std::string> found = hash_of(run, file);
  if (!found)
    run.found.problems.push_back(fmt::format("{}: {}", file.string(), found.error().message));
  else if (std::ranges::find(expected, *found) == expected.end())
    run.found.problems.push_back(fmt::format("{} is not the text that was evaluated", file.string()));
}

// The texts of graphs that are stored beside the records are those of the records.
void check_texts(SampleRun& run, const RunRecord& record) {
  if (record.texts.empty()) return;  // of an older version, or nothing was stored
  const fs::path place = record::graph_texts_directory("", record.graph);
  for (const char* name : {record::kBeforeFile, record::kAfterFile, record::kLaunchesFile}) {
    if (!entry_exists(run.directory / place / name)) continue;
    const auto hash = record.texts.find(name);
    compare_stored(run, place / name, {hash == record.texts.end() ? "" : hash->second});
  }
}

// Loads the sample of a record, with the passes that it was made of, wherever they lie.
Result<graphdir::Sample> load_sample_of(const record::Provenance& then) {
  PASSNET_TRY(graphdir::Sample sample, graphdir::load_sample(then.sample_path));
  if (!then.pass_dir.empty()) sample.pass_dir = then.pass_dir;
  return sample;
}

// Files of the sample that are other than those of its record; where the sample still is.
void check_sources(SampleRun& run, const std::string& graph, const record::Provenance& then) {
  auto known = run.sources.find(then.sample_path);
  if (known == run.sources.end()) known = run.sources.emplace(then.sample_path, load_sample_of(then)).first;
  if (!known->second) return;
  const graphdir::Sample& sample = *known->second;
  const auto listed = std::ranges::find(sample.graph_names, graph);
  if (listed == sample.graph_names.end()) {
    run.changed.insert(fmt::format("{} is no longer listed", graph));
    return;
  }
  const auto index = static_cast<size_t>(listed - sample.graph_names.begin());
  record::Provenance now = then;
  now.graph = hash_graph(SourceFiles(sample.roots), sample.graph_paths[index]);
  if (candidate_kind(then.options.compiler).has_passes) {
    const pass::Selection selection = selection_of(then.options);
    const SourceFiles files = sources_of(sample, selection);
    now.passes = hash_passes(files, sample, selection);
    now.kernels = hash_kernels(files, sample, selection, then.options.device == "cuda");
  }
  for (const record::Difference& difference : differences(then, now)) {
    const bool of_graph = difference.kind == record::Difference::Kind::Graph;
    run.changed.insert(of_graph ? fmt::format("{} of {}", difference.text, graph) : difference.text);
  }
}

/// Checks a record by itself.
void check_record(SampleRun& run, const RunRecord& record) {
  if (record.sample != run.found.sample)
    run.found.problems.push_back(
        fmt::format("the record of {} is of sample {}", quoted(record.graph), quoted(record.sample)));
  if (!run.graphs.insert(record.graph).second)
    run.found.problems.push_back(fmt::format("there are two records of {}", quoted(record.graph)));
  if (record::is_environment_failure(record))
    run.found.missing.push_back(
        fmt::format("{} ended with '{}' for reasons outside the pass", record.graph, record.error_kind));
  check_texts(run, record);
  if (record.provenance) check_sources(run, record.graph, *record.provenance);
}

/// Checks a record, and keeps what its session and its score are compared with.
void take_record(SampleRun& run, RunRecord record) {
  check_record(run, record);
  run.records.push_back({record.seed, record.seed_given, record.seed_nonce,
                         record.provenance ? run.shared.share(*record.provenance) : nullptr});
  const std::vector<RunRecord> one{std::move(record)};
  std::ranges::move(record::judge_all(one), std::back_inserter(run.verdicts));
  const std::string lines = record::render_upstream_log(one);
  run.is_log_of_records = run.is_log_of_records && run.log_left.starts_with(lines);
  if (run.is_log_of_records) run.log_left.remove_prefix(lines.size());
}

Result<void> check_chain(SampleRun& run) {
  if (entry_exists(run.directory / kLogFile)) {
    PASSNET_TRY(run.log, read_beneath(run.directory, kLogFile, FileKind::Lines));
    run.log_left = run.log;
  }
  const UseRecord keep = [&](RunRecord record) { take_record(run, std::move(record)); };
  // A directory that is gone is one whose lines are.
  if (entry_exists(run.file())) {
    PASSNET_TRY(run.chain, read_chain(run.file(), run.sessions, keep));
  } else {
    PASSNET_TRY(
        run.chain,
        record::check_chain(
            {.sample = run.found.sample, .file = run.file(), .lines = record::lines_of(""), .sessions = &run.sessions},
            keep));
  }
  std::vector<std::string> problems;
  for (const Error& error : run.chain.problems) problems.push_back(text_of(error));
  run.found.problems.insert(run.found.problems.begin(), problems.begin(), problems.end());
  run.found.records = run.records.size();
  run.found.unchained = run.chain.unchained;
  run.found.head = run.chain.end.head;
  return {};
}

// The seed is the one that was committed to, or given.
std::string seed_problem(const KeptRecord& record, const record::Session& session) {
  if (record.made_of && record.made_of->options.seed != record.seed)
    return fmt::format("seed {}, and its provenance says {}", record.seed, record.made_of->options.seed);
  if (session.seed_given) {
    if (record.seed == session.seed && record.seed_given && record.seed_nonce.empty()) return "";
    return fmt::format("seed {}, and its session was given {}", record.seed, session.seed);
  }
  const std::string opened = record::seed_commitment(record.seed, record.seed_nonce);
  if (opened == session.seed_commitment && !record.seed_given) return "";
  return fmt::format("seed {} with its nonce gives {}, and its session committed to {}", record.seed,
                     quoted(opened, 70), quoted(session.seed_commitment, 70));
}

void check_seeds(SampleRun& run) {
  for (size_t i = 0; i < run.records.size(); ++i) {
    const record::SessionLine* const line = run.session_of(i);
    if (line == nullptr) continue;
    if (const std::string wrong = seed_problem(run.records[i], line->session); !wrong.empty())
      run.found.problems.push_back(fmt::format("{}: {}", run.chain.lines[i].graph, wrong));
  }
}

// The passes of a session were what they were when it began: before its seed was known.
void check_frozen(SampleRun& run) {
  for (size_t i = 0; i < run.records.size(); ++i) {
    const record::SessionLine* const line = run.session_of(i);
    const std::string& graph = run.chain.lines[i].graph;
    if (!run.records[i].made_of) continue;
    const record::Provenance& now = *run.records[i].made_of;
    if (!now.options.without.empty())
      run.found.problems.push_back(fmt::format("{}: evaluated without {}", graph, join(now.options.without, ", ")));
    if (line == nullptr) continue;
    const record::Session::Sample* const promised = line->session.find(run.found.sample);
    record::Provenance then = now;
    then.passes = promised->passes;
    then.kernels = promised->kernels;
    for (const record::Difference& difference : differences(then, now))
      run.found.problems.push_back(fmt::format("{}: {} after its session had begun", graph, difference.text));
  }
}

// All graphs that sessions set out to evaluate have a record that says something of them.
void check_complete(SampleRun& run) {
  std::set<std::string> expected;
  for (const record::SessionLine& line : run.sessions) {
    const record::Session::Sample* const sample = line.session.find(run.found.sample);
    if (sample == nullptr) continue;
    for (const record::Session::SetAside& one : sample->superseded) expected.erase(one.graph);
    expected.insert(sample->graphs.begin(), sample->graphs.end());
  }
  for (const std::string& graph : expected) {
    if (!run.graphs.contains(graph)) run.found.missing.push_back(fmt::format("{} has no record", graph));
  }
}

// aggregated_score.json is the score of these records, and validation.log their log.
Result<void> check_score(SampleRun& run) {
  const fs::path path = run.directory / record::kScoreFile;
  if (run.records.empty()) return {};
  if (!entry_exists(path)) {
    run.found.missing.push_back(fmt::format("{} was not written", record::kScoreFile));
    return {};
  }
  PASSNET_TRY(const std::string text, read_beneath(run.directory, record::kScoreFile, FileKind::Lines));
  PASSNET_TRY(const record::Seal seal, record::seal_from_text(text, path.string()));
  if (seal.records < run.chain.end.records) {
    run.found.missing.push_back(fmt::format("{} was written after record {}, and there are {}", record::kScoreFile,
                                            seal.records, run.chain.end.records));
    return {};
  }
  PASSNET_TRY(const Json json, parse_json(text, path.string()));
  if (const std::string wrong = record::score_disagreement(json, run.verdicts, run.found.sample); !wrong.empty())
    run.found.problems.push_back(fmt::format("{}: {}", record::kScoreFile, wrong));
  if (!entry_exists(run.directory / kLogFile)) return {};
  if (!run.is_log_of_records || !run.log_left.empty())
    run.found.problems.push_back(fmt::format("{} is not that of the records", kLogFile));
  return {};
}

// The passes that are stored beside the records are those that the last session with passes promised to evaluate.
void check_stored_passes(SampleRun& run) {
  const record::Session::Sample* promised = nullptr;
  for (const record::SessionLine& line : run.sessions) {
    const record::Session::Sample* const sample = line.session.find(run.found.sample);
    if (sample != nullptr && !sample->graphs.empty() && !sample->passes.empty()) promised = sample;
  }
  if (promised == nullptr) return;
  const fs::path place = record::passes_directory("");
  const Result<std::vector<fs::path>> stored = list_directory(run.directory / place);
  if (!stored) return;
  for (const fs::path& one : *stored) {
    const fs::path file = place / one.filename();
    const std::string name = file.filename().string();
    std::vector<std::string> expected;
    for (const auto* hashes : {&promised->passes, &promised->kernels}) {
      for (const std::string& key : {name, "given/" + name}) {
        if (const auto hash = hashes->find(key); hash != hashes->end()) expected.push_back(hash->second);
      }
    }
    compare_stored(run, file, expected);
  }
}

// What lies in records.superseded.jsonl was set aside by a session.
Result<void> check_superseded(SampleRun& run) {
  const fs::path path = run.directory / record::kSupersededFile;
  if (!entry_exists(path)) return {};
  std::set<std::string> listed;
  for (const record::SessionLine& line : run.sessions) {
    const record::Session::Sample* const sample = line.session.find(run.found.sample);
    if (sample == nullptr) continue;
    for (const record::Session::SetAside& one : sample->superseded) listed.insert(one.sha256);
  }
  if (listed.empty()) return {};  // of versions that wrote no chain
  PASSNET_TRY(const std::string text, read_beneath(run.directory, record::kSupersededFile, FileKind::Lines));
  for_each_line(text, [&](uint32_t number, std::string_view line, bool whole) {
    const auto record = try_parse_json(line);
    const bool chained = record.is_object() && record.contains("chain");
    if (whole && chained && !listed.contains(sha256_hex(line)))
      run.found.problems.push_back(
          fmt::format("{}:{}: no session set this record aside", record::kSupersededFile, number));
    return true;
  });
  return {};
}

Result<VerifiedSample> verify_sample(const std::string& name, const fs::path& directory,
                                     const std::vector<record::SessionLine>& sessions) {
  VerifiedSample found;
  found.sample = name;
  SampleRun run{directory, sessions, found};
  PASSNET_TRY_VOID(check_chain(run));
  check_seeds(run);
  check_frozen(run);
  check_complete(run);
  PASSNET_TRY_VOID(check_score(run));
  check_stored_passes(run);
  PASSNET_TRY_VOID(check_superseded(run));
  found.changed.assign(run.changed.begin(), run.changed.end());
  for (const auto& [path, sample] : run.sources) {
    if (!sample)
      found.remarks.push_back(
          fmt::format("no sample is at {} any more: its files were not compared", quoted(path, 200)));
  }
  return found;
}

// The directories of samples: those with records, and those that sessions name.
std::map<std::string, fs::path> samples_of(const fs::path& root, const std::vector<record::SessionLine>& sessions) {
  std::map<std::string, fs::path> samples;
  if (const Result<std::vector<fs::path>> entries = list_directory(root)) {
    for (const fs::path& entry : *entries) {
      if (entry_exists(entry / record::kRecordsFile)) samples.emplace(entry.filename().string(), entry);
    }
  }
  for (const record::SessionLine& line : sessions) {
    for (const record::Session::Sample& sample : line.session.samples) samples.emplace(sample.name, root / sample.name);
  }
  return samples;
}

}  // namespace

const char* VerifiedSample::result() const {
  if (!problems.empty()) return "broken";
  if (!missing.empty()) return "incomplete";
  if (unchained > 0) return "unchained";
  return changed.empty() ? "ok" : "changed";
}

bool VerifiedRun::is(const char* result) const {
  return std::ranges::any_of(samples,
                             [&](const VerifiedSample& one) { return std::string_view(one.result()) == result; });
}

Result<VerifiedRun> verify_run(const fs::path& path) {
  if (!directory_exists(path))
    return bad_input(fmt::format("'{}' is no directory, expected that of a run", path.string()))
        .with_hint("name the --out of 'passnet eval'");
  const fs::path root = run_at(path);
  VerifiedRun run;
  run.path = root.string();
  const Result<std::vector<record::SessionLine>> sessions = load_sessions(root);
  if (!sessions) {
    if (sessions.error().kind == Error::Kind::Io) return sessions.error();
    run.problems.push_back(text_of(sessions.error()));
    return run;
  }
  run.sessions = sessions->size();
  std::string heads = sessions->empty() ? "" : sessions->back().sha256 + "\n";
  for (const auto& [name, directory] : samples_of(root, *sessions)) {
    Result<VerifiedSample> sample = verify_sample(name, directory, *sessions);
    if (!sample && sample.error().kind == Error::Kind::Io) return std::move(sample).error();
    if (!sample) {
      VerifiedSample& unread = run.samples.emplace_back();
      unread.sample = name;
      unread.problems = {text_of(sample.error())};
      continue;
    }
    heads += fmt::format("{} {}\n", sample->head, name);
    run.samples.push_back(std::move(*sample));
  }
  if (run.samples.empty())
    return bad_input(fmt::format("no {} in or below '{}'", record::kRecordsFile, root.string()))
        .with_hint("name the directory of a run of 'passnet eval' (its --out)");
  run.head = sha256_hex(heads);
  return run;
}

}  // namespace passnet::run
