#include "run/batch.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <thread>
#include <unordered_set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/score.h"
#include "bench/verdict.h"

namespace passnet::run {

Result<RecordFile> RecordFile::open(const std::filesystem::path& path, bool keep) {
  std::error_code failed;
  std::filesystem::create_directories(path.parent_path(), failed);
  if (failed) return io_error("create", path.parent_path().string(), failed.value());
  RecordFile file;
  file.path_ = path;
  file.fd_ = UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!file.fd_) return io_error("open", path.string(), errno);
  if (::flock(file.fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    return resource_error(fmt::format("'{}' is being written by another run", path.string()))
        .with_hint("wait for it, or give this run its own --out");
  }
  int64_t whole_bytes = 0;
  if (keep) {
    PASSNET_TRY(file.records_, bench::load_records(path.string()));
    PASSNET_TRY(const std::string text, read_file(path));
    const size_t last = text.rfind('\n');
    whole_bytes = last == std::string::npos ? 0 : int64_t(last) + 1;
  }
  if (::ftruncate(file.fd_.get(), whole_bytes) != 0) return io_error("truncate", path.string(), errno);
  return file;
}

Result<void> RecordFile::append(const bench::RunRecord& record) {
  const std::string line = bench::to_json(record).dump() + "\n";
  struct stat before {};
  if (::fstat(fd_.get(), &before) != 0) return io_error("read the size of", path_.string(), errno);
  size_t written = 0;
  while (written < line.size()) {
    const ssize_t put = ::write(fd_.get(), line.data() + written, line.size() - written);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      Error error = io_error("write", path_.string(), errno);
      // Half a line must not stay; when even cutting fails, the torn line is skipped when read.
      if (::ftruncate(fd_.get(), before.st_size) != 0) error.notes.push_back("its last line is torn and will be skipped");
      return std::move(error).with_hint("free some space, then go on with --resume; finished records are kept");
    }
    written += static_cast<size_t>(put);
  }
  ::fdatasync(fd_.get());
  records_.push_back(record);
  return {};
}

namespace {

// The files derived from the records, written whole.
Result<void> write_derived(const std::filesystem::path& directory, const std::string& id,
                           const std::vector<bench::RunRecord>& records) {
  std::vector<bench::Verdict> verdicts;
  for (const bench::RunRecord& record : records) verdicts.push_back(bench::judge(record));
  const bench::Score score = bench::score(verdicts);
  PASSNET_TRY_VOID(write_file(directory / "aggregated_score.json", bench::to_json(score, id).dump(2) + "\n"));
  return write_file(directory / "validation.log", bench::render_upstream_log(records));
}

struct Planned {
  fx::Sample sample;
  RecordFile file;
};

Result<void> run_one(Planned& planned, const BatchOptions& options, const BatchHooks& hooks) {
  std::unordered_set<std::string> done;
  for (const bench::RunRecord& record : planned.file.records()) {
    if (record.compiler == options.evaluate.compiler) done.insert(record.graph);
  }
  EvaluateHooks one;
  one.skip = [&](const std::string& graph) { return done.contains(graph); };
  one.started = [&](const std::string& graph) {
    if (hooks.started) hooks.started(planned.sample.name, graph);
  };
  one.finished = [&](const bench::RunRecord& record) -> Result<void> {
    PASSNET_TRY_VOID(planned.file.append(record));
    if (hooks.finished) hooks.finished(record);
    return {};
  };
  return evaluate_sample(planned.sample, options.evaluate, one);
}

BatchHooks locked(const BatchHooks& hooks, std::mutex& mutex) {
  BatchHooks one_by_one;
  one_by_one.started = [&](const std::string& sample, const std::string& graph) {
    const std::lock_guard lock(mutex);
    if (hooks.started) hooks.started(sample, graph);
  };
  one_by_one.finished = [&](const bench::RunRecord& record) {
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
  size_t graphs = 0;
  for (const std::filesystem::path& path : samples) {
    Result<fx::Sample> sample = fx::load_sample(path);
    if (!sample) return {{}, std::move(sample).error()};
    for (const Planned& other : planned) {
      if (other.sample.name == sample->name) {
        return {{}, bad_input(fmt::format("two samples are named '{}': '{}' and '{}'", sample->name,
                                          other.sample.path.string(), sample->path.string()))
                        .with_hint("evaluate them in two runs with an --out each")};
      }
    }
    Result<RecordFile> file = RecordFile::open(options.out / sample->name / "records.jsonl", options.resume);
    if (!file) return {{}, std::move(file).error()};
    graphs += sample->graph_names.size() - std::min(file->records().size(), sample->graph_names.size());
    planned.push_back({std::move(*sample), std::move(*file)});
  }
  if (hooks.planned) hooks.planned(graphs);
  std::mutex mutex;  // of the hooks and the error
  const BatchHooks one_by_one = locked(hooks, mutex);
  std::atomic<size_t> next{0};
  const auto work = [&](int job) {
    BatchOptions own = options;
    if (own.evaluate.gpu) *own.evaluate.gpu += job;
    for (size_t i = next++; i < planned.size(); i = next++) {
      Planned& one = planned[i];
      Result<void> ran = run_one(one, own, one_by_one);
      Result<void> wrote = write_derived(options.out / one.sample.name, one.sample.name, one.file.records());
      if (ran && wrote) continue;
      const std::lock_guard lock(mutex);
      if (!result.error) result.error = ran ? std::move(wrote).error() : std::move(ran).error();
      next = planned.size();
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (int job = 1; job < options.jobs; ++job) helpers.emplace_back(work, job);
    work(0);
  }
  for (const Planned& one : planned) {
    const std::vector<bench::RunRecord>& records = one.file.records();
    result.records.insert(result.records.end(), records.begin(), records.end());
  }
  return result;
}

}  // namespace passnet::run
