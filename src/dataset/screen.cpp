#include "dataset/screen.h"

#include <algorithm>
#include <cstring>

#include "base/text/strings.h"
#include "graphdir/inputs/replay.h"
#include "record/verdict.h"
#include "run/worker/requests.h"

namespace passnet::dataset {

namespace {

constexpr uint64_t kOtherSeed = 1024;

/// What a graph gave, and what it was given.
struct Outcome {
  run::Bundle inputs;
  run::Outputs outputs;
};

Result<Outcome> run_on(run::Worker& worker, const graphdir::GraphDir& graph, uint64_t seed,
                       std::chrono::milliseconds timeout) {
  Outcome outcome;
  PASSNET_TRY(outcome.inputs, run::replay_inputs(worker, kScreened, graph, seed, timeout));
  PASSNET_TRY(outcome.outputs, run::run_graph(worker, kScreened, false, timeout));
  return outcome;
}

Result<Outcome> run_first(run::Worker& worker, const graphdir::GraphDir& graph, std::chrono::milliseconds timeout) {
  PASSNET_TRY_VOID(run::load_graph(worker, kScreened, graph.graph, {}, {}, timeout));
  return run_on(worker, graph, graphdir::kReplaySeed, timeout);
}

// Outputs of an earlier run against those of the last.
Result<std::vector<record::OutputCheck>> compare_with_last(run::Worker& worker, const run::Outputs& earlier,
                                                           std::chrono::milliseconds timeout) {
  record::RunRecord record;
  PASSNET_TRY_VOID(run::compare_outputs(worker, kScreened, earlier, record, timeout));
  return std::move(record.outputs);
}

bool gives_back_an_input(const Outcome& outcome) {
  const run::Bundle &inputs = outcome.inputs, &outputs = outcome.outputs.tensors;
  const auto given = wire::Mapping::map(inputs.fd.get(), inputs.size_bytes, false);
  const auto made = wire::Mapping::map(outputs.fd.get(), outputs.size_bytes, false);
  if (!given || !made) return false;
  const auto same = [&](const wire::Entry& a, const wire::Entry& b) {
    return a.dtype == b.dtype && a.shape == b.shape && a.size_bytes() > 0 &&
           std::memcmp(made->data() + a.offset, given->data() + b.offset, static_cast<size_t>(a.size_bytes())) == 0;
  };
  return std::ranges::any_of(outputs.entries, [&](const wire::Entry& output) {
    return std::ranges::any_of(inputs.entries, [&](const wire::Entry& input) { return same(output, input); });
  });
}

bool all_finite(const std::vector<record::OutputCheck>& checks) {
  return std::ranges::all_of(checks, [](const auto& check) { return check.max_abs_diff == check.max_abs_diff; });
}

// "" when the graph is fit, else why not.
Result<std::string> why_unfit(run::Worker& worker, const graphdir::GraphDir& graph, std::chrono::milliseconds timeout) {
  PASSNET_TRY(const Outcome first, run_first(worker, graph, timeout));
  PASSNET_TRY_VOID(run::run_graph(worker, kScreened, false, timeout));
  PASSNET_TRY(const auto repeated, compare_with_last(worker, first.outputs, timeout));
  if (repeated.empty()) return "it has no outputs";
  // A value that is not finite never passes, not even against itself.
  if (!std::ranges::all_of(repeated, &record::OutputCheck::equal))
    return all_finite(repeated) ? "not deterministic" : "outputs are not finite";
  if (gives_back_an_input(first)) return "an output is an input";
  PASSNET_TRY_VOID(run_on(worker, graph, kOtherSeed, timeout));
  PASSNET_TRY(const auto differing, compare_with_last(worker, first.outputs, timeout));
  if (std::ranges::any_of(differing, [](const auto& check) { return check.passes_from <= record::kCorrectT; }))
    return "an output does not depend on the inputs";
  return "";
}

// Its kind and its first line.
std::string why(const Error& error) { return failure_kind(error) + ": " + first_line(error.message); }

}  // namespace

std::string screen(run::Worker& reference, const graphdir::GraphDir& graph, std::chrono::milliseconds timeout) {
  Result<std::string> found = why_unfit(reference, graph, timeout);
  run::forget_graph(reference, kScreened, timeout);
  return found ? std::move(*found) : why(found.error());
}

std::string try_run(run::Worker& reference, const graphdir::GraphDir& graph, std::chrono::milliseconds timeout) {
  const Result<Outcome> found = run_first(reference, graph, timeout);
  run::forget_graph(reference, kScreened, timeout);
  return found ? "" : why(found.error());
}

}  // namespace passnet::dataset
