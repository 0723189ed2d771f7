// passnet pass build: compile what passes launch on their graphs, for a GPU that need not be here.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "command.h"
#include "graphdir/sample.h"
#include "options.h"
#include "pass/source.h"
#include "pass_commands/files.h"
#include "run/build_ahead.h"
#include "run/worker/requests.h"
#include "run/worker/worker.h"

namespace passnet::cli {

namespace {

struct BuildFlags {
  std::vector<std::string> samples;
  std::string architecture = "sm_90";
  bool allow_library = false;
  bool json = false;
};

constexpr std::chrono::milliseconds kTimeout{static_cast<int64_t>(kDefaultTimeoutS * 1000)};

Result<ExitCode> build_samples(const BuildFlags& flags) {
  run::Worker worker({{}, run::Role::Reference, 1, &interrupted(), {}});
  PASSNET_TRY_VOID(worker.start());
  PASSNET_TRY_VOID(run::start_up(worker));
  run::PassRunOptions how;
  how.timeout = kTimeout;
  how.on_gpu = true;
  how.build.interrupted = &interrupted();
  Json results = Json::array();
  bool all = true;
  for (const std::string& path : flags.samples) {
    PASSNET_TRY(const graphdir::Sample sample, graphdir::load_sample(path));
    const Result<std::vector<pass::Pass>> passes = pass::load_passes(path, {flags.allow_library, &interrupted()});
    for (size_t i = 0; i < sample.graph_paths.size(); ++i) {
      const Result<run::GraphBuild> made =
          passes ? run::build_graph(worker, sample.graph_paths[i], *passes, how, flags.architecture)
                 : Result<run::GraphBuild>(passes.error());
      if (interrupted()) return resource_error("interrupted");
      all = all && made;
      const std::string name = fmt::format("{}/{}", sample.name, sample.graph_names[i]);
      if (flags.json && made) {
        results.push_back({{"graph", name},
                           {"sites", made->sites},
                           {"launches", made->launches},
                           {"kernels", made->ways},
                           {"from_cache", made->from_cache}});
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
  CLI::App* command =
      group.add_subcommand("build", "compile the kernels of passes for a GPU, which need not be present");
  command->add_option("SAMPLE", flags->samples, "sample directories")->required();
  command->add_option("--for", flags->architecture, "architecture of the GPU, for example sm_90 for an H200")
      ->capture_default_str();
  add_library_flag(*command, flags->allow_library);
  add_json_flag(*command, flags->json);
  command->footer(
      "Keeps the compiled kernels for a later evaluation on such a GPU. Runs nothing.\n"
      "\n"
      "Example:  passnet pass build samples/vit_add_layer_norm --for sm_90");
  command->callback([flags, &exit_code] {
    catch_interrupts();
    exit_code = finish(build_samples(*flags));
  });
}

}  // namespace passnet::cli
