#include "record/provenance.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text/strings.h"
#include "record/record.h"

namespace passnet::record {

namespace {

using Kind = Difference::Kind;

void add_files(const Provenance::Hashes& then, const Provenance::Hashes& now, Kind kind, const char* prefix,
               std::vector<Difference>& found) {
  for (const auto& [name, hash] : then) {
    const auto same = now.find(name);
    if (same == now.end())
      found.push_back({kind, fmt::format("{}{} is gone", prefix, name)});
    else if (same->second != hash)
      found.push_back({kind, fmt::format("{}{} changed", prefix, name)});
  }
  for (const auto& [name, hash] : now) {
    if (!then.contains(name)) found.push_back({kind, fmt::format("{}{} is new", prefix, name)});
  }
}

template <class T>
void add_option(const char* flag, const T& then, const T& now, std::vector<Difference>& found) {
  if (then != now) found.push_back({Kind::Option, fmt::format("--{} {}, was {}", flag, now, then)});
}

void add_options(const RunOptions& then, const RunOptions& now, std::vector<Difference>& found) {
  const auto on_off = [](bool on) { return std::string_view(on ? "on" : "off"); };
  const auto sides = [](const RunOptions& options) {
    return fmt::format("{},{}", options.compiler, options.baseline.empty() ? "eager" : options.baseline);
  };
  add_option("sides", sides(then), sides(now), found);
  add_option("device", then.device, now.device, found);
  add_option("cuda-graph", then.cuda_graph, now.cuda_graph, found);
  add_option("threads", then.threads, now.threads, found);
  add_option("seed", then.seed, now.seed, found);
  add_option("warmup", then.warmup, now.warmup, found);
  add_option("trials", then.trials, now.trials, found);
  add_option("timeout", then.timeout_s, now.timeout_s, found);
  const auto matching = [](const RunOptions& options) {
    return std::string_view(options.strict ? "strict" : options.generalize ? "generalize" : "usual");
  };
  add_option("matching", matching(then), matching(now), found);
  add_option("allow-library", on_off(then.allow_library), on_off(now.allow_library), found);
  const auto text = [](const std::string& given, const char* none) { return given.empty() ? none : given; };
  const auto limit = [](std::optional<int> given) { return given ? fmt::format("{}", *given) : std::string("none"); };
  const auto host_code = [&](const RunOptions& options) {
    return options.host_code == kFallbackHostCode ? "fallback" : text(options.host_code, "read");
  };
  add_option("host-code", std::string(host_code(then)), std::string(host_code(now)), found);
  add_option("input-pass-dir", text(then.input_pass_dir, "none"), text(now.input_pass_dir, "none"), found);
  add_option("pass-order", text(join(then.pass_order, ","), "as listed"), text(join(now.pass_order, ","), "as listed"),
             found);
  add_option("pass-pattern-limit", limit(then.pass_pattern_limit), limit(now.pass_pattern_limit), found);
  add_option("pass-replacement-func-limit", limit(then.pass_function_limit), limit(now.pass_function_limit), found);
  add_option("without", join(then.without, ","), join(now.without, ","), found);
}

void add_versions(const std::map<std::string, std::string>& then, const std::map<std::string, std::string>& now,
                  std::vector<Difference>& found) {
  const auto text_of = [](const std::map<std::string, std::string>& versions, const std::string& name) {
    const auto known = versions.find(name);
    return known == versions.end() ? std::string("unknown") : quoted(known->second, 200);
  };
  std::map<std::string, std::string> names = then;
  names.insert(now.begin(), now.end());
  for (const auto& [name, ignored] : names) {
    const std::string before = text_of(then, name), after = text_of(now, name);
    if (before != after) found.push_back({Kind::Version, fmt::format("{} {}, was {}", name, after, before)});
  }
}

}  // namespace

std::vector<Difference> differences(const Provenance& then, const Provenance& now) {
  std::vector<Difference> found;
  add_files(then.graph, now.graph, Kind::Graph, "", found);
  add_files(then.passes, now.passes, Kind::Pass, "pass ", found);
  add_files(then.kernels, now.kernels, Kind::Kernel, "kernel ", found);
  add_options(then.options, now.options, found);
  add_versions(then.versions, now.versions, found);
  return found;
}

bool is_environment_failure(const RunRecord& record) {
  static constexpr std::array<std::string_view, 3> kKinds = {"resource", "io", "killed"};
  return std::find(kKinds.begin(), kKinds.end(), record.error_kind) != kKinds.end();
}

std::vector<std::string> reasons_to_repeat(const RunRecord& record, const Provenance& now) {
  if (is_environment_failure(record))
    return {fmt::format("it ended with '{}' for reasons outside the pass", record.error_kind)};
  if (!record.provenance) return {"its record does not say what it was made of"};
  Provenance then = *record.provenance;
  if (record.error_kind != "timeout") then.options.timeout_s = now.options.timeout_s;
  std::vector<std::string> reasons;
  for (Difference& difference : differences(then, now)) reasons.push_back(std::move(difference.text));
  return reasons;
}

}  // namespace passnet::record
