// passnet run: execute one graph with replayed or given inputs, print or save what came out.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text/strings.h"
#include "command.h"
#include "graphdir/inputs/replay.h"
#include "graphdir/sample.h"
#include "options.h"
#include "pass/source.h"
#include "run/apply/run_passes.h"
#include "run/evaluate/evaluate.h"
#include "run/worker/requests.h"
#include "run/worker/tensor_files.h"
#include "run_bundle.h"
#include "wire/bundle.h"

namespace passnet::cli {

namespace {

struct RunFlags {
  std::string graph_dir, inputs, out, pass;
  std::string device = "cpu";
  uint64_t seed = graphdir::kReplaySeed;
  int threads = 0;
  double timeout_s = 600;
  bool allow_library = false;
  bool json = false;
};

std::chrono::milliseconds timeout_of(const RunFlags& flags) {
  return std::chrono::milliseconds(static_cast<int64_t>(flags.timeout_s * 1000));
}
int threads_of(const RunFlags& flags) { return flags.threads > 0 ? flags.threads : run::available_threads(); }

// The tensors of a file as a bundle in shared memory, checked against the placeholders of the graph.
Result<run::Bundle> given_inputs(const std::string& path, const graphdir::GraphDir& graph,
                                 const std::optional<OpenBundle>& weights) {
  PASSNET_TRY(wire::TensorFile file, wire::load_safetensors(path));
  std::map<std::string, size_t> by_name;
  for (size_t i = 0; i < file.entries.size(); ++i) by_name[file.entries[i].name] = i;
  std::vector<wire::Entry> entries;
  std::vector<const std::byte*> sources;
  std::vector<std::string_view> names;
  for (const wire::Entry& entry : file.entries) names.push_back(entry.name);
  for (ir::NodeId id = 0; id < graph.graph.placeholder_count(); ++id) {
    const std::string name(graph.graph.node(id).target);
    if (const wire::Entry* const weight = weights ? weights->weight(name) : nullptr) {
      entries.push_back(*weight);
      entries.back().name = name;
      sources.push_back(weights->bundle.file.memory.data() + weight->offset);
      continue;
    }
    const auto found = by_name.find(name);
    if (found == by_name.end()) {
      Error error = bad_input(fmt::format("'{}' has no tensor for argument '{}' of forward", path, name));
      if (const std::string_view near = nearest_name(name, names); !near.empty())
        error.hint = fmt::format("did you mean '{}'?", near);
      return error;
    }
    entries.push_back(file.entries[found->second]);
    sources.push_back(file.memory.data() + entries.back().offset);
  }
  return seal_inputs(std::move(entries), sources);
}

constexpr const char* kId = "graph";

Result<void> print_outputs(const RunFlags& flags, const run::Outputs& outputs) {
  PASSNET_TRY(const wire::Mapping memory,
              wire::Mapping::map(outputs.tensors.fd.get(), outputs.tensors.size_bytes, false));
  Json list = Json::array();
  for (const wire::Entry& entry : outputs.tensors.entries) {
    const std::string hash =
        fmt::format("{:016x}", fast_hash(memory.data() + entry.offset, static_cast<size_t>(entry.size_bytes())));
    list.push_back({{"name", entry.name}, {"dtype", ir::name(entry.dtype)}, {"shape", entry.shape}, {"xxh3", hash}});
    if (!flags.json)
      say("{}  {}[{}]  xxh3 {}\n", entry.name, ir::name(entry.dtype), fmt::format("{}", fmt::join(entry.shape, ", ")),
          hash);
  }
  if (flags.json) {
    say("{}\n", dump(Json{{"graph", flags.graph_dir}, {"outputs", list}, {"scalars", *outputs.scalars}}));
  } else {
    for (const auto& [name, value] : outputs.scalars->items()) say("{}  {}\n", name, dump(value));
  }
  return {};
}

// The graph as the passes leave it, in a confined worker as an evaluation has it. What they did is told on stderr.
Result<run::Outputs> run_rewritten(const RunFlags& flags, run::Worker& reference, const ir::Graph& graph,
                                   const run::Bundle& inputs, std::optional<int> gpu) {
  PASSNET_TRY(const std::vector<pass::Pass> passes,
              pass::load_passes(flags.pass, {flags.allow_library, &interrupted()}));
  run::Worker candidate({{}, run::Role::Candidate, threads_of(flags), &interrupted(), gpu});
  PASSNET_TRY_VOID(candidate.start());
  const run::PassRunOptions options{timeout_of(flags), gpu.has_value()};
  PASSNET_TRY(run::PassRun done, run::run_with_passes(reference, kId, candidate, graph, inputs, passes, options));
  for (const record::PassOutcome& outcome : done.passes) {
    say_error("pass '{}': {} site{} replaced, {} declined\n", outcome.pass, outcome.matches,
              outcome.matches == 1 ? "" : "s", outcome.declined);
  }
  return std::move(done.outputs);
}

// The graph with the kernels of a bundle, in a confined worker.
Result<run::Outputs> run_compiled(const RunFlags& flags, const OpenBundle& bundle, const run::Bundle& inputs) {
  run::Worker candidate({{}, run::Role::Candidate, threads_of(flags), &interrupted(), {}});
  PASSNET_TRY_VOID(candidate.start());
  PASSNET_TRY_VOID(load_plan(candidate, kId, bundle, timeout_of(flags)));
  PASSNET_TRY_VOID(run::set_inputs(candidate, kId, inputs, timeout_of(flags)));
  return run::run_graph(candidate, kId, true, timeout_of(flags));
}

Result<void> run_command(const RunFlags& flags) {
  const std::chrono::milliseconds timeout = timeout_of(flags);
  PASSNET_TRY(const std::optional<int> gpu, run::parse_device(flags.device));
  PASSNET_TRY(const std::optional<OpenBundle> bundle, open_bundle(flags.graph_dir));
  if (bundle && gpu) return unsupported(fmt::format("--device {}: bundles run on the CPU alone", flags.device));
  run::Worker worker({{}, run::Role::Reference, threads_of(flags), &interrupted(), gpu});
  PASSNET_TRY_VOID(worker.start());
  PASSNET_TRY(const graphdir::GraphDir graph,
              graphdir::load_graph_dir(bundle ? bundle->graph : std::filesystem::path(flags.graph_dir)));
  PASSNET_TRY_VOID(run::load_graph(worker, kId, graph.graph, {}, {}, timeout));
  run::Bundle inputs;
  if (flags.inputs.empty()) {
    PASSNET_TRY(inputs, run::replay_inputs(worker, kId, graph, flags.seed, timeout));
  } else {
    PASSNET_TRY(inputs, given_inputs(flags.inputs, graph, bundle));
    PASSNET_TRY_VOID(run::set_inputs(worker, kId, inputs, timeout));
  }
  if (bundle && flags.inputs.empty() && !bundle->bundle.manifest.weights.empty()) {
    PASSNET_TRY(inputs, with_weights(std::move(inputs), *bundle));
    PASSNET_TRY_VOID(run::set_inputs(worker, kId, inputs, timeout));
  }
  const bool is_plain = flags.pass.empty() && (!bundle || bundle->plan == nullptr);
  PASSNET_TRY(const run::Outputs outputs, is_plain ? run::run_graph(worker, kId, false, timeout)
                                          : flags.pass.empty()
                                              ? run_compiled(flags, *bundle, inputs)
                                              : run_rewritten(flags, worker, graph.graph, inputs, gpu));
  if (!flags.out.empty()) PASSNET_TRY_VOID(run::save_bundles(flags.out, {&inputs, &outputs.tensors}));
  return print_outputs(flags, outputs);
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<RunFlags>();
  CLI::App* command = app.add_subcommand("run", "run one graph and print or save its outputs");
  command->add_option("GRAPH_DIR", flags->graph_dir, "directory with model.py and weight_meta.py, or a bundle")
      ->required();
  command->add_option("--inputs", flags->inputs, "inputs by their names in forward; default: drawn from weight_meta.py")
      ->type_name("F.safetensors");
  command->add_option("--pass", flags->pass, "apply these passes first: Name.py, pass_dir, or sample directory")
      ->type_name("PASS");
  add_library_flag(*command, flags->allow_library);
  add_out_option(*command, flags->out, "write inputs and outputs (out_0, out_1, …) to this file")
      ->type_name("F.safetensors");
  add_device_option(*command, flags->device);
  add_seed_option(*command, flags->seed, "seed of the inputs");
  command->add_option("--threads", flags->threads, "threads; default: all processors")->check(integer_in(1, 1024));
  add_timeout_option(*command, flags->timeout_s, "time limit of a worker's request, in seconds");
  add_json_flag(*command, flags->json);
  command->footer("Example:  passnet run samples/vit_add_layer_norm/graphs/<graph> --out out.safetensors");
  command->callback([flags, &exit_code] {
    catch_interrupts();
    exit_code = finish(run_command(*flags));
  });
}

}  // namespace passnet::cli
