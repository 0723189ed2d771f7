// Commands that programs beside `passnet` run.
#pragma once

#include "external_commands.h"

namespace CLI {
class App;
}

namespace passnet::cli {

/// Lists `command` in the help of `app`. When it is given, its program replaces this process, with the command line as
/// it stands. Sets exit_code to kResource where the program was not built.
void add_external(CLI::App& app, const ExternalCommand& command, char** argv, int& exit_code);

}  // namespace passnet::cli
