// passnet pass check: build and compare without timing. The other subcommands have files of their own.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file/paths.h"
#include "base/json/json.h"
#include "base/text/strings.h"
#include "command.h"
#include "external.h"
#include "graphdir/sample.h"
#include "options.h"
#include "pass/source.h"
#include "pass_commands/files.h"
#include "record/verdict.h"
#include "record_code.h"
#include "report/row.h"
#include "rewrite/match.h"
#include "rewrite/pattern.h"
#include "run/evaluate/evaluate.h"
#include "run/worker/tensor_files.h"
#include "run/worker/worker.h"

namespace passnet::cli {

namespace {

struct CheckFlags {
  std::vector<std::string> paths;
  std::string device = "cpu", out;
  bool allow_library = false;
  bool json = false;
};

// What was checked so far; the report of --json.
struct Checked {
  ExitCode worst = kOk;
  Json passes = Json::array(), graphs = Json::array();
};

// Inputs, expected and found outputs of a graph; what it did not come to is left out.
Result<void> dump_tensors(const fs::path& directory, const run::GraphTensors& tensors) {
  PASSNET_TRY_VOID(make_directories(directory));
  const std::pair<const char*, const run::Bundle*> files[] = {
      {"inputs", &tensors.inputs}, {"expected", &tensors.expected}, {"found", &tensors.found}};
  for (const auto& [name, bundle] : files) {
    const fs::path path = directory / fmt::format("{}.safetensors", name);
    if (bundle->fd) {
      PASSNET_TRY_VOID(run::save_bundles(path, {bundle}));
    } else {
      std::error_code ignored;
      fs::remove(path, ignored);  // of an earlier check
    }
  }
  return {};
}

Result<run::EvaluateOptions> options_of(const CheckFlags& flags) {
  run::EvaluateOptions options;
  options.timed = false;
  options.timeout_s = kDefaultTimeoutS;
  options.interrupted = &interrupted();
  options.allow_library = flags.allow_library;
  PASSNET_TRY(options.gpu, run::parse_device(flags.device));
  return options;
}

run::EvaluateHooks hooks_for(const graphdir::Sample& sample, const CheckFlags& flags, Checked& checked) {
  run::EvaluateHooks hooks;
  hooks.finished = [&flags, &checked](const record::RunRecord& record) -> Result<void> {
    const report::Row row = report::rows_of({record}).front();
    if (flags.json) {
      checked.graphs.push_back({{"sample", record.sample},
                                {"graph", record.graph},
                                {"verdict", row.headline},
                                {"sites", row.sites},
                                {"problem", row.problem}});
    } else {
      say("{}/{}: {}, {} site{} replaced\n", record.sample, record.graph, row.headline, row.sites,
          row.sites == 1 ? "" : "s");
      if (!row.problem.empty()) {
        for (const std::string_view line : split(row.problem, '\n')) say("  {}\n", line);
      }
    }
    checked.worst = std::max(checked.worst, exit_code_of(record));
    return {};
  };
  if (!flags.out.empty()) {
    hooks.tensors = [&sample, &flags](const std::string& graph, const run::GraphTensors& tensors) -> Result<void> {
      PASSNET_TRY(const std::filesystem::path directory, run::tensor_directory(flags.out, sample.name, graph));
      PASSNET_TRY_VOID(dump_tensors(directory, tensors));
      if (!flags.json) say("  tensors: {}\n", directory.string());
      return {};
    };
  }
  return hooks;
}

std::vector<std::string> kernels_of(const pass::Pass& pass) {
  std::vector<std::string> kernels;
  if (!pass.cpu_source.empty()) kernels.push_back("CPU");
  if (!pass.cuda_source.empty()) kernels.push_back("CUDA");
  if (pass.has_triton) kernels.push_back("Triton");
  return kernels;
}

Result<void> check_passes(const std::string& path, const CheckFlags& flags, Checked& checked) {
  const pass::LoadOptions options{
      .allow_library = flags.allow_library, .interrupted = &interrupted(), .find_arithmetic = true};
  PASSNET_TRY(const std::vector<pass::Pass> passes, pass::load_passes(path, options));
  PASSNET_TRY_VOID(check_names(passes));
  for (const pass::Pass& pass : passes) {
    Budget steps(rewrite::kMatching, {.interrupted = &interrupted()});
    PASSNET_TRY_VOID(rewrite::prepare_pattern(pass.pattern, {}, steps));
    const std::vector<std::string> kernels = kernels_of(pass);
    if (flags.json)
      checked.passes.push_back(
          {{"pass", pass.name}, {"nodes", pass.pattern.size()}, {"plan", pass.plan.entry}, {"kernels", kernels}});
    else
      say("{}: pattern of {} nodes, plan '{}', kernels: {}\n", pass.name, pass.pattern.size(), pass.plan.entry,
          kernels.empty() ? "none" : join(kernels, " "));
  }
  return {};
}

Result<ExitCode> check_paths(const CheckFlags& flags) {
  Checked checked;
  PASSNET_TRY(const run::EvaluateOptions options, options_of(flags));
  run::EvaluationWorkers workers(options);
  for (const std::string& path : flags.paths) {
    if (directory_exists(std::filesystem::path(path) / "pass_dir")) {
      PASSNET_TRY(const graphdir::Sample sample, graphdir::load_sample(path));
      PASSNET_TRY_VOID(run::evaluate_sample(sample, options, workers, hooks_for(sample, flags, checked)));
    } else {
      PASSNET_TRY_VOID(check_passes(path, flags, checked));
    }
  }
  if (flags.json) print_result(dump(Json{{"passes", checked.passes}, {"graphs", checked.graphs}}) + "\n");
  return checked.worst;
}

}  // namespace

void add_pass(CLI::App& app, char** argv, int& exit_code) {
  CLI::App* group = app.add_subcommand("pass", "start, match, check, build and profile passes");
  group->require_subcommand(1);

  auto flags = std::make_shared<CheckFlags>();
  CLI::App* check = group->add_subcommand("check", "read, match, build and compare passes without timing them");
  check->add_option("PATH", flags->paths, "sample directory, pass_dir, or Name.py")->required();
  add_out_option(*check, flags->out,
                 "directory for each graph's tensors, SAMPLE/GRAPH/{inputs,expected,found}.safetensors");
  add_library_flag(*check, flags->allow_library);
  add_device_option(*check, flags->device);
  add_json_flag(*check, flags->json);
  check->footer("Example:  passnet pass check samples/vit_add_layer_norm --out tensors");
  check->callback([flags, &exit_code] {
    catch_interrupts();
    exit_code = finish(check_paths(*flags));
  });

  add_pass_build(*group, exit_code);
  add_pass_match(*group, exit_code);
  add_pass_profile(*group, exit_code);
  add_external(*group, kPassNew, argv, exit_code);
}

}  // namespace passnet::cli
