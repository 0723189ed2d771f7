// PyTorch from Python as a worker: benchmarks/pytorch_worker.py speaks docs/protocol.md, so that torch.compile or
// PyTorch's own eager mode can be asked and timed as one of ours.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "run/worker/requests.h"
#include "run/worker/worker.h"

namespace passnet::run {

/// The Python of PASSNET_PYTHON, else that of the environment that `make test` set up, else "python3".
std::string find_python();
/// The same as a path, since a process is not looked for on PATH. Errors: Resource: it is not there.
Result<std::string> python_path(const std::string& python);

/// benchmarks/pytorch_worker.py of the checkout that this binary was built in. Errors: Resource.
Result<std::filesystem::path> find_pytorch_worker();

struct PyTorchOptions {
  std::string python = find_python();  // has PyTorch
  std::filesystem::path script;        // pytorch_worker.py; empty: find_pytorch_worker()
  std::string mode = "compile";        // of the script: "eager", "compile", "reduce-overhead", …
  int threads = 1;
  std::vector<int> processors = {};  // as WorkerOptions
  bool on_gpu = false;
  int gpu = 0;                 // which one
  DeviceSlot* slot = nullptr;  // as WorkerOptions
  const std::atomic<bool>* interrupted = nullptr;
};

/// PyTorch's compiler takes 20 s for its first graph, and longer on a busy machine.
inline constexpr std::chrono::milliseconds kCompileTimeout{300000};

/// Below PASSNET_HOME: where PyTorch from Python keeps what it compiles, and all that it may write.
std::filesystem::path pytorch_directory();

/// Starts it in a jail (sandbox::Isolation::Jail) under the filter of host code in Python: it runs foreign graphs. The
/// first request waits for it to come up (seconds). Errors: Resource (no such script, no such Python), Io.
Result<Worker> start_pytorch(const PyTorchOptions& options);
/// Waits until it has come up. Errors: as greet(), but a Python that ended is Resource: it has no PyTorch, most likely.
Result<Hello> greet_pytorch(Worker& worker);

}  // namespace passnet::run
