// passnet author: writes the passes of samples, judges them, and keeps what is right and faster.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "agent/feedback/feedback.h"
#include "agent/run/evaluator.h"
#include "author/judge/judge.h"
#include "author/write.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "command.h"
#include "examples.h"
#include "graphdir/sample.h"
#include "options.h"
#include "pass/template.h"
#include "run/worker/worker.h"

namespace passnet::cli {

namespace {

constexpr const char* kReportFile = "author.json";

struct AuthorFlags {
  std::vector<std::string> paths;
  std::string root, out, device = "cpu";
  run::EvaluateOptions evaluate;
  run::LaneCount lanes;
  bool write_only = false, resume = false, explain = false, json = false;
};

/// Passes for all graphs: of each structure its own.
author::Authored write_all(std::vector<author::Example> examples) {
  author::Authored all;
  std::set<std::string> names;
  while (!examples.empty()) {
    author::Subject subject = author::merge(examples);
    author::Authored made = author::write_passes(subject, names);
    std::ranges::move(made.passes, std::back_inserter(all.passes));
    std::ranges::move(made.left, std::back_inserter(all.left));
    std::erase_if(examples, [&](const author::Example& one) {
      return std::ranges::find(subject.examples, one.name) != subject.examples.end();
    });
  }
  return all;
}

Json report_of(const std::string& sample, const author::Authored& authored, const author::Judged* judged) {
  Json passes = Json::array(), left = Json::array();
  for (const author::Written& one : authored.passes) {
    Json pass{{"pass", one.name},
              {"operators", one.operators},
              {"kernels", one.kernels},
              {"kept", nullptr},
              {"why", ""},
              {"ratio", nullptr},
              {"declined", Json::object()},
              {"launches", {{"before", one.computing}, {"after", one.kernels}}},
              {"bytes", {{"before", one.bytes_before}, {"after", one.bytes_after}}}};
    for (const author::PassVerdict& verdict : judged == nullptr ? std::vector<author::PassVerdict>{} : judged->passes) {
      if (verdict.pass != one.name) continue;
      pass["kept"] = verdict.kept;
      pass["why"] = valid_utf8(verdict.why);
      if (verdict.ratio > 0) pass["ratio"] = number_json(verdict.ratio);
      for (const auto& [graph, why] : verdict.declined) pass["declined"][valid_utf8(graph)] = valid_utf8(why);
    }
    passes.push_back(std::move(pass));
  }
  for (const author::NotWritten& one : authored.left)
    left.push_back({{"statement", valid_utf8(one.statement)}, {"why", valid_utf8(one.why)}});
  Json score;
  if (judged != nullptr)
    score = judged->records.empty() ? Json(1.0) : number_json(agent::outcome_of(judged->records).score);
  return {{"sample", valid_utf8(sample)},
          {"score", std::move(score)},
          {"passes", std::move(passes)},
          {"left", std::move(left)}};
}

std::string counted(size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// "1.2 MB"
std::string bytes_text(const Json& bytes) {
  const auto count = bytes.get<double>();
  return count < 1e6 ? fmt::format("{:.1f} KB", count / 1e3) : fmt::format("{:.1f} MB", count / 1e6);
}

void say_report(const Json& report, bool explain) {
  const std::string score =
      report["score"].is_null() ? "not judged" : fmt::format("score {:.3f}", report["score"].get<double>());
  say("{}: {}\n", plain_text(report["sample"]), score);
  for (const Json& pass : report["passes"]) {
    const char* verdict = pass["kept"].is_null() ? "written" : pass["kept"].get<bool>() ? "kept" : "not kept";
    say("  {}: {} in {}, {}{}\n", plain_text(pass["pass"]), counted(pass["operators"].get<size_t>(), "operator"),
        counted(pass["kernels"].get<size_t>(), "kernel"), verdict,
        plain_text(pass["why"]).empty() ? "" : ": " + plain_text(pass["why"]));
    if (explain) {
      const Json &launches = pass["launches"], &bytes = pass["bytes"];
      say("    launches {} -> {}, bytes read and written {} -> {} ({:.2f} of them)\n", launches["before"].get<size_t>(),
          launches["after"].get<size_t>(), bytes_text(bytes["before"]), bytes_text(bytes["after"]),
          bytes["after"].get<double>() / std::max(bytes["before"].get<double>(), 1.0));
    }
    for (const auto& [graph, why] : pass["declined"].items())
      say("    declines {}: {}\n", plain_text(graph), plain_text(why));
  }
  for (const Json& left : report["left"])
    say("  left: {}: {}\n", plain_text(left["statement"]), plain_text(left["why"]));
}

/// One for all threads: it takes milliseconds where an evaluation takes seconds.
class SharedInference {
 public:
  Result<std::vector<author::Example>> load(const graphdir::Sample& sample) {
    const std::scoped_lock lock(mutex_);
    return load_examples(sample.graph_paths, sample.graph_names, inference_);
  }

 private:
  std::mutex mutex_;
  TypeInference inference_;
};

/// Writes the passes of a sample into `place` and judges them.
Result<Json> author_sample(graphdir::Sample sample, const std::filesystem::path& place, SharedInference& inference,
                           const author::Evaluate& evaluate) {
  std::error_code failed;
  std::filesystem::remove_all(place, failed);
  if (failed) return io_error("cannot remove", place.string(), failed.value());
  PASSNET_TRY(std::vector<author::Example> examples, inference.load(sample));
  const author::Authored authored = write_all(std::move(examples));
  sample.path = place;
  sample.pass_dir = place / "pass_dir";
  std::vector<author::Candidate> candidates;
  for (const author::Written& one : authored.passes) {
    const auto write = [&](const std::map<std::string, std::string>& declined) -> Result<void> {
      const std::string python = declined.empty() ? one.python.text : author::declining(one.python, declined);
      return write_file(sample.pass_dir / (one.name + ".py"), std::string_view(python));
    };
    PASSNET_TRY_VOID(pass::write_pass(sample.pass_dir, one.name, {one.python.text, one.cpp, one.cuda}));
    author::Candidate candidate{one.name, {}, write};
    for (const auto& [graph, condition] : one.python.sites) candidate.graphs.push_back(graph);
    candidates.push_back(std::move(candidate));
  }
  if (!evaluate) return report_of(sample.name, authored, nullptr);
  PASSNET_TRY(const author::Judged judged, author::judge_passes(sample, candidates, evaluate));
  PASSNET_TRY_VOID(write_file(place / "records.jsonl", record::to_lines(judged.records)));
  return report_of(sample.name, authored, &judged);
}

/// Several samples at a time; what is made of them is taken in their order. Errors: the first one; no sample is begun after it.
Result<void> in_order(const std::vector<graphdir::Sample>& samples, int at_a_time,
                      const std::function<Result<Json>(const graphdir::Sample&)>& make,
                      const std::function<void(Json)>& take) {
  std::mutex mutex;
  std::map<size_t, Json> made;
  size_t begun = 0, taken = 0;
  Result<void> done;
  const auto work = [&] {
    while (true) {
      std::unique_lock lock(mutex);
      if (begun == samples.size() || !done || interrupted()) return;
      const size_t index = begun++;
      lock.unlock();
      Result<Json> one = make(samples[index]);
      lock.lock();
      if (!one) {
        if (done) done = std::move(one).error();
        return;
      }
      made.emplace(index, std::move(*one));
      for (auto next = made.find(taken); next != made.end(); next = made.find(++taken)) take(std::move(next->second));
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < at_a_time; ++i) threads.emplace_back(work);
  }
  return done;
}

Result<ExitCode> author_samples(AuthorFlags& flags) {
  PASSNET_TRY(flags.evaluate.gpu, run::parse_device(flags.device));
  PASSNET_TRY_VOID(settle_lanes(flags.evaluate.gpu, flags.lanes));
  PASSNET_TRY(const std::vector<std::filesystem::path> paths, graphdir::expand_paths(flags.paths, flags.root));
  PASSNET_TRY(const std::vector<graphdir::Sample> samples, graphdir::load_samples(paths));
  SharedInference inference;
  std::optional<agent::Evaluator> evaluator;
  author::Evaluate evaluate;
  if (!flags.write_only) {
    evaluator.emplace(flags.evaluate, flags.lanes, [](const std::string& why) { say_error("waiting: {}\n", why); });
    evaluate = [&](const graphdir::Sample& sample) -> Result<author::Records> {
      PASSNET_TRY(agent::Evaluated made, evaluator->evaluate(sample, false));
      return std::move(made.records);
    };
  }
  const auto author_one = [&](const graphdir::Sample& sample) -> Result<Json> {
    const std::filesystem::path place = std::filesystem::path(flags.out) / sample.name;
    const Result<std::string> known =
        flags.resume ? read_file(place / kReportFile) : Result<std::string>(bad_input(""));
    Json report = known ? Json::parse(*known, nullptr, false) : Json();
    if (report.is_object() && (!report["score"].is_null() || flags.write_only)) return report;
    PASSNET_TRY(report, author_sample(sample, place, inference, evaluate));
    PASSNET_TRY_VOID(write_file(place / kReportFile, dump(report, 1) + "\n"));
    return report;
  };
  Json reports = Json::array();
  PASSNET_TRY_VOID(in_order(samples, flags.lanes.all(), author_one, [&](Json report) {
    if (!flags.json) say_report(report, flags.explain);
    reports.push_back(std::move(report));
  }));
  if (interrupted()) return kInterrupted;
  if (flags.json) print_result(dump(reports, 1) + "\n");
  return kOk;
}

}  // namespace

void add_author(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<AuthorFlags>();
  CLI::App* command = app.add_subcommand("author", "write the passes of samples, without a language model");
  command->add_option("PATH", flags->paths, "sample directories, or text files that list some")->required();
  add_root_option(*command, flags->root);
  add_out_option(*command, flags->out, "where a directory for each sample goes, with its pass_dir")->required();
  command->add_flag("--resume", flags->resume, "leave out samples that are done in --out");
  command->add_flag("--write-only", flags->write_only, "write the passes, do not evaluate them, and keep them all");
  command->add_flag("--explain", flags->explain, "say what each pass saves: launches, and bytes read and written");
  add_device_option(*command, flags->device);
  add_lane_options(*command, flags->lanes, "samples");
  command->add_option("--warmup", flags->evaluate.warmup, "calls before timing")
      ->check(integer_in(0, 1000000))
      ->capture_default_str();
  command->add_option("--trials", flags->evaluate.trials, "timed calls of an evaluation")
      ->check(integer_in(1, 1000000))
      ->capture_default_str();
  add_timeout_option(*command, flags->evaluate.timeout_s, "seconds a worker may take for one request");
  add_json_flag(*command, flags->json);
  command->footer("Example:  passnet author samples/vit_add_layer_norm -o authored");
  command->callback([flags, &exit_code] {
    catch_interrupts();
    flags->evaluate.interrupted = &interrupted();
    exit_code = finish(author_samples(*flags));
  });
}

}  // namespace passnet::cli
