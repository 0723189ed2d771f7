#include "former_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "base/text/strings.h"
#include "print.h"

namespace passnet::cli {

namespace {

/// Parts of an option that several former ones make up together.
enum class Part { None, Candidate, Baseline, Second, Host, Port, Http };

constexpr int kRefused = -1;  // nothing replaces it one to one

struct FormerOption {
  const char* name;
  const char* now;           // the replacement, for a reader
  const char* command = "";  // the only one that it is of; empty: any
  int values = kRefused;     // that follow it
  const char* words = "";    // the replacement, with $1 and $2 for the values; empty: `now` and the values
  Part part = Part::None;
};

constexpr FormerOption kFormerOptions[] = {
    {"--no-wait", "--wait 0", "", 0},
    {"--allow-python", "--host-code fallback", "", 0},
    {"--compiler", "--sides CANDIDATE, such as --sides eager", "", 1, "", Part::Candidate},
    {"--baseline", "--sides CANDIDATE,BASELINE, such as --sides passes,python", "", 1, "", Part::Baseline},
    {"--compare", "--sides passes,eager,inductor", "", 1, "", Part::Second},
    {"--strict", "--matching strict", "", 0},
    {"--generalize", "--matching generalize", "", 0},
    {"--llm-name", "--model NAME, with --api", "", 1, "--model $1"},
    {"--llm_name", "--model NAME, with --api", "", 1, "--model $1"},
    {"--llm-base-url", "--base-url", "", 1},
    {"--llm_base_url", "--base-url", "", 1},
    {"--max_steps", "--max-steps", "", 1},
    {"--max-token-limit", "--token-limit", "", 1},
    {"--openai-api-key", "--key-file, or OPENAI_API_KEY"},
    {"--connect-timeout", "--answer-timeout"},
    {"--idle-timeout", "--answer-timeout"},
    {"--dataset", "the file as a PATH", "run", 1, "$1"},
    {"--slice", "--limit, or a list of samples as a PATH"},
    {"--shuffle", "a list of samples as a PATH, made by 'shuf'"},
    {"--budget", "--time-limit", "", 1},
    {"--search-seconds", "--time-limit", "", 1},
    {"--host", "--listen HOST:PORT", "", 1, "", Part::Host},
    {"--port", "--listen HOST:PORT", "", 1, "", Part::Port},
    {"--http", "--listen HOST:PORT", "", 0, "", Part::Http},
    {"--graph", "RUN#GRAPH", "reproduce"},
    {"--csv", "--json"},
    {"--all-tasks", "--json, or leaderboard.html"},
    {"--best-per-task", "--best-per-sample", "", 0},
    {"--tasks", "--samples", "score", 1},
    {"--tasks", "--limit", "", 1},
    {"--dump", "--out", "", 2, "--filter $1 --out $2"},
    {"--only", "--filter", "", 1},
    {"--dot", "'passnet graph dot'"},
    {"--kinds", "--kind", "", 1},
    {"--variants", "--max-shapes", "", 1},
    {"--shapes", "--max-shapes", "capture", 1},
    {"--dtypes", "--dtype", "", 1},
    {"--no-shapes", "nothing: shapes are left out of a graph without weight_meta.py"},
    {"--min-kernels", "--min-ops", "", 1},
    {"--lists", "--list", "", 1},
    {"--list", "--dry-run", "capture", 0},
    {"--run", "nothing, or --no-run"},
    {"--policy", "nothing: each line has its policy"},
    {"--weights", "nothing: nodes name the weights that they use"},
    {"--for", "--device", "build", 1},
    {"--match", "--filter", "capture", 1},
    {"--save", "--out", "run", 1},
    {"--source", "--from", "find", 1},
    {"--variant", "--official VARIANT", "", 1, "--official $1"},
    {"--operators", "--limit", "", 1},
};

const FormerOption* find_former(const CLI::App& command, std::string_view option) {
  const auto is_it = [&](const FormerOption& former) {
    return option == former.name && (*former.command == '\0' || command.get_name() == former.command);
  };
  const auto* const found = std::ranges::find_if(kFormerOptions, is_it);
  return found == std::end(kFormerOptions) ? nullptr : found;
}

/// The command called `word` within this one; null: there is none.
CLI::App* find_command(CLI::App& within, const std::string& word) {
  const auto found = within.get_subcommands([&](CLI::App* one) { return one->check_name(word); });
  return found.empty() ? nullptr : found.front();
}

/// The words of today for an option with its values.
std::vector<std::string> replacement(const FormerOption& former, const std::vector<std::string>& values) {
  std::vector<std::string> words;
  const bool is_now = *former.words == '\0';
  for (const std::string_view one : split(is_now ? former.now : former.words, ' '))
    words.push_back(one == "$1" ? values[0] : one == "$2" ? values[1] : std::string(one));
  if (is_now) words.insert(words.end(), values.begin(), values.end());
  return words;
}

/// The options of parts that were given.
std::vector<std::string> join_parts(const CLI::App& command, const std::map<Part, std::string>& parts) {
  const auto part = [&](Part one, const char* otherwise) {
    const auto found = parts.find(one);
    return found == parts.end() ? std::string(otherwise) : found->second;
  };
  std::vector<std::string> words;
  if (parts.contains(Part::Candidate) || parts.contains(Part::Baseline) || parts.contains(Part::Second)) {
    std::string sides = fmt::format("{},{}", part(Part::Candidate, "passes"), part(Part::Baseline, "eager"));
    if (parts.contains(Part::Second)) sides += "," + part(Part::Second, "");
    words.insert(words.end(), {"--sides", sides});
  }
  if (parts.contains(Part::Host) || parts.contains(Part::Port) || parts.contains(Part::Http))
    words.insert(words.end(),
                 {"--listen", fmt::format("{}:{}", part(Part::Host, "127.0.0.1"),
                                          part(Part::Port, command.get_name() == "reward" ? "8765" : "0"))});
  return words;
}

}  // namespace

std::vector<std::string> renew_options(CLI::App& app, int argc, const char* const* argv) {
  std::vector<std::string> words;
  std::map<Part, std::string> parts;
  CLI::App* command = &app;
  int i = 1;
  for (; i < argc && std::string_view(argv[i]) != "--" && !command->get_prefix_command(); ++i) {
    const std::string word = argv[i];
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const FormerOption* const former = find_former(*command, name);
    const int to_come = former == nullptr ? 0 : former->values - (equals == std::string::npos ? 0 : 1);
    const bool renewed = former != nullptr && former->values != kRefused &&
                         command->get_option_no_throw(name) == nullptr && i + to_come < argc;
    if (!renewed) {
      if (CLI::App* const next = find_command(*command, word); next != nullptr) command = next;
      words.push_back(word);
      continue;
    }
    std::vector<std::string> values;
    if (equals != std::string::npos) values.push_back(word.substr(equals + 1));
    for (int value = 0; value < to_come; ++value) values.emplace_back(argv[++i]);
    if (former->part != Part::None) {
      parts[former->part] = values.empty() ? "" : values[0];
    } else {
      for (std::string& one : replacement(*former, values)) words.push_back(std::move(one));
    }
    say_error("note: {} is now {}\n", name, former->now);
  }
  for (std::string& word : join_parts(*command, parts)) words.push_back(std::move(word));
  words.insert(words.end(), argv + i, argv + argc);
  return words;
}

std::string_view replacement_of(const CLI::App& command, std::string_view option) {
  const FormerOption* const former = find_former(command, option);
  return former == nullptr ? "" : former->now;
}

}  // namespace passnet::cli
