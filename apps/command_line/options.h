// Flags that several commands have, each with one spelling, one wording, one default and one check; and what all
// commands have. CLI11's types are only named here: a .cpp file that uses what is returned includes <CLI/CLI.hpp>.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/shard.h"
#include "run/batch/slots.h"
#include "run/evaluate/evaluate_options.h"
#include "run/evaluate/host_code.h"

namespace CLI {
class App;
class Option;
class ParseError;
class Validator;
}  // namespace CLI

namespace passnet::cli {

// The defaults, the same in every command.
inline constexpr int kDefaultJobs = 1;
inline constexpr uint64_t kDefaultSeed = 1024;
inline constexpr double kDefaultTimeoutS = 120;

/// --json
CLI::Option* add_json_flag(CLI::App& command, bool& json);
/// -o, --out. what: "directory for the dataset"
CLI::Option* add_out_option(CLI::App& command, std::string& out, const std::string& what);
CLI::Option* add_out_option(CLI::App& command, std::filesystem::path& out, const std::string& what);
/// -j, --jobs: set to the default, then 1 to 128. what: "graphs at a time"
CLI::Option* add_jobs_option(CLI::App& command, int& jobs, const std::string& what);
/// What commands that work through many items have. resume is for people: these commands leave out what is done anyway.
struct JobFlags {
  std::string out;
  bool json = false, resume = false;
};
/// --jobs, GPUs, and --overlap. what: "samples"
void add_slot_options(CLI::App& command, run::SlotCount& slots, const std::string& what);
/// --wait, of commands that wait for others on this machine; sets options.command, too.
void add_wait_options(CLI::App& command, run::EvaluateOptions& options);
/// Says on stderr why a command waits: run::Waiting::told.
void say_waiting(const std::string& why);
/// Says on stderr which graphs are evaluated again, "vit: a, b, c and 4 more again: kernel gelu.cpp changed":
/// run::BatchHooks::again.
void say_again(const std::string& sample, const std::vector<std::string>& graphs, const std::string& reason);
/// Decides on slots.per_gpu where it was not given. gpu: the device, none: the CPU. Errors: BadInput: several on the CPU.
Result<void> settle_slots(const std::optional<int>& gpu, run::SlotCount& slots);

/// --out, --jobs and --json. what: "where the lists go"; items: "graphs at a time". Returns --out.
CLI::Option* add_job_flags(CLI::App& command, JobFlags& flags, int& jobs, const std::string& what,
                           const std::string& items);
/// The same of a command that goes on where it was stopped: --out is required, and --resume is understood.
void add_resumable_job_flags(CLI::App& command, JobFlags& flags, int& jobs, const std::string& what,
                             const std::string& items);
/// --seed: set to the default. what: "seed of the split"
CLI::Option* add_seed_option(CLI::App& command, uint64_t& seed, const std::string& what);
/// The same without a default: none given, one comes from the system.
CLI::Option* add_drawn_seed_option(CLI::App& command, std::optional<uint64_t>& seed, const std::string& what);
/// --warmup and --trials, whose values are the defaults.
void add_timing_options(CLI::App& command, int& warmup, int& trials);
/// --timeout in seconds: set to the default, then 0.1 to 86400. what: "time limit of a step of a graph, in seconds"
CLI::Option* add_timeout_option(CLI::App& command, double& timeout_s, const std::string& what);
/// --matching: how patterns match; at most one of the two is set.
void add_matching_option(CLI::App& command, bool& strict, bool& generalize);
/// --allow-library
CLI::Option* add_library_flag(CLI::App& command, bool& allow);
/// --root: what the lines of lists are relative to.
CLI::Option* add_root_option(CLI::App& command, std::string& root);
/// --shard: the part of a command's items that it works through. items: "samples"
void add_shard_option(CLI::App& command, Shard& shard, const std::string& items);
/// Says on stderr that the part holds no item, so that nothing is to be done. total: items of the whole list.
void say_empty_shard(const Shard& shard, size_t total, const std::string& item);
/// --device: cpu, cuda or cuda:N; run::parse_device reads it.
CLI::Option* add_device_option(CLI::App& command, std::string& device);

/// Options of a command under a heading of its help.
struct OptionGroup {
  const char* name;
  std::vector<const char*> options;
};
/// Divides the help of a command with many options. REQUIRES: the command has all of them.
void group_options(CLI::App& command, const std::vector<OptionGroup>& groups);

/// --host-code: where host code of passes runs.
void add_host_code_options(CLI::App& command, run::HostCode& host_code);

// Checks of values that say what was expected and what was found: "expected an integer 1..1000000, found 'abc'".
CLI::Validator integer_in(int64_t low, int64_t high);
CLI::Validator number_in(double low, double high);
CLI::Validator one_of(const std::vector<std::string>& words);

/// To every command below `app`, once all are there: -q/--quiet, --color, and the exit codes at the end of the help.
void add_common_options(CLI::App& app);

/// Prints what is wrong with the command line and what was probably meant; returns kUsage.
int report_usage(const CLI::App& app, const CLI::ParseError& problem);

}  // namespace passnet::cli
