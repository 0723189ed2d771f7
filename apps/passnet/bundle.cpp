// passnet bundle: one file with a graph, its passes, and kernels compiled for chosen processors (docs/bundles.md).
#include "bundle/bundle.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file/paths.h"
#include "base/json/json.h"
#include "base/text/strings.h"
#include "base/version.h"
#include "bundle/target.h"
#include "command.h"
#include "fx/print.h"
#include "graphdir/sample.h"
#include "options.h"
#include "pass/source.h"
#include "run/batch/build_ahead.h"
#include "run/keep/load_records.h"
#include "run/worker/kernel_json.h"
#include "run/worker/requests.h"

namespace passnet::cli {

namespace {

namespace fs = std::filesystem;

struct BundleFlags {
  std::string source, graph, passes, weights, out;
  std::vector<std::string> targets{std::string(bundle::kThisCpu)};
  bool allow_library = false, json = false;
};

/// A graph, its passes, and where it was judged.
struct Source {
  fs::path graph;    // its directory
  std::string name;  // of the graph
  fs::path passes;   // empty: none
  fs::path records;  // empty: none
};

/// The one graph of a sample, or the one that --graph names.
Result<Source> graph_of(const fs::path& path, const std::string& wanted) {
  PASSNET_TRY(const graphdir::Sample sample, graphdir::load_sample(path));
  std::vector<std::string_view> names(sample.graph_names.begin(), sample.graph_names.end());
  if (wanted.empty() && names.size() != 1) {
    return bad_input(fmt::format("'{}' has {} graphs, expected one", path.string(), names.size()))
        .with_hint(fmt::format("choose one with --graph: {}", join(sample.graph_names, ", ")));
  }
  const std::string& name = wanted.empty() ? sample.graph_names.front() : wanted;
  for (size_t i = 0; i < sample.graph_names.size(); ++i) {
    if (sample.graph_names[i] == name || fs::path(sample.graph_names[i]).filename() == name)
      return Source{sample.graph_paths[i], sample.name + "/" + sample.graph_names[i], sample.pass_dir, {}};
  }
  Error error = bad_input(fmt::format("'{}' has no graph {}", path.string(), quoted(name)));
  if (const auto near = nearest_name(name, names); !near.empty()) error.hint = fmt::format("did you mean '{}'?", near);
  return error;
}

/// The graph that a run judged, with the passes of the run or of its sample.
Result<Source> judged_graph(const fs::path& run, const std::string& wanted) {
  PASSNET_TRY(const std::vector<record::RunRecord> records, run::load_run(run));
  std::set<std::string> names;
  for (const record::RunRecord& one : records) names.insert(one.graph);
  if (wanted.empty() && names.size() != 1) {
    return bad_input(fmt::format("'{}' has records of {} graphs, expected one", run.string(), names.size()))
        .with_hint("choose one with --graph NAME");
  }
  const auto& provenance = records.front().provenance;
  const std::string sample = provenance ? provenance->sample_path : "";
  if (sample.empty() || !directory_exists(sample)) {
    return bad_input(fmt::format("'{}' was made from the sample '{}', which is not there", run.string(), sample))
        .with_hint("give the graph, and the passes with --passes");
  }
  PASSNET_TRY(Source source, graph_of(sample, wanted.empty() ? *names.begin() : wanted));
  if (directory_exists(run / "pass_dir")) source.passes = run / "pass_dir";
  source.records = run / "records.jsonl";
  return source;
}

Result<Source> find_source(const BundleFlags& flags) {
  const fs::path path = flags.source;
  Source source;
  if (path_exists(path / "model.py")) {
    const fs::path directory = absolute_path(path);
    source = {directory, directory.filename().string(), {}, {}};
    // The passes of the sample that holds it.
    for (fs::path above = directory.parent_path(); above.has_relative_path(); above = above.parent_path()) {
      if (!directory_exists(above / "graphs") || !directory_exists(above / "pass_dir")) continue;
      source.passes = above / "pass_dir";
      break;
    }
  } else if (path_exists(path / "records.jsonl")) {
    PASSNET_TRY(source, judged_graph(path, flags.graph));
  } else {
    PASSNET_TRY(source, graph_of(path, flags.graph));
  }
  if (!flags.passes.empty()) source.passes = flags.passes;
  for (const fs::path& beside : {source.passes / "records.jsonl", source.passes.parent_path() / "records.jsonl"}) {
    if (source.records.empty() && !source.passes.empty() && path_exists(beside)) source.records = beside;
  }
  return source;
}

/// The manifest and the parts of a bundle to be written, with the texts that the parts refer to.
class Contents {
 public:
  bundle::Manifest manifest;
  std::vector<bundle::Part> parts;

