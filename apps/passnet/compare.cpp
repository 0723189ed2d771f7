// passnet compare: two runs, graph by graph.
#include "record/score/compare.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/file/file.h"
#include "command.h"
#include "options.h"
#include "report/compare.h"
#include "run/keep/load_records.h"

namespace passnet::cli {

namespace {

struct CompareFlags {
  report::RunNames runs;
  std::string html;
  bool json = false;
};

Result<ExitCode> compare_command(const CompareFlags& flags) {
  record::ComparedRun a, b;
  PASSNET_TRY_VOID(run::read_run(flags.runs.a, [&](const record::RunRecord& record) { a.add(record); }));
  PASSNET_TRY_VOID(run::read_run(flags.runs.b, [&](const record::RunRecord& record) { b.add(record); }));
  const record::RunComparison compared = record::compare_runs(std::move(a), std::move(b));
  const int only_a = compared.count(record::Change::OnlyA), only_b = compared.count(record::Change::OnlyB);
  if (only_a + only_b == static_cast<int>(compared.graphs.size())) {
    return bad_input(fmt::format("no graph is in both: '{}' holds {} of '{}', '{}' {} of '{}'", flags.runs.a, only_a,
                                 compared.graphs.front().sample, flags.runs.b, only_b, compared.graphs.back().sample))
        .with_hint("compare runs of the same samples");
  }
  if (!flags.html.empty())
    PASSNET_TRY_VOID(write_file(flags.html, report::render_comparison_html(compared, flags.runs)));
  if (flags.json)
    print_result(report::render_comparison_json(compared, flags.runs));
  else
    print_result(report::render_comparison(compared, flags.runs, use_color()), Keeps::Colors);
  return compared.worse() ? kNotAllCorrect : kOk;
}

}  // namespace

void add_compare(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<CompareFlags>();
  CLI::App* command = app.add_subcommand("compare", "compare two runs graph by graph");
  command->add_option("A", flags->runs.a, "a run (--out of 'passnet eval'), or its records.jsonl")->required();
  command->add_option("B", flags->runs.b, "the run to compare with A")->required();
  add_json_flag(*command, flags->json);
  command->add_option("--html", flags->html, "also write a page to this file");
  command->footer(
      "Prints a word for each graph. FASTER, SLOWER: the 95 % intervals of the speedups do not overlap, and they are\n"
      "2 % apart or more. SAME: neither, and no two points of the intervals are 10 % apart. UNCLEAR: the intervals "
      "are\n"
      "too wide. RIGHT: was wrong in A. WRONG: was right in A. BOTH WRONG.\n"
      "ONLY IN A, ONLY IN B: no record in the other run.\n"
      "\n"
      "Example:  passnet compare before passnet-out/latest --html change.html\n"
      "0: nothing is worse; 1: a graph is SLOWER or WRONG.");
  command->callback([flags, &exit_code] { exit_code = finish(compare_command(*flags)); });
}

}  // namespace passnet::cli
