#include "run/worker/python_candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/strings.h"
#include "pass/kernel/compile_run.h"
#include "run/worker/pytorch.h"
#include "sandbox/isolation.h"

namespace passnet::run {

namespace fs = std::filesystem;

namespace {

/// Of the memory that is left when it starts: so much is its, and the rest is the reference's.
constexpr double kMemoryShare = 0.6;
constexpr int64_t kLeastMemory = int64_t{1} << 30;
/// Triton starts a C compiler and ldconfig.
constexpr const char* kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr const char* kTellsVersions =
    "import platform\n"
    "from importlib.metadata import version\n"
    "print('Python', platform.python_version() + ', torch', version('torch'), end='')\n"
    "try: print(', triton', version('triton'), end='')\n"
    "except ImportError: pass\n";

/// The directory that holds passnet_candidate and what it imports.
Result<fs::path> find_scripts() {
  for (const char* below : {"python/passnet_candidate", "share/passnet/python/passnet_candidate"}) {
    if (const fs::path found = find_above_binary(below); !found.empty()) return found.parent_path();
  }
  return resource_error("python/passnet_candidate is not found above the running program")
      .with_hint("install PassNet with 'make install', or run it from its build tree");
}

std::vector<std::string> environment(const fs::path& scratch, const fs::path& scripts, bool on_gpu) {
  const std::string own = scratch.string();
  std::vector<std::string> variables = {
      "LC_ALL=C.UTF-8",
      fmt::format("PATH={}", kPath),
      "HOME=" + own,
      "TMPDIR=" + own,
      "TRITON_HOME=" + own,
      "TRITON_CACHE_DIR=" + own + "/triton",
      "TRITON_CACHE_MANAGER=passnet_candidate.triton_cache:OneDirectoryCache",
      "TORCHINDUCTOR_CACHE_DIR=" + own + "/inductor",
      "PYTHONPATH=" + scripts.string(),
      "PYTHONNOUSERSITE=1",
      "PYTHONDONTWRITEBYTECODE=1",
      // A thread that spins would hold a processor that the other side needs.
      "OMP_WAIT_POLICY=PASSIVE",
      "GOMP_SPINCOUNT=0",
  };
  if (!on_gpu) variables.emplace_back("TRITON_INTERPRET=1");
  return variables;
}

int64_t memory_for_it() {
  const double left = static_cast<double>(available_memory().value_or(8 * kLeastMemory));
  return std::max(kLeastMemory, static_cast<int64_t>(kMemoryShare * left));
}

/// SHA-256 of all that it is made of.
std::string hash_of_scripts(const fs::path& scripts) {
  std::map<std::string, std::string> files;
  std::error_code failure;
  for (const char* package : {"passnet_candidate", "passnet_pytorch"}) {
    for (const auto& entry : fs::directory_iterator(scripts / package, failure)) {
      if (entry.path().extension() != ".py") continue;
      const auto text = read_file(entry.path(), FileKind::Kernel);
      files[entry.path().string().substr(scripts.string().size())] = text ? sha256_hex(*text) : "unreadable";
    }
  }
  std::string all;
  for (const auto& [name, hash] : files) all += fmt::format("{} {}\n", name, hash);
  return sha256_hex(all).substr(0, 12);
}

Result<std::string> ask_description() {
  PASSNET_TRY(const fs::path scripts, find_scripts());
  PASSNET_TRY(const std::string python, python_path(find_python()));
  PASSNET_TRY(const pass::CompilerOutput output, pass::ask_compiler({python, "-s", "-c", kTellsVersions}));
  if (!pass::succeeded(output))
    return resource_error(fmt::format("'{}' has no PyTorch: {}", python, quoted(trim(output.text), 200)));
  return fmt::format("{}, {}", trim(output.text), hash_of_scripts(scripts));
}

}  // namespace

Result<PythonCandidate> start_python_candidate(const PythonCandidateOptions& options) {
  PASSNET_TRY(const fs::path scripts, find_scripts());
  PASSNET_TRY(const std::string python, python_path(find_python()));
  PASSNET_TRY(TemporaryDirectory scratch, TemporaryDirectory::make("passnet-python-"));
  PASSNET_TRY(const std::string filter, sandbox::host_code_filter_bytes(options.gpu.has_value()));
  const fs::path filter_file = scratch.path() / "filter";
  PASSNET_TRY_VOID(write_file(filter_file, filter));
  const std::string device = options.gpu ? fmt::format("cuda:{}", *options.gpu) : "cpu";
  WorkerOptions worker{{}, Role::Candidate, options.threads, options.interrupted, options.gpu, options.processors};
  worker.lane = options.lane;
  worker.jailed = JailedProgram{{python, "-s", "-m", "passnet_candidate", "--device", device, "--filter",
                                 filter_file.string(), "--memory", std::to_string(memory_for_it())},
                                environment(scratch.path(), scripts, options.gpu.has_value()),
                                scratch.path()};
  PythonCandidate candidate{std::move(scratch), Worker(std::move(worker))};
  PASSNET_TRY_VOID(candidate.worker.start());
  return candidate;
}

std::string describe_python_candidate() {
  static std::mutex mutex;
  static std::optional<std::string> known;
  const std::lock_guard lock(mutex);
  if (!known) known = ask_description().value_or("none");
  return *known;
}

std::string isolation_of_python(const std::string& told) {
  if (told.empty() || !sandbox::no_write_ruleset("", false)) return told;
  return told + "; Landlock";
}

}  // namespace passnet::run
