// passnet: reads, matches, evaluates, scores and reports; links no libtorch and runs no foreign code. Other commands are
// programs of their own beside it (external_commands.h).
#include "commands.h"
#include "external.h"
#include "program.h"

int main(int argc, char** argv) {
  using namespace passnet::cli;
  return run_program(argc, argv, [argv](CLI::App& app, int& exit_code) {
    const auto external = [&](const ExternalCommand& command) { add_external(app, command, argv, exit_code); };
    add_eval(app, exit_code);
    add_compare(app, exit_code);
    add_reproduce(app, exit_code);
    add_score(app, exit_code);
    add_verify(app, exit_code);
    external(kMerge);
    external(kQueue);
    external(kWork);
    external(kSubmit);
    external(kLeaderboard);
    external(kStore);
    external(kSite);
    external(kServe);
    external(kAgent);
    external(kMcp);
    external(kAuthor);
    external(kReward);
    external(kSelftest);
    add_graph(app, argv, exit_code);
    add_run(app, exit_code);
    add_bundle(app, exit_code);
    add_export(app, exit_code);
    add_pass(app, argv, exit_code);
    external(kDataset);
    add_doctor(app, exit_code);
    add_help(app, exit_code);
  });
}
