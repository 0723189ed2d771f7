// The doctor's findings about programs: the compiler, the worker, its sandbox, Python and its PyTorch, and what a GPU
// needs.
#include <dlfcn.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "base/file/temporary_directory.h"
#include "base/text/strings.h"
#include "doctor/doctor.h"
#include "pass/kernel/build.h"
#include "pass/triton/build.h"
#include "record/isolation.h"
#include "run/worker/requests.h"
#include "run/worker/worker.h"
#include "sandbox/empty_root.h"
#include "sandbox/isolation.h"
#include "sandbox/memory_group.h"
#include "sandbox/process.h"

namespace passnet::cli {

namespace {

using Mark = Finding::Mark;
using namespace std::chrono_literals;

// Returns the trimmed output of a program that ends with exit code 0 within a minute; else "".
std::string output_of(const std::vector<std::string>& command) {
  sandbox::SpawnOptions options;
  options.argv = {"/usr/bin/env"};
  options.argv.insert(options.argv.end(), command.begin(), command.end());
  for (const char* name : {"PATH", "HOME", "PYTHONPATH", "LD_LIBRARY_PATH"}) {
    if (const char* value = ::getenv(name)) options.environment.push_back(fmt::format("{}={}", name, value));
  }
  options.capture_output = true;
  Result<sandbox::Process> process = sandbox::Process::spawn(options);
  std::string output;
  if (!process) return "";
  const auto status = process->wait_output(60s, 1 << 16, &output);
  return status && status->exited && status->code == 0 ? std::string(trim(output)) : "";
}

constexpr const char* kTinyGpuKernel =
    "#include <passnet/kernel.h>\n"
    "PASSNET_KERNEL doubled(const float* x, float* out, int64_t n) {\n"
    "  const int64_t i = passnet::global_index();\n"
    "  if (i < n) out[i] = 2 * x[i];\n"
    "}\n";
constexpr const char* kTinyTritonKernel =
    "import triton\nimport triton.language as tl\n"
    "@triton.jit\n"
    "def doubled(x, out, n, BLOCK: tl.constexpr):\n"
    "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
    "    tl.store(out + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)\n";
constexpr const char* kTinyKernel =
    "#include <passnet/kernel.h>\n"
    "PASSNET_KERNEL doubled(const float* x, float* out, int64_t n) {\n"
    "  const auto [first, last] = passnet::chunk(n);\n"
    "  for (int64_t i = first; i < last; ++i) out[i] = 2 * x[i];\n"
    "}\n";

struct PythonTorch {
  std::string found;    // "PyTorch 2.11.0 (/path/torch)"; empty: that Python has none
  std::string problem;  // why it cannot be imported; empty: it can
};

PythonTorch torch_of(const std::string& python) {
  const std::string output =
      output_of({python, "-c",
                 "import importlib.util as u, importlib.metadata as m\n"
                 "s = u.find_spec('torch')\n"
                 "if s:\n"
                 "    print('PyTorch', m.version('torch'), '(' + s.submodule_search_locations[0] + ')')\n"
                 "    try:\n"
                 "        import torch\n"
                 "    except Exception as error:\n"
                 "        print(error)"});
  const size_t end = std::min(output.find('\n'), output.size());
  return {output.substr(0, end), passnet::first_line(trim(std::string_view(output).substr(end)))};
}

// The file behind the library of that name in the memory of process `pid`, or "".
std::string mapped_library(pid_t pid, std::string_view name) {
  const Result<std::string> maps = read_file(fmt::format("/proc/{}/maps", pid), FileKind::System);
  if (!maps) return "";
  for (const std::string_view line : split(*maps, '\n')) {
    if (line.ends_with(name)) return std::string(line.substr(line.find('/')));
  }
  return "";
}

struct TimedBuild {
  Result<pass::BuiltKernel> kernel;
  double seconds = 0;
};

// architecture: of a GPU; empty: for the CPU.
TimedBuild build_tiny_kernel(const char* file, const std::string& architecture) {
  const Result<TemporaryDirectory> scratch = TemporaryDirectory::make("passnet_doctor_");
  if (!scratch) return {scratch.error()};
  const std::filesystem::path source = scratch->path() / file;
  pass::BuildOptions options;
  options.cache_dir = scratch->path() / "cache";
  const auto start = std::chrono::steady_clock::now();
  if (const Result<void> written = write_file(source, architecture.empty() ? kTinyKernel : kTinyGpuKernel); !written)
    return {written.error()};
  Result<pass::BuiltKernel> built = pass::build_kernel({source, "doubled", {}, 1, architecture}, options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {std::move(built), seconds};
}

}  // namespace

Finding examine_gpu() {
  Finding finding{.topic = "gpu"};
  if (void* driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL)) {
    ::dlclose(driver);
  } else {
    finding.found = "no GPU: passes run on the CPU";
    return finding;
  }
  const auto broken = [&](const Error& error, const std::string& otherwise) {
    finding.mark = Mark::Warn;
    finding.found = "not usable: " + error.message;
    finding.fix = error.hint.empty() ? otherwise : error.hint;
    return finding;
  };
  // In the sandbox, as candidates run.
  const auto start = std::chrono::steady_clock::now();
  run::WorkerOptions options;
  options.role = run::Role::Candidate;
  options.gpu = 0;
  run::Worker worker(options);
  if (const Result<void> started = worker.start(); !started) return broken(started.error(), "make build");
  const Result<run::Hello> hello = run::greet(worker, 60s);
  if (!hello) return broken(hello.error(), "passnet eval --device cpu works without it");
  const double worker_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  finding.found = fmt::format("{} ({}); a worker starts in {:.2f} s", hello->hardware, hello->architecture, worker_s);
  const TimedBuild built = build_tiny_kernel("doctor.cu", hello->architecture);
  if (!built.kernel) {
    finding.mark = Mark::Warn;
    finding.found += "; a small kernel does not compile: " + built.kernel.error().message;
    finding.fix = built.kernel.error().hint;
    return finding;
  }
  finding.found += fmt::format("; compiled a kernel in {:.2f} s", built.seconds);
  return finding;
}

Finding examine_triton() {
  Finding finding{.topic = "triton"};
  const auto text = std::make_shared<std::string>(kTinyTritonKernel);
  pass::TritonRequest request;
  request.modules = {std::make_shared<pass::TritonModule>(pass::TritonModule{"doctor", "doctor.py", text})};
  request.kernel = "doubled";
  request.parameters = {{"x", "*fp32", true},
                        {"out", "*fp32", true},
                        {"n", "i32", false},
                        {"BLOCK", "", false, pass::TritonConstant(int64_t{128})}};
  const Result<TemporaryDirectory> scratch = TemporaryDirectory::make("passnet_doctor_");
  const auto start = std::chrono::steady_clock::now();
  Result<pass::BuiltKernel> built = scratch ? resource_error("") : scratch.error();
  if (scratch) built = pass::build_triton_kernels({&request, 1}, {.cache_dir = scratch->path() / "cache"})[0];
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (const Result<std::string> words = pass::describe_triton(request.architecture); built && words) {
    finding.found = fmt::format("{}; compiled a @triton.jit kernel in {:.2f} s", *words, seconds);
    return finding;
  }
  finding.mark = Mark::Warn;
  finding.found = fmt::format("@triton.jit kernels cannot be compiled: {}", built.error().message);
  finding.fix = built.error().hint;
  return finding;
}

Finding examine_compiler() {
  Finding finding{.topic = "compiler", .required = true};
  const std::string version = output_of({"g++", "-dumpfullversion"});
  if (version.empty()) {
    finding.mark = Mark::Missing;
    finding.found = "g++ was not found: CPU kernels cannot be compiled";
    finding.fix = "apt-get install g++";
    return finding;
  }
  const TimedBuild built = build_tiny_kernel("doctor.cpp", "");
  if (built.kernel) {
    finding.found = fmt::format("g++ {}; compiled a kernel in {:.2f} s", version, built.seconds);
  } else {
    const Error& error = built.kernel.error();
    finding.mark = Mark::Missing;
    finding.found = fmt::format("g++ {} does not compile a small kernel: {}", version, error.message);
    finding.fix = error.hint.empty() ? "apt-get install --reinstall g++" : error.hint;
  }
  return finding;
}

Finding examine_worker() {
  Finding finding{.topic = "worker", .required = true};
  const auto start = std::chrono::steady_clock::now();
  run::WorkerOptions options;
  options.role = run::Role::Candidate;
  run::Worker worker(options);
  if (const Result<void> started = worker.start(); !started) {
    finding.mark = Mark::Missing;
    finding.found = started.error().message;
    finding.fix = started.error().hint;
    return finding;
  }
  const Result<run::Hello> hello = run::greet(worker, 30s);
  if (!hello) {
    finding.mark = Mark::Missing;
    finding.found = "passnet-worker does not answer: " + hello.error().message;
    finding.fix = "make build";
    return finding;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  finding.found = fmt::format("starts in {:.2f} s with PyTorch {} ({})", seconds, hello->torch,
                              mapped_library(worker.pid(), "/libtorch_cpu.so"));
  return finding;
}

Finding examine_sandbox() {
  const std::string words = sandbox::describe_isolation();
  const record::IsolationLevel level = record::isolation_of(words);
  Finding finding{.topic = "sandbox", .found = fmt::format("kernels run with {}; {}", words, record::describe(level))};
  if (!sandbox::memory_group_available())
    finding.found += "; no memory control group can be made: host code in Python has a limit for each process alone";
  std::vector<std::string> missing;
  if (!sandbox::namespaces_available()) {
    missing.push_back(
        "user namespaces (sysctl -w kernel.unprivileged_userns_clone=1; on Ubuntu also "
        "kernel.apparmor_restrict_unprivileged_userns=0; in Docker run with --security-opt seccomp=unconfined "
        "--security-opt apparmor=unconfined)");
  }
  if (sandbox::namespaces_available() && !sandbox::empty_root_available())
    missing.push_back(
        "mounts in user namespaces (compilers see all files of this machine, host code in Python their names; in "
        "Docker "
        "run with --security-opt apparmor=unconfined --security-opt systempaths=unconfined)");
  if (!sandbox::no_write_ruleset("", false)) missing.push_back("Landlock (Linux 5.13 or newer with lsm=landlock)");
  if (finding.found.find("seccomp") == std::string::npos)
    missing.push_back("seccomp (a kernel with CONFIG_SECCOMP_FILTER)");
  if (!missing.empty()) {
    finding.mark = Mark::Warn;
    finding.fix = "weaker without " + join(missing, ", ");
    if (level < record::kRankedIsolation)
      finding.fix +=
          fmt::format("; below level '{}' results are not in the score", record::to_string(record::kRankedIsolation));
  }
  return finding;
}

Finding examine_python() {
  Finding finding{.topic = "python"};
  const std::string version = output_of({"python3", "--version"});
  if (version.empty()) {
    finding.mark = Mark::Warn;
    finding.found = "python3 was not found; it sets up PyTorch and runs the comparison with it, passes need none";
    finding.fix = "apt-get install python3 python3-venv";
    return finding;
  }
  finding.found = version;
  const std::filesystem::path venv = passnet_home() / "venv/bin/python3";
  std::string problems;
  for (const std::string& python : {std::string("python3"), venv.string()}) {
    const PythonTorch torch = torch_of(python);
    if (torch.found.empty()) continue;
    const std::string has = fmt::format("; {} has {}", python, torch.found);
    if (torch.problem.empty()) {
      finding.found += has;
      return finding;
    }
    problems += fmt::format("{}, which it cannot import: {}", has, torch.problem);
  }
  finding.mark = Mark::Warn;
  finding.found += problems.empty() ? fmt::format("; neither python3 nor {} has PyTorch", venv.string()) : problems;
  finding.fix =
      problems.empty() ? "make build" : "make setup-capture (capturing models and comparing with PyTorch need it)";
  return finding;
}

}  // namespace passnet::cli