  void add(const std::string& name, std::shared_ptr<const std::string> text) {
    if (!names_.insert(name).second) return;
    parts.push_back({name, *text});
    texts_.push_back(std::move(text));
  }
  void add(const std::string& name, std::string text) {
    add(name, std::make_shared<const std::string>(std::move(text)));
  }

  /// The tensors of a file that are inputs of the graph. Errors: BadInput: one that is none, or of another type.
  Result<void> add_weights(const std::string& path, const graphdir::GraphDir& graph) {
    PASSNET_TRY(weights_, wire::load_safetensors(path));
    for (const wire::Entry& entry : weights_.entries) {
      const graphdir::TensorMeta* meta = nullptr;
      for (const auto* records : {&graph.weights, &graph.inputs}) {
        const auto found = std::ranges::find(*records, entry.name, &graphdir::TensorMeta::name);
        if (found != records->end()) meta = &*found;
      }
      if (meta == nullptr)
        return bad_input(
            fmt::format("'{}' has the tensor {}, which is no input of the graph", path, quoted(entry.name)));
      if (meta->dtype != entry.dtype || meta->shape != entry.shape) {
        return bad_input(fmt::format("'{}': tensor {} is {}[{}], expected {}[{}]", path, quoted(entry.name),
                                     ir::name(entry.dtype), fmt::join(entry.shape, ", "), ir::name(meta->dtype),
                                     fmt::join(meta->shape, ", ")));
      }
      const char* const bytes = reinterpret_cast<const char*>(weights_.memory.data()) + entry.offset;
      parts.push_back({std::string(bundle::kWeights) + entry.name,
                       {bytes, static_cast<size_t>(entry.size_bytes())},
                       entry.dtype,
                       entry.shape});
      manifest.weights.push_back(entry.name);
    }
    return {};
  }

