#include "run/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include "base/check.h"
#include "base/log.h"
#include "base/strings.h"
#include "record/score.h"
#include "record/verdict.h"
#include "run/evaluation_workers.h"
#include "run/graph_texts.h"
#include "run/job.h"
#include "run/machine_lock.h"
#include "run/provenance.h"
#include "run/worker/worker.h"

namespace passnet::run {

Result<RecordFile> RecordFile::open(const std::filesystem::path& path, bool keep) {
  PASSNET_TRY(LineFile lines, LineFile::open(path, keep));
  RecordFile file(std::move(lines), path);
  PASSNET_TRY(file.records_, record::records_from_text(file.lines_.kept(), path.string()));
  return file;
}

Result<void> RecordFile::append(const record::RunRecord& record) {
  if (Result<void> appended = lines_.append(record::to_json(record).dump()); !appended)
    return std::move(appended).error().with_hint(
        "free some space, then go on with --resume; finished records are kept");
  records_.push_back(record);
  return {};
}

Result<void> RecordFile::supersede(const std::vector<size_t>& positions) {
  if (positions.empty()) return {};
  // records_ are the lines that are not blank, and the kept ones come first.
  std::string remaining;
  std::vector<std::string_view> moved;
  size_t position = 0;
  auto next = positions.begin();
  for (const std::string_view line : split(lines_.kept(), '\n')) {
    if (trim(line).empty()) continue;
    if (next != positions.end() && *next == position++) {
      moved.push_back(line);
      ++next;
    } else {
      remaining += std::string(line) + "\n";
    }
  }
  PASSNET_CHECK(next == positions.end(), "only records that were there when the file was opened are superseded");
  PASSNET_TRY(LineFile superseded, LineFile::open(path_.parent_path() / "records.superseded.jsonl", true));
  for (const std::string_view line : moved) PASSNET_TRY_VOID(superseded.append(line));
  PASSNET_TRY_VOID(write_file(path_, remaining));
  PASSNET_TRY(RecordFile rest, open(path_, true));
  *this = std::move(rest);
  return {};
}

namespace {

// The files derived from the records, written whole.
Result<void> write_derived(const std::filesystem::path& directory, const std::string& id,
                           const std::vector<record::RunRecord>& records) {
  const record::Score score = record::score(record::judge_all(records));
  PASSNET_TRY_VOID(write_file(directory / "aggregated_score.json", record::to_json(score, id).dump(2) + "\n"));
  return write_file(directory / "validation.log", record::render_upstream_log(records));
}

struct Planned {
  graphdir::Sample sample;
  RecordFile file;
};

// Why the record at `position` stands for no graph of the sample; empty when it does.
std::string reason_to_drop(const Planned& planned, size_t position) {
  const std::vector<record::RunRecord>& records = planned.file.records();
  const std::string& graph = records[position].graph;
  const auto later = [&](const record::RunRecord& other) { return other.graph == graph; };
  if (std::any_of(records.begin() + std::ptrdiff_t(position) + 1, records.end(), later)) return "there is a later one";
  const std::vector<std::string>& names = planned.sample.graph_names;
  return std::find(names.begin(), names.end(), graph) == names.end() ? "the sample no longer lists the graph" : "";
}

// Why its graph has to be evaluated again; empty when the record stands.
std::string reason_to_repeat(const Planned& planned, size_t position, const EvaluateOptions& options,
                             const std::map<std::string, std::string>& versions) {
  const record::RunRecord& record = planned.file.records()[position];
  const std::vector<std::string>& names = planned.sample.graph_names;
  const auto index = static_cast<size_t>(std::find(names.begin(), names.end(), record.graph) - names.begin());
  const std::vector<std::string> reasons =
      record::reasons_to_repeat(record, provenance_of(planned.sample, index, options, versions));
  if (!reasons.empty()) return join(reasons, "; ");
  if (record::is_unmeasured(record)) return "it was disturbed";
  if (options.profile && !record.profile) return "it has no profile";
  if (!options.rival.empty() && !record.rival) return fmt::format("it has no times of {}", options.rival);
  return "";
}

// Sets aside what no longer stands, and says why: graphs that go for one reason in one breath.
Result<void> set_aside(Planned& planned, const EvaluateOptions& options,
                       const std::map<std::string, std::string>& versions, const BatchHooks& hooks) {
  std::vector<size_t> positions;
  std::vector<std::pair<std::string, std::vector<std::string>>> graphs_of_reason;
  for (size_t i = 0; i < planned.file.records().size(); ++i) {
    const std::string& graph = planned.file.records()[i].graph;
    if (const std::string why = reason_to_drop(planned, i); !why.empty()) {
      positions.push_back(i);
      log::info(fmt::format("{}: the record of {} is set aside: {}", planned.sample.name, graph, why));
      continue;
    }
    const std::string reason = reason_to_repeat(planned, i, options, versions);
    if (reason.empty()) continue;
    positions.push_back(i);
    auto known = std::find_if(graphs_of_reason.begin(), graphs_of_reason.end(),
                              [&](const auto& one) { return one.first == reason; });
    if (known == graphs_of_reason.end()) known = graphs_of_reason.insert(known, {reason, {}});
    known->second.push_back(graph);
  }
  PASSNET_TRY_VOID(planned.file.supersede(positions));
  for (const auto& [reason, graphs] : graphs_of_reason) {
    if (hooks.again) hooks.again(planned.sample.name, graphs, reason);
  }
  return {};
}

Result<void> set_aside_all(std::vector<Planned>& planned, const EvaluateOptions& options, const BatchHooks& hooks) {
  const auto has_records = [](const Planned& one) { return !one.file.records().empty(); };
  if (std::none_of(planned.begin(), planned.end(), has_records)) return {};
  PASSNET_TRY(const auto versions, ask_versions(options));
  for (Planned& one : planned) PASSNET_TRY_VOID(set_aside(one, options, versions, hooks));
  return {};
}

Result<void> run_one(Planned& planned, const BatchOptions& options, EvaluationWorkers& workers,
                     const BatchHooks& hooks) {
  std::unordered_set<std::string> done;
  for (const record::RunRecord& record : planned.file.records()) done.insert(record.graph);
  EvaluateHooks one;
  one.skip = [&](const std::string& graph) { return done.contains(graph); };
  one.started = [&](const std::string& graph) {
    if (hooks.started) hooks.started(planned.sample.name, graph);
  };
  const std::filesystem::path out = options.out / planned.sample.name;
  const bool all_done = std::ranges::all_of(planned.sample.graph_names, one.skip);
  if (!all_done && options.evaluate.compiler == "passes") PASSNET_TRY_VOID(save_passes(out, planned.sample.pass_dir));
  one.texts = [&](const std::string& graph, const record::GraphTexts& texts) {
    return save_graph_texts(out, graph, texts);
  };
  one.finished = [&](const record::RunRecord& record) -> Result<void> {
    PASSNET_TRY_VOID(planned.file.append(record));
    if (hooks.finished) hooks.finished(record);
    return {};
  };
  return evaluate_sample(planned.sample, options.evaluate, workers, one);
}

// What the evaluation has for itself.
struct Leases {
  MachineLease processors, gpus;
  bool on_gpu = false;

