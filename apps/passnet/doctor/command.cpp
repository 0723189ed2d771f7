// passnet doctor: what of this machine can be used, and what to install.
#include "command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "doctor/doctor.h"
#include "options.h"

namespace passnet::cli {

void add_doctor(CLI::App& app, int& exit_code) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("doctor", "what of this machine can be used, and what to install");
  add_json_flag(*command, *json);
  command->footer("0: evaluating on the CPU works; 4: something it needs is missing.\n\nExample:  passnet doctor");
  command->callback([json, &exit_code] {
    const std::vector<Finding> findings = examine_machine();
    if (*json)
      say("{}\n", dump(to_json(findings)));
    else
      print_result(render(findings));
    exit_code = can_evaluate(findings) ? kOk : kResource;
  });
}

}  // namespace passnet::cli
