#include "run/evaluation_workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "run/provenance.h"
#include "run/worker/python_candidate.h"
#include "run/worker/pytorch.h"
#include "run/worker/requests.h"
#include "sandbox/empty_root.h"
#include "sandbox/isolation.h"

namespace passnet::run {

namespace {

WorkerOptions worker_options(const EvaluateOptions& options, Role role, int threads) {
  WorkerOptions worker{options.worker, role, threads, options.interrupted, options.gpu, options.processors};
  worker.lane = options.lane;
  return worker;
}

/// On a GPU the processors of other evaluations are left to them.
int threads_of(const EvaluateOptions& options) {
  const int threads = resolve_options(options).threads;
  if (!options.gpu || options.processors.empty()) return threads;
  return std::min(threads, static_cast<int>(options.processors.size()));
}

Role candidate_role(const EvaluateOptions& options) {
  return options.compiler == kAotInductor ? Role::Package : Role::Candidate;
}

/// What the worker found of itself, and what it cannot see: what it was started with, and how kernels are compiled.
std::string isolation_in_force(const std::string& of_worker) {
  if (of_worker.empty()) return {};
  std::string words = of_worker;
  if (sandbox::no_write_ruleset("", false)) words += "; Landlock";
  if (sandbox::namespaces_available() && sandbox::empty_root_available()) words += "; compilers in an empty root";
  return words;
}

}  // namespace

EvaluationWorkers::EvaluationWorkers(const EvaluateOptions& options)
    : options_(options),
      threads_(threads_of(options)),
      reference_(worker_options(options, Role::Reference, threads_)),
      candidate_{{}, Worker(worker_options(options, candidate_role(options), threads_))},
      other_{{}, Worker(worker_options(options, Role::Candidate, threads_))} {}

void EvaluationWorkers::use_python(bool python) {
  if (python != uses_python_) std::swap(candidate_, other_);
  uses_python_ = python;
}

void EvaluationWorkers::end_host_code() {
  Candidate& in_python = uses_python_ ? candidate_ : other_;
  if (in_python.is_foreign) in_python.worker.stop();
}

Result<void> EvaluationWorkers::begin_sample() {
  for (Candidate* one : {&candidate_, &other_}) {
    if (one->is_foreign) one->worker.stop();
  }
  return revive();
}

Result<void> EvaluationWorkers::revive() {
  if (reference_.alive() && candidate_.worker.alive()) return {};
  // Coming up takes a turn of a shared device, as each makes its context there.
  const DeviceLane::Use turn = computing(options_.lane);
  if (!reference_.alive()) PASSNET_TRY_VOID(reference_.start());
  if (!candidate_.worker.alive()) {
    candidate_.is_foreign = candidate_.is_up = false;
    PASSNET_TRY_VOID(start_candidate());
  }
  if (options_.lane == nullptr) return {};
  // What is wrong with one is told by the first request to it.
  (void)machine();
  (void)await_candidate();
  return {};
}

Result<void> EvaluationWorkers::start_candidate() {
  if (uses_python_) {
    PASSNET_TRY(PythonCandidate started, start_python_candidate({threads_, options_.processors, options_.gpu,
                                                                 options_.interrupted, options_.lane}));
    candidate_.worker = std::move(started.worker);
    candidate_.scratch = std::make_unique<TemporaryDirectory>(std::move(started.scratch));
    return {};
  }
  if (!candidate_is_python()) return candidate_.worker.start();
  PASSNET_TRY(candidate_.worker, start_pytorch(python_options("compile")));
  return {};
}

Result<void> EvaluationWorkers::await_candidate() {
  if (candidate_.is_up) return {};
  if (uses_python_) {
    PASSNET_TRY(const Hello hello, greet_pytorch(candidate_.worker));
    candidate_.isolation = isolation_of_python(hello.isolation);
  } else if (candidate_is_python()) {
    PASSNET_TRY_VOID(greet_pytorch(candidate_.worker));
  } else {
    PASSNET_TRY(const Hello hello, start_up(candidate_.worker));
    // A package is no foreign code, and nothing confines it.
    if (!makes_packages()) candidate_.isolation = isolation_in_force(hello.isolation);
  }
  candidate_.is_up = true;
  return {};
}

void EvaluationWorkers::stop() {
  reference_.stop();
  candidate_.worker.stop();
}

Result<EvaluationWorkers::Machine> EvaluationWorkers::machine() {
  if (machine_) return *machine_;
  PASSNET_TRY(const Hello hello, start_up(reference_));
  Machine known{hello.hardware, fmt::format("{}, torch {}", hello.hardware, hello.torch), hello.architecture,
                versions_of(options_, hello)};
  if (candidate_is_python() || !options_.baseline.empty()) {
    PASSNET_TRY(Worker* const python, candidate_is_python() ? Result<Worker*>(&candidate_.worker) : baseline());
    PASSNET_TRY(const Hello of_python, greet_pytorch(*python));
    known.versions[kPythonVersion] = of_python.torch;
  }
  if (makes_packages()) PASSNET_TRY_VOID(note_packager(hello, known));
  machine_ = std::move(known);
  return *machine_;
}

// A package holds code for the PyTorch that made it, and is run by that of passnet-worker.
Result<void> EvaluationWorkers::note_packager(const Hello& reference, Machine& machine) {
  PASSNET_TRY(Worker* const python, packager());
  PASSNET_TRY(const Hello of_python, greet_pytorch(*python));
  const std::string version = of_python.torch.substr(0, of_python.torch.find('+'));
  if (version != reference.torch.substr(0, reference.torch.find('+')))
    return resource_error(
               fmt::format("PyTorch from Python is {}, expected {}, that of passnet-worker, which runs its packages",
                           of_python.torch, reference.torch))
        .with_hint("PASSNET_PYTHON names a Python that has PyTorch; 'make test' sets one up");
  machine.versions[kPythonVersion] = of_python.torch;
  machine.versions[kAotInductorVersion] = of_python.compiler;
  return {};
}

Result<Calibration> EvaluationWorkers::calibration() {
  if (calibration_) return *calibration_;
  PASSNET_TRY(const Machine known, machine());
  const std::chrono::milliseconds timeout(static_cast<int64_t>(options_.timeout_s * 1000));
  PASSNET_TRY(calibration_, known_calibration(reference_, known.device, threads_, timeout));
  return *calibration_;
}

PyTorchOptions EvaluationWorkers::python_options(const char* mode) const {
  PyTorchOptions python;
  python.mode = mode;
  python.threads = threads_;
  python.processors = options_.processors;
  python.on_gpu = options_.gpu.has_value();
  python.gpu = options_.gpu.value_or(0);
  python.lane = options_.lane;
  python.interrupted = options_.interrupted;
  return python;
}

Result<Worker*> EvaluationWorkers::python(std::optional<Worker>& worker, const char* mode) {
  if (worker && worker->alive()) return &*worker;
  const DeviceLane::Use turn = computing(options_.lane);
  PASSNET_TRY(Worker started, start_pytorch(python_options(mode)));
  worker.emplace(std::move(started));
  PASSNET_TRY_VOID(greet_pytorch(*worker));
  return &*worker;
}

Result<Worker*> EvaluationWorkers::rival() { return python(rival_, "compile"); }
Result<Worker*> EvaluationWorkers::baseline() { return python(baseline_, "eager"); }
Result<Worker*> EvaluationWorkers::packager() { return python(packager_, kAotInductor); }

std::vector<Worker*> EvaluationWorkers::running_python() {
  std::vector<Worker*> running;
  for (auto* worker : {&rival_, &baseline_}) {
    if (*worker) running.push_back(&**worker);
  }
  return running;
}

}  // namespace passnet::run
