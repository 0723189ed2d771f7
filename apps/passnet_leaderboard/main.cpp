// passnet-leaderboard: submissions to a whole benchmark.
#include "leaderboard.h"
#include "program.h"

int main(int argc, char** argv) {
  using namespace passnet::cli;
  return run_program(argc, argv, [](CLI::App& app, int& exit_code) { add_leaderboard(app, exit_code); });
}
