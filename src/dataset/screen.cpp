#include "dataset/screen.h"

#include <algorithm>
#include <cstring>

#include "base/strings.h"
#include "graphdir/replay.h"
#include "record/verdict.h"
#include "run/worker/requests.h"

namespace passnet::dataset {

namespace {

constexpr uint64_t kSeed = graphdir::kReplaySeed, kOtherSeed = 1024;

class Screening {
 public:
  Screening(run::Worker& worker, const std::string& id, const graphdir::GraphDir& graph,
            std::chrono::milliseconds timeout)
      : worker_(worker), id_(id), graph_(graph), timeout_(timeout) {}

  Result<run::Outputs> once() {
    PASSNET_TRY_VOID(run::load_graph(worker_, id_, graph_.graph, {}, {}, timeout_));
    return outputs_with(kSeed);
  }

  Result<std::string> run() {
    PASSNET_TRY(const run::Outputs first, once());
    PASSNET_TRY_VOID(run::run_graph(worker_, id_, false, timeout_));
    PASSNET_TRY(const auto repeated, compared_with(first));
    if (repeated.empty()) return "it has no outputs";
    // A value that is not finite never passes, not even against itself.
    if (std::any_of(repeated.begin(), repeated.end(), [](const auto& check) { return !check.equal; }))
      return all_finite(repeated) ? "not deterministic" : "outputs are not finite";
    if (gives_back_an_input(first)) return "an output is an input";
    PASSNET_TRY_VOID(outputs_with(kOtherSeed));
    PASSNET_TRY(const auto differing, compared_with(first));
    if (std::any_of(differing.begin(), differing.end(),
                    [](const auto& check) { return check.passes_from <= record::kCorrectT; }))
      return "an output does not depend on the inputs";
    return "";
  }

 private:
  Result<run::Outputs> outputs_with(uint64_t seed) {
    PASSNET_TRY(run::Bundle inputs, run::replay_inputs(worker_, id_, graph_, seed, timeout_));
    Result<run::Outputs> outputs = run::run_graph(worker_, id_, false, timeout_);
    if (seed == kSeed) inputs_ = std::move(inputs);
    return outputs;
  }
  bool gives_back_an_input(const run::Outputs& outputs) const {
    const auto given = wire::Mapping::map(inputs_.fd.get(), inputs_.size_bytes, false);
    const auto made = wire::Mapping::map(outputs.tensors.fd.get(), outputs.tensors.size_bytes, false);
    if (!given || !made) return false;
    const auto same = [&](const wire::Entry& a, const wire::Entry& b) {
      return a.dtype == b.dtype && a.shape == b.shape && a.size_bytes() > 0 &&
             std::memcmp(made->data() + a.offset, given->data() + b.offset, static_cast<size_t>(a.size_bytes())) == 0;
    };
    return std::any_of(outputs.tensors.entries.begin(), outputs.tensors.entries.end(), [&](const wire::Entry& output) {
      return std::any_of(inputs_.entries.begin(), inputs_.entries.end(),
                         [&](const wire::Entry& input) { return same(output, input); });
    });
  }
  // Outputs of an earlier run against those of the last.
  Result<std::vector<record::OutputCheck>> compared_with(const run::Outputs& earlier) {
    record::RunRecord record;
    PASSNET_TRY_VOID(run::compare_outputs(worker_, id_, earlier, record, timeout_));
    return std::move(record.outputs);
  }
  static bool all_finite(const std::vector<record::OutputCheck>& checks) {
    return std::all_of(checks.begin(), checks.end(),
                       [](const auto& check) { return check.max_abs_diff == check.max_abs_diff; });
  }

  run::Worker& worker_;
  const std::string& id_;
  const graphdir::GraphDir& graph_;
  const std::chrono::milliseconds timeout_;
  run::Bundle inputs_;  // of the first run
};

// Its kind and its first line.
std::string why(const Error& error) { return failure_kind(error) + ": " + first_line(error.message); }

}  // namespace

std::string screen(run::Worker& reference, const std::string& under, const graphdir::GraphDir& graph,
                   std::chrono::milliseconds timeout) {
  Result<std::string> found = Screening(reference, under, graph, timeout).run();
  run::forget_graph(reference, under, timeout);
  return found ? std::move(*found) : why(found.error());
}

std::string try_run(run::Worker& reference, const std::string& under, const graphdir::GraphDir& graph,
                    std::chrono::milliseconds timeout) {
  const Result<run::Outputs> found = Screening(reference, under, graph, timeout).once();
  run::forget_graph(reference, under, timeout);
  return found ? "" : why(found.error());
}

}  // namespace passnet::dataset
