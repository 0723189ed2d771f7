#include "dataset/generalize_journal.h"

#include <nlohmann/json.hpp>

#include "run/job.h"

namespace passnet::dataset {

void from_json(const Json& json, GeneralizeLine& line) {
  line.report.graph = json.at("graph");
  line.report.symbols = json.at("symbols").get<std::map<std::string, int64_t>>();
  for (const auto& [key, list] : {std::pair{"dropped", &line.report.dropped},
                                  {"rewritten", &line.report.rewritten},
                                  {"written", &line.report.written},
                                  {"skipped", &line.report.skipped}})
    *list = json.at(key).get<std::vector<std::string>>();
  if (json.contains("compared")) line.report.compared = json.at("compared").get<std::map<std::string, std::string>>();
  line.report.error = json.value("error", "");
  line.report.seconds = json.at("seconds");
  line.rules = json.at("rules");
}

Json to_json(const GeneralizeLine& line) {
  const GeneralizeReport& report = line.report;
  Json json{{"graph", report.graph},         {"symbols", report.symbols}, {"dropped", report.dropped},
            {"rewritten", report.rewritten}, {"written", report.written}, {"skipped", report.skipped},
            {"seconds", report.seconds}};
  if (!report.error.empty()) json["error"] = report.error;
  if (!report.compared.empty()) json["compared"] = report.compared;
  json["rules"] = line.rules;
  return json;
}

std::map<std::string, GeneralizeLine> read_generalize_journal(std::string_view text) {
  return run::last_lines<GeneralizeLine>(text, [](const GeneralizeLine& line) { return line.report.graph; });
}

}  // namespace passnet::dataset
