#include "program.h"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <sstream>
#include <system_error>

#include "base/file/home.h"
#include "base/version.h"
#include "command.h"
#include "former_options.h"
#include "options.h"

namespace passnet::cli {

namespace {

// A descriptor 0, 1 or 2 that is closed would be the next file that is opened, and be written into.
void open_standard_files() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) == -1 && ::open("/dev/null", O_RDWR) == -1) return;
  }
}

int report_bug(const char* what) {
  std::fprintf(stderr, "bug in passnet: %s\nhint: please report it with the command that showed it\n",
               visible(what).c_str());
  return kBug;
}

// A reader that has left (`| head`) has seen what it wanted: quiet, with the command's own code. Any other failure to
// write is an error: what was asked for is not there.
int after_output(int exit_code, int error) {
  if (error == EPIPE) return exit_code;
  std::fprintf(stderr, "error: cannot write to stdout: %s\n", std::strerror(error));
  return kResource;
}

// Runs the command, or prints the help or the version that is asked for.
void parse(CLI::App& app, int argc, char** argv, int& exit_code) {
  try {
    std::vector<std::string> words = renew_options(app, argc, argv);
    std::ranges::reverse(words);  // as CLI11 takes them
    app.parse(std::move(words));
  } catch (const CLI::Success& help) {
    std::ostringstream text;
    exit_code = app.exit(help, text, text);
    print_result(text.str());
  }
}

int run(int argc, char** argv, const AddCommands& add_commands) {
  int exit_code = kOk;
  CLI::App app{
      "PassNet checks, times and scores compiler passes for PyTorch graphs.\n"
      "Start with:  passnet eval samples/vit_add_layer_norm"};
  app.name("passnet");
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  add_commands(app, exit_code);
  add_common_options(app);
  try {
    parse(app, argc, argv, exit_code);
  } catch (const CLI::ParseError& problem) {
    return report_usage(app, problem);
  } catch (const std::system_error& problem) {
    if (std::ferror(stdout) != 0 || std::ferror(stderr) != 0) return after_output(exit_code, problem.code().value());
    return report_bug(problem.what());
  } catch (const std::exception& bug) {
    return report_bug(bug.what());
  }
  errno = 0;
  const bool lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  return lost ? after_output(exit_code, errno == 0 ? EPIPE : errno) : exit_code;
}

}  // namespace

int run_program(int argc, char** argv, const AddCommands& add_commands) {
  // Writing to a reader that left or to a worker that died returns an error code.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // so does writing beyond the limit of 'ulimit -f'
  open_standard_files();
  if (const Result<void> trusted = check_home(); !trusted) return report_error(trusted.error());
  return run(argc, argv, add_commands);
}

}  // namespace passnet::cli
