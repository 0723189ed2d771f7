// What is said when the command line cannot be understood: where, what was found, what was probably meant.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "base/text/strings.h"
#include "command.h"
#include "former_options.h"
#include "options.h"

namespace passnet::cli {

namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// The command that was reached: `passnet graph chekc` reaches `passnet graph`.
const CLI::App& reached(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

// "passnet graph check"
std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

// The first word that nothing took, of the reached command or those above it; empty when all were taken.
std::string first_left_over(const CLI::App& app) {
  for (const CLI::App* at = &app; at != nullptr; at = at->get_parent()) {
    if (const std::vector<std::string> left = at->remaining(); !left.empty()) return left.front();
  }
  return {};
}

// Words are short here, so two letters in the wrong order (two edits) are near enough, a third of a word is not.
std::string_view nearest_word(std::string_view word, const std::vector<std::string>& known) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  if (const std::string_view near = nearest_name(word, views); !near.empty()) return near;
  for (const std::string_view candidate : views) {
    if (word.size() >= 4 && edit_distance(word, candidate, 2) <= 2) return candidate;
  }
  return {};
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

// The full names of commands called `word` anywhere: `passnet check` may be meant for `passnet pass check`.
void find_commands(const CLI::App& app, std::string_view word, std::vector<std::string>& found) {
  for (const CLI::App* command : commands_of(app)) {
    if (command->get_name() == word) found.push_back(fmt::format("'{}'", full_name(*command)));
    find_commands(*command, word, found);
  }
}

std::string unknown_command_hint(const CLI::App& root, const CLI::App& group, const std::string& word) {
  std::vector<std::string> elsewhere;
  find_commands(root, word, elsewhere);
  if (!elsewhere.empty()) return fmt::format("did you mean {}?", fmt::join(elsewhere, " or "));
  const std::vector<std::string> names = names_of(commands_of(group));
  if (const std::string_view near = nearest_word(word, names); !near.empty())
    return fmt::format("did you mean '{} {}'?", full_name(group), near);
  return fmt::format("commands: {}", fmt::join(names, ", "));
}

std::string unknown_option_hint(const CLI::App& command, const std::string& word) {
  const std::string_view option = std::string_view(word).substr(0, word.find('='));
  if (const std::string_view now = replacement_of(command, option); !now.empty())
    return fmt::format("it is now {}", now);
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  const std::string_view near = nearest_word(option, names);
  if (!near.empty()) return fmt::format("did you mean '{}'?", near);
  return fmt::format("'{} --help' lists its options", full_name(command));
}

}  // namespace

int report_usage(const CLI::App& app, const CLI::ParseError& problem) {
  const CLI::App& command = reached(app);
  const std::string name = full_name(command), word = first_left_over(command);
  const bool is_option = word.size() > 1 && word[0] == '-';
  std::string message, hint;
  if (is_option) {
    message = fmt::format("unknown option {}", quoted(word));
    hint = unknown_option_hint(command, word);
  } else if (!commands_of(command).empty() && command.get_subcommands().empty()) {
    message = word.empty() ? "which command?" : fmt::format("unknown command {}", quoted(word));
    hint = word.empty() ? fmt::format("commands: {}", fmt::join(names_of(commands_of(command)), ", "))
                        : unknown_command_hint(app, command, word);
  } else if (!word.empty()) {
    message = fmt::format("unexpected argument {}", quoted(word));
    hint = fmt::format("'{} --help' shows what it takes", name);
  } else {
    message = problem.what();
    hint = fmt::format("'{} --help' shows what it takes", name);
  }
  say_error("{}: error: {}\nhint: {}\n", name, message, hint);
  return kUsage;
}

}  // namespace passnet::cli
