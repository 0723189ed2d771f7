// passnet pass profile: what bounds the kernels of a pass, by the GPU's counters, as text.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file/file.h"
#include "base/file/temporary_directory.h"
#include "base/json/json.h"
#include "base/text/strings.h"
#include "command.h"
#include "graphdir/inputs/replay.h"
#include "graphdir/sample.h"
#include "options.h"
#include "pass/kernel/compile_run.h"
#include "pass/source.h"
#include "pass_commands/files.h"
#include "report/counters/counters.h"
#include "run/apply/run_passes.h"
#include "run/batch/build_ahead.h"
#include "run/worker/requests.h"
#include "run/worker/worker.h"

namespace passnet::cli {

namespace {

struct ProfileFlags {
  std::string pass, graph, device = "cuda";
  bool allow_library = false;
  bool json = false;
};

constexpr const char* kProfiled = "graph";
constexpr std::chrono::milliseconds kProfileTimeout{600000};  // launches are repeated for each group of counters
constexpr std::chrono::milliseconds kWriteTimeout{60000};     // ncu writes once the worker has ended

Result<std::string> find_ncu() {
  std::string found = pass::find_on_path("ncu");
  if (!found.empty()) return found;
  return resource_error("no 'ncu' on PATH: it reads the counters of a GPU")
      .with_hint(
          "install NVIDIA Nsight Compute ('apt install nsight-compute', or with CUDA's toolkit) and put it on PATH");
}

/// "regex:^(a|b)$"
std::string kernel_filter(const run::BuiltLists& built) {
  std::set<std::string> names;
  for (const std::vector<pass::BuiltKernel>& kernels : built.kernels)
    for (const pass::BuiltKernel& kernel : kernels) names.insert(kernel.entry);
  return fmt::format("regex:^({})$", join(std::vector<std::string>(names.begin(), names.end()), "|"));
}

/// A worker below ncu. It is not confined: ncu loads its library into it and writes files.
Result<run::Worker> profiled_worker(const std::string& ncu, const fs::path& log, const std::string& kernels, int gpu) {
  PASSNET_TRY(const fs::path binary, run::find_worker_binary());
  run::WorkerOptions options;
  options.role = run::Role::Candidate;
  options.interrupted = &interrupted();
  options.gpu = gpu;
  options.start_timeout = kProfileTimeout;
  options.program = {ncu,
                     "--csv",
                     "--page",
                     "raw",
                     "--print-units",
                     "base",
                     "--log-file",
                     log.string(),
                     "--target-processes",
                     "all",
                     "--clock-control",
                     "none",
                     "--kernel-name-base",
                     "function",
                     "--kernel-name",
                     kernels,
                     "--metrics",
                     report::counter_names(),
                     binary.string(),
                     "--role",
                     "candidate",
                     "--gpu",
                     std::to_string(gpu),
                     "--unconfined"};
  return run::Worker(std::move(options));
}

/// Runs the graph with the passes once below ncu. Returns the counters as ncu writes them.
Result<std::string> record_counters(const ProfileFlags& flags, const std::string& ncu) {
  PASSNET_TRY(const std::optional<int> gpu, run::parse_device(flags.device));
  if (!gpu) return unsupported("ncu reads the counters of GPUs").with_hint("--device cuda");
  PASSNET_TRY(const std::vector<pass::Pass> passes,
              pass::load_passes(flags.pass, {flags.allow_library, &interrupted()}));
  PASSNET_TRY(const graphdir::GraphDir graph, graphdir::load_graph_dir(flags.graph));
  run::Worker reference({{}, run::Role::Reference, 1, &interrupted(), gpu});
  PASSNET_TRY_VOID(reference.start());
  PASSNET_TRY(const run::Hello hello, run::start_up(reference));
  run::PassRunOptions how{kProfileTimeout, true};
  how.build.interrupted = &interrupted();
  PASSNET_TRY(const run::GraphBuild made, run::build_graph(reference, flags.graph, passes, how, hello.architecture));
  PASSNET_TRY_VOID(run::load_graph(reference, kProfiled, graph.graph, {}, {}, kProfileTimeout));
  PASSNET_TRY(const run::Bundle inputs,
              run::replay_inputs(reference, kProfiled, graph, graphdir::kReplaySeed, kProfileTimeout));
  PASSNET_TRY(const TemporaryDirectory directory, TemporaryDirectory::make("passnet-profile-"));
  const fs::path log = directory.path() / "counters.csv";
  PASSNET_TRY(run::Worker candidate, profiled_worker(ncu, log, kernel_filter(made.built), *gpu));
  PASSNET_TRY_VOID(candidate.start());
  const Result<run::PassRun> done =
      run::run_with_passes(reference, kProfiled, candidate, graph.graph, inputs, passes, how);
  candidate.stop(kWriteTimeout);
  // An error of ncu's own says more than that its worker is gone.
  Result<std::string> text = read_file(log, FileKind::Lines);
  if (!done && !(text && text->find("==ERROR==") != std::string::npos)) return done.error();
  return text;
}

Result<ExitCode> profile(const ProfileFlags& flags) {
  PASSNET_TRY(const std::string ncu, find_ncu());
  PASSNET_TRY(const std::string text, record_counters(flags, ncu));
  PASSNET_TRY(const std::vector<report::KernelCounters> launches, report::parse_counters(text));
  const std::string told = report::counters_text(launches);
  if (!flags.json) {
    say("{}", Lines{told});
    return kOk;
  }
  Json list = Json::array();
  for (const report::KernelCounters& one : launches)
    list.push_back({{"kernel", one.kernel}, {"grid", one.grid}, {"block", one.block}, {"metrics", one.metrics}});
  print_result(dump(Json{{"text", told}, {"launches", std::move(list)}}) + "\n");
  return kOk;
}

}  // namespace

void add_pass_profile(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<ProfileFlags>();
  CLI::App* command =
      group.add_subcommand("profile", "say in 20 lines what bounds the kernels of a pass on a GPU (by NVIDIA's ncu)");
  command->add_option("PASS", flags->pass, "Name.py, pass_dir, or sample directory")->required();
  command->add_option("GRAPH", flags->graph, "graph directory")->required();
  add_library_flag(*command, flags->allow_library);
  add_device_option(*command, flags->device);
  add_json_flag(*command, flags->json);
  command->footer(
      "Runs the kernels without the worker's confinement, which ncu cannot enter: profile passes that you trust.\n"
      "\n"
      "Example:  passnet pass profile samples/gpt2_gelu samples/gpt2_gelu/graphs/b1_s16_float32");
  command->callback([flags, &exit_code] {
    catch_interrupts();
    exit_code = finish(profile(*flags));
  });
}

}  // namespace passnet::cli
