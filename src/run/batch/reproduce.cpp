#include "run/batch/reproduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text/strings.h"
#include "run/apply/select_passes.h"
#include "run/evaluate/provenance.h"

namespace passnet::run {

namespace {

std::string full_name(const record::RunRecord& record) { return record.sample + "/" + record.graph; }

bool is_source(const record::Difference& difference) {
  using Kind = record::Difference::Kind;
  return difference.kind == Kind::Graph || difference.kind == Kind::Pass || difference.kind == Kind::Kernel;
}

Result<size_t> find_graph(const graphdir::Sample& sample, const std::string& graph) {
  const auto found = std::find(sample.graph_names.begin(), sample.graph_names.end(), graph);
  if (found != sample.graph_names.end()) return static_cast<size_t>(found - sample.graph_names.begin());
  return bad_input(fmt::format("sample '{}' no longer lists graph '{}'", sample.path.string(), graph));
}

}  // namespace

Result<std::vector<record::RunRecord>> select_records(const std::vector<record::RunRecord>& records,
                                                      const std::string& selection) {
  if (selection.empty()) return records;
  std::vector<record::RunRecord> selected;
  std::set<std::string> samples;
  std::vector<std::string_view> names;
  for (const record::RunRecord& record : records) {
    names.push_back(record.graph);
    if (record.graph != selection && full_name(record) != selection) continue;
    samples.insert(record.sample);
    selected.assign(1, record);  // the last one of a graph counts
  }
  if (samples.size() > 1) {
    return bad_input(fmt::format("graph {} is in {} samples", quoted(selection), samples.size()))
        .with_hint(fmt::format("name one: '{}/{}'", *samples.begin(), selection));
  }
  if (!selected.empty()) return selected;
  const std::string_view near = nearest_name(selection, names);
  return bad_input(fmt::format("no record of graph {} among {}", quoted(selection), records.size()))
      .with_hint(near.empty() ? "" : fmt::format("did you mean {}?", quoted(near)));
}

Result<Reproduced> reproduce(const record::RunRecord& recorded, const std::filesystem::path& sample_path,
                             const EvaluateOptions& machine) {
  if (!recorded.provenance) {
    return bad_input(fmt::format("the record of '{}' does not say what it was made of", full_name(recorded)))
        .with_hint("it is of an older passnet; evaluate its sample again");
  }
  const record::Provenance& then = *recorded.provenance;
  PASSNET_TRY(EvaluateOptions options, options_of(then.options, recorded.device));
  options.worker = machine.worker;
  options.build = machine.build;
  options.interrupted = machine.interrupted;
  auto loaded = graphdir::load_sample(sample_path.empty() ? std::filesystem::path(then.sample_path) : sample_path);
  if (!loaded) return std::move(loaded).error().with_hint("--sample DIR says where the sample lies now");
  // Passes from elsewhere are where they were, unless the sample has moved.
  if (sample_path.empty() && !then.pass_dir.empty()) loaded->pass_dir = then.pass_dir;
  PASSNET_TRY(const size_t index, find_graph(*loaded, recorded.graph));

  Reproduced result;
  result.differences =
      differences(then, provenance_of(sources_of(*loaded, options.selection), SourceFiles(loaded->roots), *loaded,
                                      index, options, then.versions));
  if (std::any_of(result.differences.begin(), result.differences.end(), is_source)) return result;
  EvaluateHooks hooks;
  hooks.skip = [&](const std::string& graph) { return graph != recorded.graph; };
  hooks.finished = [&](const record::RunRecord& record) -> Result<void> {
    result.again = record;
    return {};
  };
  PASSNET_TRY_VOID(evaluate_sample(*loaded, options, hooks));
  if (record::is_environment_failure(*result.again))
    return resource_error(fmt::format("'{}' could not be evaluated: {}", full_name(recorded), result.again->error));
  result.differences = differences(then, *result.again->provenance);
  return result;
}

}  // namespace passnet::run
