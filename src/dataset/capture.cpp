#include "dataset/capture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/file/leftovers.h"
#include "base/file/line_file.h"
#include "base/text/strings.h"
#include "pass/kernel/python_files.h"
#include "run/batch/job.h"
#include "run/worker/ask.h"
#include "run/worker/pytorch.h"

namespace passnet::dataset {

namespace {

using namespace std::chrono_literals;

constexpr auto kOpenTimeout = 600s;              // Python, PyTorch and a library imported on a busy machine
constexpr double kAnswerSeconds = 60;            // from the end of a model to the answer
constexpr const char* kUnfinished = ".partial";  // below OUT: what workers have not finished

Result<run::WorkerOptions> worker_of(const CaptureOptions& options) {
  run::WorkerOptions worker;
  worker.role = run::Role::Capture;
  worker.program = options.worker;
  if (worker.program.empty()) {
    PASSNET_TRY(const fs::path scripts, pass::find_scripts("passnet_capture"));
    const char* const others = std::getenv("PYTHONPATH");
    const std::string path = others != nullptr && *others != 0 ? fmt::format(":{}", others) : "";
    worker.program = {"/usr/bin/env",     fmt::format("PYTHONPATH={}{}", scripts.string(), path),
                      run::find_python(), "-m",
                      "passnet_capture",  "serve"};
  }
  return worker;
}

/// Where models come from, as a worker tells of it.
struct ModelSource {
  CaptureLine facts;  // what the lines of all its models have in common
  std::vector<std::string> models;
};

// Opens the source in the worker of a slot, which is started where there is none.
Result<ModelSource> open_source(run::SlotWorkers& workers, size_t slot, const CaptureOptions& options) {
  PASSNET_TRY(run::Worker* const worker, workers.at(slot));
  Result<protocol::Answer<protocol::Source>> answer = run::ask(*worker, protocol::Source{options.from}, kOpenTimeout);
  if (answer) {
    protocol::Source::Reply& told = answer->reply;
    CaptureLine facts;
    facts.source = std::move(told.source);
    facts.library_version = std::move(told.library_version);
    facts.torch_version = std::move(told.torch_version);
    facts.licence = std::move(told.licence);
    return ModelSource{std::move(facts), std::move(told.models)};
  }
  if (!answer.error().worker_lost) return answer.error();
  return std::move(answer).error().with_hint(
      fmt::format("PASSNET_PYTHON names the Python that captures, else it is '{}'", run::find_python()));
}

bool matches(const std::string& name, const std::string& pattern) {
  return ::fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
}

struct Wanted {
  std::string name;
  bool exists = true;  // else a pattern that nothing matches
};

// Patterns without a match, then the models that one matches.
std::vector<Wanted> choose_models(const ModelSource& source, const CaptureOptions& options) {
  const std::vector<std::string>& names = source.models;
  std::vector<Wanted> chosen;
  for (const std::string& pattern : options.match) {
    if (std::ranges::none_of(names, [&](const std::string& name) { return matches(name, pattern); }))
      chosen.push_back({pattern, false});
  }
  size_t left = options.limit == 0 ? names.size() : options.limit;
  for (const std::string& name : names) {
    const bool wanted = options.match.empty() || std::ranges::any_of(options.match, [&](const std::string& pattern) {
                          return matches(name, pattern);
                        });
    if (!wanted || left == 0) continue;
    chosen.push_back({name});
    --left;
  }
  std::erase_if(
      chosen, [&](const Wanted& model) { return !options.shard.holds(capture_key(source.facts.source, model.name)); });
  return chosen;
}

CaptureLine failed_line(const ModelSource& source, const std::string& model, std::string cause, std::string message) {
  CaptureLine line = source.facts;
  line.model = model;
  line.cause = std::move(cause);
  line.message = std::move(message);
  return line;
}

/// "'resnet18'", the model nearest to a pattern; else empty.
std::string nearest_model(const ModelSource& source, const std::string& pattern) {
  const std::vector<std::string_view> names(source.models.begin(), source.models.end());
  const std::string_view near = nearest_name(pattern, names);
  return near.empty() ? std::string() : quoted(near);
}

CaptureLine not_found(const ModelSource& source, const std::string& pattern, const CaptureOptions& options) {
  const std::string near = nearest_model(source, pattern);
  return failed_line(source, pattern, "not-found",
                     fmt::format("found no model '{}' in {}; {}", pattern, options.from,
                                 near.empty() ? "run with --dry-run" : fmt::format("did you mean {}?", near)));
}

// A model's name as one directory: whatever is no letter, digit, dot, dash or underscore becomes one.
fs::path directory_of(const ModelSource& source, const std::string& model) {
  std::string name = model.substr(std::min(model.find_first_not_of('.'), model.size()));
  for (char& c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && std::isalnum(byte) == 0 && c != '.' && c != '-') c = '_';
  }
  return fs::path(source.facts.source) / (name.empty() ? "_" : name);
}

// nullopt when it was cut short by the user.
Result<std::optional<CaptureLine>> capture_model(const std::string& model, run::SlotWorkers& workers, size_t slot,
                                                 const fs::path& out, const CaptureOptions& options) {
  const auto interrupted = [&] { return options.interrupted != nullptr && *options.interrupted; };
  Result<ModelSource> source = open_source(workers, slot, options);
  // It may have been lost since it was asked last.
  if (!source && source.error().worker_lost && !interrupted()) source = open_source(workers, slot, options);
  if (!source && interrupted()) return std::nullopt;
  if (!source) return source.error();
  const protocol::Capture request{
      model,          out.string(),      directory_of(*source, model).string(),
      options.shapes, options.timeout_s, static_cast<int64_t>(options.memory_gb * (1 << 30))};
  PASSNET_TRY(run::Worker* const worker, workers.at(slot));
  const Result<protocol::Answer<protocol::Capture>> answer = run::ask(
      *worker, request, std::chrono::milliseconds(static_cast<int64_t>((options.timeout_s + kAnswerSeconds) * 1000)));
  if (answer) {
    PASSNET_TRY(CaptureLine line, capture_line_from_json(*answer->reply.entry));
    return line;
  }
  if (interrupted()) return std::nullopt;
  return failed_line(*source, model, "crash", answer.error().message);
}

}  // namespace

