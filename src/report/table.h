// Records as a table for a terminal, and below it what went wrong, grouped.
#pragma once

#include <string>
#include <vector>

#include "record/record.h"

namespace passnet::report {

/// One row per record, a footer with the score (upstream's defaults), then errors and diagnoses of the graphs
/// that are not correct, equal ones told once. width: columns of the terminal, at least 60 is used; below
/// about 100 the less telling columns go. Lines of the table never exceed it; long words in messages may.
/// color: ANSI colors; pass true only for a terminal.
/// Returns text that ends with a newline. Control characters in names and messages are made visible.
std::string render_table(const std::vector<record::RunRecord>& records, int width, bool color);

}  // namespace passnet::report
