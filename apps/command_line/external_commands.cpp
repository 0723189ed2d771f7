#include "external_commands.h"

#include <CLI/CLI.hpp>

namespace passnet::cli {

CLI::App* add_command(CLI::App& app, const ExternalCommand& command) {
  CLI::App* const parent = command.group.empty() ? &app : app.add_subcommand(std::string(command.group));
  return parent->add_subcommand(std::string(command.name), std::string(command.about));
}

}  // namespace passnet::cli
