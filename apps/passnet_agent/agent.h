// The commands of `passnet agent`, and those that share its tools.
#pragma once

namespace CLI {
class App;
}

namespace passnet::cli {

void add_agent(CLI::App& app, int& exit_code);
void add_mcp(CLI::App& app, int& exit_code);
void add_reward(CLI::App& app, int& exit_code);

void add_agent_run(CLI::App& group, int& exit_code);
void add_agent_export(CLI::App& group, int& exit_code);
void add_agent_show(CLI::App& group, int& exit_code);
void add_agent_table(CLI::App& group, int& exit_code);
void add_agent_replay(CLI::App& group, int& exit_code);

}  // namespace passnet::cli
