#include "external.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/file/file.h"
#include "base/text/strings.h"
#include "command.h"

namespace passnet::cli {

namespace {

// Returns only when the program cannot be started.
Error start_program(const ExternalCommand& command, char** argv) {
  const std::filesystem::path program = beside_binary(std::string(command.program));
  ::execv(program.c_str(), argv);
  const int error = errno;
  if (error == ENOENT)
    return resource_error(fmt::format("'{}' was not built: '{}' is missing", command.program, program.string()))
        .with_hint("run 'make build'; it builds every command");
  return resource_error(fmt::format("cannot start '{}': {}", program.string(), std::strerror(error)));
}

}  // namespace

void add_external(CLI::App& app, const ExternalCommand& command, char** argv, int& exit_code) {
  CLI::App* listed = app.add_subcommand(std::string(command.name), std::string(command.about));
  // Its program parses all that follows, --help too.
  listed->prefix_command();
  listed->set_help_flag("");
  for (const std::string_view name : split(command.subcommands, ' '))
    if (!name.empty()) listed->add_subcommand(std::string(name));
  listed->callback([&command, argv, &exit_code] { exit_code = report_error(start_program(command, argv)); });
}

}  // namespace passnet::cli
