// Records as a Markdown table for a README or a pull request.
#pragma once

#include <string>
#include <vector>

#include "record/record.h"
#include "record/score.h"

namespace passnet::report {

/// A summary line, a blank line and a GitHub table with one row per record; ends with a newline. Text is
/// escaped.
std::string render_markdown(const std::vector<record::RunRecord>& records, const record::Score& score);

}  // namespace passnet::report
