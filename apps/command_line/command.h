// The subcommands of `passnet`. Each adds its flags to the app and, when it is chosen, sets `exit_code`:
// parse flags, call one library function, print. Flags that several commands have are added by options.h.
#pragma once

#include <atomic>
#include <string_view>

#include "base/result.h"
#include "print.h"

namespace CLI {
class App;
}

namespace passnet::cli {

/// The exit codes of every command.
enum ExitCode : int {
  kOk = 0,
  kNotAllCorrect = 1,  // evaluated, but not all correct; nothing matched
  kUsage = 2,
  kBadInput = 3,
  kResource = 4,
  kSourcesChanged = 5,  // reproduce: not evaluated, what the record was made of has changed
  kBug = 70,
  kInterrupted = 130,
};
/// What the help of every command says of them.
inline constexpr std::string_view kExitCodesText =
    "Exit codes: 0 done (and all correct, where that is asked), 1 not all correct or nothing matched, 2 usage,\n"
    "3 bad input, 4 something is missing or full, 70 a bug of PassNet, 130 interrupted";

/// The exit code that goes with an error.
ExitCode exit_code_of(const Error& error);
/// Prints the error to stderr and returns its exit code.
ExitCode report_error(const Error& error);
/// What a command ends with: kInterrupted after Ctrl-C, else its code, or the error is reported.
ExitCode finish(const Result<void>& done);
ExitCode finish(const Result<ExitCode>& done);

/// Becomes true at Ctrl-C (SIGINT) or SIGTERM after catch_interrupts(); a second signal ends the process at once, and so do
/// `most_s` seconds after the first one, with `said` on stderr; 0: no limit.
const std::atomic<bool>& interrupted();
void catch_interrupts(unsigned most_s = 0, std::string said = {});

/// Whether stdout gets colors: --color, else NO_COLOR, else whether it is a terminal.
bool use_color();
/// "next: passnet …" on stderr: what to run after this command; nothing with --quiet.
void print_next(std::string_view command);

}  // namespace passnet::cli
