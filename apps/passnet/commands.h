// The commands that `passnet` runs itself. Each adds its flags to the app and, when it is chosen, sets `exit_code`:
// parse flags, call one library function, print. `argv` is for those of their subcommands that other programs run.
#pragma once

namespace CLI {
class App;
}

namespace passnet::cli {

void add_eval(CLI::App& app, int& exit_code);
void add_compare(CLI::App& app, int& exit_code);
void add_reproduce(CLI::App& app, int& exit_code);
void add_score(CLI::App& app, int& exit_code);
void add_verify(CLI::App& app, int& exit_code);
void add_graph(CLI::App& app, char** argv, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_bundle(CLI::App& app, int& exit_code);
void add_export(CLI::App& app, int& exit_code);
void add_pass(CLI::App& app, char** argv, int& exit_code);
void add_doctor(CLI::App& app, int& exit_code);
void add_help(CLI::App& app, int& exit_code);

}  // namespace passnet::cli
