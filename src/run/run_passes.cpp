#include "run/run_passes.h"

#include <fmt/format.h>

#include <optional>

#include "base/file.h"
#include "pass/line_table.h"

namespace passnet::run {

Answer<Rewritten> rewrite_or_fail(Worker& reference, const std::string& id, const ir::Graph& graph, const Bundle& inputs,
                                  const std::vector<pass::Pass>& passes, const PassRunOptions& options,
                                  std::vector<bench::PassOutcome>& outcomes) {
  const auto trace_with = [&](const ir::Graph& traced, const std::vector<pass::LaunchList>& lists) -> Answer<Values> {
    if (auto loaded = load_graph(reference, id, traced, lists, {}, options.timeout); !loaded)
      return tl::unexpected(loaded.error());
    if (auto set = set_inputs(reference, id, inputs, options.timeout); !set) return tl::unexpected(set.error());
    return trace_graph(reference, id, traced, options.timeout);
  };
  // A trace fails as the worker says; the record keeps its kind, so it is carried past apply_passes' Error.
  std::optional<Failure> trace_failure;
  const TraceFn trace = [&](const ir::Graph& traced, const std::vector<pass::LaunchList>& lists) -> Result<Values> {
    Answer<Values> values = trace_with(traced, lists);
    if (values) return std::move(*values);
    trace_failure = values.error();
    // Without a site it is the graph itself that fails; with one, what an operator refuses is what a plan returned.
    const bool refused = trace_failure->kind == "bad-input" || trace_failure->kind == "unsupported";
    if (refused && !lists.empty()) trace_failure->kind = "bad-rewrite";
    return values.error().error;
  };
  Result<Rewritten> applied = apply_passes(graph, passes, trace, {options.strict}, options.on_gpu);
  if (trace_failure) return tl::unexpected(*trace_failure);
  if (!applied) return tl::unexpected(to_failure(applied.error()));
  outcomes = applied->outcomes;
  int declined = 0;
  for (const bench::PassOutcome& outcome : outcomes) declined += outcome.declined;
  if (applied->sites() > 0 || declined > 0) return std::move(*applied);
  Failure failure{"no-match", bad_pass("no pass matched this graph"), false};
  for (const bench::PassOutcome& outcome : outcomes) {
    if (!outcome.diagnosis.empty()) failure.error.notes.push_back(fmt::format("pass '{}': {}", outcome.pass, outcome.diagnosis));
  }
  return tl::unexpected(failure);
}

Failure with_source_line(Failure failure, const Rewritten& rewritten, const std::vector<pass::Pass>& passes,
                         const std::vector<std::vector<pass::BuiltKernel>>& kernels) {
  if (!failure.code || failure.code->list >= kernels.size() || failure.code->launch >= kernels[failure.code->list].size())
    return failure;
  const Result<std::string> object = read_file(kernels[failure.code->list][failure.code->launch].object);
  const auto line = object ? pass::find_kernel_line(*object, failure.code->offset) : std::nullopt;
  if (!line) return failure;
  const std::string file = passes[rewritten.pass_of_list[failure.code->list]].cpu_source.string();
  failure.error.at = SourceLoc{file, line->line, 1};
  if (!line->exact) failure.error.notes.push_back("in a function of passnet/kernel.h that is called about there");
  return failure;
}

Answer<PassRun> run_with_passes(Worker& reference, Worker& candidate, const ir::Graph& graph, const Bundle& inputs,
                                const std::vector<pass::Pass>& passes, const PassRunOptions& options) {
  constexpr const char* kId = "rewritten";
  PassRun run;
  Answer<Rewritten> rewritten = rewrite_or_fail(reference, kId, graph, inputs, passes, options, run.passes);
  if (!rewritten) return tl::unexpected(rewritten.error());
  Answer<Hello> hello = greet(reference, options.timeout);
  if (!hello) return tl::unexpected(hello.error());
  Result<std::vector<std::vector<pass::BuiltKernel>>> kernels =
      build_kernels(*rewritten, passes, options.build, hello->architecture);
  if (!kernels) return tl::unexpected(to_failure(kernels.error()));
  if (auto loaded = load_graph(candidate, kId, rewritten->graph, rewritten->lists, *kernels, options.timeout); !loaded)
    return tl::unexpected(loaded.error());
  if (auto set = set_inputs(candidate, kId, inputs, options.timeout); !set) return tl::unexpected(set.error());
  Answer<Outputs> outputs = run_graph(candidate, kId, true, options.timeout);
  if (!outputs) return tl::unexpected(with_source_line(outputs.error(), *rewritten, passes, *kernels));
  run.outputs = std::move(*outputs);
  return run;
}

}  // namespace passnet::run
