// Records and their score as one JSON document for machines.
#pragma once

#include <string>
#include <vector>

#include "record/record.h"
#include "record/score/score.h"

namespace passnet::report {

/// {"score": aggregated_score.json's object, "summary": what stands beside it, "graphs": [one object per record]}; times
/// in microseconds.
/// Indented, valid UTF-8, ends with a newline. docs/records.md lists the keys.
std::string render_json(const std::vector<record::RunRecord>& records, const record::Score& score);

}  // namespace passnet::report
