// passnet-selftest: attacks on the evaluation, and honest passes.
#include "program.h"
#include "selftest.h"

int main(int argc, char** argv) {
  using namespace passnet::cli;
  return run_program(argc, argv, [](CLI::App& app, int& exit_code) { add_selftest(app, exit_code); });
}
