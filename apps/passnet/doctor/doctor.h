// What this machine has of what PassNet uses, what is missing, and the command that would install it.
// Every finding is looked for, not assumed: the compiler compiles a kernel, the worker is started and
// answers.
#pragma once

#include <string>
#include <vector>

#include "base/json/json.h"
#include "run/evaluate/evaluate_options.h"

namespace passnet::cli {

struct Finding {
  enum class Mark { Ok, Warn, Missing };
  std::string topic = {};  // "compiler"
  Mark mark = Mark::Ok;
  std::string found = {};  // "g++ 12.2.0; compiled a kernel in 0.31 s"
  std::string fix = {};    // the command that installs or mends it; empty when nothing is to be done
  bool required = false;   // evaluating on the CPU does not work without it
};

/// In the order in which they are shown. Takes a second or two: programs are run.
std::vector<Finding> examine_machine();

/// True when nothing that is required is missing.
bool can_evaluate(const std::vector<Finding>& findings);

/// A line per finding, its fix below it, and what follows from all of them.
std::string render(const std::vector<Finding>& findings);
/// {"evaluate_on_cpu": true, "findings": [{"topic", "mark", "found", "fix", "required"}, …]}
Json to_json(const std::vector<Finding>& findings);

// The findings one by one; doctor_machine.cpp and doctor_tools.cpp.
Finding examine_processor();
Finding examine_memory();
Finding examine_disk();
Finding examine_clock();
Finding examine_shared_memory();
Finding examine_gpu();
Finding examine_compiler();
Finding examine_triton();
Finding examine_python();
Finding examine_worker();
Finding examine_sandbox();

/// Measures what evaluations with so many threads (0: as many as they use), or on that GPU, are held against, and keeps it
/// for them. Waits for evaluations that run. like: the GPU, and how to wait.
Finding calibrate_machine(int threads, const run::EvaluateOptions& like);

}  // namespace passnet::cli
