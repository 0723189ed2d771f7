#include "solution.h"

#include <fmt/format.h>

#include "base/file/paths.h"
#include "exchange/definition.h"
#include "exchange/graphs.h"
#include "exchange/solution.h"
#include "exchange/texts.h"

namespace passnet::cli {

Result<FromSolution> from_solution(const std::filesystem::path& path, const std::string& name,
                                   const std::filesystem::path& pass_dir,
                                   const std::optional<std::filesystem::path>& sample) {
  PASSNET_TRY(const exchange::Solution solution, exchange::load_solution(path));
  PASSNET_TRY(const std::filesystem::path defined, exchange::find_definition(solution));
  PASSNET_TRY(const exchange::Definition definition, exchange::load_definition(defined));
  PASSNET_TRY(const pass::PassTexts texts, exchange::texts_of(definition, solution, name));
  FromSolution made;
  PASSNET_TRY(made.written, pass::write_passes(pass_dir, {texts}));
  const std::filesystem::path workloads = exchange::workloads_of(defined);
  if (!sample) {
    made.left.emplace_back("graphs", "name DIR 'SAMPLE/pass_dir' to have them in SAMPLE/graphs");
  } else if (!file_exists(workloads)) {
    made.left.emplace_back("graphs", fmt::format("there are no workloads in '{}'", workloads.string()));
  } else {
    PASSNET_TRY(const exchange::WorkloadGraphs graphs,
                exchange::write_graphs(definition, workloads, *sample / "graphs"));
    made.written.insert(made.written.end(), graphs.written.begin(), graphs.written.end());
    made.graphs = graphs.written.size();
    for (const auto& [line, why] : graphs.left) made.left.emplace_back(fmt::format("workload of line {}", line), why);
  }
  return made;
}

}  // namespace passnet::cli
