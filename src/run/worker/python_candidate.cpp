#include "run/worker/python_candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/text/strings.h"
#include "pass/kernel/python_files.h"
#include "run/worker/python_files.h"
#include "run/worker/pytorch.h"
#include "sandbox/isolation.h"
#include "sandbox/memory_group.h"
#include "sandbox/process.h"

namespace passnet::run {

namespace {

/// Of the memory that is left when it starts: so much is its, and the rest is the reference's.
constexpr double kMemoryShare = 0.6;
constexpr int64_t kLeastMemory = int64_t{1} << 30;
/// Held before it executes a pass, by Python, PyTorch and Triton.
constexpr int64_t kStartMemory = int64_t{1} << 30;
/// Triton starts a C compiler and ldconfig.
constexpr const char* kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// The part of its memory that files may take which it makes: one in so many.
constexpr int64_t kFilesShare = 2;

std::vector<std::string> environment(const fs::path& directory, const fs::path& scripts, bool on_gpu) {
  const std::string own = directory.string();
  std::vector<std::string> variables = {
      "LC_ALL=C.UTF-8",
      fmt::format("PATH={}", kPath),
      "HOME=" + own,
      "USER=passnet",  // there is no list of users to look it up in
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
  std::string all;
  for (const char* package : {"passnet_candidate", "passnet_pytorch"}) {
    const Result<std::vector<fs::path>> files = list_directory(scripts / package);
    if (!files) continue;
    for (const fs::path& file : *files) {
      if (file.extension() != ".py") continue;
      const auto text = read_file(file, FileKind::Kernel);
      all += fmt::format("{} {}\n", file.string().substr(scripts.string().size()),
                         text ? sha256_hex(*text) : "unreadable");
    }
  }
  return sha256_hex(all).substr(0, 12);
}

Result<std::string> ask_description() {
  PASSNET_TRY(const fs::path scripts, pass::find_scripts("passnet_candidate"));
  PASSNET_TRY(const std::string python, python_path(find_python()));
  PASSNET_TRY(const PythonFacts facts, ask_python(python));
  return fmt::format("{}, {}", facts.versions, hash_of_scripts(scripts));
}

/// The filter's file and directories of a candidate: one that it writes to, and one with copies of passes.
struct Scratch {
  TemporaryDirectory whole;
  fs::path filter, directory, passes;
};
Result<Scratch> make_scratch(bool on_gpu) {
  PASSNET_TRY(TemporaryDirectory whole, TemporaryDirectory::make("passnet-python-"));
  Scratch scratch{std::move(whole), {}, {}, {}};
  const fs::path& path = scratch.whole.path();
  scratch.filter = path / "filter";
  scratch.directory = path / "own";
  scratch.passes = path / "passes";
  // CUDA's driver shares memory with itself: there a control group alone can count it.
  const sandbox::HostCodeFilter filter{.gpu = on_gpu, .shares_memory = on_gpu && sandbox::memory_group_available()};
  PASSNET_TRY_VOID(write_file(scratch.filter, sandbox::host_code_filter_bytes(filter)));
  std::error_code failure;
  for (const fs::path& made : {scratch.directory, scratch.passes}) {
    if (fs::create_directory(made, failure); failure) return io_error("make directory", made.string(), failure.value());
  }
  return scratch;
}

/// Names the limit of each process: on its data where CUDA's driver reserves addresses or a control group counts the
/// rest, else on all addresses.
const char* limit_of_processes(bool on_gpu) {
  return on_gpu || sandbox::memory_group_available() ? "data" : "addresses";
}

}  // namespace

Result<PythonCandidate> start_python_candidate(const PythonCandidateOptions& options) {
  PASSNET_TRY(const fs::path scripts, pass::find_scripts("passnet_candidate"));
  PASSNET_TRY(const std::string python, python_path(find_python()));
  PASSNET_TRY(const PythonFacts facts, ask_python(python));
  const bool on_gpu = options.gpu.has_value();
  PASSNET_TRY(Scratch scratch, make_scratch(on_gpu));
  const std::string device = on_gpu ? fmt::format("cuda:{}", *options.gpu) : "cpu";
  const int64_t memory = memory_for_it();
  JailedProgram program{
      {python, "-s", "-m", "passnet_candidate", "--device", device, "--filter", scratch.filter.string(), "--memory",
       std::to_string(memory), "--limit", limit_of_processes(on_gpu)},
      environment(scratch.directory, scripts, on_gpu),
      scratch.directory};
  if (options.defences.root) {
    program.visible = system_files(on_gpu);
    program.visible.insert(program.visible.end(), facts.files.begin(), facts.files.end());
    for (const char* package : {"passnet_candidate", "passnet_pytorch"})
      program.visible.push_back((scripts / package).string());
    program.visible.insert(program.visible.end(), {scratch.filter.string(), scratch.passes.string()});
  }
  if (!options.defences.filter) program.argv.emplace_back("--unfiltered");
  program.memory_bytes = memory + kStartMemory;
  program.scratch_bytes = memory / kFilesShare;
  program.passes = scratch.passes;
  WorkerOptions worker{{}, Role::Candidate, options.threads, options.interrupted, options.gpu, options.processors};
  worker.slot = options.slot;
  worker.jailed = std::move(program);
  PythonCandidate candidate{std::move(scratch.whole), std::move(scratch.passes), Worker(std::move(worker))};
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

std::string isolation_of_python(const std::string& told, bool on_gpu) {
  if (told.empty()) return told;
  std::string words = told;
  const bool landlock = static_cast<bool>(sandbox::no_write_ruleset("", false));
  if (landlock) words += "; Landlock";
  if (sandbox::own_root_available(on_gpu))
    words += "; host code in an empty root";
  else if (landlock)
    words += "; host code opens no file but those of Python";
  return words + (sandbox::memory_group_available() ? "; memory of all processes limited by a control group"
                                                    : "; memory limited for each process by itself");
}

}  // namespace passnet::run
