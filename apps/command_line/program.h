// The main function that `passnet` and the programs beside it share.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace passnet::cli {

/// Adds the commands of a program; each sets the exit code when it runs.
using AddCommands = std::function<void(CLI::App& app, int& exit_code)>;

/// Parses the command line, runs the command, and returns its exit code. A program beside `passnet` takes the command
/// line of `passnet` as it stands: "passnet-author author SAMPLE".
int run_program(int argc, char** argv, const AddCommands& add_commands);

}  // namespace passnet::cli
