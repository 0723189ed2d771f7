// passnet agent: language models write passes.
#include "agent.h"

#include <CLI/CLI.hpp>

#include "command.h"
#include "external_commands.h"

namespace passnet::cli {

void add_agent(CLI::App& app, int& exit_code) {
  CLI::App* group = add_command(app, kAgent);
  group->require_subcommand(1);
  add_agent_run(*group, exit_code);
  add_agent_show(*group, exit_code);
  add_agent_replay(*group, exit_code);
  add_agent_export(*group, exit_code);
  add_agent_table(*group, exit_code);
}

}  // namespace passnet::cli
