// passnet bundle: one file with a graph, its passes, and kernels compiled for chosen processors (docs/bundles.md).

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/text/strings.h"
#include "bundle/target.h"
#include "command.h"
#include "options.h"
#include "ship/write_bundle.h"

namespace passnet::cli {

namespace {

struct BundleFlags {
  std::string source, graph, passes, weights, out;
  std::vector<std::string> targets{std::string(bundle::kThisCpu)};
  bool allow_library = false, json = false;
};

Result<void> make_bundle(const BundleFlags& flags) {
  PASSNET_TRY(const ship::Source source, ship::find_source(flags.source, flags.graph, flags.passes));
  PASSNET_TRY(
      const ship::MadeBundle made,
      ship::write_bundle(flags.out, source, {flags.targets, flags.weights, flags.allow_library, interrupted()}));
  if (flags.json) {
    print_result(dump(Json{{"bundle", flags.out},
                           {"graph", source.name},
                           {"passes", made.manifest.passes},
                           {"weights", made.manifest.weights},
                           {"sites", made.sites}}) +
                 "\n");
    return {};
  }
  for (const auto& [target, count] : made.sites) say("{}: {}\n", target, counted(static_cast<size_t>(count), "site"));
  say("{}: {} of {}, passes {}\n", flags.out,
      made.manifest.weights.empty() ? "graph without weights" : "graph and weights", source.name,
      made.manifest.passes.empty() ? "none" : join(made.manifest.passes, ", "));
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
