#include "run/batch/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "base/file/file.h"
#include "base/file/line_file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/processors.h"
#include "base/text/strings.h"
#include "base/utc.h"
#include "record/score/aggregated_score.h"
#include "record/score/score.h"
#include "record/verdict.h"
#include "run/apply/graph_texts.h"
#include "run/apply/select_passes.h"
#include "run/batch/build_ahead.h"
#include "run/batch/job.h"
#include "run/evaluate/candidate_kind.h"
#include "run/evaluate/provenance.h"
#include "run/keep/run_directory.h"
#include "run/keep/seed.h"
#include "run/machine/turns.h"

namespace passnet::run {

namespace {

// The files derived from the records, written whole.
Result<void> write_derived(const std::filesystem::path& directory, const std::string& id, const RecordFile& file) {
  PASSNET_TRY_VOID(write_file(directory / record::kScoreFile,
                              dump(record::aggregated_score(file.records(), id, file.end()), 2) + "\n"));
  return write_file(directory / kLogFile, record::render_upstream_log(file.records()));
}

struct Planned {
  graphdir::Sample sample;
  RecordFile file;
  SourceFiles sources;                        // of the passes, from promise to record
  std::vector<size_t> aside = {};             // records that no longer stand
  std::unordered_set<std::string> only = {};  // graphs to evaluate; empty: all

  bool is_asked_for(const std::string& graph) const { return only.empty() || only.contains(graph); }

