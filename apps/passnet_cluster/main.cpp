// passnet-cluster: one list on several machines.
#include "cluster.h"
#include "program.h"

int main(int argc, char** argv) {
  using namespace passnet::cli;
  return run_program(argc, argv, [](CLI::App& app, int& exit_code) {
    add_merge(app, exit_code);
    add_queue(app, exit_code);
    add_work(app, exit_code);
    add_submit(app, exit_code);
  });
}
