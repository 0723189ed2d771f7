// passnet agent show: a trajectory in the terminal.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "agent.h"
#include "agent/attempt/attempt.h"
#include "agent/trajectory/page.h"
#include "agent/trajectory/trajectory.h"
#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/json/json.h"
#include "base/text/strings.h"
#include "command.h"
#include "options.h"

namespace passnet::cli {

namespace {

/// Shown of a text, about; --json prints all.
constexpr int64_t kMostTokens = 400;

struct ShowFlags {
  std::filesystem::path file, html;
  bool json = false;
};

Result<void> show(const ShowFlags& flags) {
  const bool is_directory = directory_exists(flags.file);
  // A directory is that of an attempt or of a whole run.
  const char* const inner =
      entry_exists(flags.file / agent::kTrajectoriesFile) ? agent::kTrajectoriesFile : agent::kTrajectoryFile;
  const std::filesystem::path file = is_directory ? flags.file / inner : flags.file;
  PASSNET_TRY(const std::string text,
              is_directory ? read_beneath(flags.file, inner, FileKind::Lines) : read_file(file, FileKind::Lines));
  std::vector<Json> all;
  for (const std::string_view line : split(text, '\n')) {
    if (trim(line).empty()) continue;
    PASSNET_TRY(Json trajectory, parse_json(line, file.string()));
    all.push_back(std::move(trajectory));
  }
  if (flags.json) {
    print_result(dump(Json(all), 1) + "\n");
    return {};
  }
  if (!flags.html.empty()) {
    PASSNET_TRY(const std::string page, agent::render_trajectory_page(all, kMostTokens));
    return write_file(flags.html, std::string_view(page));
  }
  std::string shown;
  for (const Json& trajectory : all) {
    PASSNET_TRY(const std::string one, agent::render_trajectory(trajectory, kMostTokens));
    shown += (shown.empty() ? "" : "\n") + one;
  }
  print_result(shown);
  return {};
}

}  // namespace

void add_agent_show(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<ShowFlags>();
  CLI::App* command = group.add_subcommand("show", "show an attempt step by step: thoughts, tool calls, results");
  command
      ->add_option("FILE", flags->file, "trajectory.jsonl, trajectories.jsonl, or the directory of an attempt or a run")
      ->required();
  CLI::Option* json = add_json_flag(*command, flags->json);
  command->add_option("--html", flags->html, "write a page in place of text")->excludes(json);
  command->footer("Example:  passnet agent show run/vit_add_layer_norm/attempt_0");
  command->callback([flags, &exit_code] { exit_code = finish(show(*flags)); });
}

}  // namespace passnet::cli
