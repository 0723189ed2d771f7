#include "run/apply/run_passes.h"

#include <fmt/format.h>

#include <optional>

#include "base/file/file.h"
#include "base/log.h"
#include "pass/kernel/line_table.h"
#include "run/apply/build_kernels.h"
#include "run/apply/library_types.h"
#include "run/apply/tune.h"

namespace passnet::run {

Result<Rewritten> rewrite_or_fail(Worker& reference, const std::string& id, const ir::Graph& graph,
                                  const std::vector<pass::Pass>& passes, const PassRunOptions& options,
                                  std::vector<record::PassOutcome>& outcomes) {
  const TraceFn trace = [&](const ir::Graph& traced, const std::vector<pass::LaunchList>& lists) -> Result<Values> {
    const auto values_of = [&](const std::string& loaded) {
      return options.metas != nullptr ? infer_types(reference, loaded, traced, *options.metas, options.timeout)
                                      : trace_graph(reference, loaded, traced, options.timeout);
    };
    // Without a site it is the graph itself, which is there already.
    if (ir::equal(traced, graph)) return values_of(id);
    const auto values = [&]() -> Result<Values> {
      PASSNET_TRY_VOID(load_graph(reference, kTracedId, traced, lists, {}, options.timeout));
      if (options.metas == nullptr) PASSNET_TRY_VOID(share_inputs(reference, kTracedId, id, options.timeout));
      return values_of(kTracedId);
    };
    Result<Values> traced_values = values();
    if (traced_values) return traced_values;
    // What an operator refuses is what a plan returned.
    Error error = std::move(traced_values).error();
    if (const std::string kind = failure_kind(error); kind == "bad-input" || kind == "unsupported")
      error.failure = "bad-rewrite";
    return error;
  };
  GraphBudgets budgets({options.timeout, reference.interrupted()});
  CallTypes types(reference, options.timeout, budgets.planning);
  const pass::PlanOptions plans{options.on_gpu, options.limited_plans,
                                [&](const pass::LibraryCall& call) { return types.of(call); }};
  Result<Rewritten> applied = apply_passes(graph, passes, trace, options.match, plans, budgets);
  log::debug(fmt::format("matching took {} steps, planning {}", budgets.matching.spent(), budgets.planning.spent()));
  if (!applied) return applied;
  outcomes = applied->outcomes;
  if (applied->sites() > 0) return applied;
  PASSNET_TRY_VOID(require_match(outcomes));
  return applied;
}

Result<void> require_match(const std::vector<record::PassOutcome>& outcomes) {
  const auto found = [](const record::PassOutcome& one) { return one.matches > 0 || one.declined > 0; };
  // Who lists no pass leaves every graph as it is.
  if (outcomes.empty() || std::ranges::any_of(outcomes, found)) return {};
  Error error = bad_pass("no pass matched this graph").with_failure("no-match");
  for (const record::PassOutcome& outcome : outcomes) {
    if (!outcome.diagnosis.empty())
      error.notes.push_back(fmt::format("pass '{}': {}", outcome.pass, outcome.diagnosis));
  }
  return error;
}

Error with_source_line(Error error, const Rewritten& rewritten, const std::vector<pass::Pass>& passes,
                       const std::vector<std::vector<pass::BuiltKernel>>& kernels) {
  const std::optional<Error::Code>& code = error.code;
  if (!code || code->list >= kernels.size() || code->launch >= kernels[code->list].size()) return error;
  const Result<std::string> object = read_file(kernels[code->list][code->launch].object, FileKind::Object);
  const auto line = object ? pass::find_kernel_line(*object, code->offset) : std::nullopt;
  if (!line) return error;
  error.at = SourceLoc{passes[rewritten.pass_of_list[code->list]].cpu_source.string(), line->line, 1};
  if (!line->exact) error.notes.push_back("in a function of passnet/kernel.h that is called about there");
  return error;
}

Result<PassRun> run_with_passes(Worker& reference, const std::string& id, Worker& candidate, const ir::Graph& graph,
                                const Bundle& inputs, const std::vector<pass::Pass>& passes,
                                const PassRunOptions& options) {
  PassRun run;
  PASSNET_TRY(const Rewritten rewritten, rewrite_or_fail(reference, id, graph, passes, options, run.passes));
  PASSNET_TRY(const Hello hello, greet(reference, options.timeout));
  pass::BuildOptions build = options.build;
  build.interrupted = reference.interrupted();
  PASSNET_TRY(BuiltLists built, build_kernels(rewritten, passes, build, hello.architecture));
  PASSNET_TRY_VOID(tune(candidate, rewritten.graph, inputs, options.timeout, built));
  PASSNET_TRY_VOID(load_graph(candidate, id, rewritten.graph, built.lists, built.kernels, options.timeout));
  PASSNET_TRY_VOID(set_inputs(candidate, id, inputs, options.timeout));
  Result<Outputs> outputs = run_graph(candidate, id, true, options.timeout);
  if (!outputs) return with_source_line(outputs.error(), rewritten, passes, built.kernels);
  run.outputs = std::move(*outputs);
  return run;
}

}  // namespace passnet::run
