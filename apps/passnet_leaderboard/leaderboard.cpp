// passnet leaderboard: whole submissions, model by model.
#include "leaderboard.h"

#include <CLI/CLI.hpp>

#include "command.h"
#include "external_commands.h"

namespace passnet::cli {

void add_leaderboard(CLI::App& app, int& exit_code) {
  CLI::App* group = add_command(app, kLeaderboard);
  group->require_subcommand(1);
  add_leaderboard_score(*group, exit_code);
  add_leaderboard_agree(*group, exit_code);
}

}  // namespace passnet::cli