  /// On the CPU all that are held. On a GPU each job has one for the thread that launches and waits, which alone is
  /// timed; its other threads, which make inputs, run anywhere.
  std::vector<int> processors_of(int job) const {
    if (!on_gpu) return processors.held();
    const auto own = static_cast<size_t>(job) % std::max<size_t>(1, processors.held().size());
    std::vector<int> all = processors.held().empty() ? std::vector<int>{} : std::vector<int>{processors.held()[own]};
    for (const int processor : available_processors()) {
      if (all.empty() || processor != all[0]) all.push_back(processor);
    }
    return all;
  }
};

Result<Leases> take_machine(const BatchOptions& options, const BatchHooks& hooks) {
  Leases leases;
  leases.on_gpu = options.evaluate.gpu.has_value();
  if (!options.evaluate.timed) return leases;
  const std::vector<int> available = available_processors();
  const size_t threads =
      options.evaluate.threads > 0 ? static_cast<size_t>(options.evaluate.threads) : available.size();
  const size_t wanted = leases.on_gpu ? static_cast<size_t>(options.jobs) : threads;
  PASSNET_TRY(leases.processors, MachineLease::take("processor", available, std::min(wanted, available.size()),
                                                    hooks.waiting, options.evaluate.interrupted));
  if (!leases.on_gpu) return leases;
  std::vector<int> gpus;
  for (int job = 0; job < options.jobs; ++job) gpus.push_back(*options.evaluate.gpu + job);
  PASSNET_TRY(leases.gpus, MachineLease::take("gpu", gpus, gpus.size(), hooks.waiting, options.evaluate.interrupted));
  return leases;
}

// One job of the batch: its device, processors and workers.
struct Slot {
  BatchOptions options;
  EvaluationWorkers workers;

