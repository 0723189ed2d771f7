#include "run/worker/pytorch.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/file.h"

namespace passnet::run {

namespace fs = std::filesystem;

std::string find_python() {
  if (const char* given = std::getenv("PASSNET_PYTHON"); given != nullptr && *given != 0) return given;
  const fs::path own = passnet_home() / "venv/bin/python3";
  return fs::exists(own) ? own.string() : "python3";
}

Result<fs::path> find_in_checkout(const fs::path& relative, const std::string& what) {
  if (fs::path found = find_above_binary(relative); !found.empty()) return found;
  return resource_error(fmt::format("{} is not found above the running program", what))
      .with_hint("run the passnet of a checkout: build/bin/passnet");
}

Result<fs::path> find_pytorch_worker() {
  return find_in_checkout("benchmarks/pytorch_worker.py", "benchmarks/pytorch_worker.py");
}

namespace {

// A program that starts the Python worker: a worker is started by one path, with an environment of its own.
Result<fs::path> write_launcher(const PyTorchOptions& options, const fs::path& script) {
  const std::string device = options.on_gpu ? fmt::format("cuda:{}", options.gpu) : "cpu";
  const fs::path home = passnet_home() / "bench", path = home / fmt::format("pytorch_{}_{}", options.mode, device);
  // What PyTorch compiles needs a home and the caller's compilers; a worker's environment has neither.
  const char* const search = std::getenv("PATH");
  const std::string text = fmt::format(
      "#!/bin/sh\nexport HOME='{0}' TORCHINDUCTOR_CACHE_DIR='{0}/inductor' TRITON_CACHE_DIR='{0}/triton' PATH='{1}'\n"
      "exec '{2}' '{3}' --mode {4} --device {5} \"$@\"\n",
      home.string(), search != nullptr ? search : "/usr/bin:/bin", options.python, script.string(), options.mode,
      device);
  // Executable before it has its name: another run may start it at any time.
  const fs::path fresh = path.string() + fmt::format(".{}", ::getpid());
  PASSNET_TRY_VOID(write_file(fresh, text));
  if (::chmod(fresh.c_str(), 0755) != 0) return io_error("make executable", fresh.string(), errno);
  if (::rename(fresh.c_str(), path.c_str()) != 0) return io_error("rename", fresh.string(), errno);
  return path;
}

}  // namespace

Result<Worker> start_pytorch(const PyTorchOptions& options) {
  fs::path script = options.script;
  if (script.empty()) {
    PASSNET_TRY(script, find_pytorch_worker());
  }
  PASSNET_TRY(const fs::path launcher, write_launcher(options, script));
  WorkerOptions own{launcher, Role::Reference, options.threads, options.interrupted, {}, options.processors};
  own.lane = options.lane;
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
