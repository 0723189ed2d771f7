#include "author_commands/sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "author/report/report.h"
#include "author/write.h"
#include "author_commands/author.h"
#include "author_commands/export.h"
#include "base/file.h"
#include "pass/template.h"
#include "run/calibration.h"

namespace passnet::cli {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Writes the files of all passes, each as one that may be kept.
Result<std::vector<author::Candidate>> write_candidates(const fs::path& pass_dir, const author::Authored& authored) {
  std::vector<author::Candidate> candidates;
  for (const author::Written& one : authored.passes) {
    const auto write = [&](const std::map<std::string, std::string>& declined) -> Result<void> {
      const std::string python = declined.empty() ? one.python.text : author::declining(one.python, declined);
      return write_file(pass_dir / (one.name + ".py"), std::string_view(python));
    };
    PASSNET_TRY_VOID(pass::write_pass(pass_dir, one.name, {one.python.text, one.cpp, one.cuda}));
    author::Candidate candidate{one.name, {}, write};
    for (const auto& [graph, condition] : one.python.sites) candidate.graphs.push_back(graph);
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

/// What this machine was measured to do as the records tell of it; nothing where it was not.
author::MachineSpeed speed_of(const author::Records& records) {
  if (records.empty()) return {};
  const std::optional<run::Calibration> known = run::calibration_of(records.front());
  return known ? author::MachineSpeed{known->copies, known->call_us, known->launch_us} : author::MachineSpeed{};
}

std::map<std::string, author::Roofline> rooflines_of(const author::Authored& authored, const author::Records& records) {
  const author::MachineSpeed speed = speed_of(records);
  std::map<std::string, author::Roofline> rooflines;
  for (const author::Written& one : authored.passes) {
    const auto record = std::ranges::find(records, one.python.sites.front().first, &record::RunRecord::graph);
    const std::optional<author::Roofline> roofline = author::roofline_of(
        one.name, one.bytes_after, one.launches(), record == records.end() ? nullptr : &*record, speed);
    if (roofline) rooflines.emplace(one.name, *roofline);
  }
  return rooflines;
}

/// Of each kept pass.
Result<std::map<std::string, author::Reach>> reaches_of(const graphdir::Sample& sample, const author::Judged& judged,
                                                        const AuthorSetup& setup,
                                                        const std::function<bool()>& is_spent) {
  std::map<std::string, author::Reach> reaches;
  for (const author::PassVerdict& verdict : judged.passes) {
    if (!verdict.kept) continue;
    PASSNET_TRY(const pass::Pass pass, pass::load_pass(sample.pass_dir / (verdict.pass + ".py"), {setup.write.library}));
    author::Matching matching;
    {
      const std::scoped_lock lock(setup.others->mutex);
      PASSNET_TRY(matching, author::find_matching(pass, setup.others->graphs, sample.graph_paths));
    }
    PASSNET_TRY(const author::Reach reach, author::measure_reach(pass, setup.others->graphs, matching, setup.reach_most,
                                                                 setup.evaluate, is_spent));
    reaches.emplace(verdict.pass, reach);
  }
  return reaches;
}

/// What --write-only has instead: all passes, none of them judged.
author::Judged unjudged(const author::Authored& authored) {
  author::Judged all;
  for (const author::Written& one : authored.passes) all.passes.push_back({one.name, true, "not measured"});
  return all;
}

}  // namespace

Result<Json> author_sample(const graphdir::Sample& given, const AuthorSetup& setup, SharedInference& inference) {
  const Clock::time_point start = Clock::now();
  const auto is_spent = [&] { return setup.budget_s > 0 && seconds_since(start) >= setup.budget_s; };
  graphdir::Sample sample = given;
  sample.path = setup.out / given.name;
  sample.pass_dir = sample.path / "pass_dir";
  std::error_code failed;
  fs::remove_all(sample.path, failed);
  if (failed) return io_error("cannot remove", sample.path.string(), failed.value());
  PASSNET_TRY(std::vector<author::Example> examples, inference.load(sample));
  const author::Authored authored = author::write_all(std::move(examples), setup.write);
  PASSNET_TRY(const std::vector<author::Candidate> candidates, write_candidates(sample.pass_dir, authored));
  author::SampleFacts facts{given.name, given.graph_names, 0, setup.budget_s, {}, {}};
  author::Judged judged = unjudged(authored);
  if (setup.evaluate) {
    PASSNET_TRY(judged, author::judge_passes(sample, candidates, setup.evaluate, is_spent));
    PASSNET_TRY_VOID(write_file(sample.path / "records.jsonl", record::to_lines(judged.records)));
    facts.rooflines = rooflines_of(authored, judged.records);
  }
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
