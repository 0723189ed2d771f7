#include "ship/write_bundle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/json/json.h"
#include "base/text/strings.h"
#include "base/version.h"
#include "bundle/target.h"
#include "fx/print.h"
#include "graphdir/sample.h"
#include "pass/source.h"
#include "ship/target_builder.h"

namespace passnet::ship {

namespace {

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
  bundle::Plan plan{target, target == bundle::kThisCpu ? bundle::this_processor() : "", fx::print_model(made.graph)};
  plan.lists = pass::to_json(made.built.lists);
  for (const std::vector<pass::BuiltKernel>& of_list : made.built.kernels) {
    plan.kernels.emplace_back();
    for (const pass::BuiltKernel& kernel : of_list) {
      const std::string part = fmt::format("kernels/{}{}", kernel.sha256, kernel.object.extension().string());
      PASSNET_TRY(std::string bytes, read_file(kernel.object, FileKind::Object));
      contents.add(part, std::move(bytes));
      pass::KernelFile& file = plan.kernels.back().emplace_back(kernel.file());
      file.object = part;
      if (!kernel.triton) file.shared_bytes = 0, file.cluster = 1;
    }
  }
  return plan;
}

/// Matches and compiles for each target. Returns the plans' sites by target.
Result<std::map<std::string, int>> add_plans(const BundleOptions& options, const Source& source,
                                             const std::vector<pass::Pass>& passes, Contents& contents) {
  PASSNET_TRY(TargetBuilder builder, TargetBuilder::start(options.interrupted));
  std::map<std::string, int> sites;
  std::set<std::string> applied;
  for (const std::string& target : options.targets) {
    PASSNET_TRY(const run::GraphBuild made, builder.build(source.graph, passes, target));
    sites[target] = made.sites;
    for (const size_t pass : made.pass_of_list) applied.insert(passes[pass].name);
    PASSNET_TRY(bundle::Plan plan, plan_of(target, made, contents));
    if (made.sites > 0) contents.manifest.plans.push_back(std::move(plan));
  }
  contents.manifest.passes.assign(applied.begin(), applied.end());
  return sites;
}

}  // namespace

Result<MadeBundle> write_bundle(const fs::path& out, const Source& source, const BundleOptions& options) {
  for (const std::string& target : options.targets) PASSNET_TRY_VOID(bundle::architecture_of(target));
  PASSNET_TRY(const graphdir::GraphDir graph, graphdir::load_graph_dir(source.graph));
  std::vector<pass::Pass> passes;
  if (!source.passes.empty()) {
    PASSNET_TRY(passes, pass::load_passes(source.passes, {options.allow_library, &options.interrupted}));
  }
  Contents contents;
  contents.manifest.graph = source.name;
  contents.manifest.passnet = kVersion;
  contents.manifest.torch = kTorchVersion;
  PASSNET_TRY_VOID(add_files(source, passes, contents));
  if (!options.weights.empty()) PASSNET_TRY_VOID(contents.add_weights(options.weights, graph));
  std::map<std::string, int> sites;
  if (!passes.empty()) {
    PASSNET_TRY(sites, add_plans(options, source, passes, contents));
  }
  PASSNET_TRY_VOID(bundle::write(out, contents.manifest, contents.parts));
  return MadeBundle{std::move(contents.manifest), std::move(sites)};
}

}  // namespace passnet::ship
