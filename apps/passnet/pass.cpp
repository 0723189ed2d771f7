// passnet pass check|new: build and compare without timing, and a template to start from; match is in pass_match.cpp.
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/strings.h"
#include "bench/verdict.h"
#include "command.h"
#include "fx/sample.h"
#include "options.h"
#include "pass/template.h"
#include "pass_files.h"
#include "run/evaluate.h"
#include "run/worker.h"

namespace passnet::cli {

namespace {

struct CheckFlags {
  std::vector<std::string> paths;
  std::string device = "cpu";
  bool json = false;
};

// What was checked so far; the report of --json.
struct Checked {
  ExitCode worst = kOk;
  Json passes = Json::array(), graphs = Json::array();
};

Result<void> check_sample(const fx::Sample& sample, const CheckFlags& flags, Checked& checked) {
  run::EvaluateOptions options;
  options.timed = false;
  options.timeout_s = kDefaultTimeoutS;
  options.interrupted = &interrupted();
  PASSNET_TRY(options.gpu, run::parse_device(flags.device));
  run::EvaluateHooks hooks;
  hooks.finished = [&](const bench::RunRecord& record) -> Result<void> {
    int sites = 0;
    for (const bench::PassOutcome& outcome : record.passes) sites += outcome.matches;
    const std::string verdict = bench::headline(record);
    if (flags.json) {
      checked.graphs.push_back({{"sample", record.sample},
                                {"graph", record.graph},
                                {"verdict", verdict},
                                {"sites", sites},
                                {"error", record.error}});
    } else {
      fmt::print("{}/{}: {}, {} site{} replaced\n", record.sample, record.graph, verdict, sites, sites == 1 ? "" : "s");
      if (!record.error.empty()) fmt::print("  {}\n", record.error);
    }
    if (!bench::judge(record).correct_at(-5)) checked.worst = kNotAllCorrect;
    return {};
  };
  return run::evaluate_sample(sample, options, hooks);
}

std::vector<std::string> kernels_of(const pass::Pass& pass) {
  std::vector<std::string> kernels;
  if (!pass.cpu_source.empty()) kernels.push_back("CPU");
  if (!pass.cuda_source.empty()) kernels.push_back("CUDA");
  if (pass.has_triton) kernels.push_back("Triton");
  return kernels;
}

Result<void> check_passes(const std::string& path, const CheckFlags& flags, Checked& checked) {
  PASSNET_TRY(const std::vector<pass::Pass> passes, load_named_passes(path));
  PASSNET_TRY_VOID(check_names(passes));
  for (const pass::Pass& pass : passes) {
    const std::vector<std::string> kernels = kernels_of(pass);
    if (flags.json)
      checked.passes.push_back(
          {{"pass", pass.name}, {"nodes", pass.pattern.size()}, {"plan", pass.plan.entry}, {"kernels", kernels}});
    else
      fmt::print("{}: pattern of {} nodes, plan '{}', kernels: {}\n", pass.name, pass.pattern.size(), pass.plan.entry,
                 kernels.empty() ? "none" : join(kernels, " "));
  }
  return {};
}

Result<ExitCode> check_paths(const CheckFlags& flags) {
  Checked checked;
  for (const std::string& path : flags.paths) {
    if (std::filesystem::is_directory(std::filesystem::path(path) / "pass_dir")) {
      PASSNET_TRY(const fx::Sample sample, fx::load_sample(path));
      PASSNET_TRY_VOID(check_sample(sample, flags, checked));
    } else {
      PASSNET_TRY_VOID(check_passes(path, flags, checked));
    }
  }
  if (flags.json) print_result(dump(Json{{"passes", checked.passes}, {"graphs", checked.graphs}}) + "\n");
  return checked.worst;
}

struct NewFlags {
  std::string name, directory = ".";
  bool json = false;
};

Result<void> write_pass(const NewFlags& flags) {
  PASSNET_TRY(const std::vector<std::filesystem::path> written, pass::write_template(flags.directory, flags.name));
  if (flags.json) {
    Json files = Json::array();
    for (const std::filesystem::path& path : written) files.push_back(path.string());
    print_result(dump(Json{{"written", files}}) + "\n");
  } else {
    for (const std::filesystem::path& path : written) print_result(fmt::format("wrote {}\n", path.string()));
  }
  // A pass_dir in a sample is checked with the sample's graphs.
  const std::filesystem::path directory = std::filesystem::path(flags.directory).lexically_normal();
  const bool in_sample = directory.filename() == "pass_dir" && directory.has_parent_path();
  print_next(fmt::format("passnet pass check {}", (in_sample ? directory.parent_path() : directory).string()));
  return {};
}

}  // namespace

void add_pass(CLI::App& app, int& exit_code) {
  CLI::App* group = app.add_subcommand("pass", "check, match or start passes");
  group->require_subcommand(1);

  auto flags = std::make_shared<CheckFlags>();
  CLI::App* check = group->add_subcommand("check", "read, match, build and compare passes without timing them");
  check->add_option("PATH", flags->paths, "sample directory, pass_dir, or Name.py")->required();
  add_device_option(*check, flags->device);
  add_json_flag(*check, flags->json);
  check->footer("Example:  passnet pass check samples/vit_add_layer_norm");
  check->callback([flags, &exit_code] {
    catch_interrupts();
    exit_code = finish(check_paths(*flags));
  });

  add_pass_match(*group, exit_code);

  auto created = std::make_shared<NewFlags>();
  CLI::App* create = group->add_subcommand("new", "write a template: Name.py, Name.cpp, and its line in the list file");
  create->add_option("NAME", created->name, "pass name")->required();
  create->add_option("DIR", created->directory, "pass_dir to write into")->capture_default_str();
  add_json_flag(*create, created->json);
  create->footer("Example:  passnet pass new fuse_add_relu my_sample/pass_dir");
  create->callback([created, &exit_code] { exit_code = finish(write_pass(*created)); });
}

}  // namespace passnet::cli
