// passnet doctor: what of this machine can be used, and what to install.
#include "doctor.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"

namespace passnet::cli {

namespace {

const char* name(Finding::Mark mark) {
  switch (mark) {
    case Finding::Mark::Ok:
      return "ok";
    case Finding::Mark::Warn:
      return "warn";
    case Finding::Mark::Missing:
      return "missing";
  }
  return "unknown";
}

}  // namespace

std::vector<Finding> examine_machine() {
  return {examine_processor(), examine_memory(), examine_disk(),    examine_clock(),  examine_shared_memory(),
          examine_compiler(),  examine_worker(), examine_sandbox(), examine_python(), examine_gpu()};
}

bool can_evaluate(const std::vector<Finding>& findings) {
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding& it) { return it.required && it.mark == Finding::Mark::Missing; });
}

std::string render(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{:<8} {:<14} {}\n", name(finding.mark), finding.topic, finding.found);
    if (!finding.fix.empty()) text += fmt::format("{:<8} {:<14} -> {}\n", "", "", finding.fix);
  }
  return text + (can_evaluate(findings)
                     ? "\nEvaluating passes on the CPU works here.\n"
                     : "\nEvaluating passes on the CPU does not work here: see what is missing above.\n");
}

Json to_json(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"topic", finding.topic},
                    {"mark", name(finding.mark)},
                    {"found", finding.found},
                    {"fix", finding.fix},
                    {"required", finding.required}});
  }
  return {{"evaluate_on_cpu", can_evaluate(findings)}, {"findings", list}};
}

void add_doctor(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("doctor", "What of this machine can be used, and what to install");
  command->footer(
      "Example:  passnet doctor\nExit code 0: evaluating passes on the CPU works here; 4: it does not.");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "one JSON object on stdout");
  command->callback([json, &exit_code] {
    const std::vector<Finding> findings = examine_machine();
    fmt::print("{}", *json ? to_json(findings).dump() + "\n" : render(findings));
    exit_code = can_evaluate(findings) ? kOk : kResource;
  });
}

}  // namespace passnet::cli
