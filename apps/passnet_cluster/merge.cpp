// passnet merge: one directory out of those that shards or the workers of a queue wrote.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cluster.h"
#include "command.h"
#include "external_commands.h"
#include "options.h"

namespace passnet::cli {

namespace {

Result<ExitCode> merge_command(const MergeFlags& flags, bool json) {
  PASSNET_TRY(const Json merged, merge(flags));
  if (json)
    print_result(dump(merged) + "\n");
  else
    say_merged(merged);
  const bool whole = std::ranges::all_of(
      merged, [](const Json& one) { return !one.contains("missing") || one.at("missing").empty(); });
  if (whole && merged.size() == 1 && merged[0].contains("records")) print_next("passnet score " + flags.out);
  return whole ? kOk : kNotAllCorrect;
}

}  // namespace

void add_merge(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<MergeFlags>();
  auto json = std::make_shared<bool>(false);
  CLI::App* command = add_command(app, kMerge);
  command->add_option("DIR", flags->runs, "the --out of each shard, or a queue")->required();
  add_out_option(*command, flags->out, "new directory for the merged run")->required();
  command->add_flag("--latest", flags->latest,
                    "of a sample in several runs, take the records that were started last; else that is an error");
  add_json_flag(*command, *json);
  command->footer(
      "Runs of 'passnet eval' and 'leaderboard score' are merged with their chains, which 'passnet verify' checks. "
      "Runs\n"
      "of other versions, hardware or options are refused. Outputs of author, agent run and dataset are put together;\n"
      "the same command with --out and --resume then writes lists and summaries.\n\n"
      "Example:  passnet merge runs/* -o merged\n"
      "1: a shard is missing.");
  command->callback([flags, json, &exit_code] { exit_code = finish(merge_command(*flags, *json)); });
}

}  // namespace passnet::cli
