#include "whole.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>

#include "author.h"
#include "author/judge/judge.h"
#include "author/report/report.h"
#include "base/file/file.h"
#include "base/text/strings.h"
#include "command.h"
#include "parts.h"
#include "pass/template.h"
#include "report/progress.h"
#include "run/batch/job.h"

namespace passnet::cli {

namespace {

bool is_kept(const Json& pass) { return pass["kept"].is_boolean() && pass["kept"].get<bool>(); }

/// The files of a pass; `cuda` is empty where it has none.
Result<pass::PassTexts> texts_of(const fs::path& pass_dir, const std::string& name) {
  pass::PassTexts texts{name, {}, {}, {}};
  PASSNET_TRY(texts.python, read_file(pass_dir / (name + ".py"), FileKind::Graph));
  PASSNET_TRY(texts.cpp, read_file(pass_dir / (name + ".cpp"), FileKind::Graph));
  if (const fs::path cuda = pass_dir / (name + ".cu"); entry_exists(cuda)) {
    PASSNET_TRY(texts.cuda, read_file(cuda, FileKind::Graph));
  }
  return texts;
}

/// "kept: add_layer_norm 1.84x", "nothing kept"
std::string part_outcome(const Json& report) {
  if (report.contains("problem")) return plain_text(report["problem"]);
  std::string text;
  for (const Json& pass : report["passes"]) {
    if (is_kept(pass))
      text += fmt::format("{}{} {:.2f}x", text.empty() ? "kept " : ", ", pass["pass"].get<std::string>(),
                          pass["ratio"].is_null() ? 0.0 : pass["ratio"].get<double>());
  }
  return text.empty() ? "nothing kept" : text;
}

/// Stands for the report of a part that has none.
Json failed_report(const Error& error) {
  return {{"passes", Json::array()},
          {"schedules", Json::array()},
          {"budget", nullptr},
          {"score", nullptr},
          {"seconds", 0},
          {"problem", valid_utf8(to_string(error))}};
}

/// Returns the line of a part in the report of the whole.
Json summary_of(const Part& part, const Json& report) {
  return {{"part", part.sample.name},
          {"places", part.places},
          {"graphs", part.sample.graph_names.size()},
          {"score", report["score"]},
          {"seconds", report["seconds"]}};
}

class WholeAuthor {
 public:
  WholeAuthor(const graphdir::Sample& given, const AuthorSetup& setup, SharedInference& inference)
      : sample_(given), setup_(setup), inference_(inference) {
    sample_.path = setup.out / given.name;
    sample_.pass_dir = sample_.path / "pass_dir";
  }

  Result<Json> run(const graphdir::Sample& given, const std::vector<author::Example>& examples) {
    PASSNET_TRY_VOID(remove_directory(setup_.resume ? sample_.pass_dir : sample_.path));
    PASSNET_TRY(Parts parts, write_parts(given, examples, inference_, sample_.path / "parts"));
    parts_ = std::move(parts.parts);
    PASSNET_TRY_VOID(author_parts());
    say_progress("evaluating all passes together");
    PASSNET_TRY(const author::Judged judged, judge_together());
    PASSNET_TRY_VOID(write_file(sample_.path / "records.jsonl", record::to_lines(judged.records)));
    Json report = report_of({{}, std::move(parts.left)}, judged);
    PASSNET_TRY_VOID(write_file(sample_.path / kReportFile, dump(report, 1) + "\n"));
    return report;
  }

 private:
  Result<void> author_parts() {
    std::set<std::string> names;
    for (const Part& one : parts_) names.insert(one.sample.name);
    const auto make = [&](const Part& part, size_t) -> Result<Json> {
      AuthorSetup setup = setup_;
      setup.out = sample_.path / "by_part";
      setup.export_to.clear();
      setup.name = part.sample.name;
      setup.conversions = part.conversions;
      setup.taken = names;
      setup.taken.erase(part.sample.name);
      if (setup_.show_step) setup.show_step = [this](const std::string& step) { say_progress(step); };
      Result<Json> report = author_sample(part.sample, setup, inference_);
      // A part that cannot be written down or read is left to PyTorch.
      const bool goes_on =
          report || report.error().kind == Error::Kind::Resource || report.error().kind == Error::Kind::Io;
      return goes_on ? std::move(report) : Result<Json>(failed_report(report.error()));
    };
    return run::for_each_item(std::span(parts_), {setup_.at_a_time, &interrupted()}, make,
                              [&](Json report) { return gather(std::move(report)); });
  }

