// passnet-site: records of many runs, as a store, as pages, and served.
#include "commands.h"
#include "program.h"

int main(int argc, char** argv) {
  using namespace passnet::cli;
  return run_program(argc, argv, [](CLI::App& app, int& exit_code) {
    add_store(app, exit_code);
    add_site(app, exit_code);
    add_serve(app, exit_code);
  });
}
