// passnet pass build: compile what passes launch on their graphs, for a GPU that need not be here.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/json/json.h"
#include "command.h"
#include "fx/print.h"
#include "graphdir/sample.h"
#include "options.h"
#include "pass/plan/launch_list.h"
#include "pass/source.h"
#include "pass_commands/files.h"
#include "run/batch/build_ahead.h"
#include "run/worker/requests.h"
#include "run/worker/worker.h"

namespace passnet::cli {

namespace {

struct BuildFlags {
  std::vector<std::string> samples;
  std::string architecture = "sm_90";
  bool allow_library = false;
  bool plans = false;
  bool json = false;
};

constexpr std::chrono::milliseconds kTimeout{static_cast<int64_t>(kDefaultTimeoutS * 1000)};

constexpr const char* kCpu = "cpu";

/// Returns the plan that passnet._C runs (docs/python.md): the rewritten model, its launches, their kernels.
Result<Json> plan_of(const run::GraphBuild& made) {
  if (made.built.has_choices()) {
    return unsupported("a kernel has several configurations (@triton.autotune), of which none was chosen by time")
        .with_hint("leave one configuration in the pass, or build without --plans");
  }
  return Json{{"model", fx::print_model(made.graph)},
              {"lists", pass::to_json(made.built.lists)},
              {"kernels", run::kernels_to_json(made.built.kernels)}};
}

Result<Json> result_of(const std::string& name, const run::GraphBuild& made, bool with_plan) {
  Json result{{"graph", name},
              {"sites", made.sites},
              {"launches", made.launches},
              {"kernels", made.ways},
              {"from_cache", made.from_cache}};
  if (with_plan) {
    PASSNET_TRY(result["plan"], plan_of(made));
  }
  return result;
}

Result<ExitCode> build_samples(const BuildFlags& flags) {
  const bool on_gpu = flags.architecture != kCpu;
  run::Worker worker({{}, run::Role::Reference, 1, &interrupted(), {}});
  PASSNET_TRY_VOID(worker.start());
  PASSNET_TRY_VOID(run::start_up(worker));
  run::PassRunOptions how;
  how.timeout = kTimeout;
  how.on_gpu = on_gpu;
  how.build.interrupted = &interrupted();
  Json results = Json::array();
  bool all = true;
  for (const std::string& path : flags.samples) {
    PASSNET_TRY(const graphdir::Sample sample, graphdir::load_sample(path));
    const Result<std::vector<pass::Pass>> passes = pass::load_passes(path, {flags.allow_library, &interrupted()});
    for (size_t i = 0; i < sample.graph_paths.size(); ++i) {
      const Result<run::GraphBuild> made =
          passes ? run::build_graph(worker, sample.graph_paths[i], *passes, how, on_gpu ? flags.architecture : "")
                 : Result<run::GraphBuild>(passes.error());
      if (interrupted()) return resource_error("interrupted");
      all = all && made;
      const std::string name = fmt::format("{}/{}", sample.name, sample.graph_names[i]);
      if (flags.json && made) {
        PASSNET_TRY(Json result, result_of(name, *made, flags.plans));
        results.push_back(std::move(result));
      } else if (flags.json) {
        results.push_back({{"graph", name}, {"problem", to_string(made.error())}});
      } else if (made) {
        say("{}: {} site{}, {} launch{}, {} kernel{} for {}, {} of them kept\n", name, made->sites,
            made->sites == 1 ? "" : "s", made->launches, made->launches == 1 ? "" : "es", made->ways,
            made->ways == 1 ? "" : "s", flags.architecture, made->from_cache);
      } else {
        say("{}: {}\n", name, Lines{to_string(made.error())});
      }
    }
  }
  if (flags.json) print_result(dump(Json{{"graphs", std::move(results)}}) + "\n");
  return all ? kOk : kNotAllCorrect;
}

}  // namespace

void add_pass_build(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<BuildFlags>();
  CLI::App* command = group.add_subcommand(
      "build", "compile the kernels of passes for a GPU, which need not be present, or for this CPU");
  command->add_option("SAMPLE", flags->samples, "sample directories")->required();
  command
      ->add_option("--device", flags->architecture, "cpu, or the architecture of a GPU, for example sm_90 for an H200")
      ->capture_default_str();
  add_library_flag(*command, flags->allow_library);
  CLI::Option* const plans = command->add_flag(
      "--plans", flags->plans, "print each graph with its passes, launches and kernels, for other programs to run");
  plans->needs(add_json_flag(*command, flags->json));
  command->footer(
      "Keeps the compiled kernels for a later evaluation on such a GPU. Runs nothing.\n"
      "\n"
      "Example:  passnet pass build samples/vit_add_layer_norm --device sm_90");
  command->callback([flags, &exit_code] {
    catch_interrupts();
    exit_code = finish(build_samples(*flags));
  });
}

}  // namespace passnet::cli