  // Those that no record stands for; in the order of the list.
  std::vector<std::string> graphs_to_do() const {
    std::unordered_set<std::string> done;
    for (size_t i = 0; i < file.records().size(); ++i) {
      if (!std::ranges::binary_search(aside, i)) done.insert(file.records()[i].graph);
    }
    std::vector<std::string> graphs;
    for (const std::string& graph : sample.graph_names) {
      if (!done.contains(graph) && is_asked_for(graph)) graphs.push_back(graph);
    }
    return graphs;
  }
};

// Why the record at `position` stands for no graph of the sample; empty when it does.
std::string reason_to_drop(const Planned& planned, size_t position) {
  const std::vector<record::RunRecord>& records = planned.file.records();
  const std::string& graph = records[position].graph;
  if (planned.file.is_left_behind(position)) return "an interrupted --resume did so";
  const auto later = [&](const record::RunRecord& other) { return other.graph == graph; };
  if (std::any_of(records.begin() + std::ptrdiff_t(position) + 1, records.end(), later)) return "there is a later one";
  const std::vector<std::string>& names = planned.sample.graph_names;
  return std::find(names.begin(), names.end(), graph) == names.end() ? "the sample no longer lists the graph" : "";
}

// Why its graph has to be evaluated again; empty when the record stands.
std::string reason_to_repeat(const Planned& planned, size_t position, const BatchOptions& batch,
                             const std::map<std::string, std::string>& versions) {
  const EvaluateOptions& options = batch.evaluate;
  const record::RunRecord& record = planned.file.records()[position];
  const std::vector<std::string>& names = planned.sample.graph_names;
  const auto index = static_cast<size_t>(std::find(names.begin(), names.end(), record.graph) - names.begin());
  record::Provenance now =
      provenance_of(planned.sources, SourceFiles(planned.sample.roots), planned.sample, index, options, versions);
  // Any seed will do that was not asked for.
  now.options.seed = batch.seed.value_or(record.seed);
  const std::vector<std::string> reasons = record::reasons_to_repeat(record, now);
  if (!reasons.empty()) return join(reasons, "; ");
  if (record::is_unmeasured(record)) return "it was disturbed";
  if (options.profile && !record.profile) return "it has no profile";
  if (!options.second_candidate.empty() && !record.second_candidate)
    return fmt::format("it has no times of {}", options.second_candidate);
  return "";
}

// Finds what no longer stands, and says why: graphs that go for one reason in one breath.
void find_aside(Planned& planned, const BatchOptions& options, const std::map<std::string, std::string>& versions,
                const BatchHooks& hooks) {
  std::vector<std::pair<std::string, std::vector<std::string>>> graphs_of_reason;
  for (size_t i = 0; i < planned.file.records().size(); ++i) {
    const std::string& graph = planned.file.records()[i].graph;
    if (const std::string why = reason_to_drop(planned, i); !why.empty()) {
      planned.aside.push_back(i);
      log::info(fmt::format("{}: the record of {} is set aside: {}", planned.sample.name, graph, why));
      continue;
    }
    const std::string reason =
        planned.is_asked_for(graph) ? reason_to_repeat(planned, i, options, versions) : std::string();
    if (reason.empty()) continue;
    planned.aside.push_back(i);
    auto known = std::find_if(graphs_of_reason.begin(), graphs_of_reason.end(),
                              [&](const auto& one) { return one.first == reason; });
    if (known == graphs_of_reason.end()) known = graphs_of_reason.insert(known, {reason, {}});
    known->second.push_back(graph);
  }
  for (const auto& [reason, graphs] : graphs_of_reason) {
    if (hooks.again) hooks.again(planned.sample.name, graphs, reason);
  }
}

Result<void> find_all_aside(std::vector<Planned>& planned, const BatchOptions& options, const BatchHooks& hooks) {
  const auto has_records = [](const Planned& one) { return !one.file.records().empty(); };
  if (std::none_of(planned.begin(), planned.end(), has_records)) return {};
  PASSNET_TRY(const auto versions, ask_versions(options.evaluate));
  for (Planned& one : planned) find_aside(one, options, versions, hooks);
  return {};
}

record::Session::Sample promise(const Planned& planned, const EvaluateOptions& options) {
  record::Session::Sample sample;
  sample.name = planned.sample.name;
  sample.graphs = planned.graphs_to_do();
  if (candidate_kind(options.compiler).has_passes) {
    sample.passes = hash_passes(planned.sources, planned.sample, options.selection);
    sample.kernels = hash_kernels(planned.sources, planned.sample, options.selection, options.gpu.has_value());
  }
  sample.records = planned.file.end().records;
  sample.head = planned.file.end().head;
  sample.superseded = planned.file.describe(planned.aside);
  sample.unchained = planned.file.unchained();
  return sample;
}

// Writes what is promised before anything is built or run, then moves what is set aside. A kill in between leaves
// records that the next --resume moves.
Result<void> begin_session(std::vector<Planned>& planned, const BatchOptions& options, const std::filesystem::path& out,
                           const Seed& seed) {
  record::Session session;
  for (const Planned& one : planned) {
    if (!one.aside.empty() || !one.graphs_to_do().empty()) session.samples.push_back(promise(one, options.evaluate));
  }
  // A shard of nothing is told too: else nobody knows it from one that was lost.
  if (session.samples.empty() && (options.shard.empty() || entry_exists(out / record::kSessionsFile))) return {};
  PASSNET_TRY(LineFile file, LineFile::open(out / record::kSessionsFile, options.resume));
  PASSNET_TRY(const auto before, record::sessions_from_text(file.kept(), record::kSessionsFile));
  session.number = static_cast<int64_t>(before.size()) + 1;
  session.previous = before.empty() ? "" : before.back().sha256;
  session.started = utc_now();
  session.shard = options.shard;
  session.seed_given = seed.given();
  if (seed.given())
    session.seed = seed.value;
  else
    session.seed_commitment = record::seed_commitment(seed.value, seed.nonce);
  const std::string line = record::session_line(session);
  PASSNET_TRY_VOID(file.append(line));
  for (Planned& one : planned) {
    one.file.begin(sha256_hex(line));
    PASSNET_TRY_VOID(one.file.supersede(std::exchange(one.aside, {})));
  }
  return {};
}

// A run with what it has to do.
struct PlannedRun {
  BatchRun run;
  std::vector<Planned> samples = {};
};

Error of_run(Error error, const BatchRun& run) {
  return run.name.empty() ? error : std::move(error).with_note(fmt::format("while evaluating {}", run.name));
}

// What a sample of one run is evaluated with. hooks: must outlive it.
Result<Candidate> candidate_of(Planned& planned, const std::filesystem::path& root, const EvaluateOptions& options,
                               const Seed& seed, const BatchHooks& hooks, BuildingAhead* building) {
  std::unordered_set<std::string> done;
  for (const record::RunRecord& record : planned.file.records()) done.insert(record.graph);
  EvaluateHooks one;
  one.skip = [done = std::move(done), &planned](const std::string& graph) {
    return done.contains(graph) || !planned.is_asked_for(graph);
  };
  one.started = [&planned, &hooks, building](const std::string& graph) {
    if (building) building->leave_out(planned.sample, graph);
    if (hooks.started) hooks.started(planned.sample.name, graph);
  };
  const std::filesystem::path out = root / planned.sample.name;
  const bool all_done = std::ranges::all_of(planned.sample.graph_names, one.skip);
  if (!all_done && candidate_kind(options.compiler).has_passes)
    PASSNET_TRY_VOID(save_passes(out, planned.sources, listed_files(planned.sources, planned.sample, options.selection),
                                 options.gpu ? ".cu" : ".cpp"));
  const auto stored = std::make_shared<record::Provenance::Hashes>();  // of the graph that is finished next
  one.texts = [out, stored](const std::string& graph, const record::GraphTexts& texts) -> Result<void> {
    PASSNET_TRY(*stored, save_graph_texts(out, graph, texts));
    return {};
  };
  one.finished = [&, stored](record::RunRecord record) -> Result<void> {
    record.texts = *stored;
    record.seed_given = seed.given();
    record.seed_nonce = seed.nonce;
    PASSNET_TRY_VOID(planned.file.append(std::move(record)));
    if (hooks.finished) hooks.finished(planned.file.records().back());
    return {};
  };
  return Candidate{planned.sample, std::move(one), planned.sources};
}

// The sample at `index` of all runs. others_follow: samples.
Result<void> evaluate_sample_of(std::vector<PlannedRun>& runs, size_t index, const Seed& seed, Slot& slot,
                                const std::vector<BatchHooks>& hooks, BuildingAhead* building, bool others_follow) {
  const auto evaluate = [&]() -> Result<void> {
    std::vector<Candidate> candidates;
    for (size_t i = 0; i < runs.size(); ++i) {
      PASSNET_TRY(Candidate candidate,
                  candidate_of(runs[i].samples[index], runs[i].run.out, slot.options(), seed, hooks[i], building));
      candidates.push_back(std::move(candidate));
    }
    return evaluate_candidates(candidates, slot.options(), slot.workers(), others_follow);
  };
  Result<void> done = evaluate();
  for (const PlannedRun& one : runs) {
    const Planned& planned = one.samples[index];
    Result<void> wrote = write_derived(one.run.out / planned.sample.name, planned.sample.name, planned.file);
    if (done && !wrote) done = of_run(wrote.error(), one.run);
  }
  return done;
}

// What all runs have to do, in the order in which it will be evaluated. Tells their hooks.
std::vector<ToBuild> all_to_build(const std::vector<PlannedRun>& runs) {
  std::vector<ToBuild> all;
  std::vector<size_t> graphs(runs.size());
  for (size_t sample = 0; sample < runs.front().samples.size(); ++sample) {
    for (size_t run = 0; run < runs.size(); ++run) {
      const Planned& one = runs[run].samples[sample];
      const std::vector<std::string> to_do = one.graphs_to_do();
      const std::unordered_set<std::string> wanted(to_do.begin(), to_do.end());
      ToBuild build{&one.sample, {}, one.sources};
      for (size_t i = 0; i < one.sample.graph_names.size(); ++i) {
        if (wanted.contains(one.sample.graph_names[i])) build.graphs.push_back(i);
      }
      graphs[run] += build.graphs.size();
      if (!build.graphs.empty()) all.push_back(std::move(build));
    }
  }
  for (size_t run = 0; run < runs.size(); ++run) {
    if (graphs[run] > 0 && runs[run].run.hooks.building) runs[run].run.hooks.building(graphs[run]);
  }
  return all;
}

// Compiles what will be launched: beside the evaluations, where there are processors for both, else before them.
Result<void> begin_building(const std::vector<PlannedRun>& runs, const BatchOptions& options,
                            const std::vector<int>& common_processors, std::optional<BuildingAhead>& building) {
  if (options.build_jobs == 0 || !candidate_kind(options.evaluate.compiler).has_passes) return {};
  std::vector<ToBuild> all = all_to_build(runs);
  if (all.empty()) return {};
  if (common_processors.empty()) return build_ahead(all, options.evaluate, options.build_jobs);
  building.emplace(std::move(all), options.evaluate, options.build_jobs, common_processors);
  return {};
}

// In the order of the lists, in whichever order they were measured.
std::vector<record::RunRecord> records_of(const std::vector<Planned>& planned) {
  std::vector<record::RunRecord> records;
  for (const Planned& one : planned) {
    std::unordered_map<std::string, size_t> place;
    for (const std::string& graph : one.sample.graph_names) place.emplace(graph, place.size());
    const size_t first = records.size();
    for (size_t i = 0; i < one.file.records().size(); ++i) {
      if (!std::ranges::binary_search(one.aside, i)) records.push_back(one.file.records()[i]);
    }
    std::stable_sort(
        records.begin() + std::ptrdiff_t(first), records.end(),
        [&](const record::RunRecord& a, const record::RunRecord& b) { return place[a.graph] < place[b.graph]; });
  }
  return records;
}

BatchHooks locked(const BatchHooks& hooks, std::mutex& mutex) {
  BatchHooks one_by_one;
  one_by_one.started = [&](const std::string& sample, const std::string& graph) {
    const std::lock_guard lock(mutex);
    if (hooks.started) hooks.started(sample, graph);
  };
  one_by_one.finished = [&](const record::RunRecord& record) {
    const std::lock_guard lock(mutex);
    if (hooks.finished) hooks.finished(record);
  };
  return one_by_one;
}

// What there is to do, read and locked.
Result<void> plan(PlannedRun& run, const BatchOptions& options) {
  for (graphdir::Sample& sample : run.run.samples) {
    for (const Planned& other : run.samples) {
      if (other.sample.name == sample.name) {
        return bad_input(fmt::format("two samples are named '{}': '{}' and '{}'", sample.name,
                                     other.sample.path.string(), sample.path.string()))
            .with_hint("evaluate them in two runs with an --out each");
      }
    }
    // A wrong order is the caller's, and no result of a pass.
    const pass::Selection& selection = options.evaluate.selection;
    SourceFiles sources = sources_of(sample, selection);
    if (candidate_kind(options.evaluate.compiler).has_passes && !(selection.given.empty() && selection.order.empty()))
      PASSNET_TRY_VOID(pass::list_selected(sources, sample.pass_dir, selection));
    PASSNET_TRY(RecordFile file, RecordFile::open(run.run.out / sample.name / record::kRecordsFile, options.resume));
    std::unordered_set<std::string> only;
    if (const auto asked = options.only.find(sample.name); asked != options.only.end())
      only.insert(asked->second.begin(), asked->second.end());
    run.samples.push_back({std::move(sample), std::move(file), std::move(sources), {}, std::move(only)});
  }
  PASSNET_TRY_VOID(find_all_aside(run.samples, options, run.run.hooks));
  size_t graphs = 0;
  for (const Planned& one : run.samples) graphs += one.graphs_to_do().size();
  if (run.run.hooks.planned) run.run.hooks.planned(graphs);
  return {};
}

Result<Seed> seed_of(const BatchOptions& options) {
  if (!options.seed) return draw_seed();
  Seed seed;
  seed.value = *options.seed;
  return seed;
}

bool has_graphs_to_do(const PlannedRun& run) {
  return std::ranges::any_of(run.samples, [](const Planned& one) { return !one.graphs_to_do().empty(); });
}

Result<void> evaluate_all(std::vector<PlannedRun>& runs, BatchOptions asked) {
  // Records say what was asked for: a slot on a GPU has a part of the processors, and the next run may have other slots.
  asked.evaluate.threads = resolve_options(asked.evaluate).threads;
  for (PlannedRun& one : runs) {
    if (const Result<void> planned = plan(one, asked); !planned) return of_run(planned.error(), one.run);
  }
  MachineLease lease;
  const Waiting waiting = waiting_of(asked.evaluate, runs.front().run.hooks.waiting);
  if (asked.evaluate.timed && std::ranges::any_of(runs, has_graphs_to_do)) {
    PASSNET_TRY(lease, take_for_slots(asked.evaluate, asked.slots, waiting));
  }
  Turns turns(lease, waiting);
  PASSNET_TRY(const Seed seed, seed_of(asked));
  BatchOptions options = asked;
  options.evaluate.seed = seed.value;
  options.evaluate.turns = &turns;
  for (PlannedRun& one : runs) PASSNET_TRY_VOID(begin_session(one.samples, options, one.run.out, seed));
  Slots slots(options.evaluate, options.slots, lease);
  std::optional<BuildingAhead> building;
  PASSNET_TRY_VOID(begin_building(runs, options, slots.common_processors(), building));
  std::mutex mutex;  // of the hooks
  std::vector<BatchHooks> hooks;
  for (const PlannedRun& one : runs) hooks.push_back(locked(one.run.hooks, mutex));
  std::vector<size_t> samples(runs.front().samples.size());
  std::iota(samples.begin(), samples.end(), size_t{0});
  std::atomic<size_t> begun = 0;
  return for_each_item(std::span(samples), {options.slots.all(), options.evaluate.interrupted},
                       [&](size_t sample, size_t slot) -> Result<void> {
                         const OnProcessors common(slots.common_processors());
                         const bool others_follow = ++begun < samples.size();
                         return evaluate_sample_of(runs, sample, seed, slots.at(slot), hooks,
                                                   building ? &*building : nullptr, others_follow);
                       });
}

}  // namespace

BatchResult evaluate_batch(const std::vector<std::filesystem::path>& samples, const BatchOptions& asked,
                           const BatchHooks& hooks) {
  std::vector<graphdir::Sample> loaded;
  for (const std::filesystem::path& path : samples) {
    Result<graphdir::Sample> sample = graphdir::load_sample(path);
    if (!sample) return {{}, sample.error()};
    loaded.push_back(std::move(*sample));
  }
  return evaluate_batch(std::move(loaded), asked, hooks);
}

BatchResult evaluate_batch(std::vector<graphdir::Sample> samples, const BatchOptions& asked, const BatchHooks& hooks) {
  std::vector<BatchRun> one;
  one.push_back({{}, std::move(samples), asked.out, hooks});
  BatchResults results = evaluate_batches(std::move(one), asked);
  return {std::move(results.records.front()), std::move(results.error)};
}

namespace {

BatchResults evaluate_once(const std::vector<BatchRun>& runs, const BatchOptions& asked) {
  std::vector<PlannedRun> planned;
  for (const BatchRun& run : runs) planned.push_back({run});
  BatchResults results;
  const Result<void> done = evaluate_all(planned, asked);
  if (!done) results.error = done.error();
  for (const PlannedRun& one : planned) results.records.push_back(records_of(one.samples));
  return results;
}

}  // namespace

BatchResults evaluate_batches(std::vector<BatchRun> runs, const BatchOptions& asked) {
  BatchResults results = evaluate_once(runs, asked);
  const auto failed = [](const std::vector<record::RunRecord>& records) {
    return std::ranges::any_of(records, record::is_environment_failure);
  };
  if (asked.slots.per_gpu == 1 || results.error || std::ranges::none_of(results.records, failed)) return results;
  // Graphs that found the GPU's memory full beside others get it alone.
  BatchOptions alone = asked;
  alone.resume = true;
  alone.slots.per_gpu = 1;
  return evaluate_once(runs, alone);
}

}  // namespace passnet::run
