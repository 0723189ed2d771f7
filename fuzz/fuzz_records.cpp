// Any text as a run's records: an error with a message, or records that are judged, scored and read back from what is
// printed of them. As the lines of sessions, and as a score's seal, it ends without harm.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "record/chain.h"
#include "record/record.h"
#include "record/score/aggregated_score.h"
#include "record/score/score.h"
#include "record/session.h"
#include "record/verdict.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace passnet;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto sessions = record::sessions_from_text(text, "run.jsonl");
      !sessions && sessions.error().message.empty())
    std::abort();
  if (const auto seal = record::seal_from_text(text, "aggregated_score.json"); !seal && seal.error().message.empty())
    std::abort();
  if (const auto verdicts = record::verdicts_from_upstream_log("validation.log", text);
      !verdicts && verdicts.error().message.empty())
    std::abort();
  const auto records = record::records_from_text(text, "records.jsonl");
  if (!records) {
    if (records.error().message.empty()) std::abort();
    return 0;
  }
  // Lines are read by a shortcut that gives what the tree of their values gives.
  const auto same = record::for_each_record(
      record::lines_of(text), "records.jsonl", [](uint32_t, std::string_view line, const record::RunRecord& one) {
        const auto expected = record::record_from_json(try_parse_json(line));
        if (!expected || dump(record::to_json(*expected)) != dump(record::to_json(one))) std::abort();
      });
  if (!same) std::abort();
  record::score(record::judge_all(*records));
  for (const record::RunRecord& one : *records) {
    const std::string printed = dump(record::to_json(one));
    const auto again = record::records_from_text(printed + "\n", "printed.jsonl");
    if (!again || again->size() != 1 || dump(record::to_json(again->front())) != printed) std::abort();
  }
  return 0;
}
