// passnet store: records of many runs in one SQLite file.
#include "store/store.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/processors.h"
#include "base/text/strings.h"
#include "base/usage.h"
#include "command.h"
#include "commands.h"
#include "external_commands.h"
#include "options.h"
#include "report/compare.h"
#include "report/row.h"

namespace passnet::cli {

namespace {

struct StoreFlags {
  std::string file = "passnet-store.sqlite";
  std::vector<std::string> runs;
  std::string run, a, b, sample, graph;
  store::RunFilter filter;
  store::RecordFilter records;
  store::PruneRequest prune;
  int64_t limit = 50, keep = -1;
  bool json = false;
};

Json to_json(const store::StoredRun& run) {
  return {{"id", run.id},
          {"name", valid_utf8(run.name)},
          {"path", valid_utf8(run.path)},
          {"started", valid_utf8(run.started)},
          {"kind", valid_utf8(run.compiler)},
          {"device", valid_utf8(run.device)},
          {"hardware", valid_utf8(run.hardware)},
          {"isolation", valid_utf8(run.isolation)},
          {"version", valid_utf8(run.version)},
          {"graphs", valid_utf8(run.graphs)},
          {"records", run.records},
          {"counted", run.counted},
          {"correct", run.correct},
          {"fast", run.fast},
          {"applied", run.applied},
          {"abstained", run.abstained},
          {"speedup", run.speedup ? Json(*run.speedup) : Json()},
          {"score", run.score},
          {"seconds", run.seconds}};
}

Json to_json(const store::StoredRecord& record) {
  const auto known = [](double value) { return value > 0 ? Json(value) : Json(); };
  return {{"run", record.run},
          {"run_name", valid_utf8(record.run_name)},
          {"sample", valid_utf8(record.sample)},
          {"graph", valid_utf8(record.graph)},
          {"dtype", valid_utf8(record.dtype)},
          {"started", valid_utf8(record.started)},
          {"verdict", valid_utf8(record.verdict)},
          {"speedup", known(record.ratio)},
          {"low", known(record.interval.low)},
          {"high", known(record.interval.high)},
          {"before_us", known(record.reference_us)},
          {"after_us", known(record.candidate_us)},
          {"limit_us", known(record.limit_us)}};
}

template <class T>
void print_json(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(to_json(value));
  print_result(dump(list) + "\n");
}

constexpr const char* kRunHeadings = "   id  started               score     correct  speedup  run\n";

void say_run(const store::StoredRun& run) {
  say("{:5}  {:20}  {:>5.3f}  {:>10}  {:>7}  {}, {}, {}\n", run.id, run.started, run.score,
      fmt::format("{}/{}", run.correct, run.counted), report::ratio_text(run.speedup.value_or(0)), run.name,
      run.compiler, run.hardware);
}

void say_record(const store::StoredRecord& record, bool with_run) {
  const bool has_ratio = record.ratio > 0;
  const std::string interval =
      has_ratio ? fmt::format("{:.2f} to {:.2f}", record.interval.low, record.interval.high) : "-";
  say("{:<20} {:>7}  {:>14}  {}\n", record.verdict, report::ratio_text(record.ratio), interval,
      with_run ? fmt::format("{}  {}  {}", record.started, record.run_name, record.graph)
               : fmt::format("{}/{}", record.sample, record.graph));
}

Result<void> add_command_of(const StoreFlags& flags) {
  PASSNET_TRY(store::Store store, store::Store::open_or_create(flags.file));
  std::vector<store::StoredRun> added;
  for (const std::string& run : flags.runs) {
    PASSNET_TRY(added.emplace_back(), store.add(run, available_processors().size()));
  }
  if (flags.json) {
    print_json(added);
    return {};
  }
  for (const store::StoredRun& run : added)
    say("{}: {}, score {:.3f}\n", run.path, counted(static_cast<size_t>(run.records), "record"), run.score);
  return {};
}

Result<void> list_command_of(StoreFlags& flags) {
  PASSNET_TRY(store::Store store, store::Store::open(flags.file));
  if (flags.run.empty()) {
    flags.filter.limit = static_cast<size_t>(flags.limit);
    PASSNET_TRY(const std::vector<store::StoredRun> runs, store.runs(flags.filter));
    if (flags.json) {
      print_json(runs);
      return {};
    }
    say("{}", Lines{kRunHeadings});
    for (const store::StoredRun& run : runs) say_run(run);
    return {};
  }
  flags.records.limit = static_cast<size_t>(flags.limit);
  PASSNET_TRY(const store::StoredRun run, store.find(flags.run));
  PASSNET_TRY(const std::vector<store::StoredRecord> records, store.records(run.id, flags.records));
  if (flags.json) {
    print_json(records);
    return {};
  }
  for (const store::StoredRecord& record : records) say_record(record, false);
  return {};
}

Result<ExitCode> compare_command_of(const StoreFlags& flags) {
  PASSNET_TRY(store::Store store, store::Store::open(flags.file));
  PASSNET_TRY(const store::StoredRun a, store.find(flags.a));
  PASSNET_TRY(const store::StoredRun b, store.find(flags.b));
  PASSNET_TRY(const record::RunComparison compared, store.compare(a.id, b.id));
  const report::RunNames names{a.path, b.path};
  if (flags.json)
    print_result(report::render_comparison_json(compared, names));
  else
    print_result(report::render_comparison(compared, names, use_color()), Keeps::Colors);
  return compared.worse() ? kNotAllCorrect : kOk;
}

Result<void> history_command_of(const StoreFlags& flags) {
  PASSNET_TRY(store::Store store, store::Store::open(flags.file));
  PASSNET_TRY(const std::vector<store::StoredRecord> records,
              store.history(flags.sample, flags.graph, static_cast<size_t>(flags.limit)));
  if (records.empty())
    return bad_input(fmt::format("no record of sample {}{} in the store", quoted(flags.sample),
                                 flags.graph.empty() ? "" : " and graph " + quoted(flags.graph)))
        .with_hint("'passnet store list RUN' shows samples");
  if (flags.json) {
    print_json(records);
    return {};
  }
  for (const store::StoredRecord& record : records) say_record(record, true);
  return {};
}

Result<void> prune_command_of(StoreFlags& flags) {
  PASSNET_TRY_VOID(store::Store::open(flags.file));
  PASSNET_TRY(store::Store store, store::Store::open_or_create(flags.file));
  for (const std::string& text : flags.runs) {
    PASSNET_TRY(const store::StoredRun run, store.find(text));
    flags.prune.runs.push_back(run.id);
  }
  if (flags.keep >= 0) flags.prune.keep = flags.keep;
  if (flags.runs.empty() && flags.keep < 0) return usage_error("found nothing to prune by, expected RUN or --keep");
  PASSNET_TRY(const size_t removed, store.prune(flags.prune));
  if (flags.json)
    print_result(dump(Json{{"removed", removed}}) + "\n");
  else
    say("{} removed\n", counted(removed, "run"));
  return {};
}

using Flags = std::shared_ptr<StoreFlags>;

CLI::App* add_one(CLI::App& group, const Flags& flags, const char* name, const char* about) {
  CLI::App* command = group.add_subcommand(name, about);
  command->add_option("--store", flags->file, "file of the store")->capture_default_str();
  add_json_flag(*command, flags->json);
  return command;
}

void add_limit(CLI::App& command, const Flags& flags, const char* what) {
  command.add_option("--limit", flags->limit, what)->check(integer_in(1, 1000000000))->capture_default_str();
}

}  // namespace

void add_store(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<StoreFlags>();
  CLI::App* group = cli::add_command(app, kStore);
  group->require_subcommand(1);

  CLI::App* add = add_one(*group, flags, "add", "read runs into the store; a run that is there is read anew");
  add->add_option("RUN", flags->runs, "a run (--out of 'passnet eval'), or its records.jsonl")->required();
  add->footer(
      "The store holds nothing that records do not say: delete it and add the runs to make it anew.\n\n"
      "Example:  passnet store add passnet-out/latest");
  add->callback([flags, &exit_code] { exit_code = finish(add_command_of(*flags)); });

  CLI::App* list = add_one(*group, flags, "list", "show runs, the newest first, or the records of one");
  list->add_option("RUN", flags->run, "an id, a path, or a name, of which the newest run counts");
  list->add_option("--device", flags->filter.device, "of runs: those on 'cpu' or 'cuda'");
  list->add_option("--kind", flags->filter.compiler, "of runs: 'passes', 'eager', 'inductor' or 'aotinductor'");
  list->add_option("--sample", flags->records.sample, "of records: those of this sample");
  list->add_option("--verdict", flags->records.verdict, "of records: those of this verdict");
  add_limit(*list, flags, "rows at most");
  list->footer("Example:  passnet store list latest --verdict wrong");
  list->callback([flags, &exit_code] { exit_code = finish(list_command_of(*flags)); });

  CLI::App* compare = add_one(*group, flags, "compare", "compare two runs of the store graph by graph");
  compare->add_option("A", flags->a, "an id, a path or a name")->required();
  compare->add_option("B", flags->b, "the run to compare with A")->required();
  compare->footer(
      "Prints what 'passnet compare' does, but for what the runs were made of.\n\n"
      "Example:  passnet store compare 3 7\n"
      "0: nothing is worse; 1: a graph is SLOWER or WRONG.");
  compare->callback([flags, &exit_code] { exit_code = finish(compare_command_of(*flags)); });

  CLI::App* history = add_one(*group, flags, "history", "show a sample's records over all runs, the newest first");
  history->add_option("SAMPLE", flags->sample, "its name")->required();
  history->add_option("GRAPH", flags->graph, "one of its graphs; default: all");
  add_limit(*history, flags, "rows at most");
  history->footer("Example:  passnet store history gpt2_gelu b1_float32");
  history->callback([flags, &exit_code] { exit_code = finish(history_command_of(*flags)); });

  CLI::App* prune = add_one(*group, flags, "prune", "remove runs from the store; their files stay");
  prune->add_option("RUN", flags->runs, "an id, a path or a name; default: each");
  prune->add_option("--keep", flags->keep, "keep so many of the newest of each name on each hardware")
      ->check(integer_in(0, 1000000));
  prune->footer("A run is removed when all that is given holds.\n\nExample:  passnet store prune --keep 10");
  prune->callback([flags, &exit_code] { exit_code = finish(prune_command_of(*flags)); });
}

}  // namespace passnet::cli
