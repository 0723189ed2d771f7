// passnet doctor: what of this machine can be used, and what to install.
#include "command.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "doctor/doctor.h"
#include "options.h"
#include "run/worker/worker.h"

namespace passnet::cli {

void add_doctor(CLI::App& app, int& exit_code) {
  struct Flags {
    bool json = false, calibrate = false;
    int threads = 0;
    std::string device = "cpu";
    run::EvaluateOptions evaluate;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand("doctor", "show which features this machine supports, and what to install");
  add_json_flag(*command, flags->json);
  CLI::Option* calibrate =
      command->add_flag("--calibrate", flags->calibrate,
                        "measure and store the machine's bandwidth, speed of products, launch times and "
                        "cache sizes; times shorter than these allow are unranked");
  command->add_option("--threads", flags->threads, "threads to measure with; default: as many as evaluations use")
      ->check(integer_in(1, 1024))
      ->needs(calibrate);
  add_device_option(*command, flags->device)->needs(calibrate);
  add_wait_options(*command, flags->evaluate);
  command->get_option("--wait")->needs(calibrate);
  command->footer("0: evaluating on the CPU works; 4: something it needs is missing.\n\nExample:  passnet doctor");
  command->callback([flags, &exit_code] {
    const Result<std::optional<int>> gpu = run::parse_device(flags->device);
    if (!gpu) {
      exit_code = report_error(gpu.error());
      return;
    }
    flags->evaluate.gpu = *gpu;
    std::vector<Finding> findings = examine_machine();
    if (flags->calibrate) findings.push_back(calibrate_machine(flags->threads, flags->evaluate));
    if (flags->json)
      say("{}\n", dump(to_json(findings)));
    else
      print_result(render(findings));
    exit_code = can_evaluate(findings) ? kOk : kResource;
  });
}

}  // namespace passnet::cli
