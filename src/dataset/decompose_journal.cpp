#include "dataset/decompose_journal.h"

#include <nlohmann/json.hpp>

#include "run/job.h"

namespace passnet::dataset {

namespace {

Json row(const FoundRange& found) {
  return Json::array(
      {name(found.kind), found.range.start, found.range.end, found.number, found.identity, found.written});
}

}  // namespace

void from_json(const Json& json, JournalLine& line) {
  line.report.graph = json.at("graph");
  line.report.pieces = json.at("pieces").get<std::map<std::string, size_t>>();
  line.report.written = json.at("written").get<std::map<std::string, size_t>>();
  line.report.left_out = json.at("left_out").get<std::map<std::string, size_t>>();
  line.report.seconds = json.at("seconds");
  line.report.error = json.value("error", "");
  line.report.not_measured = json.value("not_measured", "");
  line.rules = json.at("rules");
  line.shape = json.at("shape");
  for (const Json& one : json.at("found")) {
    const graphdir::Kind kind = graphdir::parse_kind(one.at(0).get<std::string>()).value_or(graphdir::Kind::SoleOp);
    line.found.push_back({kind, {one.at(1), one.at(2)}, one.at(3), one.at(4), one.at(5)});
  }
}

Json to_json(const JournalLine& line) {
  const WholeReport& report = line.report;
  Json json{{"graph", report.graph},     {"shape", line.shape},         {"pieces", report.pieces},
            {"written", report.written}, {"left_out", report.left_out}, {"seconds", report.seconds}};
  if (!report.error.empty()) json["error"] = report.error;
  if (!report.not_measured.empty()) json["not_measured"] = report.not_measured;
  json["rules"] = line.rules;
  json["found"] = Json::array();
  for (const FoundRange& found : line.found) json["found"].push_back(row(found));
  return json;
}

std::map<std::string, JournalLine> read_decompose_journal(std::string_view text) {
  return run::last_lines<JournalLine>(text, [](const JournalLine& line) { return line.report.graph; });
}

}  // namespace passnet::dataset
