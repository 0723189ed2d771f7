// The workers that evaluate samples one after the other. What runs no foreign code is kept from sample to sample:
// starting a worker on a GPU takes longer than evaluating a graph there.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file/temporary_directory.h"
#include "base/result.h"
#include "run/evaluate/candidate_kind.h"
#include "run/evaluate/evaluate_options.h"
#include "run/measure/calibration.h"
#include "run/worker/pytorch.h"
#include "run/worker/spare_worker.h"
#include "run/worker/worker.h"

namespace passnet::run {

class EvaluationWorkers {
 public:
  /// Starts nothing. options must outlive it, and be those of all samples that are evaluated here.
  explicit EvaluationWorkers(const EvaluateOptions& options);

  Worker& reference() { return reference_; }
  /// Of the candidate whose turn it is: passnet-worker, or a Python that runs host code of passes.
  Worker& candidate() { return side().candidate.worker; }
  /// The directory in which that Python finds the passes that it executes.
  const std::filesystem::path& python_passes() const { return side().candidate.passes; }
  /// Whose process that is from now on; those of the others sleep. candidate: below that of begin_sample().
  void turn_to(size_t candidate) { turn_ = candidate; }
  /// Which of the two candidate() is from now on. The other one sleeps.
  void use_python(bool python);
  /// Ends what host code of any candidate may have left running, before anything is timed that is ranked.
  void end_host_code();
  /// PyTorch from Python, started when it is first asked for: torch.compile, and eager mode. Errors: Resource (its script
  /// is missing), Io, and as greet().
  Result<Worker*> second_candidate();
  Result<Worker*> baseline();
  /// The same, to make packages.
  Result<Worker*> packager();
  /// Those of them that run.
  std::vector<Worker*> running_python();

  /// Before a sample, or several of the same graphs: candidates that have loaded foreign code are replaced, and what
  /// does not run is started, of the candidates the first. Returns at once: the first request to a worker
  /// waits for it to come up, and meanwhile the reference works. Errors: Resource, Io.
  Result<void> begin_sample(size_t candidates = 1);
  /// Starts one more candidate, which the next revive() that needs one takes, unless it is there or nobody will need it.
  /// others_follow: after this sample. Errors: Resource, Io.
  Result<void> start_spare(bool others_follow);
  /// Waits until nothing comes up any more, which would disturb whoever is timed.
  void settle();
  /// Starts what does not run. Errors: as begin_sample().
  Result<void> revive();
  /// Waits until the candidate has come up, once per process. Errors: as start_up().
  Result<void> await_candidate();
  /// The candidate is about to load kernels of a pass: no other sample may meet what they leave behind.
  void expect_foreign_code() { side().candidate.is_foreign = true; }
  /// The next revive() starts both anew.
  void stop();

  /// What the reference says of the machine and of itself.
  struct Machine {
    std::string device;        // "NVIDIA H200"
    std::string hardware;      // "NVIDIA H200, torch 2.11.0"
    std::string architecture;  // "sm_90"; empty: the CPU
    std::map<std::string, std::string> versions;
  };
  /// Asked once. Errors: as start_up().
  Result<Machine> machine();

  /// What the machine was measured to do, now or earlier. Asked once. Errors: as machine() and calibrate().
  Result<Calibration> calibration();

  /// What confines the candidate, in words; empty before it was waited for, and where it runs no foreign code.
  const std::string& isolation() const { return side().candidate.isolation; }

  int threads() const { return threads_; }

 private:
  Result<void> note_packager(const Hello& reference, Machine& machine);
  struct Candidate {
    std::unique_ptr<TemporaryDirectory> scratch;  // of a Python; it outlives the process
    Worker worker;
    bool is_foreign = false, is_up = false;
    std::string isolation = {};
    std::filesystem::path passes = {};  // PythonCandidate::passes
  };

  /// What one candidate has.
  struct Side {
    Candidate candidate, other;  // `other` is of the kind that is not in use
    bool uses_python = false;
  };
  Side& side() { return sides_.at(turn_); }
  const Side& side() const { return sides_.at(turn_); }
  Side make_side();
  Result<void> start_candidate();
  PyTorchOptions python_options(const char* mode) const;
  Result<Worker*> python(std::optional<Worker>& worker, const char* mode);

  const EvaluateOptions& options_;
  const CandidateKind& kind_;
  WorkerOptions worker_options(Role role);

  const int threads_;
  sandbox::ForkServer forks_;
  Worker reference_;
  std::vector<Side> sides_;  // by candidate
  size_t turn_ = 0;
  SpareWorker spare_;
  std::optional<Worker> second_, baseline_, packager_;
  std::optional<Machine> machine_;
  std::optional<Calibration> calibration_;
};

}  // namespace passnet::run
