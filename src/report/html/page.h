// report.html: one self-contained page; no network, no library, readable without scripts, in light, dark and
// on paper.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "record/record.h"
#include "record/score/score.h"
#include "report/sources.h"

namespace passnet::report {

/// title: heading and window title, for example the name of the sample. sources: what lies beside the records
/// (load_sources). All text is escaped.
std::string render_html(const std::vector<record::RunRecord>& records, const record::Score& score,
                        std::string_view title, const Sources& sources = {});

}  // namespace passnet::report
