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

/// The three figures that matter: correct graphs, speedup, score.
std::string render_figures(const record::Score& score);
/// ES(t) and S(t) as a drawing and as numbers.
std::string render_score(const record::Score& score);

}  // namespace passnet::report
