// passnet export --inductor: passes as a Python module for Inductor (docs/bundles.md).

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "base/text/strings.h"
#include "bundle/target.h"
#include "command.h"
#include "options.h"
#include "ship/inductor_module.h"

namespace passnet::cli {

namespace {

struct ExportFlags {
  std::vector<std::filesystem::path> samples;
  std::string target{bundle::kThisCpu}, out;
  bool inductor = false, json = false;
};

Result<void> export_passes(const ExportFlags& flags) {
  PASSNET_TRY(const ship::InductorModule module,
              ship::make_inductor_module(flags.samples, flags.target, interrupted()));
  PASSNET_TRY_VOID(write_file(flags.out, module.text));
  if (flags.json)
    print_result(dump(Json{{"module", flags.out}, {"passes", module.passes}, {"patterns", module.patterns}}) + "\n");
  else
    say("{}: {}\n", flags.out, counted(module.patterns, "pattern"));
  return {};
}

}  // namespace

void add_export(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<ExportFlags>();
  CLI::App* command = app.add_subcommand("export", "write passes as a Python module for another compiler");
  command
      ->add_option("SAMPLE", flags->samples,
                   "samples with their passes, for the inputs of whose graphs kernels are made")
      ->required();
  command->add_flag("--inductor", flags->inductor, "for torch.compile's Inductor: patterns, operators and kernels")
      ->required();
  command
      ->add_option(
          "--for", flags->target,
          "processor that kernels are compiled for: cpu (this machine's), x86-64-v3, x86-64-v4, or a GPU such as sm_90")
      ->capture_default_str();
  add_out_option(*command, flags->out, "the module to write")->required();
  add_json_flag(*command, flags->json);
  command->footer("Example:  passnet export samples/vit_add_layer_norm --inductor -o add_layer_norm.py");
  command->callback([flags, &exit_code] {
    catch_interrupts();
    exit_code = finish(export_passes(*flags));
  });
}

}  // namespace passnet::cli
