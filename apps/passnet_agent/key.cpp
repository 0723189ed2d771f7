#include "key.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "base/strings.h"

namespace passnet::cli {

namespace {

std::string& taken() {
  static std::string key;
  return key;
}

void take(char* value) {
  taken() = value;
  std::fill_n(value, std::strlen(value), '*');
}

// What the command prints.
Result<std::string> run_command(const std::string& command) {
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return io_error("--key-command: cannot run", command, errno);
  std::string text;
  std::array<char, 4096> part;
  while (const size_t bytes = std::fread(part.data(), 1, part.size(), pipe)) text.append(part.data(), bytes);
  const int status = ::pclose(pipe);
  if (status == 0) return text;
  const std::string end = WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                                              : fmt::format("exit code {}", WEXITSTATUS(status));
  return bad_input(fmt::format("--key-command: expected a command that succeeds, found {}", end))
      .with_hint("it prints the key and nothing else");
}

// Anything else would end up in a header as it is.
Result<std::string> checked(std::string_view text, const char* where) {
  const std::string key(trim(text));
  const bool plain = std::ranges::all_of(key, [](char c) { return c > ' ' && c < '\x7f'; });
  if (plain && !key.empty()) return key;
  return bad_input(fmt::format("{}: expected a key on one line, found {}", where,
                               key.empty() ? "nothing" : "spaces, line ends or other characters in it"));
}

}  // namespace

void take_key(int argc, char** argv) {
  constexpr std::string_view kName = "--openai-api-key";
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == kName && i + 1 < argc) take(argv[i + 1]);
    if (argument.starts_with(kName) && argument.substr(kName.size()).starts_with('=')) take(argv[i] + kName.size() + 1);
  }
}

Result<std::string> read_key(const KeySource& source, const agent::Api& api) {
  if (source.on_command_line) return checked(taken(), "--openai-api-key");
  if (!source.file.empty()) {
    PASSNET_TRY(const std::string text, read_file(source.file, FileKind::Settings));
    return checked(text, "--key-file");
  }
  if (!source.command.empty()) {
    PASSNET_TRY(const std::string text, run_command(source.command));
    return checked(text, "--key-command");
  }
  const char* const key = std::getenv(api.key_variable);
  if (key == nullptr || *key == '\0') return std::string();
  Result<std::string> read = checked(key, api.key_variable);
  // Workers and compilers have no need of it.
  ::unsetenv(api.key_variable);
  return read;
}

}  // namespace passnet::cli
