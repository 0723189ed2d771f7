// The subcommands of `passnet`. Each adds its flags to the app and, when it is chosen, sets `exit_code`:
// parse flags, call one library function, print.
#pragma once

#include <atomic>
#include <string>

#include "base/result.h"

namespace CLI {
class App;
}

namespace passnet::cli {

/// The exit codes of every command.
enum ExitCode : int {
  kOk = 0,
  kNotAllCorrect = 1,  // evaluated, but not all correct
  kUsage = 2,
  kBadInput = 3,
  kResource = 4,
  kSourcesChanged = 5,  // reproduce: not evaluated, what the record was made of has changed
  kBug = 70,
  kInterrupted = 130,
};

/// The exit code that goes with an error.
ExitCode exit_code_of(const Error& error);
/// Prints the error to stderr and returns its exit code.
ExitCode report_error(const Error& error);
/// What a command ends with: kOk, kInterrupted after Ctrl-C, else the error is reported.
ExitCode finish(const Result<void>& done);

/// Becomes true at Ctrl-C (SIGINT) or SIGTERM after catch_interrupts(); a second signal ends the process at once.
const std::atomic<bool>& interrupted();
void catch_interrupts();

void add_eval(CLI::App& app, int& exit_code);
void add_compare(CLI::App& app, int& exit_code);
void add_reproduce(CLI::App& app, int& exit_code);
void add_score(CLI::App& app, int& exit_code);
void add_graph(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_pass(CLI::App& app, int& exit_code);
void add_dataset(CLI::App& app, int& exit_code);
void add_doctor(CLI::App& app, int& exit_code);

}  // namespace passnet::cli
