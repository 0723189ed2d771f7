#include "bundle/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/file/file.h"
#include "base/text/strings.h"

namespace passnet::bundle {

std::string this_processor() {
  const std::string all = read_file("/proc/cpuinfo", FileKind::System).value_or("");
  std::string text;
  for (const char* field : {"model name", "flags"}) {
    for (const std::string_view line : split(all, '\n')) {
      if (!line.starts_with(field)) continue;
      text += fmt::format("{}{}", text.empty() ? "" : "; ", trim(line.substr(line.find(':') + 1)));
      break;
    }
  }
  return text;
}

bool is_gpu(std::string_view target) { return target.starts_with("sm_"); }

Result<std::string> architecture_of(const std::string& target) {
  if (target == kThisCpu) return std::string();
  const bool is_number =
      target.size() > 4 && std::ranges::all_of(target.substr(3), [](unsigned char c) { return std::isdigit(c) != 0; });
  if (target == "x86-64-v3" || target == "x86-64-v4" || (is_gpu(target) && is_number)) return target;
  return bad_input(
      fmt::format("target {}, expected 'cpu', 'x86-64-v3', 'x86-64-v4', or a GPU such as 'sm_90'", quoted(target)));
}

bool runs_here(std::string_view target, std::string_view processor) {
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                  __builtin_cpu_supports("bmi2");
  if (target == kThisCpu) return processor == this_processor();
  if (target == "x86-64-v3") return v3;
  return target == "x86-64-v4" && v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

const Plan* choose_plan(const Manifest& manifest, std::string_view torch, std::string& why) {
  if (manifest.torch != torch) {
    why = fmt::format("its passes were judged with torch {}, found {}", manifest.torch, torch);
    return nullptr;
  }
  for (const std::string_view target : {kThisCpu, std::string_view("x86-64-v4"), std::string_view("x86-64-v3")}) {
    for (const Plan& plan : manifest.plans) {
      if (plan.target == target && runs_here(target, plan.processor)) return &plan;
    }
  }
  std::vector<std::string> targets;
  for (const Plan& plan : manifest.plans) targets.push_back(plan.target);
  why = targets.empty() ? "no pass applies to its graph"
                        : fmt::format("its kernels are for {}, not for this processor", join(targets, ", "));
  return nullptr;
}

}  // namespace passnet::bundle
