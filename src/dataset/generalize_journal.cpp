#include "dataset/generalize_journal.h"

#include "base/json/json_object.h"
#include "run/batch/job.h"

namespace passnet {

PASSNET_JSON_FIELDS(dataset::GeneralizeReport, "report",
                    PASSNET_FIELDS(graph, symbols, dropped, rewritten, written, skipped, seconds)
                        PASSNET_FIELDS_IF_SET(error, compared))
PASSNET_JSON_FIELDS(dataset::GeneralizeLine, "generalized graph", PASSNET_FIELDS_OF(report) PASSNET_FIELDS(rules))

}  // namespace passnet

namespace passnet::dataset {

Json to_json(const GeneralizeLine& line) { return to_json_object(line); }

std::map<std::string, GeneralizeLine> read_generalize_journal(std::string_view text) {
  return run::last_lines<GeneralizeLine>(text, [](const GeneralizeLine& line) { return line.report.graph; });
}

}  // namespace passnet::dataset
