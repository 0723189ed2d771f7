// What the files of `passnet author` share.
#pragma once

#include "base/json.h"

namespace passnet::cli {

/// In the directory of a sample: its report.
inline constexpr const char* kReportFile = "author.json";

/// Prints a report. explain: with why each pass is what it is.
void say_report(const Json& report, bool explain);
/// Prints what reports of several samples come to, of which so many were worked on at a time.
void say_summary(const Json& reports, int at_a_time);

}  // namespace passnet::cli
