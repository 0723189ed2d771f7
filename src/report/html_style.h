// The style sheet and the few lines of script of report.html.
#pragma once

#include <string_view>

namespace passnet::report {

std::string_view html_style();
/// Sorts the rows by the column whose heading is clicked; the page is complete without it.
std::string_view html_script();

}  // namespace passnet::report
