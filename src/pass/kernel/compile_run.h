// One run of a compiler on foreign source: its limits, its output, and what it ran out of.
#pragma once

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

struct CompilerOutput {
  std::optional<sandbox::ExitStatus> status;  // nullopt: time-out
  std::string text;
};

/// Asks a compiler or loader about itself: trusted programs on no foreign text. Errors: Io, Resource of the process.
Result<CompilerOutput> ask_compiler(std::vector<std::string> argv);
/// Runs argv in request.directory, in the jail, which shows `files` and include_dir's passnet/ alone; all files when
/// `files` is empty. Errors: Io, Resource of the process itself.
Result<CompilerOutput> run_compiler(std::vector<std::string> argv, const CompileRequest& request, ToolFiles files);
bool succeeded(const CompilerOutput& output);
/// The Resource error for a run that ended for want of time, memory or disk.
std::optional<Error> exhausted(const CompilerOutput& output, const CompileRequest& request);

}  // namespace passnet::pass
