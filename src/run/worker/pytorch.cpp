#include "run/worker/pytorch.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "pass/kernel/compile_run.h"
#include "sandbox/isolation.h"

namespace passnet::run {

std::string find_python() {
  if (const char* given = std::getenv("PASSNET_PYTHON"); given != nullptr && *given != 0) return given;
  const fs::path own = passnet_home() / "venv/bin/python3";
  return path_exists(own) ? own.string() : "python3";
}

Result<fs::path> find_pytorch_worker() {
  if (fs::path found = find_above_binary("benchmarks/pytorch_worker.py"); !found.empty()) return found;
  return resource_error("benchmarks/pytorch_worker.py is not found above the running program")
      .with_hint("run the passnet of a checkout: build/bin/passnet");
}

Result<std::string> python_path(const std::string& python) {
  if (python.find('/') != std::string::npos) return python;
  if (std::string found = pass::find_on_path(python.c_str()); !found.empty()) return found;
  return resource_error(fmt::format("no '{}' on PATH", python))
      .with_hint("PASSNET_PYTHON names a Python that has PyTorch; 'make test' sets one up");
}

fs::path pytorch_directory() { return passnet_home() / "bench"; }

namespace {

/// Directories below `home` for what PyTorch compiles, and the caller's PATH, where its compilers are. Inductor may compile in
/// as many processes as the worker has threads: each imports PyTorch, which takes longer than the few kernels of a graph.
std::vector<std::string> environment(const std::string& home, int threads) {
  const char* const search = std::getenv("PATH");
  return {"LC_ALL=C",
          "HOME=" + home,
          "TMPDIR=" + home,
          "TORCHINDUCTOR_CACHE_DIR=" + home + "/inductor",
          "TRITON_CACHE_DIR=" + home + "/triton",
          "CUDA_CACHE_PATH=" + home + "/cuda",
          fmt::format("TORCHINDUCTOR_COMPILE_THREADS={}", threads),
          fmt::format("PATH={}", search != nullptr ? search : "/usr/bin:/bin")};
}

}  // namespace

Result<Worker> start_pytorch(const PyTorchOptions& options) {
  fs::path script = options.script;
  if (script.empty()) {
    PASSNET_TRY(script, find_pytorch_worker());
  }
  PASSNET_TRY(const std::string python, python_path(options.python));
  const fs::path home = absolute_path(pytorch_directory());
  PASSNET_TRY_VOID(make_directories(home));
  std::vector<std::string> command = {python,     script.string(),
                                      "--mode",   options.mode,
                                      "--device", options.on_gpu ? fmt::format("cuda:{}", options.gpu) : "cpu"};
  // AOTInductor copies files with their modes, and the filter refuses chmod: its packager has the jail alone.
  if (options.mode != "aotinductor") {
    const std::string filter = sandbox::host_code_filter_bytes({.gpu = options.on_gpu, .makes_memory = true});
    const fs::path filter_file = home / (options.on_gpu ? "filter_gpu" : "filter");
    PASSNET_TRY_VOID(write_file(filter_file, filter));
    command.insert(command.end(), {"--filter", filter_file.string()});
  }
  WorkerOptions own;
  own.threads = options.threads;
  own.interrupted = options.interrupted;
  if (options.on_gpu) own.gpu = options.gpu;
  own.processors = options.processors;
  own.slot = options.slot;
  own.jailed = JailedProgram{std::move(command), environment(home.string(), options.threads), home};
  Worker worker(std::move(own));
  PASSNET_TRY_VOID(worker.start());
  return worker;
}

Result<Hello> greet_pytorch(Worker& worker) {
  Result<Hello> hello = greet(worker, kCompileTimeout);
  if (!hello && hello.error().worker_lost && hello.error().failure != "interrupted") {
    hello.error().failure = "resource";
    hello.error().hint = "PASSNET_PYTHON names a Python that has PyTorch; 'make test' sets one up";
  }
  return hello;
}

}  // namespace passnet::run