Result<std::vector<std::string>> list_models(const CaptureOptions& options) {
  PASSNET_TRY(run::WorkerOptions worker, worker_of(options));
  run::SlotWorkers workers({1, options.interrupted}, std::move(worker));
  PASSNET_TRY(const ModelSource source, open_source(workers, 0, options));
  std::vector<std::string> names;
  for (const Wanted& model : choose_models(source, options)) {
    if (model.exists) names.push_back(model.name);
  }
  if (!names.empty()) return names;
  std::string near;
  for (const std::string& pattern : options.match) {
    if (near.empty()) near = nearest_model(source, pattern);
  }
  return bad_input(fmt::format("--filter: found no model of {} that matches {}", options.from,
                               fmt::join(options.match, ", ")))
      .with_hint(near.empty() ? "--dry-run without --filter prints them all" : fmt::format("did you mean {}?", near));
}

Result<void> capture(const fs::path& out, const CaptureOptions& options,
                     const std::function<void(const CaptureLine&)>& finished) {
  PASSNET_TRY(run::WorkerOptions worker, worker_of(options));
  const run::JobOptions job{options.jobs, options.interrupted};
  run::SlotWorkers workers(job, std::move(worker));
  PASSNET_TRY(const ModelSource source, open_source(workers, 0, options));
  remove_leftovers(out);
  PASSNET_TRY(LineFile journal, LineFile::open(out / "journal.jsonl", true));
  const std::map<std::string, CaptureLine> earlier = read_capture_journal(journal.kept());
  std::error_code ignored;
  fs::remove_all(out / kUnfinished, ignored);  // of a run that was killed
  const std::vector<Wanted> models = choose_models(source, options);
  run::JobSteps<Wanted, std::optional<CaptureLine>, CaptureLine> steps;
  steps.find = [&](const Wanted& model) -> const CaptureLine* {
    if (!options.resume || !model.exists) return nullptr;
    const CaptureLine* const line = run::find_line(earlier, capture_key(source.facts.source, model.name));
    return line != nullptr && (line->captured || !options.retry_failed) ? line : nullptr;
  };
  steps.work = [&](const Wanted& model, size_t slot) -> Result<std::optional<CaptureLine>> {
    if (!model.exists) return not_found(source, model.name, options);
    return capture_model(model.name, workers, slot, out, options);
  };
  steps.keep = [&](std::optional<CaptureLine>& made) -> Result<const CaptureLine*> {
    if (!made) return nullptr;
    // What an earlier run may have captured.
    if (!made->captured && made->cause != "not-found") fs::remove_all(out / directory_of(source, made->model), ignored);
    return &*made;
  };
  steps.finished = finished;
  const Result<void> done = run::run_job(std::span(models), journal, job, steps);
  fs::remove_all(out / kUnfinished, ignored);
  return done;
}

}  // namespace passnet::dataset
