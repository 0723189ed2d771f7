#include "dataset/generalize_journal.h"

#include "base/json/json_object.h"
#include "run/batch/job.h"

namespace passnet {

template <>
struct JsonFields<dataset::GeneralizeLine> {
  static constexpr std::string_view kName = "generalized graph";
  static void visit(auto& field, auto& line) {
    field("graph", line.report.graph);
    field("symbols", line.report.symbols);
    field("dropped", line.report.dropped);
    field("rewritten", line.report.rewritten);
    field("written", line.report.written);
    field("skipped", line.report.skipped);
    field("seconds", line.report.seconds);
    field.if_set("error", line.report.error);
    field.if_set("compared", line.report.compared);
    field("rules", line.rules);
  }
};

}  // namespace passnet

namespace passnet::dataset {

Json to_json(const GeneralizeLine& line) { return to_json_object(line); }

std::map<std::string, GeneralizeLine> read_generalize_journal(std::string_view text) {
  return run::last_lines<GeneralizeLine>(text, [](const GeneralizeLine& line) { return line.report.graph; });
}

}  // namespace passnet::dataset
