// The style sheet and the script of report.html.
#pragma once

#include <string_view>

namespace passnet::report {

/// Light or dark as the reader's system is set, and fit for printing. Colors differ in brightness and never speak
/// alone: words and shapes say the same.
std::string_view html_style();
/// Sorts by the column whose heading is clicked, filters, and puts sources into the line that is opened. The page is
/// complete without it.
std::string_view html_script();

}  // namespace passnet::report
