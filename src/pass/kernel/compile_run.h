// One run of a compiler on foreign source: its limits, its output, and what it ran out of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pass/kernel/compiler.h"
#include "sandbox/process.h"

namespace passnet::pass {

/// The first executable of that name on PATH, or in `further` directories ("a:b"), that is the compiler itself:
/// ccache's stand-in would have to write outside the jail. Empty when there is none.
std::string find_on_path(const char* name, const std::string& further = "");

struct CompilerOutput {
  std::optional<sandbox::ExitStatus> status;  // nullopt: time-out
  std::string text;
};

/// Runs argv in `directory` (empty: ours). Errors: Io, Resource of the process itself.
Result<CompilerOutput> run_compiler(std::vector<std::string> argv, const std::string& directory,
                                    sandbox::Isolation isolation, int timeout_s);
bool succeeded(const CompilerOutput& output);
/// The Resource error for a run that ended for want of time, memory or disk.
std::optional<Error> exhausted(const CompilerOutput& output, const CompileRequest& request);

}  // namespace passnet::pass
