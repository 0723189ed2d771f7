#include "sample.h"

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "author.h"
#include "author/forms/candidates.h"
#include "author/forms/first_look.h"
#include "author/report/report.h"
#include "author/search/search.h"
#include "base/file/file.h"
#include "base/text/strings.h"
#include "command.h"
#include "export.h"
#include "parts.h"
#include "report/progress.h"
#include "run/measure/calibration.h"
#include "whole.h"

namespace passnet::cli {

namespace {

/// What this machine was measured to do as the records tell of it; nothing where it was not.
author::MachineSpeed speed_of(const author::Records& records) {
  if (records.empty()) return {};
  const std::optional<run::Calibration> known = run::calibration_of(records.front());
  return known ? author::MachineSpeed{known->copies, known->call_us, known->launch_us} : author::MachineSpeed{};
}

std::map<std::string, author::Roofline> rooflines_of(const author::Authored& authored, const author::Records& records,
                                                     bool on_gpu) {
  const author::MachineSpeed speed = speed_of(records);
  std::map<std::string, author::Roofline> rooflines;
  for (const author::Written& one : authored.passes) {
    // What PyTorch computes takes longer than its bytes, and is in no profile of launches.
    if (!one.calls.empty()) continue;
    const auto record = std::ranges::find(records, one.python.sites.front().first, &record::RunRecord::graph);
    const std::optional<author::Roofline> roofline = author::roofline_of(
        one.name, one.bytes_after, one.launches(on_gpu), record == records.end() ? nullptr : &*record, speed);
    if (roofline) rooflines.emplace(one.name, *roofline);
  }
  return rooflines;
}

/// Graphs that a kept pass is evaluated on at most.
constexpr size_t kMostReached = 20;

/// Of each kept pass.
Result<std::map<std::string, author::Reach>> reaches_of(const graphdir::Sample& sample, const author::Judged& judged,
                                                        const AuthorSetup& setup, const author::IsSpent& is_spent) {
  std::map<std::string, author::Reach> reaches;
  for (const author::PassVerdict& verdict : judged.passes) {
    if (!verdict.kept) continue;
    PASSNET_TRY(const pass::Pass pass,
                pass::load_pass(sample.pass_dir / (verdict.pass + ".py"), {setup.allow_library, &interrupted()}));
    author::Matching matching;
    {
      const std::scoped_lock lock(setup.others->mutex);
      PASSNET_TRY(matching, author::find_matching(pass, setup.others->graphs, sample.graph_paths, &interrupted()));
    }
    PASSNET_TRY(const author::Reach reach,
                author::measure_reach(pass, setup.others->graphs, matching, kMostReached, setup.evaluate, is_spent));
    reaches.emplace(verdict.pass, reach);
  }
  return reaches;
}

/// "llama_softmax: evaluating 12 graphs, another form, 80 s left"
std::string step_text(const graphdir::Sample& given, const graphdir::Sample& evaluated, double left_s) {
  const std::string place = evaluated.pass_dir.filename().string();
  std::string text = fmt::format("{}: evaluating {}", given.name, counted(evaluated.graph_names.size(), "graph"));
  if (place == author::kOtherForm) text += ", another form";
  if (place == author::kSchedules) text += ", other schedules";
  if (left_s > 0) text += fmt::format(", {} left", report::duration_text(left_s));
  return text;
}

/// Returns what an earlier call left of the sample; nothing, where it has to be made. A report of another version is made
/// anew, one with or without calls of PyTorch, or in one form or all of them, where it is another way now, one of
/// graphs that could not be measured, and one of a part or a model whose budget ended.
std::optional<Json> known_report(const graphdir::Sample& sample, const AuthorSetup& setup) {
  if (!setup.resume) return std::nullopt;
  const Result<std::string> text = read_file(setup.out / sample.name / kReportFile, FileKind::Lines);
  if (!text) return std::nullopt;
  Json report = try_parse_json(*text);
  if (!report.is_object() || !report.contains("parts")) return std::nullopt;
  if (report.value("allow_library", Json()) != Json(setup.allow_library)) return std::nullopt;
  if (report.value("only_form", Json(false)) != (setup.form ? Json(setup.form->label) : Json())) return std::nullopt;
  if (report["score"].is_null() && setup.evaluate) return std::nullopt;
  if (!report["unmeasured"].empty()) return std::nullopt;
  const bool is_of_model = !setup.name.empty() || !report["parts"].empty();
  if (is_of_model && report["budget"].is_object() && report["budget"]["ended"].get<bool>()) return std::nullopt;
  return report;
}

// Graphs of a sample that the time limit is for; a sample of more has as much more time.
constexpr double kGraphsInBudget = 60;

/// How the forms of a sample are written and judged.
struct Trial {
  const std::vector<author::Form>& forms;
  const author::Write& write;
  const author::JudgeOptions& how;
  const author::IsSpent& is_spent;
};

/// Measures other schedules of what stays, and judges the sample with those that are faster.
Result<void> search(const graphdir::Sample& sample, const AuthorSetup& setup, const Trial& trial,
                    author::Evaluations& evaluations, author::SettledForm& settled,
                    std::vector<author::MeasuredSchedule>& measured) {
  const auto best = std::ranges::find(trial.forms, settled.best.label, &author::Form::label);
  // Passes of two forms, and those with tiles, stay as they are.
  if (settled.best.judged.records.empty() || best == trial.forms.end() || best->options.tiles != author::InTiles::None)
    return {};
  const record::RunRecord& record = settled.best.judged.records.front();
  const author::Machine machine{setup.on_gpu, record.threads, speed_of(settled.best.judged.records)};
  author::Form form = *best;
  PASSNET_TRY(author::SearchedSchedules searched,
              author::search_schedules(sample, settled.best, form.options, trial.write, setup.evaluate, machine,
                                       trial.is_spent));
  measured = std::move(searched.measured);
  if (searched.better.empty()) return {};
  form.label += ", other schedules";
  form.options.schedules = std::move(searched.better);
  return author::try_form(sample, form, trial.write, evaluations, trial.how, settled);
}

/// What --write-only has: all passes of one form, none of them judged.
Result<author::JudgedForm> write_only(const graphdir::Sample& sample, const author::Form& form,
                                      const author::Write& write) {
  author::JudgedForm all{form.label, write(form.options), {}};
  PASSNET_TRY_VOID(author::write_candidates(sample.pass_dir, all.authored));
  for (const author::Written& one : all.authored.passes) all.judged.passes.push_back({one.name, true, "not measured"});
  return all;
}

}  // namespace

Result<Json> author_sample(const graphdir::Sample& given, AuthorSetup setup, SharedInference& inference) {
  const Clock::time_point start = Clock::now();
  if (std::optional<Json> known = known_report(given, setup)) return std::move(*known);
  PASSNET_TRY(const std::vector<author::Example> examples, inference.load(given));
  const bool has_large = std::ranges::any_of(examples, is_large);
  const bool is_part = !setup.name.empty();
  if (has_large && !is_part && setup.evaluate && !setup.form) return author_whole(given, examples, setup, inference);
  setup.budget_s *= std::max(1.0, static_cast<double>(given.graph_names.size()) / kGraphsInBudget);
  if (setup.evaluate && setup.show_step) {
    setup.evaluate = [&setup, &given, start, evaluate = setup.evaluate](const graphdir::Sample& sample,
                                                                        const author::IsSpent& is_spent) {
      setup.show_step(step_text(given, sample, setup.budget_s - seconds_since(start)));
      return evaluate(sample, is_spent);
    };
  }
  const author::IsSpent is_spent = [&] { return setup.budget_s > 0 && seconds_since(start) >= setup.budget_s; };
  graphdir::Sample sample = given;
  sample.path = setup.out / given.name;
  sample.pass_dir = sample.path / "pass_dir";
  PASSNET_TRY_VOID(remove_directory(sample.path));
  const auto write = [&](author::WriteOptions options) {
    options.name = setup.name;
    options.taken.insert(setup.taken.begin(), setup.taken.end());
    if (setup.conversions > 0) options.range = {setup.conversions, std::numeric_limits<size_t>::max()};
    return author::write_all(examples, options);
  };
  const author::JudgeOptions how{author::first_look(examples)};
  const std::vector<author::Form> forms =
      setup.form ? std::vector{*setup.form} : author::known_forms(setup.allow_library, setup.on_gpu);
  author::SampleFacts facts;
  facts.sample = given.name;
  facts.graphs = given.graph_names;
  facts.budget_s = setup.budget_s;
  facts.allow_library = setup.allow_library;
  if (setup.form) facts.only_form = setup.form->label;
  author::SettledForm settled;
  if (setup.evaluate) {
    author::Evaluations evaluations(setup.evaluate, is_spent);
    PASSNET_TRY(settled, author::judge_forms(sample, forms, write, evaluations, how));
    if (setup.search)
      PASSNET_TRY_VOID(search(sample, setup, {forms, write, how, is_spent}, evaluations, settled, facts.schedules));
    PASSNET_TRY_VOID(write_file(sample.path / "records.jsonl", record::to_lines(settled.best.judged.records)));
    facts.rooflines = rooflines_of(settled.best.authored, settled.best.judged.records, setup.on_gpu);
  } else {
    PASSNET_TRY(
        settled.best,
        write_only(sample, setup.form.value_or(author::form_to_write(setup.allow_library, setup.on_gpu, has_large)),
                   write));
  }
  const auto& [form, authored, judged] = settled.best;
  facts.form = form;
  facts.other_forms = settled.others;
  if (setup.others != nullptr) {
    PASSNET_TRY(facts.reaches, reaches_of(sample, judged, setup, is_spent));
  }
  facts.seconds = seconds_since(start);
  const Json report = author::report_of(facts, authored, setup.evaluate ? &judged : nullptr);
  if (!setup.export_to.empty()) PASSNET_TRY_VOID(export_sample(given, sample.pass_dir, authored, report, setup));
  PASSNET_TRY_VOID(write_file(sample.path / kReportFile, dump(report, 1) + "\n"));
  return report;
}

}  // namespace passnet::cli