  Slot(const BatchOptions& all, const Leases& leases, int job)
      : options(own(all, leases, job)), workers(options.evaluate) {}

 private:
  static BatchOptions own(BatchOptions options, const Leases& leases, int job) {
    if (options.evaluate.gpu) *options.evaluate.gpu += job;
    options.evaluate.processors = leases.processors_of(job);
    return options;
  }
};

// In the order of the lists, in whichever order they were measured.
std::vector<record::RunRecord> records_of(const std::vector<Planned>& planned) {
  std::vector<record::RunRecord> records;
  for (const Planned& one : planned) {
    std::unordered_map<std::string, size_t> place;
    for (const std::string& graph : one.sample.graph_names) place.emplace(graph, place.size());
    const size_t first = records.size();
    records.insert(records.end(), one.file.records().begin(), one.file.records().end());
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

}  // namespace

BatchResult evaluate_batch(const std::vector<std::filesystem::path>& samples, const BatchOptions& options,
                           const BatchHooks& hooks) {
  BatchResult result;
  std::vector<Planned> planned;
  for (const std::filesystem::path& path : samples) {
    Result<graphdir::Sample> sample = graphdir::load_sample(path);
    if (!sample) return {{}, std::move(sample).error()};
    for (const Planned& other : planned) {
      if (other.sample.name == sample->name) {
        return {{},
                bad_input(fmt::format("two samples are named '{}': '{}' and '{}'", sample->name,
                                      other.sample.path.string(), sample->path.string()))
                    .with_hint("evaluate them in two runs with an --out each")};
      }
    }
    Result<RecordFile> file = RecordFile::open(options.out / sample->name / "records.jsonl", options.resume);
    if (!file) return {{}, std::move(file).error()};
    planned.push_back({std::move(*sample), std::move(*file)});
  }
  if (Result<void> aside = set_aside_all(planned, options.evaluate, hooks); !aside)
    return {records_of(planned), std::move(aside).error()};
  size_t graphs = 0;
  for (const Planned& one : planned) graphs += one.sample.graph_names.size() - one.file.records().size();
  if (hooks.planned) hooks.planned(graphs);
  Result<Leases> leases = take_machine(options, hooks);
  if (!leases) return {{}, std::move(leases).error()};
  std::mutex mutex;  // of the hooks
  const BatchHooks one_by_one = locked(hooks, mutex);
  std::vector<std::unique_ptr<Slot>> slots(static_cast<size_t>(std::max(options.jobs, 1)));
  const Result<void> done = for_each_item(
      std::span(planned), {options.jobs, options.evaluate.interrupted}, [&](Planned& one, size_t job) -> Result<void> {
        if (!slots[job]) slots[job] = std::make_unique<Slot>(options, *leases, static_cast<int>(job));
        const Result<void> ran = run_one(one, slots[job]->options, slots[job]->workers, one_by_one);
        const Result<void> wrote = write_derived(options.out / one.sample.name, one.sample.name, one.file.records());
        PASSNET_TRY_VOID(ran);
        return wrote;
      });
  if (!done) result.error = done.error();
  result.records = records_of(planned);
  return result;
}

}  // namespace passnet::run
