// passnet-agent: language models write passes; its tools and rewards are served to others.
#include "agent.h"
#include "program.h"

int main(int argc, char** argv) {
  using namespace passnet::cli;
  return run_program(argc, argv, [](CLI::App& app, int& exit_code) {
    add_agent(app, exit_code);
    add_mcp(app, exit_code);
    add_reward(app, exit_code);
  });
}
