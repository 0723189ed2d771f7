// `passnet author` and what its files share.
#pragma once

#include "base/json/json.h"

namespace CLI {
class App;
}

namespace passnet::cli {

void add_author(CLI::App& app, int& exit_code);

/// In the directory of a sample: its report.
inline constexpr const char* kReportFile = "author.json";

/// Prints a report. explain: with why each pass is what it is.
void say_report(const Json& report, bool explain);
/// Prints what reports of several samples come to, of which so many were worked on at a time.
void say_summary(const Json& reports, int at_a_time);

}  // namespace passnet::cli
