// aggregated_score.json: the score of a sample's records, and which records it was made of.
#pragma once

#include <string>
#include <vector>

#include "base/json/json.h"
#include "record/chain.h"
#include "record/record.h"
#include "record/verdict.h"

namespace passnet::record {

/// id: the sample. The object of to_json(Score) and the seal of the records.
Json aggregated_score(const std::vector<RunRecord>& records, const std::string& id, const Seal& seal);

/// The seal of such a file; of no records where it has none (of a version that wrote no chain).
/// file: as messages name it. Errors: BadInput (no JSON, or a seal of other types).
Result<Seal> seal_from_text(std::string_view text, const std::string& file);

/// Returns what the file says otherwise than the verdicts of the records that count: "score: found 1.5, expected 1.2";
/// empty when it agrees. Numbers may differ by what another machine's logarithm differs by.
std::string score_disagreement(const Json& found, const std::vector<Verdict>& verdicts, const std::string& id);

}  // namespace passnet::record
