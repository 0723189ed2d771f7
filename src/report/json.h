// Records and their score as one JSON document for machines.
#pragma once

#include <string>
#include <vector>

#include "bench/record.h"
#include "bench/score.h"

namespace passnet::report {

/// {"score": aggregated_score.json's object, "graphs": [one object per record]}; times in microseconds.
/// Indented, valid UTF-8, ends with a newline. docs/records.md lists the keys.
std::string render_json(const std::vector<bench::RunRecord>& records, const bench::Score& score);

}  // namespace passnet::report
