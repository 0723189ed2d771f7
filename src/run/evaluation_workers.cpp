#include "run/evaluation_workers.h"

#include <fmt/format.h>

#include "run/provenance.h"
#include "run/worker/pytorch.h"
#include "run/worker/requests.h"

namespace passnet::run {

EvaluationWorkers::EvaluationWorkers(const EvaluateOptions& options)
    : options_(options),
      threads_(resolve_options(options).threads),
      reference_({options.worker, Role::Reference, threads_, options.interrupted, options.gpu, options.processors}),
      candidate_({options.worker, Role::Candidate, threads_, options.interrupted, options.gpu, options.processors}) {}

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
  isolation_ = hello.isolation;
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
  machine_ = Machine{fmt::format("{}, torch {}", hello.hardware, hello.torch), hello.architecture,
                     versions_of(options_, hello)};
  return *machine_;
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
