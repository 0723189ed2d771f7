#include "run/evaluate/evaluation_workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "run/evaluate/provenance.h"
#include "run/worker/python_candidate.h"
#include "run/worker/requests.h"
#include "sandbox/empty_root.h"
#include "sandbox/isolation.h"

namespace passnet::run {

namespace {

/// On a GPU the processors of other evaluations are left to them.
int threads_of(const EvaluateOptions& options) {
  const int threads = resolve_options(options).threads;
  if (!options.gpu || options.processors.empty()) return threads;
  return std::min(threads, static_cast<int>(options.processors.size()));
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
      kind_(candidate_kind(options.compiler)),
      threads_(threads_of(options)),
      reference_(worker_options(Role::Reference)),
      spare_(options.slot) {
  sides_.push_back(make_side());
}

WorkerOptions EvaluationWorkers::worker_options(Role role) {
  WorkerOptions worker{options_.worker, role, threads_, options_.interrupted, options_.gpu, options_.processors};
  worker.slot = options_.slot;
  worker.forks = &forks_;
  constexpr double kLeastStart = 20, kMostStart = 60;  // seconds, on a busy machine
  worker.start_timeout =
      std::chrono::milliseconds(static_cast<int64_t>(1000 * std::clamp(options_.timeout_s, kLeastStart, kMostStart)));
  worker.defences = {!options_.without.contains(Layer::OperatorList), !options_.without.contains(Layer::WorkerJail)};
  return worker;
}

EvaluationWorkers::Side EvaluationWorkers::make_side() {
  return {{{}, Worker(worker_options(kind_.role()))}, {{}, Worker(worker_options(Role::Candidate))}};
}

void EvaluationWorkers::use_python(bool python) {
  Side& mine = side();
  if (python != mine.uses_python) std::swap(mine.candidate, mine.other);
  mine.uses_python = python;
}

void EvaluationWorkers::end_host_code() {
  for (Side& one : sides_) {
    Candidate& in_python = one.uses_python ? one.candidate : one.other;
    if (in_python.is_foreign) in_python.worker.stop();
  }
}

Result<void> EvaluationWorkers::begin_sample(size_t candidates) {
  std::vector<Worker> leaving;  // until what follows them comes up
  for (Side& one : sides_) {
    for (Candidate* candidate : {&one.candidate, &one.other}) {
      if (!candidate->is_foreign) continue;
      candidate->worker.dismiss();
      leaving.push_back(std::move(candidate->worker));
      candidate->worker = Worker(worker_options(Role::Candidate));
    }
  }
  // Host code of a pass meets nothing of another sample.
  if (options_.host_code != HostCode::Read) leaving.clear();
  if (sides_.size() > candidates) sides_.erase(sides_.begin() + std::ptrdiff_t(candidates), sides_.end());
  while (sides_.size() < candidates) sides_.push_back(make_side());
  for (size_t i = 0; i < sides_.size(); ++i) {
    turn_to(i);
    use_python(options_.host_code == HostCode::Python);
  }
  turn_to(0);
  return revive();
}

Result<void> EvaluationWorkers::start_spare(bool others_follow) {
  // What runs no foreign code is not replaced.
  if (!kind_.has_passes || options_.host_code == HostCode::Python || spare_.is_there()) return {};
  const bool one_is_missing =
      std::ranges::any_of(sides_, [](const Side& one) { return !one.uses_python && !one.candidate.worker.alive(); });
  if (!one_is_missing && !others_follow) return {};
  return spare_.start(worker_options(Role::Candidate));
}

void EvaluationWorkers::settle() {
  if (options_.slot == nullptr) spare_.await();
}

Result<void> EvaluationWorkers::revive() {
  Candidate& candidate = side().candidate;
  if (reference_.alive() && candidate.worker.alive()) return {};
  const bool takes_spare = !candidate.worker.alive() && !side().uses_python && spare_.is_there();
  if (takes_spare) {
    candidate.is_foreign = candidate.is_up = false;
    candidate.worker = spare_.take();
    if (reference_.alive() && candidate.worker.alive()) return {};
  }
  // Coming up takes a turn of a shared device, as each makes its context there.
  const DeviceSlot::Use turn = computing(options_.slot);
  if (!reference_.alive()) PASSNET_TRY_VOID(reference_.start());
  if (!candidate.worker.alive()) {
    candidate.is_foreign = candidate.is_up = false;
    PASSNET_TRY_VOID(start_candidate());
  }
  if (options_.slot == nullptr) return {};
  // What is wrong with one is told by the first request to it.
  (void)machine();
  (void)await_candidate();
  return {};
}

Result<void> EvaluationWorkers::start_candidate() {
  Candidate& candidate = side().candidate;
  if (side().uses_python) {
    const PythonDefences defences{!options_.without.contains(Layer::PythonRoot),
                                  !options_.without.contains(Layer::PythonFilter)};
    PASSNET_TRY(PythonCandidate started, start_python_candidate({threads_, options_.processors, options_.gpu,
                                                                 options_.interrupted, options_.slot, defences}));
    candidate.worker = std::move(started.worker);
    candidate.scratch = std::make_unique<TemporaryDirectory>(std::move(started.scratch));
    candidate.passes = std::move(started.passes);
    return {};
  }
  if (!kind_.is_compiled) return candidate.worker.start();
  PASSNET_TRY(candidate.worker, start_pytorch(python_options("compile")));
  return {};
}

Result<void> EvaluationWorkers::await_candidate() {
  Candidate& candidate = side().candidate;
  if (candidate.is_up) return {};
  if (side().uses_python) {
    PASSNET_TRY(const Hello hello, greet_pytorch(candidate.worker));
    candidate.isolation = isolation_of_python(hello.isolation, options_.gpu.has_value());
  } else if (kind_.is_compiled) {
    PASSNET_TRY_VOID(greet_pytorch(candidate.worker));
  } else {
    PASSNET_TRY(const Hello hello, start_up(candidate.worker));
    // A package is no code of a pass, and the level of isolation is about that.
    if (!kind_.is_packaged) candidate.isolation = isolation_in_force(hello.isolation);
  }
  candidate.is_up = true;
  return {};
}

void EvaluationWorkers::stop() {
  reference_.stop();
  side().candidate.worker.stop();
}

Result<EvaluationWorkers::Machine> EvaluationWorkers::machine() {
  if (machine_) return *machine_;
  PASSNET_TRY(const Hello hello, start_up(reference_));
  Machine known{hello.hardware, fmt::format("{}, torch {}", hello.hardware, hello.torch), hello.architecture,
                versions_of(options_, hello)};
  if (kind_.is_compiled || !options_.baseline.empty()) {
    PASSNET_TRY(Worker* const python, kind_.is_compiled ? Result<Worker*>(&candidate()) : baseline());
    PASSNET_TRY(const Hello of_python, greet_pytorch(*python));
    known.versions[kPythonVersion] = of_python.torch;
  }
  if (kind_.is_packaged) PASSNET_TRY_VOID(note_packager(hello, known));
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
  python.slot = options_.slot;
  python.interrupted = options_.interrupted;
  return python;
}

Result<Worker*> EvaluationWorkers::python(std::optional<Worker>& worker, const char* mode) {
  if (worker && worker->alive()) return &*worker;
  const DeviceSlot::Use turn = computing(options_.slot);
  PASSNET_TRY(Worker started, start_pytorch(python_options(mode)));
  worker.emplace(std::move(started));
  PASSNET_TRY_VOID(greet_pytorch(*worker));
  return &*worker;
}

Result<Worker*> EvaluationWorkers::second_candidate() { return python(second_, "compile"); }
Result<Worker*> EvaluationWorkers::baseline() { return python(baseline_, "eager"); }
Result<Worker*> EvaluationWorkers::packager() { return python(packager_, kAotInductor); }

std::vector<Worker*> EvaluationWorkers::running_python() {
  std::vector<Worker*> running;
  for (auto* worker : {&second_, &baseline_}) {
    if (*worker) running.push_back(&**worker);
  }
  return running;
}

}  // namespace passnet::run
