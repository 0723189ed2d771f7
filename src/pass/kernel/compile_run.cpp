#include "pass/kernel/compile_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "base/memory.h"
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
                      .timeout_s = kWallTimes * request.timeout_s,
                      .cpu_seconds = request.timeout_s,
                      .memory_bytes = request.memory_bytes,
                      .interrupted = request.interrupted});
}

bool succeeded(const CompilerOutput& output) {
  return output.status && output.status->exited && output.status->code == 0;
}

namespace {

/// The compiler quotes the kernel, which can say anything: what the machine lacks is believed where it is seen.
std::optional<Error> lacking(const CompilerOutput& output, const CompileRequest& request) {
  const auto says = [&](const char* words) { return output.text.find(words) != std::string::npos; };
  if (says("Killed signal")) {
    Result<void> enough = require_memory("compiling a kernel", static_cast<double>(request.memory_bytes));
    if (!enough) return std::move(enough).error();
  }
  std::error_code failed;
  const std::filesystem::space_info disk = std::filesystem::space(request.directory, failed);
  if (says("No space left on device") && !failed && disk.available < static_cast<uintmax_t>(kFileBytes))
    return resource_error(fmt::format("no space left on the disk of '{}'", request.directory.string()));
  return std::nullopt;
}

/// The limit that a kernel is too much for, in the words of programs and not of what they quote; empty: none.
std::string exceeded_limit(const CompilerOutput& output, const CompileRequest& request) {
  std::string own;
  for (const std::string_view line : split(output.text, '\n')) {
    const bool quotes = line.starts_with(' ') || line.find(": error: ") != std::string_view::npos;
    if (!quotes) own += std::string(line) + '\n';
  }
  const auto says = [&](const char* words) { return own.find(words) != std::string::npos; };
  if (says("CPU time limit")) return fmt::format("{} s of time", request.timeout_s);
  if (says("out of memory") || says("virtual memory exhausted") || says("memory exhausted") || says("std::bad_alloc"))
    return fmt::format("{} MB of memory", request.memory_bytes >> 20);
  if (says("File size limit") || says("File too large")) return fmt::format("{} MB for one file", kFileBytes >> 20);
  return "";
}

}  // namespace

std::optional<Error> exhausted(const CompilerOutput& output, const CompileRequest& request) {
  const auto too_much = [&](const std::string& what) {
    return fmt::format("compiling kernel '{}' takes more than {}", request.kernel.name, what);
  };
  if (auto error = lacking(output, request)) return error;
  std::optional<Error> error;
  if (!output.status)
    error = resource_error(too_much(fmt::format("{} s of time", kWallTimes * request.timeout_s)));
  else if (const std::string what = exceeded_limit(output, request); !what.empty())
    error = bad_pass(too_much(what));
  if (error) error->at = request.kernel.at;
  return error;
}

}  // namespace passnet::pass
