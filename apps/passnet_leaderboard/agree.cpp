// passnet leaderboard agree: the same submissions with their host code read and run; do the verdicts agree?
#include "leaderboard/agree.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <set>

#include "base/file/paths.h"
#include "command.h"
#include "leaderboard.h"
#include "options.h"
#include "record/session.h"
#include "run/keep/load_records.h"

namespace passnet::cli {

namespace {

/// Equal verdicts at least, as a share.
constexpr double kLeastShare = 0.99;

struct AgreeFlags {
  std::string a, b;
  bool json = false;
};

// The runs in what 'leaderboard score' wrote, by model.
std::set<std::string> models_in(const fs::path& directory) {
  std::set<std::string> models;
  const Result<std::vector<fs::path>> entries = list_directory(directory);
  if (!entries) return models;
  for (const fs::path& entry : *entries) {
    if (path_exists(entry / record::kSessionsFile)) models.insert(entry.filename().string());
  }
  return models;
}

Result<leaderboard::Agreement> compare_runs(const fs::path& a, const fs::path& b) {
  PASSNET_TRY(const std::vector<record::RunRecord> of_a, run::load_run(a));
  PASSNET_TRY(const std::vector<record::RunRecord> of_b, run::load_run(b));
  return leaderboard::agreement_of(of_a, of_b);
}

Result<leaderboard::Agreement> compare_boards(const fs::path& a, const fs::path& b) {
  if (path_exists(a / record::kSessionsFile) || !directory_exists(a)) return compare_runs(a, b);
  leaderboard::Agreement sum;
  bool any = false;
  const std::set<std::string> there = models_in(b);
  for (const std::string& model : models_in(a)) {
    if (!there.contains(model)) continue;
    any = true;
    PASSNET_TRY(leaderboard::Agreement one, compare_runs(a / model, b / model));
    for (leaderboard::DifferenceGroup& group : one.differences) {
      for (std::string& graph : group.graphs) graph.insert(0, model + "/");
    }
    leaderboard::add(sum, std::move(one));
  }
  if (any) return sum;
  return bad_input(fmt::format("no model has a run in both '{}' and '{}'", a.string(), b.string()))
      .with_hint("give two runs of 'passnet eval', or two OUT of 'passnet leaderboard score'");
}

Result<ExitCode> agree(const AgreeFlags& flags) {
  PASSNET_TRY(const leaderboard::Agreement found, compare_boards(flags.a, flags.b));
  if (found.agreed + found.differing == 0)
    return bad_input("there is nothing to compare: no graph was run in both")
        .with_hint("evaluate the same submissions");
  print_result(flags.json ? leaderboard::render_json(found) : leaderboard::render_text(found));
  return found.share() < kLeastShare ? kNotAllCorrect : kOk;
}

}  // namespace

void add_leaderboard_agree(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<AgreeFlags>();
  CLI::App* command = group.add_subcommand(
      "agree", "compare verdicts of host code that was parsed (A) with host code that ran in Python (B)");
  command->add_option("A", flags->a, "a run of 'passnet eval', or an OUT of 'passnet leaderboard score'")->required();
  command->add_option("B", flags->b, "the same with --host-code python")->required();
  add_json_flag(*command, flags->json);
  command->footer(
      "0: at least 99 % of the verdicts are equal.\n\nExample:  passnet leaderboard agree board board-python");
  command->callback([flags, &exit_code] { exit_code = finish(agree(*flags)); });
}

}  // namespace passnet::cli
