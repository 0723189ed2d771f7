// passnet verify: whether a run holds together, and is what a head that was kept elsewhere says.
#include "run/batch/verify.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/json/json.h"
#include "command.h"
#include "options.h"

namespace passnet::cli {

namespace {

struct VerifyFlags {
  std::string run, head;
  bool json = false;
};

void print_sample(const run::VerifiedSample& sample) {
  say("{:<10}  {:>7}  {}\n", sample.result(), sample.records, sample.sample);
  const auto tell = [](const char* what, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) say("              {}: {}\n", what, line);
  };
  tell("broken", sample.problems);
  tell("missing", sample.missing);
  tell("changed since", sample.changed);
  tell("note", sample.remarks);
  if (sample.unchained > 0)
    say("              unchained: {} records of an older passnet; nothing shows whether they were changed\n",
        sample.unchained);
}

void print_run(const run::VerifiedRun& run, const VerifyFlags& flags) {
  for (const std::string& problem : run.problems) say("broken: {}\n", problem);
  if (!run.problems.empty()) return;
  say("result      records  sample\n");
  for (const run::VerifiedSample& sample : run.samples) print_sample(sample);
  say("\n{}: {} samples, {} sessions\nhead {}\n", run.path, run.samples.size(), run.sessions, run.head);
  if (!flags.head.empty() && flags.head != run.head) say("broken: expected head {}\n", flags.head);
}

Json to_json(const run::VerifiedRun& run, bool is_head) {
  Json samples = Json::array();
  for (const run::VerifiedSample& sample : run.samples) {
    samples.push_back({{"sample", sample.sample},
                       {"result", sample.result()},
                       {"records", sample.records},
                       {"unchained", sample.unchained},
                       {"head", sample.head},
                       {"problems", sample.problems},
                       {"missing", sample.missing},
                       {"changed", sample.changed},
                       {"remarks", sample.remarks}});
  }
  return {{"run", run.path},          {"sessions", run.sessions},     {"head", run.head}, {"is_expected_head", is_head},
          {"problems", run.problems}, {"samples", std::move(samples)}};
}

Result<ExitCode> verify_command(const VerifyFlags& flags) {
  PASSNET_TRY(const run::VerifiedRun run, run::verify_run(flags.run));
  const bool is_head = flags.head.empty() || flags.head == run.head;
  if (flags.json)
    print_result(dump(to_json(run, is_head)) + "\n");
  else
    print_run(run, flags);
  if (!is_head || !run.problems.empty() || run.is("broken") || run.is("incomplete") || run.is("unchained"))
    return kNotAllCorrect;
  return run.is("changed") ? kSourcesChanged : kOk;
}

}  // namespace

void add_verify(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<VerifyFlags>();
  CLI::App* command = app.add_subcommand("verify", "check that a run was not edited since it was written");
  command->add_option("RUN", flags->run, "a run (--out of 'passnet eval')")->required();
  command->add_option("--head", flags->head,
                      "hash that an earlier 'passnet verify' printed; the run must still have it");
  add_json_flag(*command, flags->json);
  command->footer(
      "Prints a word for each sample. ok. broken: a line was edited, moved, doubled or dropped, a seed is not the\n"
      "committed one, passes changed during the run, or the score differs. incomplete: graphs without a result.\n"
      "unchained: records of an older passnet. changed: the sample's files differ now.\n"
      "A forged run can be consistent in itself. Keep the printed head elsewhere, and pass it as --head.\n"
      "\n"
      "Example:  passnet verify passnet-out/latest\n"
      "0: all ok; 1: broken, incomplete or unchained; 5: changed.");
  command->callback([flags, &exit_code] { exit_code = finish(verify_command(*flags)); });
}

}  // namespace passnet::cli
