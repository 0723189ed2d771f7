// passnet agent export: attempts as training data.
#include "agent/training/export.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "agent.h"
#include "agent/tools/tool.h"
#include "agent/training/atif.h"
#include "agent/training/attempts.h"
#include "base/file/file.h"
#include "command.h"
#include "options.h"

namespace passnet::cli {

namespace {

struct ExportFlags {
  std::vector<std::filesystem::path> runs;
  std::filesystem::path out;
  std::string format = "trl", root;
  agent::ExportRules rules;
  bool drop_failed_turns = false, json = false;
  std::vector<std::string> kept_back;  // of --no-eval-leak
};

/// What is left out, and why: told in the end.
struct Counts {
  size_t attempts = 0, unfinished = 0, leaking = 0, lines = 0;
};

/// The attempts of all runs whose samples share no computation with what is kept back.
Result<agent::FoundAttempts> gather(const ExportFlags& flags, Counts& counts) {
  std::set<std::string> kept_back;
  if (!flags.kept_back.empty()) {
    PASSNET_TRY(const std::vector<std::filesystem::path> samples, graphdir::expand_paths(flags.kept_back, flags.root));
    for (const std::filesystem::path& path : samples) {
      PASSNET_TRY(const graphdir::Sample sample, graphdir::load_sample(path));
      PASSNET_TRY(const std::set<std::string> computations, agent::computations_of(sample.graph_paths));
      kept_back.insert(computations.begin(), computations.end());
    }
  }
  agent::FoundAttempts all;
  for (const std::filesystem::path& run : flags.runs) {
    PASSNET_TRY(agent::FoundAttempts found, agent::find_attempts(run));
    counts.unfinished += found.unfinished;
    counts.attempts += found.attempts.size();
    for (size_t i = 0; i < found.attempts.size(); ++i) {
      PASSNET_TRY(const std::set<std::string> computations, agent::computations_of(found.graphs[i]));
      const bool leaks = std::ranges::any_of(computations, [&](const auto& one) { return kept_back.contains(one); });
      counts.leaking += leaks ? 1 : 0;
      if (leaks) continue;
      all.attempts.push_back(std::move(found.attempts[i]));
      all.files.push_back(std::move(found.files[i]));
    }
  }
  return all;
}

/// The best attempt at each sample against every one that is worse.
std::vector<std::string> pairs_of(const std::vector<agent::TrainingAttempt>& attempts, const agent::ExportRules& rules,
                                  const std::vector<agent::ToolSpec>& tools) {
  std::vector<std::string> lines;
  for (const size_t best : agent::select_attempts(attempts, {rules.min_score, true})) {
    for (const agent::TrainingAttempt& other : attempts) {
      if (other.facts.sample != attempts[best].facts.sample || other.score >= attempts[best].score) continue;
      if (auto line = agent::preference_line(attempts[best], other, tools)) lines.push_back(std::move(*line));
    }
  }
  return lines;
}

std::vector<std::string> lines_of(const ExportFlags& flags, const agent::FoundAttempts& found) {
  const std::vector<agent::ToolSpec> tools = agent::specs_of(agent::pass_tools());
  if (flags.format == "preferences") return pairs_of(found.attempts, flags.rules, tools);
  std::vector<std::string> lines;
  for (const size_t i : agent::select_attempts(found.attempts, flags.rules)) {
    if (flags.format == "rewards") {
      lines.push_back(agent::reward_line(found.attempts[i], found.files[i]));
      continue;
    }
    if (flags.format == "atif") {
      lines.push_back(agent::atif_line(found.attempts[i], tools));
      continue;
    }
    const auto format = flags.format == "openai"     ? agent::TrainingFormat::OpenAi
                        : flags.format == "sharegpt" ? agent::TrainingFormat::ShareGpt
                                                     : agent::TrainingFormat::Trl;
    lines.push_back(agent::training_line(found.attempts[i], tools, format));
  }
  return lines;
}

Result<void> export_attempts(const ExportFlags& flags) {
  Counts counts;
  PASSNET_TRY(agent::FoundAttempts found, gather(flags, counts));
  if (flags.drop_failed_turns) {
    for (agent::TrainingAttempt& one : found.attempts) one.conversation = agent::without_failed_turns(one.conversation);
  }
  const std::vector<std::string> lines = lines_of(flags, found);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  if (flags.out.empty()) {
    print_result(text);
  } else {
    PASSNET_TRY_VOID(write_file(flags.out, std::string_view(text)));
  }
  if (flags.json) {
    print_result(dump(Json{{"lines", lines.size()},
                           {"attempts", counts.attempts},
                           {"unfinished", counts.unfinished},
                           {"kept_back", counts.leaking}},
                      1) +
                 "\n");
    return {};
  }
  say_error("{} lines from {} attempts; left out: {} unfinished, {} at samples that are kept back\n", lines.size(),
            counts.attempts, counts.unfinished, counts.leaking);
  return {};
}

}  // namespace

void add_agent_export(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<ExportFlags>();
  CLI::App* command = group.add_subcommand("export", "export attempts as training data");
  command->add_option("RUN", flags->runs, "runs (--out of 'agent run')")->required();
  CLI::Option* out = add_out_option(*command, flags->out, "file of JSON lines; default: standard output");
  command
      ->add_option("--format", flags->format,
                   "openai, sharegpt, trl: conversations; preferences: pairs of a sample's best attempt and a worse "
                   "one; rewards: files and reward of each attempt; atif: trajectories (ATIF 1.8)")
      ->check(one_of({"openai", "sharegpt", "trl", "preferences", "rewards", "atif"}))
      ->capture_default_str();
  command->add_option("--min-score", flags->rules.min_score, "leave out attempts with a lower score; 1 is eager")
      ->check(number_in(0, 1e9))
      ->capture_default_str();
  command->add_flag("--best-per-sample", flags->rules.best_per_sample, "keep only the best attempt at each sample");
  command->add_flag("--drop-failed-turns", flags->drop_failed_turns,
                    "leave out answers in which every tool call failed, with their results");
  command->add_option(
      "--no-eval-leak", flags->kept_back,
      "samples for evaluation, or lists of them: leave out attempts at samples that share a graph with them");
  add_root_option(*command, flags->root);
  add_json_flag(*command, flags->json)->needs(out);
  command->footer(
      "Train on the messages of the assistant alone, as python/recipes/sft.py does; never on results of tools.\n"
      "\n"
      "Example:  passnet agent export run --min-score 1.05 --best-per-sample --no-eval-leak eval.txt -o train.jsonl");
  command->callback([flags, &exit_code] { exit_code = finish(export_attempts(*flags)); });
}

}  // namespace passnet::cli