 private:
  std::set<std::string> names_;
  std::vector<std::shared_ptr<const std::string>> texts_;
  wire::TensorFile weights_;
};

/// The files of the graph and of its passes, and its records.
Result<void> add_files(const Source& source, const std::vector<pass::Pass>& passes, Contents& contents) {
  for (const char* name : {"model.py", "weight_meta.py", "input_meta.py"}) {
    if (!path_exists(source.graph / name)) continue;
    PASSNET_TRY(std::string text, read_beneath(source.graph, name, FileKind::Graph));
    contents.add(fmt::format("graph/{}", name), std::move(text));
  }
  for (const pass::Pass& pass : passes) {
    std::vector<fs::path> files = pass::imported_files(pass.files, pass.path);
    for (const fs::path& file : {pass.path, pass.cpu_source, pass.cuda_source})
      if (!file.empty()) files.push_back(file);
    for (const fs::path& file : files) {
      const Result<SourceFiles::Text> text = pass.files.read(file, FileKind::Kernel);
      if (text) contents.add("pass_dir/" + file.filename().string(), *text);
    }
  }
  if (!source.records.empty()) {
    PASSNET_TRY(std::string text, read_file(source.records, FileKind::Lines));
    contents.add("records.jsonl", std::move(text));
  }
  return {};
}

/// Errors: Unsupported: a configuration is still to be chosen; Io: an object is gone.
Result<bundle::Plan> plan_of(const std::string& target, const run::GraphBuild& made, Contents& contents) {
  if (made.built.has_choices()) {
    return unsupported("a kernel has several configurations (@triton.autotune), of which none was chosen by time")
        .with_hint("leave one configuration in the pass");
  }
  bundle::Plan plan{
      target, target == bundle::kThisCpu ? bundle::this_processor() : "", fx::print_model(made.graph), {}, {}};
  Json lists = Json::array();
  for (const pass::LaunchList& list : made.built.lists) lists.push_back(pass::to_json(list));
  plan.lists = compact(lists);
  for (const std::vector<pass::BuiltKernel>& of_list : made.built.kernels) {
    plan.kernels.emplace_back();
    for (const pass::BuiltKernel& kernel : of_list) {
      const std::string part = fmt::format("kernels/{}{}", kernel.sha256, kernel.object.extension().string());
      PASSNET_TRY(std::string bytes, read_file(kernel.object, FileKind::Object));
      contents.add(part, std::move(bytes));
      const Json facts = run::to_json(kernel);
      plan.kernels.back().push_back({part, kernel.entry, facts["parameters"], kernel.sha256,
                                     facts.value("shared_bytes", int64_t{0}), facts.value("cluster", int64_t{1})});
    }
  }
  return plan;
}

/// Matches and compiles for each target. Returns the plans' sites by target.
Result<std::map<std::string, int>> add_plans(const BundleFlags& flags, const Source& source,
                                             const std::vector<pass::Pass>& passes, Contents& contents) {
  run::Worker worker({{}, run::Role::Reference, 1, &interrupted(), {}});
  PASSNET_TRY_VOID(worker.start());
  PASSNET_TRY_VOID(run::start_up(worker));
  std::map<std::string, int> sites;
  std::set<std::string> applied;
  for (const std::string& target : flags.targets) {
    PASSNET_TRY(const std::string architecture, bundle::architecture_of(target));
    run::PassRunOptions how;
    how.timeout = std::chrono::milliseconds(static_cast<int64_t>(kDefaultTimeoutS * 1000));
    how.on_gpu = bundle::is_gpu(target);
    how.build.interrupted = &interrupted();
    PASSNET_TRY(const run::GraphBuild made, run::build_graph(worker, source.graph, passes, how, architecture));
    sites[target] = made.sites;
    for (const size_t pass : made.pass_of_list) applied.insert(passes[pass].name);
    PASSNET_TRY(bundle::Plan plan, plan_of(target, made, contents));
    if (made.sites > 0) contents.manifest.plans.push_back(std::move(plan));
  }
  contents.manifest.passes.assign(applied.begin(), applied.end());
  return sites;
}

Result<void> make_bundle(const BundleFlags& flags) {
  for (const std::string& target : flags.targets) PASSNET_TRY_VOID(bundle::architecture_of(target));
  PASSNET_TRY(const Source source, find_source(flags));
  PASSNET_TRY(const graphdir::GraphDir graph, graphdir::load_graph_dir(source.graph));
  std::vector<pass::Pass> passes;
  if (!source.passes.empty()) {
    PASSNET_TRY(passes, pass::load_passes(source.passes, {flags.allow_library, &interrupted()}));
  }
  Contents contents;
  contents.manifest.graph = source.name;
  contents.manifest.passnet = kVersion;
  contents.manifest.torch = kTorchVersion;
  PASSNET_TRY_VOID(add_files(source, passes, contents));
  if (!flags.weights.empty()) PASSNET_TRY_VOID(contents.add_weights(flags.weights, graph));
  std::map<std::string, int> sites;
  if (!passes.empty()) {
    PASSNET_TRY(sites, add_plans(flags, source, passes, contents));
  }
  PASSNET_TRY_VOID(bundle::write(flags.out, contents.manifest, contents.parts));
  if (flags.json) {
    print_result(dump(Json{{"bundle", flags.out},
                           {"graph", source.name},
                           {"passes", contents.manifest.passes},
                           {"weights", contents.manifest.weights},
                           {"sites", sites}}) +
                 "\n");
    return {};
  }
  for (const auto& [target, count] : sites) say("{}: {} site{}\n", target, count, count == 1 ? "" : "s");
  say("{}: {} of {}, passes {}\n", flags.out, source.name,
      contents.manifest.weights.empty() ? "graph without weights" : "graph and weights",
      contents.manifest.passes.empty() ? "none" : join(contents.manifest.passes, ", "));
  return {};
}

}  // namespace

void add_bundle(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<BundleFlags>();
  CLI::App* command = app.add_subcommand("bundle", "put a graph, its passes and compiled kernels into one file");
  command->add_option("SOURCE", flags->source, "graph directory, sample, or run that judged one")->required();
  command->add_option("--graph", flags->graph, "which graph of the sample or run")->type_name("NAME");
  command
      ->add_option("--passes", flags->passes,
                   "passes in place of those of the sample: pass_dir, or a directory with one")
      ->type_name("DIR");
  command->add_option("--weights", flags->weights, "put these inputs into the bundle, by their names in forward")
      ->type_name("F.safetensors");
  command
      ->add_option("--for", flags->targets,
                   "processor that kernels are compiled for, again for each: cpu (this machine's), x86-64-v3 (AVX2), "
                   "x86-64-v4 (AVX-512), or a GPU such as sm_90")
      ->capture_default_str();
  add_out_option(*command, flags->out, "the bundle to write")->required();
  add_library_flag(*command, flags->allow_library);
  add_json_flag(*command, flags->json);
  command->footer("Example:  passnet bundle samples/gpt2_gelu --graph GRAPH --for x86-64-v3 -o model.passnet");
  command->callback([flags, &exit_code] {
    catch_interrupts();
    exit_code = finish(make_bundle(*flags));
  });
}

}  // namespace passnet::cli
