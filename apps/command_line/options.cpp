#include "options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <span>

#include "base/processors.h"
#include "base/text/parse_number.h"
#include "base/text/strings.h"
#include "base/usage.h"
#include "command.h"
#include "report/progress.h"
#include "run/worker/worker.h"

namespace passnet::cli {

namespace {

// Slots of a GPU where none are given, and the processors for them.
constexpr int kUsualOverlap = 4;
constexpr size_t kForOverlap = 8;

// The wording of --json in every command; docs/json.md and its schemas say what each prints.
constexpr const char* kJsonText = "print JSON on stdout (docs/json.md)";

std::string& color_choice() {
  static std::string choice = "auto";
  return choice;
}

// in_help: what stands behind the type, as in "INT:1..128".
template <class Check>
CLI::Validator validator(Check check, std::string in_help) {
  return CLI::Validator([check](std::string& text) -> std::string { return check(text); }, std::move(in_help));
}

}  // namespace

CLI::Option* add_json_flag(CLI::App& command, bool& json) { return command.add_flag("--json", json, kJsonText); }

CLI::Option* add_out_option(CLI::App& command, std::string& out, const std::string& what) {
  return command.add_option("-o,--out", out, what);
}

CLI::Option* add_out_option(CLI::App& command, std::filesystem::path& out, const std::string& what) {
  return command.add_option("-o,--out", out, what);
}

CLI::Option* add_jobs_option(CLI::App& command, int& jobs, const std::string& what) {
  jobs = kDefaultJobs;
  return command.add_option("-j,--jobs", jobs, what)->check(integer_in(1, 128))->capture_default_str();
}

void add_slot_options(CLI::App& command, run::SlotCount& slots, const std::string& what) {
  slots.per_gpu = 0;
  add_jobs_option(command, slots.gpus, what + " at a time, each on its own GPU: --device and the following ones");
  command
      .add_option("--overlap", slots.per_gpu,
                  what + " at a time on each GPU: one is timed alone while the others are prepared")
      ->check(integer_in(1, 16))
      ->default_str(fmt::format("{} on a GPU with {} processors or more, else 1", kUsualOverlap, kForOverlap));
}

void add_wait_options(CLI::App& command, run::EvaluateOptions& options) {
  std::string name = command.get_name();
  for (const CLI::App* above = command.get_parent(); above != nullptr; above = above->get_parent())
    name = above->get_name() + " " + name;
  options.command = name;
  command
      .add_option("--wait", options.wait_s,
                  "seconds to wait for other runs on this machine; 0: do not wait (exit code 4); default: no limit")
      ->check(number_in(0, 1e9));
}

void say_waiting(const std::string& why) { say_error("waiting: {}\n", why); }

void say_again(const std::string& sample, const std::vector<std::string>& graphs, const std::string& reason) {
  constexpr size_t kNamed = 3;
  const std::span<const std::string> named(graphs.data(), std::min(graphs.size(), kNamed));
  const std::string more = graphs.size() > kNamed ? fmt::format(" and {} more", graphs.size() - kNamed) : "";
  say_error("{}: {}{} again: {}\n", sample, join(named, ", "), more, reason);
}

Result<void> settle_slots(const std::optional<int>& gpu, run::SlotCount& slots) {
  if (!gpu && (slots.gpus > 1 || slots.per_gpu > 1)) {
    const bool jobs = slots.gpus > 1;
    return usage_error(fmt::format("--{} {} on the CPU, expected {}", jobs ? "jobs" : "overlap",
                                   jobs ? slots.gpus : slots.per_gpu, jobs ? "a GPU for each job" : "a GPU to share"))
        .with_hint("--device cuda; on the CPU they would take each other's time");
  }
  if (slots.per_gpu > 0) return {};
  const bool overlaps = gpu && available_processors().size() >= kForOverlap * static_cast<size_t>(slots.gpus);
  slots.per_gpu = overlaps ? kUsualOverlap : 1;
  return {};
}

CLI::Option* add_job_flags(CLI::App& command, JobFlags& flags, int& jobs, const std::string& what,
                           const std::string& items) {
  CLI::Option* const out = add_out_option(command, flags.out, what);
  add_jobs_option(command, jobs, items);
  add_json_flag(command, flags.json);
  return out;
}

void add_resumable_job_flags(CLI::App& command, JobFlags& flags, int& jobs, const std::string& what,
                             const std::string& items) {
  add_job_flags(command, flags, jobs, what, items)->required();
  command.add_flag("--resume", flags.resume, "continue in --out; this is the default of this command");
}

CLI::Option* add_drawn_seed_option(CLI::App& command, std::optional<uint64_t>& seed, const std::string& what) {
  return command.add_option("--seed", seed, what + "; default: a new one for each run, stored in the records")
      ->check(integer_in(0, UINT32_MAX));
}

CLI::Option* add_seed_option(CLI::App& command, uint64_t& seed, const std::string& what) {
  seed = kDefaultSeed;
  return command.add_option("--seed", seed, what)->check(integer_in(0, UINT32_MAX))->capture_default_str();
}

void add_timing_options(CLI::App& command, int& warmup, int& trials) {
  command.add_option("--warmup", warmup, "untimed calls first")->check(integer_in(0, 1000000))->capture_default_str();
  command.add_option("--trials", trials, "timed calls of each side; fewer for calls that take long, at least five")
      ->check(integer_in(1, 1000000))
      ->capture_default_str();
}

CLI::Option* add_timeout_option(CLI::App& command, double& timeout_s, const std::string& what) {
  timeout_s = kDefaultTimeoutS;
  return command.add_option("--timeout", timeout_s, what)->check(number_in(0.1, 86400))->capture_default_str();
}

void add_matching_option(CLI::App& command, bool& strict, bool& generalize) {
  command
      .add_option_function<std::string>(
          "--matching",
          [&strict, &generalize](const std::string& how) {
            strict = how == "strict";
            generalize = how == "generalize";
          },
          "usual: by meaning; strict: literally, as PassBench's tools do; generalize: sizes in patterns match any size")
      ->check(one_of({"usual", "strict", "generalize"}))
      ->default_str("usual");
}

CLI::Option* add_library_flag(CLI::App& command, bool& allow) {
  return command.add_flag("--allow-library", allow,
                          "allow host plans to call PyTorch's operators; such graphs are counted apart");
}

CLI::Option* add_root_option(CLI::App& command, std::string& root) {
  return command
      .add_option("--root", root, "directory that lines of lists are relative to; default: the list's, or one above it")
      ->envname("PASSNET_ROOT");
}

void add_shard_option(CLI::App& command, Shard& shard, const std::string& items) {
  const auto parse = [&shard](const std::string& text) {
    const Result<Shard> parsed = parse_shard(text, [](const char* name) {
      const char* const value = std::getenv(name);
      return std::string(value == nullptr ? "" : value);
    });
    if (!parsed) throw CLI::ValidationError("--shard", parsed.error().message);
    shard = *parsed;
  };
  command.add_option_function<std::string>(
      "--shard", parse,
      fmt::format("part I/N of the {}, by the hash of their names; auto: by the task of a Slurm array; auto/N: also by "
                  "JOB_COMPLETION_INDEX",
                  items));
}

void say_empty_shard(const Shard& shard, size_t total, const std::string& item) {
  say_error("shard {} holds none of {}\n", to_string(shard), counted(total, item));
}

CLI::Option* add_device_option(CLI::App& command, std::string& device) {
  const auto is_device = [](const std::string& text) -> std::string {
    if (run::parse_device(text)) return "";
    const std::string_view near = nearest_name(text, std::vector<std::string_view>{"cpu", "cuda"});
    const bool gpu = text == "gpu" || text.starts_with("gpu:");
    const std::string meant = gpu ? "cuda" + text.substr(3) : std::string(near);
    return fmt::format("expected cpu, cuda or cuda:N, found {}{}", quoted(text),
                       meant.empty() || !run::parse_device(meant) ? "" : fmt::format("; did you mean '{}'?", meant));
  };
  return command.add_option("--device", device, "cpu, cuda or cuda:N")
      ->check(validator(is_device, ""))
      ->capture_default_str();
}

void group_options(CLI::App& command, const std::vector<OptionGroup>& groups) {
  for (const OptionGroup& group : groups) {
    for (const char* name : group.options) command.get_option(name)->group(group.name);
  }
}

void add_host_code_options(CLI::App& command, run::HostCode& host_code) {
  command
      .add_option_function<std::string>(
          "--host-code",
          [&host_code](const std::string& where) {
            host_code = where == "python"     ? run::HostCode::Python
                        : where == "fallback" ? run::HostCode::Fallback
                                              : run::HostCode::Read;
          },
          "read: parse host code and never run it; fallback: run what cannot be read in a confined Python, unranked; "
          "python: run all of it there")
      ->check(one_of({"read", "fallback", "python"}))
      ->default_str("read");
}

CLI::Validator integer_in(int64_t low, int64_t high) {
  return validator(
      [low, high](const std::string& text) -> std::string {
        const std::optional<int64_t> value = parse_number<int64_t>(text);
        if (value && *value >= low && *value <= high) return "";
        return fmt::format("expected an integer {}..{}, found {}", low, high, quoted(text));
      },
      fmt::format("{}..{}", low, high));
}

CLI::Validator number_in(double low, double high) {
  return validator(
      [low, high](const std::string& text) -> std::string {
        char* stop = nullptr;
        const double value = std::strtod(text.c_str(), &stop);
        if (!text.empty() && stop == text.c_str() + text.size() && value >= low && value <= high) return "";
        return fmt::format("expected a number {:g}..{:g}, found {}", low, high, quoted(text));
      },
      fmt::format("{:g}..{:g}", low, high));
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  return validator(
      [words](const std::string& text) -> std::string {
        if (std::find(words.begin(), words.end(), text) != words.end()) return "";
        return fmt::format("expected {}, found {}", fmt::join(words, ", "), quoted(text));
      },
      fmt::format("{{{}}}", fmt::join(words, ",")));
}

bool use_color() {
  if (color_choice() != "auto") return color_choice() == "always";
  const char* const refused = std::getenv("NO_COLOR");  // no-color.org: set and not empty
  return (refused == nullptr || *refused == 0) && ::isatty(STDOUT_FILENO) == 1;
}

void add_common_options(CLI::App& app) {
  const std::string footer = app.get_footer();
  app.footer(footer.empty() ? std::string(kExitCodesText) : fmt::format("{}\n\n{}", footer, kExitCodesText));
  app.add_flag_callback(
      "-q,--quiet", [] { report::set_quiet(true); }, "no progress and no hints on stderr");
  app.add_option("--color", color_choice(), "colors: auto (on a terminal, unless NO_COLOR is set), always, never")
      ->check(one_of({"auto", "always", "never"}));
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) add_common_options(*command);
}

}  // namespace passnet::cli
