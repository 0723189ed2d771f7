// `passnet dataset`, its subcommands, and `passnet graph cut`.
#pragma once

#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "command.h"
#include "dataset/catalog/index.h"
#include "dataset/decompose.h"
#include "dataset/samples.h"
#include "report/progress.h"

namespace CLI {
class App;
}

namespace passnet::cli {

void add_dataset(CLI::App& app, int& exit_code);
void add_graph_cut(CLI::App& app, int& exit_code);

void add_dataset_build(CLI::App& group, int& exit_code);
void add_dataset_capture(CLI::App& group, int& exit_code);
void add_dataset_decompose(CLI::App& group, int& exit_code);
void add_dataset_dedup(CLI::App& group, int& exit_code);
void add_dataset_export(CLI::App& group, int& exit_code);
void add_dataset_find(CLI::App& group, int& exit_code);
void add_dataset_generalize(CLI::App& group, int& exit_code);
void add_dataset_groups(CLI::App& group, int& exit_code);
void add_dataset_index(CLI::App& group, int& exit_code);
void add_dataset_official(CLI::App& group, int& exit_code);
void add_dataset_push(CLI::App& group, int& exit_code);
void add_dataset_samples(CLI::App& group, int& exit_code);
void add_dataset_show(CLI::App& group, int& exit_code);
void add_dataset_split(CLI::App& group, int& exit_code);
void add_dataset_stats(CLI::App& group, int& exit_code);

// Stages that `build` runs too: until done or Ctrl-C, with progress. Return the report as JSON; text: print it too, for
// people. Errors: as the stage's.
Result<Json> run_decompose(const std::vector<std::string>& paths, const std::string& out,
                           dataset::DecomposeOptions options, bool text);
Result<Json> run_samples(const std::string& subgraphs, const std::string& out, dataset::SampleOptions options,
                         bool text);
Result<Json> run_index(const std::string& root, const std::string& out, dataset::IndexOptions options, bool text);
/// run(progress) with Ctrl-C caught, which sets options.interrupted, and a line of progress until it returns. unit:
/// "graphs".
template <class Options, class Run>
auto run_with_progress(const char* unit, Options& options, Run&& run) {
  catch_interrupts();
  options.interrupted = &interrupted();
  report::CountLine progress(unit);
  return run(progress);
}
/// Prints what a stage returned, when json is asked for.
Result<void> print_stage(const Result<Json>& report, bool json);

}  // namespace passnet::cli
