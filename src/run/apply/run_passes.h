// One graph rewritten by passes and run once, as `passnet run --pass` does: without a sample, a record or a clock.
#pragma once

#include <chrono>
#include <vector>

#include "pass/source.h"
#include "run/apply/passes.h"
#include "run/worker/requests.h"

namespace passnet::run {

struct PassRunOptions {
  std::chrono::milliseconds timeout{60000};  // for one request to a worker, and for matching and planning
  bool on_gpu = false;
  rewrite::MatchOptions match = {};
  pass::BuildOptions build = {};
  bool limited_plans = true;  // pass::PlanOptions
  /// Types are inferred from these records; null: one call on the inputs that are set tells them.
  const graphdir::Metas* metas = nullptr;
};

struct PassRun {
  Outputs outputs;
  std::vector<record::PassOutcome> passes;  // what was replaced and what declined
};

/// reference: where plans see the shapes that come; `graph` is loaded there as `id`, with `inputs`. candidate: runs the
/// rewritten graph, its kernels on poisoned and fenced memory. A graph whose sites were all declined runs as it is.
/// Errors: as a record would hold it: "no-match", "bad-pass", "crash", …
Result<PassRun> run_with_passes(Worker& reference, const std::string& id, Worker& candidate, const ir::Graph& graph,
                                const Bundle& inputs, const std::vector<pass::Pass>& passes,
                                const PassRunOptions& options);

/// Puts the line of Name.cpp into an error that tells where the kernel's code was; others stay as they are.
/// kernels: those of `rewritten`, as build_kernels gave them.
Error with_source_line(Error error, const Rewritten& rewritten, const std::vector<pass::Pass>& passes,
                       const std::vector<std::vector<pass::BuiltKernel>>& kernels);

/// What `apply_passes` gave, or why not: a trace that failed as the worker said it, or "no-match" with the nearest
/// misses.
/// reference: `graph` is loaded there as `id`, with its inputs; what passes make of it is loaded as kTracedId.
Result<Rewritten> rewrite_or_fail(Worker& reference, const std::string& id, const ir::Graph& graph,
                                  const std::vector<pass::Pass>& passes, const PassRunOptions& options,
                                  std::vector<record::PassOutcome>& outcomes);
/// Errors: "no-match" with the nearest misses, where no pass found a site.
Result<void> require_match(const std::vector<record::PassOutcome>& outcomes);
inline constexpr const char* kTracedId = "traced";

}  // namespace passnet::run
