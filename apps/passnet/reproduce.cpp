// passnet reproduce: records evaluated once more, and whether they agree.
#include "run/batch/reproduce.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "base/json/json.h"
#include "command.h"
#include "options.h"
#include "record/score/compare.h"
#include "run/keep/load_records.h"

namespace passnet::cli {

namespace {

struct ReproduceFlags {
  std::string record, graph, sample;  // graph: NAME or SAMPLE/NAME; empty: all
  bool json = false;
};

struct Outcome {
  const char* result = "agrees";  // agrees | differs | changed
  std::vector<std::string> remarks, differences;
};

Result<Outcome> reproduce_one(const record::RunRecord& recorded, const std::string& sample) {
  run::EvaluateOptions machine;
  machine.interrupted = &interrupted();
  PASSNET_TRY(const run::Reproduced reproduced, run::reproduce(recorded, sample, machine));
  Outcome outcome;
  for (const record::Difference& difference : reproduced.differences) outcome.differences.push_back(difference.text);
  if (!reproduced.again) {
    outcome.result = "changed";
    return outcome;
  }
  record::Agreement agreement = record::agreement(recorded, *reproduced.again);
  outcome.result = agreement.agrees ? "agrees" : "differs";
  outcome.remarks = std::move(agreement.remarks);
  return outcome;
}

void print_outcome(const record::RunRecord& record, const Outcome& outcome) {
  const bool changed = std::string_view(outcome.result) == "changed";
  say("{}/{}: {}\n", record.sample, record.graph,
      changed ? "not evaluated, it is made of other things now" : outcome.result);
  for (const std::string& remark : outcome.remarks) say("  {}\n", remark);
  for (const std::string& difference : outcome.differences) say("  {}{}\n", changed ? "" : "now ", difference);
}

// "DIR#GRAPH" -> DIR and GRAPH, unless a file has that name.
void split_record(ReproduceFlags& flags) {
  const size_t mark = flags.record.rfind('#');
  if (mark == std::string::npos || entry_exists(flags.record)) return;
  flags.graph = flags.record.substr(mark + 1);
  flags.record.resize(mark);
}

Result<ExitCode> reproduce_command(ReproduceFlags& flags) {
  split_record(flags);
  PASSNET_TRY(const std::vector<record::RunRecord> all, run::load_run(flags.record));
  PASSNET_TRY(const std::vector<record::RunRecord> records, run::select_records(all, flags.graph));
  Json graphs = Json::array();
  bool differs = false, changed = false;
  for (const record::RunRecord& record : records) {
    PASSNET_TRY(const Outcome outcome, reproduce_one(record, flags.sample));
    const std::string_view result = outcome.result;
    differs = differs || result == "differs";
    changed = changed || result == "changed";
    if (!flags.json) print_outcome(record, outcome);
    graphs.push_back({{"sample", record.sample},
                      {"graph", record.graph},
                      {"result", result},
                      {"remarks", outcome.remarks},
                      {"differences", outcome.differences}});
  }
  if (flags.json) print_result(dump(Json{{"graphs", graphs}}) + "\n");
  return differs ? kNotAllCorrect : changed ? kSourcesChanged : kOk;
}

}  // namespace

void add_reproduce(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<ReproduceFlags>();
  CLI::App* command = app.add_subcommand("reproduce", "repeat records with their options and seeds, and compare");
  command
      ->add_option("RECORD", flags->record, "a run or its records.jsonl; RUN#GRAPH or RUN#SAMPLE/GRAPH for one graph")
      ->required();
  command->add_option("--sample", flags->sample, "directory of the sample; default: the recorded one");
  add_json_flag(*command, flags->json);
  command->footer(
      "Evaluates with the record's options and seed. A record agrees if the verdict is the same, the tolerance is the\n"
      "same or stricter, and `passnet compare` would say neither FASTER nor SLOWER.\n"
      "\n"
      "Example:  passnet reproduce passnet-out/latest#b1_float32\n"
      "0: agrees; 1: differs; 5: not evaluated, since graph, pass or kernel changed.");
  command->callback([flags, &exit_code] {
    catch_interrupts();
    exit_code = finish(reproduce_command(*flags));
  });
}

}  // namespace passnet::cli
