#include "run/run_passes.h"

#include <fmt/format.h>

#include <optional>

#include "base/file.h"
#include "pass/kernel/line_table.h"

namespace passnet::run {

Answer<Rewritten> rewrite_or_fail(Worker& reference, const std::string& id, const ir::Graph& graph,
                                  const Bundle& inputs, const std::vector<pass::Pass>& passes,
                                  const PassRunOptions& options, std::vector<record::PassOutcome>& outcomes) {
  const TraceFn trace = [&](const ir::Graph& traced, const std::vector<pass::LaunchList>& lists) -> Answer<Values> {
    const auto values = [&]() -> Answer<Values> {
      PASSNET_TRY_VOID(load_graph(reference, id, traced, lists, {}, options.timeout));
      PASSNET_TRY_VOID(set_inputs(reference, id, inputs, options.timeout));
      return trace_graph(reference, id, traced, options.timeout);
    };
    Answer<Values> traced_values = values();
    if (traced_values || lists.empty()) return traced_values;
    // Without a site it is the graph itself that fails; with one, what an operator refuses is what a plan returned.
    Failure failure = std::move(traced_values).error();
    if (failure.kind == "bad-input" || failure.kind == "unsupported") failure.kind = "bad-rewrite";
    return tl::unexpected(std::move(failure));
  };
  Answer<Rewritten> applied = apply_passes(graph, passes, trace, {options.strict}, options.on_gpu);
  if (!applied) return applied;
  outcomes = applied->outcomes;
  int declined = 0;
  for (const record::PassOutcome& outcome : outcomes) declined += outcome.declined;
  if (applied->sites() > 0 || declined > 0) return applied;
  Failure failure{"no-match", bad_pass("no pass matched this graph"), false};
  for (const record::PassOutcome& outcome : outcomes) {
    if (!outcome.diagnosis.empty())
      failure.error.notes.push_back(fmt::format("pass '{}': {}", outcome.pass, outcome.diagnosis));
  }
  return tl::unexpected(failure);
}

Failure with_source_line(Failure failure, const Rewritten& rewritten, const std::vector<pass::Pass>& passes,
                         const std::vector<std::vector<pass::BuiltKernel>>& kernels) {
  if (!failure.code || failure.code->list >= kernels.size() ||
      failure.code->launch >= kernels[failure.code->list].size())
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
