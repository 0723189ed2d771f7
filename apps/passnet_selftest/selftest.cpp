// passnet selftest: are the attacks of the corpus caught, and honest passes not accused?
#include "selftest/selftest.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/text/strings.h"
#include "command.h"
#include "external_commands.h"
#include "options.h"
#include "run/keep/seed.h"
#include "run/worker/python_candidate.h"
#include "run/worker/worker.h"
#include "selftest/dump.h"
#include "selftest/mutants.h"

namespace passnet::cli {

namespace {

struct SelftestFlags {
  std::string corpus, device = "cpu", out;
  std::vector<std::string> filter, without;
  std::optional<uint64_t> seed;
  selftest::SelftestOptions options;
  size_t mutants = 0;
  bool json = false;
};

std::string rows_text(const selftest::Bundle& bundle) {
  std::vector<std::string> rows;
  for (const int row : bundle.rows) rows.push_back(std::to_string(row));
  return bundle.is_control() ? "control" : join(rows, ",");
}

// "ok", or what is wrong, in words.
std::string_view result_of(const selftest::Outcome& outcome, bool all_layers) {
  if (outcome.is_right(all_layers)) return "ok";
  if (outcome.bundle->is_control()) return "ACCUSED";
  return selftest::is_through(*outcome.bundle, outcome.found.verdict) ? "GOT THROUGH" : "OTHER";
}

void print_outcome(const selftest::Outcome& outcome, bool all_layers) {
  const bool right = outcome.is_right(all_layers);
  say("{:<34} {:>8}  {:<20} {:<20} {}{}\n", outcome.bundle->name, rows_text(*outcome.bundle),
      outcome.bundle->verdict.front(), outcome.found.verdict, result_of(outcome, all_layers),
      right || outcome.found.reason.empty() ? "" : ": " + first_line(outcome.found.reason));
}

// What of it is caught without one layer: "caught (crashed)".
std::string ablated_text(const selftest::Bundle& bundle, const selftest::Found& found) {
  return selftest::is_through(bundle, found.verdict) ? "GETS THROUGH" : fmt::format("caught ({})", found.verdict);
}

void print_ablation(const std::vector<selftest::Outcome>& outcomes) {
  say("\n{:<34} {:<14} {}\n", "bundle", "without", "result");
  std::map<run::Layer, std::vector<std::string>> alone;
  for (const selftest::Outcome& outcome : outcomes) {
    for (const auto& [layer, found] : outcome.ablated) {
      say("{:<34} {:<14} {}\n", outcome.bundle->name, run::to_string(layer), ablated_text(*outcome.bundle, found));
      if (selftest::is_through(*outcome.bundle, found.verdict)) alone[layer].push_back(outcome.bundle->name);
    }
  }
  say("\n");
  for (const run::Layer layer : run::kLayers) {
    const std::vector<std::string>& names = alone[layer];
    say("{:<14} alone holds {}{}{}\n", run::to_string(layer), names.size(), std::string(names.empty() ? "" : ": "),
        join(names, ", "));
  }
}

struct Totals {
  size_t attacks = 0, caught = 0, controls = 0, accused = 0, other = 0;
};

Totals count(const std::vector<selftest::Outcome>& outcomes, bool all_layers) {
  Totals totals;
  for (const selftest::Outcome& outcome : outcomes) {
    const bool right = outcome.is_right(all_layers),
               through = selftest::is_through(*outcome.bundle, outcome.found.verdict);
    if (outcome.bundle->is_control()) {
      ++totals.controls;
      totals.accused += right ? 0 : 1;
    } else {
      ++totals.attacks;
      totals.caught += through ? 0 : 1;
      totals.other += !through && !right ? 1 : 0;
    }
  }
  return totals;
}

Json to_json(const selftest::Found& found) {
  return {{"verdict", found.verdict}, {"reason", found.reason}, {"seconds", found.seconds}};
}

Json to_json(const std::vector<selftest::Outcome>& outcomes, const SelftestFlags& flags) {
  const bool all_layers = flags.options.without.empty();
  Json bundles = Json::array();
  for (const selftest::Outcome& outcome : outcomes) {
    Json ablated = Json::array();
    for (const auto& [layer, found] : outcome.ablated) {
      Json row = to_json(found);
      row["without"] = run::to_string(layer);
      ablated.push_back(std::move(row));
    }
    bundles.push_back({{"bundle", outcome.bundle->name},
                       {"control", outcome.bundle->is_control()},
                       {"rows", outcome.bundle->rows},
                       {"what", outcome.bundle->what},
                       {"layers", run::names_of({outcome.bundle->layers.begin(), outcome.bundle->layers.end()})},
                       {"expected", outcome.bundle->verdict},
                       {"found", to_json(outcome.found)},
                       {"result", result_of(outcome, all_layers)},
                       {"ablated", std::move(ablated)}});
  }
  const Totals totals = count(outcomes, all_layers);
  const selftest::Rows rows = selftest::count_rows(outcomes);
  return {{"seed", *flags.seed},
          {"without", run::names_of(flags.options.without)},
          {"rows", rows.all},
          {"rows_caught", rows.caught},
          {"attacks", totals.attacks},
          {"caught", totals.caught},
          {"caught_otherwise", totals.other},
          {"controls", totals.controls},
          {"accused", totals.accused},
          {"bundles", std::move(bundles)}};
}

void print_totals(const std::vector<selftest::Outcome>& outcomes, const SelftestFlags& flags) {
  const Totals totals = count(outcomes, flags.options.without.empty());
  const selftest::Rows rows = selftest::count_rows(outcomes);
  say("\nattacks caught {} of {}{}, rows caught {} of {}, controls accused {} of {}, seed {}\n", totals.caught,
      totals.attacks, totals.other > 0 ? fmt::format(" ({} for another reason than expected)", totals.other) : "",
      rows.caught.size(), rows.all.size(), totals.accused, totals.controls, *flags.seed);
}

void print_mutants(const std::vector<selftest::MutantOutcome>& mutants) {
  say("\n");
  for (const selftest::MutantOutcome& one : mutants) {
    if (one.fate != selftest::MutantOutcome::Fate::Survived) continue;
    say("survived: {}, {}, line {} ({})\n  - {}\n  + {}\n", one.subject, one.mutant.rule, one.mutant.line, one.verdict,
        trim(one.mutant.before), trim(one.mutant.after));
  }
  const selftest::MutantCounts counts = selftest::count_fates(mutants);
  say("mutants killed {} of {} whose results differ ({:.1f} %), {} equivalent, {} not built\n", counts.killed,
      counts.killed + counts.survived, 100 * counts.kill_rate(), counts.equivalent, counts.not_built);
}

Json to_json(const std::vector<selftest::MutantOutcome>& mutants) {
  const selftest::MutantCounts counts = selftest::count_fates(mutants);
  Json survivors = Json::array();
  for (const selftest::MutantOutcome& one : mutants) {
    if (one.fate != selftest::MutantOutcome::Fate::Survived) continue;
    survivors.push_back({{"subject", one.subject},
                         {"rule", one.mutant.rule},
                         {"line", one.mutant.line},
                         {"before", one.mutant.before},
                         {"after", one.mutant.after},
                         {"verdict", one.verdict}});
  }
  return {{"killed", counts.killed},       {"survived", counts.survived},     {"equivalent", counts.equivalent},
          {"not_built", counts.not_built}, {"kill_rate", counts.kill_rate()}, {"survivors", std::move(survivors)}};
}

Result<std::vector<selftest::MutantOutcome>> run_mutants(const SelftestFlags& flags,
                                                         const std::filesystem::path& corpus) {
  if (flags.mutants == 0) return std::vector<selftest::MutantOutcome>();
  PASSNET_TRY(const std::vector<selftest::Bundle> subjects, selftest::load_subjects(corpus));
  const selftest::MutantOptions how{flags.options.evaluate, flags.options.jobs, flags.mutants, *flags.seed};
  return selftest::run_mutants(subjects, how, [](const selftest::MutantOutcome&) {});
}

/// Writes the bundles of the device into directories of their names.
Result<ExitCode> write_bundles(const SelftestFlags& flags) {
  PASSNET_TRY(const std::optional<int> gpu, run::parse_device(flags.device));
  PASSNET_TRY(const std::filesystem::path corpus, selftest::find_corpus(flags.corpus));
  PASSNET_TRY(const std::vector<selftest::Bundle> bundles,
              selftest::load_corpus(corpus, gpu.has_value(), flags.filter));
  for (const selftest::Bundle& bundle : bundles) {
    const std::filesystem::path directory = std::filesystem::path(flags.out) / bundle.name;
    PASSNET_TRY_VOID(selftest::dump_bundle(bundle, directory));
    say("{}\nexpected: {}\nevaluated by: passnet eval {}{}{}{}\n", bundle.what, join(bundle.verdict, ", "),
        directory.string(), bundle.on_gpu ? " --device cuda" : "",
        std::string(bundle.allow_library ? " --allow-library" : "") + (bundle.in_python ? " --host-code python" : ""),
        bundle.timeout_s > 0 ? fmt::format(" --timeout {}", bundle.timeout_s) : "");
  }
  return kOk;
}

/// Drops bundles whose host code Python runs, where no Python has PyTorch.
void leave_out_python(std::vector<selftest::Bundle>& bundles) {
  if (std::ranges::none_of(bundles, &selftest::Bundle::in_python) || run::describe_python_candidate() != "none") return;
  const size_t count = std::erase_if(bundles, [](const selftest::Bundle& bundle) { return bundle.in_python; });
  log::warn(fmt::format("{} left out whose host code Python runs: PASSNET_PYTHON names no Python that has PyTorch",
                        counted(count, "bundle")));
}

Result<ExitCode> selftest_command(SelftestFlags& flags) {
  if (!flags.out.empty()) return write_bundles(flags);
  run::EvaluateOptions& evaluate = flags.options.evaluate;
  PASSNET_TRY(evaluate.gpu, run::parse_device(flags.device));
  for (const std::string& name : flags.without) flags.options.without.insert(*run::layer_named(name));
  PASSNET_TRY(const std::filesystem::path corpus, selftest::find_corpus(flags.corpus));
  PASSNET_TRY(std::vector<selftest::Bundle> bundles,
              selftest::load_corpus(corpus, flags.options.evaluate.gpu.has_value(), flags.filter));
  leave_out_python(bundles);
  if (!flags.seed) {
    PASSNET_TRY(const run::Seed drawn, run::draw_seed());
    flags.seed = drawn.value;
  }
  evaluate.seed = *flags.seed;
  const bool all_layers = flags.options.without.empty();
  if (!flags.json) say("{:<34} {:>8}  {:<20} {:<20} {}\n", "bundle", "rows", "expected", "found", "result");
  PASSNET_TRY(const std::vector<selftest::Outcome> outcomes,
              selftest::run_selftest(bundles, flags.options, [&](const selftest::Outcome& outcome) {
                if (!flags.json) print_outcome(outcome, all_layers);
              }));
  PASSNET_TRY(const std::vector<selftest::MutantOutcome> mutants, run_mutants(flags, corpus));
  if (flags.json) {
    Json json = to_json(outcomes, flags);
    json["mutants"] = to_json(mutants);
    print_result(dump(json, 2) + "\n");
  } else {
    if (flags.options.ablate) print_ablation(outcomes);
    if (flags.mutants > 0) print_mutants(mutants);
    print_totals(outcomes, flags);
  }
  const bool right = std::ranges::all_of(outcomes, [&](const auto& one) { return one.is_right(all_layers); });
  return right ? kOk : kNotAllCorrect;
}

}  // namespace

void add_selftest(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<SelftestFlags>();
  CLI::App* command = add_command(app, kSelftest);
  command->add_option("--corpus", flags->corpus, "directory of attacks; default: tests/adversarial");
  command->add_option("--filter", flags->filter, "run only bundles whose names contain one of these texts");
  add_out_option(*command, flags->out, "write the bundles as samples into this directory, and end");
  const std::vector<std::string> layers = run::names_of({run::kLayers.begin(), run::kLayers.end()});
  command->add_option("--without", flags->without, "switch these defences off")->check(one_of(layers));
  command->add_flag("--ablate", flags->options.ablate,
                    "evaluate each attack again without each defence that should catch it");
  command
      ->add_option("--mutants", flags->mutants,
                   "also check N honest kernels with one planted fault each, and list those that pass")
      ->check(integer_in(0, 1000000))
      ->capture_default_str();
  add_device_option(*command, flags->device);
  add_jobs_option(*command, flags->options.jobs, "bundles at a time");
  add_json_flag(*command, flags->json);
  run::EvaluateOptions& evaluate = flags->options.evaluate;
  evaluate.warmup = 3;
  evaluate.trials = 10;
  add_drawn_seed_option(*command, flags->seed, "seed of the inputs");
  add_timeout_option(*command, evaluate.timeout_s, "time limit of a worker's request, in seconds");
  command->footer(
      "A bundle is a pass_dir and what must become of it: an attack gets no score, and for the right reason;\n"
      "controls are honest and must be accepted.\n\n"
      "Examples:  passnet selftest -j 2\n"
      "           passnet selftest --filter stale_tail --out bundles && passnet eval bundles/stale_tail\n"
      "0: all as expected; 1: an attack got through, was caught for another reason, or a control was accused.");
  command->callback([flags, &exit_code] {
    catch_interrupts();
    flags->options.evaluate.interrupted = &interrupted();
    exit_code = finish(selftest_command(*flags));
  });
}

}  // namespace passnet::cli
