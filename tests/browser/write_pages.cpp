// Writes the pages that pages_test.py opens: `write_pages DIRECTORY`.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "agent/trajectory/page.h"
#include "base/file/file.h"
#include "leaderboard/render.h"
#include "page_records.h"
#include "record/score/compare.h"
#include "record/score/score.h"
#include "report/compare.h"
#include "report/html/page.h"
#include "tests/record/example_records.h"

namespace passnet {
namespace {

constexpr const char* kHostile =
    "<img src=http://127.0.0.1:9/x onerror=\"hostile=1\"><script>hostile=1;alert(1)</script>\"' onload='hostile=1' "
    "</style></title></textarea><!--";
constexpr const char* kModel = "a-model-with-a_long-name-v2.5-instruct";

std::string report_of(const std::vector<record::RunRecord>& records, const std::string& title,
                      const report::Sources& sources = {}) {
  return report::render_html(records, record::score(record::judge_all(records)), title, sources);
}

/// A run on a CPU, where each block holds one trial.
std::string one_trial_a_block() {
  std::vector<record::RunRecord> records;
  for (const char* graph : {"b1_float32", "b1_float16"}) {
    records.push_back(report::of_sample("vit_add_layer_norm", report::measured(graph, 60, 20, -6, 1e-6)));
    records.back().reference.blocks = records.back().candidate.blocks = std::vector<int>(100, 1);
  }
  return report_of(records, "vit_add_layer_norm");
}

/// Names that are markup, and one that has no place to be broken.
std::string hostile() {
  std::vector<record::RunRecord> records;
  for (const std::string& name : {std::string(kHostile), std::string(250, 'n')}) {
    for (const int passes_from : {-6, 6}) {
      records.push_back(report::of_sample(name.c_str(), report::measured(name, 60, 20, passes_from, 1)));
      records.back().passes = {{name, 1, 0, passes_from == 6 ? name : ""}};
      records.back().hardware = name;
    }
  }
  report::Sources sources;
  sources[kHostile].passes = {{kHostile, kHostile}};
  return report_of(records, kHostile, sources);
}

std::string leaderboard_of(std::optional<double> published) {
  const auto right = record::record_of("g", 2, {record::output_of("float32", -10)});
  const auto wrong = record::record_of("h", 2, {record::output_of("float32", 6)});
  std::vector<leaderboard::ModelRecords> models;
  for (const std::string& model : {std::string(kModel), std::string(kHostile), std::string("m")}) {
    models.push_back(
        {model, {{"vit_add_layer_norm", 2, {right, wrong}, published}, {kHostile, 1, {wrong}, published}}});
  }
  return leaderboard::render_html(leaderboard::rank_models(models), {{kHostile, kHostile}});
}

std::string comparison() {
  std::vector<record::RunRecord> before = report::page_records(), after = before;
  for (record::RunRecord& record : after) record.candidate.trials_us = record.reference.trials_us;
  return report::render_comparison_html(record::compare_runs(before, after), {kHostile, "b"});
}

std::string trajectories() {
  const Json step{
      {"step_count", 1},        {"thought", kHostile},  {"action", kHostile}, {"observation", std::string(3000, 'o')},
      {"token_usage_total", 1}, {"llm_exec_time", 0.5}, {"env_exec_time", 2}};
  const Json one{{"exp_name", std::string(200, 'e')},
                 {"reward", 1.5},
                 {"exit_reason", kHostile},
                 {"num_tokens_total", 110},
                 {"problem_statement", kHostile},
                 {"trajectory_steps", {step}},
                 {"output_patch", "+x"},
                 {"agent_args", {{"llm_name", kModel}}}};
  return agent::render_trajectory_page({one}, 1000).value();
}

}  // namespace
}  // namespace passnet

int main(int argc, char** argv) {
  using namespace passnet;
  if (argc != 2) {
    std::fputs("usage: write_pages DIRECTORY\n", stderr);
    return 2;
  }
  const std::pair<const char*, std::string> pages[] = {
      {"report", report_of(report::page_records(), "a <title> & \"more\"", report::page_sources())},
      {"one_trial_a_block", one_trial_a_block()},
      {"hostile", hostile()},
      {"leaderboard", leaderboard_of(std::nullopt)},
      {"leaderboard_published", leaderboard_of(1.5)},
      {"comparison", comparison()},
      {"trajectories", trajectories()},
  };
  for (const auto& [name, text] : pages) {
    const auto written = write_file(std::filesystem::path(argv[1]) / (std::string(name) + ".html"), text);
    if (!written) {
      std::fputs((to_string(written.error()) + "\n").c_str(), stderr);
      return 1;
    }
  }
  return 0;
}
