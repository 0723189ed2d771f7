#include "run_bundle.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/version.h"
#include "bundle/target.h"
#include "command.h"
#include "fx/syntax/parser.h"
#include "pass/kernel/check/elf_check.h"
#include "pass/plan/launch_list.h"
#include "wire/bundle.h"

namespace passnet::cli {

namespace {

/// Writes the parts that a run needs. Errors: Io; BadPass: see open_bundle().
Result<void> unpack(OpenBundle& open) {
  const bundle::Bundle& bundle = open.bundle;
  open.graph = open.directory.path() / "graph";
  for (const char* name : {"graph/model.py", "graph/weight_meta.py", "graph/input_meta.py"}) {
    if (const wire::Entry* const part = bundle.find(name))
      PASSNET_TRY_VOID(write_file(open.directory.path() / name, bundle.bytes(*part)));
  }
  if (open.plan == nullptr) return {};
  for (const std::vector<pass::KernelFile>& of_list : open.plan->kernels) {
    for (const pass::KernelFile& kernel : of_list) {
      const std::string_view object = bundle.bytes(*bundle.find(kernel.object));
      const bool is_named = kernel.entry.starts_with(pass::kRunPrefix);
      const std::string name = is_named ? kernel.entry.substr(pass::kRunPrefix.size()) : kernel.entry;
      PASSNET_TRY_VOID(pass::check_object(object, name));
      PASSNET_TRY_VOID(write_file(open.directory.path() / (kernel.sha256 + ".so"), object));
    }
  }
  return {};
}

}  // namespace

const wire::Entry* OpenBundle::weight(const std::string& input) const {
  return bundle.find(std::string(bundle::kWeights) + input);
}

Result<std::optional<OpenBundle>> open_bundle(const fs::path& path) {
  if (!path_exists(path) || directory_exists(path) || path.extension() == ".py") return std::optional<OpenBundle>();
  Result<bundle::Bundle> bundle = bundle::read(path);
  // A file of another name is most likely meant as a graph, and the reader of graphs says what is wrong with it.
  if (!bundle && path.extension() != ".passnet") return std::optional<OpenBundle>();
  if (!bundle) return bundle.error();
  PASSNET_TRY(TemporaryDirectory directory, TemporaryDirectory::make("passnet-bundle-"));
  OpenBundle open{std::move(directory), std::move(*bundle), {}};
  std::string why;
  open.plan = bundle::choose_plan(open.bundle.manifest, kTorchVersion, why);
  if (open.plan == nullptr && !open.bundle.manifest.plans.empty())
    say_error("the graph runs without passes: {}\n", why);
  PASSNET_TRY_VOID(unpack(open));
  return std::optional<OpenBundle>(std::move(open));
}

Result<run::Bundle> seal_inputs(std::vector<wire::Entry> entries, std::span<const std::byte* const> sources) {
  run::Bundle made;
  made.entries = std::move(entries);
  made.size_bytes = wire::lay_out(made.entries);
  PASSNET_TRY(made.fd, wire::create_memory("the inputs", made.size_bytes));
  {
    PASSNET_TRY(const wire::Mapping memory, wire::Mapping::map(made.fd.get(), made.size_bytes, true));
    for (size_t i = 0; i < sources.size(); ++i)
      std::copy_n(sources[i], made.entries[i].size_bytes(), memory.data() + made.entries[i].offset);
  }
  PASSNET_TRY_VOID(wire::seal(made.fd.get()));
  return made;
}

Result<run::Bundle> with_weights(run::Bundle inputs, const OpenBundle& bundle) {
  PASSNET_TRY(const wire::Mapping before, wire::Mapping::map(inputs.fd.get(), inputs.size_bytes, false));
  std::vector<const std::byte*> sources;
  for (const wire::Entry& entry : inputs.entries) {
    const wire::Entry* const weight = bundle.weight(entry.name);
    sources.push_back(weight != nullptr ? bundle.bundle.file.memory.data() + weight->offset
                                        : before.data() + entry.offset);
  }
  return seal_inputs(std::move(inputs.entries), sources);
}

Result<void> load_plan(run::Worker& candidate, const std::string& id, const OpenBundle& bundle,
                       std::chrono::milliseconds timeout) {
  const bundle::Plan& plan = *bundle.plan;
  PASSNET_TRY(const ir::Graph graph,
              fx::parse_model("the bundle's plan", std::make_shared<const std::string>(plan.model)));
  PASSNET_TRY(const std::vector<pass::LaunchList> launches, pass::launch_lists_from_json(*plan.lists));
  std::vector<std::vector<pass::BuiltKernel>> kernels;
  for (const std::vector<pass::KernelFile>& of_list : plan.kernels) {
    kernels.emplace_back();
    for (const pass::KernelFile& kernel : of_list) {
      kernels.back().push_back(
          {bundle.directory.path() / (kernel.sha256 + ".so"), kernel.entry, kernel.parameters, kernel.sha256});
    }
  }
  const Result<int64_t> loaded = run::load_graph(candidate, id, graph, launches, kernels, timeout);
  return loaded ? Result<void>() : Result<void>(loaded.error());
}

}  // namespace passnet::cli
