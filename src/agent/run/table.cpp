#include "agent/run/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agent/run/run.h"
#include "base/file/file.h"
#include "report/progress.h"

namespace passnet::agent {

namespace {

void count_task(const Json& task, RunRow& row) {
  ++row.tasks;
  const Json& confirmed = task.at("confirmed");
  // Without a winner the graphs stay as they are, which is right.
  const bool is_right =
      confirmed.is_null() || confirmed.at("correct").get<size_t>() + confirmed.at("abstained").get<size_t>() ==
                                 confirmed.at("graphs").get<size_t>();
  row.correct += is_right ? 1 : 0;
  row.gains += task.at("score").get<double>() > 1 ? 1 : 0;
  for (const Json& attempt : task.at("attempts")) {
    ++row.attempts;
    row.steps += attempt.at("steps").get<double>();
  }
}

RunRow row_of(const std::string& run, const Json& results) {
  RunRow row{run};
  for (const Json& task : results.at("tasks")) count_task(task, row);
  row.cost = results.at("cost").get<double>();
  row.seconds = results.at("llm_seconds").get<double>() + results.at("tool_seconds").get<double>();
  row.device_seconds = results.at("device_seconds").get<double>();
  const auto tasks = static_cast<double>(std::max<size_t>(row.tasks, 1));
  row.correct /= tasks;
  row.fast_1 = row.gains / tasks;
  row.steps /= static_cast<double>(std::max<size_t>(row.attempts, 1));
  row.score = results.at("score").get<double>();
  for (const auto& [k, share] : results.at("pass_at_k").items()) {
    if (k == "1") row.pass_at_1 = share.get<double>();
    row.k = std::stoi(k);
    row.pass_at_k = share.get<double>();
  }
  const Json& usage = results.at("usage");
  row.tokens = usage.at("input").get<int64_t>() + usage.at("output").get<int64_t>();
  row.cached = usage.at("cached").get<int64_t>();
  row.interrupted = results.at("interrupted").get<bool>();
  return row;
}

}  // namespace

Result<RunRow> load_run_row(const std::filesystem::path& run) {
  const std::filesystem::path file = run / kResultsFile;
  PASSNET_TRY(const std::string text, read_beneath(run, kResultsFile, FileKind::Lines));
  PASSNET_TRY(const Json results, parse_json(text, file.string()));
  try {
    return row_of(run.string(), results);
  } catch (const std::exception& problem) {
    return bad_input(fmt::format("no results of 'agent run': {}", problem.what()), SourceLoc{file.string(), 0, 0});
  }
}

std::string render_table(std::vector<RunRow> rows) {
  std::ranges::stable_sort(rows, std::greater<>(), &RunRow::score);
  size_t width = 3;
  for (const RunRow& row : rows) width = std::max(width, row.run.size());
  std::string text =
      fmt::format("{:<{}}  {:>7}  {:>7}  {:>6}  {:>6}  {:>9}  {:>6}  {:>6}  {:>10}  {:>8}  {:>8}  {:>8}  {:>8}\n",
                  "run", width, "score", "correct", "fast_1", "pass@1", "pass@k", "samples", "steps", "tokens", "cost",
                  "per gain", "device", "per gain");
  for (const RunRow& row : rows) {
    text += fmt::format(
        "{:<{}}  {:>7.3f}  {:>6.0f}%  {:>5.0f}%  {:>6.2f}  {:>4.2f} k={:<2}  {:>6}  {:>6.1f}  {:>10}  {:>8}  {:>8}  "
        "{:>8}  {:>8}{}\n",
        row.run, width, row.score, 100 * row.correct, 100 * row.fast_1, row.pass_at_1, row.pass_at_k, row.k, row.tasks,
        row.steps, row.tokens, fmt::format("${:.2f}", row.cost),
        row.gains > 0 ? fmt::format("${:.2f}", row.per_gain(row.cost)) : "-", report::duration_text(row.device_seconds),
        row.gains > 0 ? report::duration_text(row.per_gain(row.device_seconds)) : "-",
        row.interrupted ? "  not finished" : "");
  }
  return text +
         "score: geometric mean over samples, winners measured again; 1 = eager, and what doing nothing is worth; per "
         "gain: for each sample that became faster\n";
}

Json to_json(const RunRow& row) {
  return {{"run", valid_utf8(row.run)},
          {"tasks", row.tasks},
          {"attempts", row.attempts},
          {"score", row.score},
          {"correct", row.correct},
          {"fast_1", row.fast_1},
          {"pass_at_1", row.pass_at_1},
          {"k", row.k},
          {"pass_at_k", row.pass_at_k},
          {"steps", row.steps},
          {"tokens", row.tokens},
          {"cached", row.cached},
          {"cost", row.cost},
          {"cost_per_gain", row.per_gain(row.cost)},
          {"seconds", row.seconds},
          {"seconds_per_gain", row.per_gain(row.seconds)},
          {"device_seconds", row.device_seconds},
          {"device_seconds_per_gain", row.per_gain(row.device_seconds)},
          {"interrupted", row.interrupted}};
}

}  // namespace passnet::agent