  /// Takes the passes of a part into those of the sample.
  Result<void> gather(Json report) {
    const Part& part = parts_[reports_.size()];
    std::vector<pass::PassTexts> kept;
    for (const Json& pass : report["passes"]) {
      if (!is_kept(pass)) continue;
      PASSNET_TRY(pass::PassTexts texts,
                  texts_of(sample_.path / "by_part" / part.sample.name / "pass_dir", pass["pass"].get<std::string>()));
      kept.push_back(std::move(texts));
    }
    if (!kept.empty()) PASSNET_TRY_VOID(pass::write_passes(sample_.pass_dir, kept));
    const std::string outcome = part_outcome(report);
    {
      const std::scoped_lock lock(mutex_);
      reports_.push_back(std::move(report));
    }
    setup_.say(fmt::format("{}; {}, in {}: {}", progress(), part.sample.name, counted(part.places, "place"), outcome));
    return {};
  }

  /// "bert: 3 of 9 parts, about 40 s left, at most 9 min"
  std::string progress() const {
    const std::scoped_lock lock(mutex_);
    const auto done = static_cast<double>(reports_.size()), left = static_cast<double>(parts_.size()) - done;
    const double expected_s = done > 0 ? seconds_since(start_) / done * (left + 1) : 0;
    const double most_s = (std::ceil(left / setup_.at_a_time) + 1) * setup_.budget_s;
    std::string text = fmt::format("{}: {} of {}", sample_.name, reports_.size(), counted(parts_.size(), "part"));
    if (expected_s > 0 && (most_s <= 0 || expected_s < most_s))
      text += fmt::format(", about {} left", report::duration_text(expected_s));
    return most_s > 0 ? text + fmt::format(", at most {}", report::duration_text(most_s)) : text;
  }

  void say_progress(const std::string& step) const {
    if (setup_.show_step) setup_.show_step(progress() + "; " + step);
  }

  /// The passes of all parts together, those that take more operators first, as one list that stays or goes.
  Result<author::Judged> judge_together() {
    std::vector<std::pair<size_t, std::string>> kept;
    for (const Json& report : reports_) {
      for (const Json& pass : report["passes"]) {
        if (is_kept(pass)) kept.emplace_back(pass["operators"].get<size_t>(), pass["pass"].get<std::string>());
      }
    }
    std::ranges::stable_sort(kept, std::ranges::greater(), &std::pair<size_t, std::string>::first);
    std::vector<author::Candidate> candidates;
    for (const auto& [operators, name] : kept)
      candidates.push_back({name, name, {}, false, [](const auto&) { return Result<void>(); }});
    const Clock::time_point start = Clock::now();
    author::Evaluations evaluations(setup_.evaluate,
                                    [&] { return setup_.budget_s > 0 && seconds_since(start) >= setup_.budget_s; });
    return author::judge_passes(sample_, candidates, evaluations, {.together = true});
  }

  Json report_of(const author::Authored& left, const author::Judged& judged) const {
    author::SampleFacts facts;
    facts.sample = sample_.name;
    facts.graphs = sample_.graph_names;
    facts.seconds = seconds_since(start_);
    facts.budget_s = setup_.budget_s;
    facts.allow_library = setup_.allow_library;
    facts.form = "by parts";
    Json made = author::report_of(facts, left, &judged);
    for (size_t i = 0; i < reports_.size(); ++i) {
      const Json& report = reports_[i];
      made["parts"].push_back(summary_of(parts_[i], report));
      if (report["budget"].is_object() && report["budget"]["ended"].get<bool>()) made["budget"]["ended"] = true;
      for (const Json& one : report["schedules"]) made["schedules"].push_back(one);
      for (Json pass : report["passes"]) {
        const auto verdict =
            std::ranges::find(judged.passes, pass["pass"].get<std::string>(), &author::PassVerdict::pass);
        if (verdict != judged.passes.end() && !verdict->kept) {
          pass["kept"] = false;
          pass["why"] = fmt::format("all passes together: {}", verdict->why);
        }
        made["passes"].push_back(std::move(pass));
      }
    }
    if (std::ranges::any_of(made["passes"], is_kept)) made["alone"] = Json::object();
    return made;
  }

  graphdir::Sample sample_;
  const AuthorSetup& setup_;
  SharedInference& inference_;
  const Clock::time_point start_ = Clock::now();
  std::vector<Part> parts_;
  mutable std::mutex mutex_;
  std::vector<Json> reports_;  // of parts, in their order
};

}  // namespace

Result<Json> author_whole(const graphdir::Sample& sample, const std::vector<author::Example>& examples,
                          const AuthorSetup& setup, SharedInference& inference) {
  return WholeAuthor(sample, setup, inference).run(sample, examples);
}

}  // namespace passnet::cli
