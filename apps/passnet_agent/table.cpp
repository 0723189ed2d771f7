// passnet agent table: runs beside each other.
#include "agent/run/table.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "agent.h"
#include "command.h"
#include "options.h"

namespace passnet::cli {

namespace {

struct TableFlags {
  std::vector<std::filesystem::path> runs;
  bool json = false;
};

Result<void> print_table(const TableFlags& flags) {
  std::vector<agent::RunRow> rows;
  for (const std::filesystem::path& run : flags.runs) {
    PASSNET_TRY(agent::RunRow row, agent::load_run_row(run));
    rows.push_back(std::move(row));
  }
  Json json = Json::array();
  for (const agent::RunRow& row : rows) json.push_back(agent::to_json(row));
  print_result(flags.json ? dump(json, 1) + "\n" : agent::render_table(std::move(rows)));
  return {};
}

}  // namespace

void add_agent_table(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<TableFlags>();
  CLI::App* command = group.add_subcommand("table", "compare runs: score, correct, fast_1, pass@k, tokens, cost");
  command->add_option("RUN", flags->runs, "runs (--out of 'agent run')")->required();
  add_json_flag(*command, flags->json);
  command->footer("Example:  passnet agent table run-a run-b");
  command->callback([flags, &exit_code] { exit_code = finish(print_table(*flags)); });
}

}  // namespace passnet::cli
