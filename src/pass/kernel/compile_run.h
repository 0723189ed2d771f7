// One run of a compiler on foreign source: its limits, its output, and what it ran out of.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pass/kernel/compiler.h"
#include "pass/kernel/tool_files.h"
#include "sandbox/process.h"

namespace passnet::pass {

/// The first executable of that name on PATH, or in `further` directories ("a:b"), that is the compiler itself:
/// ccache's stand-in would have to write outside the jail. Empty when there is none.
std::string find_on_path(const char* name, const std::string& further = "");

/// Seconds that a run may take for each of a processor's: what ends it first is what the kernel costs, not other work.
inline constexpr int kWallTimes = 4;

struct CompilerOutput {
  std::optional<sandbox::ExitStatus> status;  // nullopt: time-out
  std::string text;
};

/// Asks a compiler or loader about itself: trusted programs on no foreign text. Errors: Io, Resource of the process.
Result<CompilerOutput> ask_compiler(std::vector<std::string> argv);

struct JailedRun {
  std::vector<std::string> argv;
  std::filesystem::path directory;            // the one place where it can write
  ToolFiles files;                            // all that it sees besides; none: all files of this machine
  std::vector<std::string> environment = {};  // "K=V", besides PATH, LC_ALL, TMPDIR and LD_LIBRARY_PATH
  int timeout_s = 30;                         // of all of it; cpu_seconds: of one process
  int cpu_seconds = 30;
  int64_t memory_bytes = kCompilerMemoryBytes;     // of one process
  const std::atomic<bool>* interrupted = nullptr;  // ends the run when it becomes true
};
/// Errors: Io, Resource of the process itself; Resource "interrupted".
Result<CompilerOutput> run_in_jail(JailedRun run);

/// Runs argv in request.directory, in the jail, which shows `files` and include_dir's passnet/ (if there is one) alone;
/// all files when `files` is empty. Errors: as run_in_jail.
Result<CompilerOutput> run_compiler(std::vector<std::string> argv, const CompileRequest& request, ToolFiles files);
bool succeeded(const CompilerOutput& output);
/// Tells why a run that failed ended early: BadPass: the kernel takes more time, memory or disk than one may; Resource: the machine
/// lacks it. nullopt: neither.
std::optional<Error> exhausted(const CompilerOutput& output, const CompileRequest& request);

}  // namespace passnet::pass
