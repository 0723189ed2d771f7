// The list of findings, and how it is shown.
#include "doctor/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace passnet::cli {

namespace {

const char* name(Finding::Mark mark) {
  switch (mark) {
    case Finding::Mark::Ok: return "ok";
    case Finding::Mark::Warn: return "warn";
    case Finding::Mark::Missing: return "missing";
  }
  return "unknown";
}

}  // namespace

std::vector<Finding> examine_machine() {
  return {examine_processor(),     examine_memory(),   examine_disk(),   examine_clock(),
          examine_shared_memory(), examine_compiler(), examine_worker(), examine_sandbox(),
          examine_python(),        examine_triton(),   examine_gpu()};
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

}  // namespace passnet::cli
