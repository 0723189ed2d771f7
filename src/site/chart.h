// Charts with the Vega-Lite spec that draws the same from the same data, for those who want to go on with it.
#pragma once

#include <string>
#include <vector>

#include "base/json/json.h"
#include "report/svg.h"

namespace passnet::site {

/// Ratios with their intervals, as report.html draws them. caption: HTML. "" for no marks.
std::string render_ratio_chart(std::vector<report::SpeedMark> marks, const std::string& label,
                               const std::string& caption);

/// A score at a time.
struct HistoryPoint {
  std::string started, name;  // ISO 8601
  double score = 1;
};
/// A line over the runs in the order of time, 1 as a dashed line. REQUIRES: not empty, ascending.
std::string render_history_chart(const std::vector<HistoryPoint>& points, const std::string& label);

/// The spec and its data, folded away. spec: without "$schema" and "data".
std::string render_vega(Json spec, Json values);

}  // namespace passnet::site
