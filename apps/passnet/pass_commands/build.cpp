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
#include "run/build_kernels.h"
#include "run/run_passes.h"
#include "run/worker/requests.h"
#include "run/worker/worker.h"

namespace passnet::cli {

namespace {

constexpr const char* kId = "graph";

struct BuildFlags {
  std::vector<std::string> samples;
  std::string architecture = "sm_90";
  bool json = false;
};

/// What one graph came to.
struct GraphBuild {
  int sites = 0;
  size_t launches = 0, ways = 0, from_cache = 0;
};

class SampleBuilder {
 public:
  explicit SampleBuilder(const BuildFlags& flags)
      : flags_(flags), worker_({{}, run::Role::Reference, 1, &interrupted(), {}}) {}

  Result<void> start() {
    PASSNET_TRY_VOID(worker_.start());
    PASSNET_TRY_VOID(run::start_up(worker_));
    return {};
  }

  Result<GraphBuild> build(const std::filesystem::path& path, const std::vector<pass::Pass>& passes) {
    PASSNET_TRY(const graphdir::GraphDir graph, graphdir::load_graph_dir(path));
    PASSNET_TRY_VOID(run::load_graph(worker_, kId, graph.graph, {}, {}, kTimeout));
    PASSNET_TRY_VOID(run::replay_inputs(worker_, kId, graph, 0, kTimeout));
    run::PassRunOptions how;
    how.timeout = kTimeout;
    how.on_gpu = true;
    std::vector<record::PassOutcome> outcomes;
    PASSNET_TRY(const run::Rewritten rewritten, run::rewrite_or_fail(worker_, kId, graph.graph, passes, how, outcomes));
    PASSNET_TRY(const run::BuiltLists built, run::build_kernels(rewritten, passes, {}, flags_.architecture));
    GraphBuild made{rewritten.sites()};
    for (const pass::LaunchList& list : rewritten.lists) made.launches += list.launches.size();
    for (const auto& of_list : built.kernels) {
      made.ways += of_list.size();
      for (const pass::BuiltKernel& kernel : of_list) made.from_cache += kernel.from_cache ? 1 : 0;
    }
    return made;
  }

 private:
  static constexpr std::chrono::milliseconds kTimeout{static_cast<int64_t>(kDefaultTimeoutS * 1000)};
  const BuildFlags& flags_;
  run::Worker worker_;
};

Result<ExitCode> build_samples(const BuildFlags& flags) {
  SampleBuilder builder(flags);
  PASSNET_TRY_VOID(builder.start());
  Json results = Json::array();
  bool all = true;
  for (const std::string& path : flags.samples) {
    PASSNET_TRY(const graphdir::Sample sample, graphdir::load_sample(path));
    const Result<std::vector<pass::Pass>> passes = pass::load_passes(path);
    for (size_t i = 0; i < sample.graph_paths.size(); ++i) {
      if (interrupted()) return resource_error("interrupted");
      const Result<GraphBuild> made =
          passes ? builder.build(sample.graph_paths[i], *passes) : Result<GraphBuild>(passes.error());
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
      group.add_subcommand("build", "compile the kernels that passes launch, for a GPU that need not be here");
  command->add_option("SAMPLE", flags->samples, "sample directories")->required();
  command->add_option("--for", flags->architecture, "the GPU: sm_90 for an H200")->capture_default_str();
  add_json_flag(*command, flags->json);
  command->footer(
      "The kernels are kept: an evaluation on such a GPU finds them compiled. Nothing is run.\n\n"
      "Example:  passnet pass build samples/vit_add_layer_norm --for sm_90");
  command->callback([flags, &exit_code] {
    catch_interrupts();
    exit_code = finish(build_samples(*flags));
  });
}

}  // namespace passnet::cli
