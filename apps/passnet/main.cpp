// passnet: control. Parses, matches, decides, scores, reports; links no libtorch and runs no foreign code.
#include <csignal>
#include <exception>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/check.h"
#include "command.h"

int main(int argc, char** argv) {
  using namespace passnet::cli;
  // A reader that closes early (`| head`) or a worker that dies is an error code, not a signal.
  std::signal(SIGPIPE, SIG_IGN);
  int exit_code = kOk;
  CLI::App app{"PassNet: compiler passes for tensor graphs, and the truth about them.\n"
               "Start with:  passnet eval samples/vit_add_layer_norm"};
  app.name("passnet");
  app.set_version_flag("--version", "passnet " PASSNET_VERSION);
  app.require_subcommand(1);
  add_eval(app, exit_code);
  add_compare(app, exit_code);
  add_reproduce(app, exit_code);
  add_score(app, exit_code);
  add_graph(app, exit_code);
  add_run(app, exit_code);
  add_pass(app, exit_code);
  add_dataset(app, exit_code);
  add_doctor(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& problem) {
    app.exit(problem);
    return kUsage;
  } catch (const passnet::InternalError& bug) {
    fmt::print(stderr, "bug in passnet: {}\nhint: please report it with the command that showed it\n", bug.what());
    return kBug;
  } catch (const std::exception& bug) {
    fmt::print(stderr, "bug in passnet: {}\nhint: please report it with the command that showed it\n", bug.what());
    return kBug;
  }
  return exit_code;
}
