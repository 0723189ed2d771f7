#include "report/json.h"

#include <nlohmann/json.hpp>

#include "base/json/json.h"
#include "base/json/json_fields.h"
#include "record/score/summary.h"
#include "report/row.h"

namespace passnet::report {

namespace {

Json side_json(const record::Stats& us) {
  return {{"median", us.median}, {"q1", us.q1},   {"q3", us.q3},  {"mean", us.mean},
          {"std", us.std},       {"min", us.min}, {"max", us.max}};
}

Json graph_json(const record::RunRecord& record, const Row& row) {
  const bool correct = row.verdict.correct_at(record::kCorrectT) && !row.below_floor && !row.uneven;
  Json json = {{"sample", valid_utf8(record.sample)},
               {"graph", valid_utf8(record.graph)},
               {"verdict", row.headline},
               {"status", record::to_string(row.verdict.status)},
               {"correct", correct},
               {"passes_from", row.verdict.passes_from},
               {"speedup", correct && row.verdict.speedup > 0 ? Json(row.verdict.speedup) : Json()},
               {"noisy", row.noisy},
               {"disturbed", row.disturbed},
               {"below_floor", row.below_floor},
               {"unranked", row.unranked || row.no_work || row.host_code},
               {"sites", row.sites},
               {"declined", row.declined}};
  if (row.uneven) json["uneven"] = true;
  if (row.interval.known()) json["interval"] = {row.interval.low, row.interval.high};
  if (row.timed) {
    json["reference_us"] = side_json(row.reference_us);
    json["candidate_us"] = side_json(row.candidate_us);
  }
  if (row.compared) json["max_abs_diff"] = number_json(row.max_abs_diff);
  if (record.reference_memory.peak_bytes > 0 || record.candidate_memory.peak_bytes > 0) {
    json["peak_device_bytes"] = {{"reference", record.reference_memory.peak_bytes},
                                 {"candidate", record.candidate_memory.peak_bytes}};
  }
  for (const record::SurplusPass& surplus : record.surplus)
    json["surplus"].push_back({{"pass", valid_utf8(surplus.pass)}, {"reason", valid_utf8(surplus.reason)}});
  for (const record::PassOutcome& pass : record.passes) {
    for (const record::LibraryCall& call : pass.library_calls)
      json["library_calls"].push_back({{"pass", valid_utf8(pass.pass)},
                                       {"name", valid_utf8(call.name)},
                                       {"line", call.line},
                                       {"count", call.count}});
  }
  if (row.replay) json["replay"] = true;
  if (!record.reference.baseline.empty()) json["baseline"] = record.reference.baseline;
  if (row.host_code) json["host_code"] = record.host_code;
  if (!record.why_python.empty()) json["why_python"] = valid_utf8(record.why_python);
  if (!record.retried.empty()) json["retried"] = valid_utf8(record.retried);
  if (!row.problem.empty()) {
    json["stage"] = record::to_string(record.stage);
    json["error_kind"] = valid_utf8(record.error_kind);
    json["problem"] = valid_utf8(row.problem);
  }
  return json;
}

}  // namespace

std::string render_json(const std::vector<record::RunRecord>& records, const record::Score& score) {
  const std::vector<Row> rows = rows_of(records);
  Json graphs = Json::array();
  for (size_t i = 0; i < records.size(); ++i) graphs.push_back(graph_json(records[i], rows[i]));
  const std::string id = records.empty() || has_several_samples(records) ? "" : records.front().sample;
  return dump(Json{{"score", record::to_json(score, id)},
                   {"summary", record::to_json(record::summary_of(records))},
                   {"graphs", std::move(graphs)}},
              2) +
         "\n";
}

}  // namespace passnet::report
