// A candidate in Python (python/passnet_candidate): it runs the host code of passes that our reader cannot read.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/file/temporary_directory.h"
#include "base/result.h"
#include "run/worker/worker.h"

namespace passnet::run {

/// Defences that `passnet selftest` switches off, to see what the others hold.
struct PythonDefences {
  bool root = true;    // it sees no file and no process but its own
  bool filter = true;  // of system calls
};

struct PythonCandidateOptions {
  int threads = 1;
  std::vector<int> processors = {};  // as WorkerOptions
  std::optional<int> gpu = {};
  const std::atomic<bool>* interrupted = nullptr;
  DeviceSlot* slot = nullptr;  // as WorkerOptions
  PythonDefences defences = {};
};

/// A process, and the files that it is given, which go with it.
struct PythonCandidate {
  TemporaryDirectory scratch;
  std::filesystem::path passes;  // below `scratch`: where copy_passes() puts what it executes
  Worker worker;                 // before `scratch` in death
};

/// Starts it, confined: it sees no network, no other process and no file but those that it is made of, and writes below
/// its own directory alone, which is memory. What the machine lacks for that is told by isolation_of_python(). The first
/// request waits for it to come up (seconds). Errors: Resource (no Python, or its script is not found), Io.
Result<PythonCandidate> start_python_candidate(const PythonCandidateOptions& options);

/// What decides what it does: the versions of Python, PyTorch and Triton, and the hash of its script. Asked once.
/// "none": there is no such Python.
std::string describe_python_candidate();

/// What confines it, in words: what it says of itself, and what it was started with.
std::string isolation_of_python(const std::string& told, bool on_gpu);

}  // namespace passnet::run
