#include "run/evaluate/layers.h"

#include <algorithm>
#include <limits>

#include "record/verdict.h"

namespace passnet::run {

std::string_view to_string(Layer layer) {
  switch (layer) {
    case Layer::SourceFilter: return "source-filter";
    case Layer::ObjectChecks: return "object-checks";
    case Layer::CodeScan: return "code-scan";
    case Layer::BuildLimit: return "build-limit";
    case Layer::PlanLimits: return "plan-limits";
    case Layer::Poison: return "poison";
    case Layer::Canaries: return "canaries";
    case Layer::FreshInputs: return "fresh-inputs";
    case Layer::TimedCompare: return "timed-compare";
    case Layer::Layouts: return "layouts";
    case Layer::Values: return "values";
    case Layer::Budgets: return "budgets";
    case Layer::OperatorList: return "operator-list";
    case Layer::WorkerJail: return "worker-jail";
    case Layer::SourceFiles: return "source-files";
    case Layer::PythonRoot: return "python-root";
    case Layer::PythonFilter: return "python-filter";
    case Layer::Clocks: return "clocks";
  }
  return "unknown";
}

std::optional<Layer> layer_named(std::string_view name) {
  const auto found = std::ranges::find(kLayers, name, [](Layer layer) { return to_string(layer); });
  return found == kLayers.end() ? std::nullopt : std::optional(*found);
}

std::vector<std::string> names_of(const Layers& layers) {
  std::vector<std::string> names;
  for (const Layer layer : layers) names.emplace_back(to_string(layer));
  return names;
}

pass::BuildOptions without_layers(pass::BuildOptions build, const Layers& without) {
  if (without.contains(Layer::SourceFilter)) build.filter_source = false;
  if (without.contains(Layer::ObjectChecks)) build.check_object = false;
  if (without.contains(Layer::CodeScan)) build.scan_code = false;
  if (without.contains(Layer::BuildLimit)) build.most_builds = std::numeric_limits<size_t>::max();
  return build;
}

void forget_findings(const Layers& without, record::RunRecord& record) {
  const auto forget_values = [](record::OutputCheck& check) { check.passes_from = record::kFirstT; };
  for (record::OutputCheck& output : record.outputs) {
    if (without.contains(Layer::Layouts)) output.found_layout = output.expected_layout;
    if (without.contains(Layer::Values) && output.found_shape == output.expected_shape) forget_values(output);
  }
  if (!without.contains(Layer::Values)) return;
  for (record::InputCheck& input : record.inputs) forget_values(input.check);
}

}  // namespace passnet::run
