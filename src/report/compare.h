// Two runs side by side: for a terminal, for machines, as a page. What is compared:
// record/score/compare.h.
#pragma once

#include <string>

#include "record/score/compare.h"

namespace passnet::report {

/// What the two runs are called in messages: their paths, as given.
struct RunNames {
  std::string a, b;
};

/// A table with one row per graph, worst news first, a line of counts, and what the runs were made of where that
/// differs.
/// color: ANSI colors; pass true only for a terminal. Ends with a newline.
std::string render_comparison(const record::RunComparison& runs, const RunNames& names, bool color);
/// {"a": …, "b": …, "worse": bool, "counts": {…}, "differences": […], "graphs": […]}; docs/records.md lists the keys.
std::string render_comparison_json(const record::RunComparison& runs, const RunNames& names);
/// The graphs of that page, the worst news first, at most so many.
std::string render_comparison_table(const record::RunComparison& runs, size_t most);
/// One self-contained page. All text is escaped.
std::string render_comparison_html(const record::RunComparison& runs, const RunNames& names);

}  // namespace passnet::report
