#include "run/evaluation_workers.h"

#include <fmt/format.h>

#include "run/provenance.h"
#include "run/worker/pytorch.h"
#include "run/worker/requests.h"
#include "sandbox/empty_root.h"
#include "sandbox/isolation.h"

namespace passnet::run {

EvaluationWorkers::EvaluationWorkers(const EvaluateOptions& options)
    : options_(options),
      threads_(resolve_options(options).threads),
      reference_({options.worker, Role::Reference, threads_, options.interrupted, options.gpu, options.processors}),
      candidate_({options.worker, Role::Candidate, threads_, options.interrupted, options.gpu, options.processors}) {}

namespace {

/// What the worker found of itself, and what it cannot see: what it was started with, and how kernels are compiled.
std::string isolation_in_force(const std::string& of_worker) {
  if (of_worker.empty()) return {};
  std::string words = of_worker;
  if (sandbox::no_write_ruleset("", false)) words += "; Landlock";
  if (sandbox::namespaces_available() && sandbox::empty_root_available()) words += "; compilers in an empty root";
  return words;
}

}  // namespace

Result<void> EvaluationWorkers::begin_sample() {
  if (candidate_is_foreign_) candidate_.stop();
  return revive();
}

Result<void> EvaluationWorkers::revive() {
  if (!reference_.alive()) PASSNET_TRY_VOID(reference_.start());
  if (candidate_.alive()) return {};
  candidate_is_foreign_ = candidate_is_up_ = false;
  return candidate_.start();
}

Result<void> EvaluationWorkers::await_candidate() {
  if (candidate_is_up_) return {};
  PASSNET_TRY(const Hello hello, start_up(candidate_));
  isolation_ = isolation_in_force(hello.isolation);
  candidate_is_up_ = true;
  return {};
}

void EvaluationWorkers::stop() {
  reference_.stop();
  candidate_.stop();
}

Result<EvaluationWorkers::Machine> EvaluationWorkers::machine() {
  if (machine_) return *machine_;
  PASSNET_TRY(const Hello hello, start_up(reference_));
  machine_ = Machine{hello.hardware, fmt::format("{}, torch {}", hello.hardware, hello.torch), hello.architecture,
                     versions_of(options_, hello)};
  return *machine_;
}

Result<Calibration> EvaluationWorkers::calibration() {
  if (calibration_) return *calibration_;
  PASSNET_TRY(const Machine known, machine());
  const std::chrono::milliseconds timeout(static_cast<int64_t>(options_.timeout_s * 1000));
  PASSNET_TRY(calibration_, known_calibration(reference_, known.device, threads_, timeout));
  return *calibration_;
}

Result<Worker*> EvaluationWorkers::rival() {
  if (rival_ && rival_->alive()) return &*rival_;
  PyTorchOptions pytorch;
  pytorch.threads = threads_;
  pytorch.processors = options_.processors;
  pytorch.on_gpu = options_.gpu.has_value();
  pytorch.interrupted = options_.interrupted;
  PASSNET_TRY(Worker started, start_pytorch(pytorch));
  rival_.emplace(std::move(started));
  PASSNET_TRY_VOID(greet(*rival_, kCompileTimeout));
  return &*rival_;
}

}  // namespace passnet::run
