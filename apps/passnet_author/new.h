// passnet pass new.
#pragma once

namespace CLI {
class App;
}

namespace passnet::cli {

/// Adds the command, and the group `pass` that holds it.
void add_pass_new(CLI::App& app, int& exit_code);

}  // namespace passnet::cli
