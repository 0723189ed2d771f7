#include "pass/kernel/compile_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "base/text/strings.h"

namespace passnet::pass {

namespace {
constexpr int64_t kFileBytes = int64_t{64} << 20;
constexpr size_t kOutputBytes = size_t{1} << 20;
constexpr int kAskSeconds = 10;

sandbox::SpawnOptions options_of(std::vector<std::string> argv, const std::string& scratch, int timeout_s) {
  sandbox::SpawnOptions options;
  const std::string tools = std::filesystem::path(argv[0]).parent_path().string();
  options.argv = std::move(argv);
  options.environment = {"PATH=" + tools + ":/usr/bin:/bin", "LC_ALL=C", "TMPDIR=" + scratch};
  options.capture_output = true;
  options.limits = {.cpu_seconds = timeout_s, .memory_bytes = kCompilerMemoryBytes, .file_bytes = kFileBytes};
  return options;
}

Result<CompilerOutput> run(const sandbox::SpawnOptions& options, int timeout_s,
                           const std::atomic<bool>* interrupted = nullptr) {
  PASSNET_TRY(sandbox::Process process, sandbox::Process::spawn(options));
  CompilerOutput output;
  output.status = process.wait_output(std::chrono::seconds(timeout_s), kOutputBytes, &output.text, interrupted);
  if (!output.status && interrupted && *interrupted) return resource_error("interrupted");
  return output;
}
}  // namespace

std::string find_on_path(const char* name, const std::string& further) {
  const char* const path = std::getenv("PATH");
  const std::string directories = (path && *path ? path : "/usr/bin:/bin") + (":" + further);
  for (std::string_view directory : split(directories, ':')) {
    const std::filesystem::path candidate = std::filesystem::path(directory) / name;
    if (::access(candidate.c_str(), X_OK) != 0 || !candidate.is_absolute()) continue;
    std::error_code error;
    if (std::filesystem::canonical(candidate, error).filename() != "ccache") return candidate.string();
  }
  return "";
}

Result<CompilerOutput> ask_compiler(std::vector<std::string> argv) {
  return run(options_of(std::move(argv), "/tmp", kAskSeconds), kAskSeconds);
}

Result<CompilerOutput> run_in_jail(JailedRun jailed) {
  sandbox::SpawnOptions options = options_of(std::move(jailed.argv), jailed.directory.string(), jailed.cpu_seconds);
  options.limits.memory_bytes = jailed.memory_bytes;
  options.isolation = sandbox::Isolation::Jail;
  options.working_directory = jailed.directory.string();
  options.environment.insert(options.environment.end(), jailed.environment.begin(), jailed.environment.end());
  if (!jailed.files.paths.empty()) {
    options.visible = std::move(jailed.files.paths);
    options.environment.push_back("LD_LIBRARY_PATH=" + join(jailed.files.library_path, ":"));
  }
  return run(options, jailed.timeout_s, jailed.interrupted);
}

Result<CompilerOutput> run_compiler(std::vector<std::string> argv, const CompileRequest& request, ToolFiles files) {
  // Of the include directory only ours: where PassNet is installed, it may be the one of all packages.
  if (!files.paths.empty() && !request.include_dir.empty())
    files.paths.push_back((request.include_dir / "passnet").string());
  return run_in_jail({.argv = std::move(argv),
                      .directory = request.directory,
                      .files = std::move(files),
                      .timeout_s = request.timeout_s,
                      .cpu_seconds = request.timeout_s,
                      .memory_bytes = request.memory_bytes,
                      .interrupted = request.interrupted});
}

bool succeeded(const CompilerOutput& output) {
  return output.status && output.status->exited && output.status->code == 0;
}

std::optional<Error> exhausted(const CompilerOutput& output, const CompileRequest& request) {
  const auto& text = output.text;
  const auto says = [&](const char* words) { return text.find(words) != std::string::npos; };
  std::string what;
  if (!output.status || says("CPU time limit"))
    what = fmt::format("{} s of time", request.timeout_s);
  else if (says("out of memory") || says("virtual memory exhausted") || says("memory exhausted") ||
           says("Killed signal") || says("std::bad_alloc"))
    what = fmt::format("{} MB of memory", request.memory_bytes >> 20);
  else if (says("File size limit") || says("File too large"))
    what = fmt::format("{} MB for one file", kFileBytes >> 20);
  else if (says("No space left on device"))
    return resource_error(fmt::format("no space left on the disk of '{}'", request.directory.string()));
  if (what.empty()) return std::nullopt;
  Error error = resource_error(fmt::format("compiling kernel '{}' takes more than {}", request.kernel.name, what));
  error.at = request.kernel.at;
  return error;
}

}  // namespace passnet::pass
