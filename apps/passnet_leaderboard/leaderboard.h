// The commands of `passnet leaderboard`.
#pragma once

namespace CLI {
class App;
}

namespace passnet::cli {

void add_leaderboard(CLI::App& app, int& exit_code);
void add_leaderboard_agree(CLI::App& group, int& exit_code);
void add_leaderboard_score(CLI::App& group, int& exit_code);

}  // namespace passnet::cli
